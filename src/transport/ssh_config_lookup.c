#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"
#include "transport/ssh_config_internal.h"
#include "transport/ssh_pattern_internal.h"

/* A lookup on its way. Blocks are judged where they begin, with what is known by then, as OpenSSH does. */
struct lookup_state {
    const struct ssh_config *config;
    const struct ssh_config_query *query;
    struct ssh_config_values *values;
    bool *holds; /* of each block */
    bool final_pass;
};

static bool matches_lower(const char *text, const struct strlist *patterns)
{
    AUTO_FREE char *low = xstrdup(text);
    AUTO_STRLIST struct strlist low_patterns = STRLIST_INIT;

    text_lower(low);
    for (size_t i = 0; i < patterns->len; i++) {
        AUTO_FREE char *pattern = xstrdup(patterns->items[i]);
        text_lower(pattern);
        strlist_add(&low_patterns, pattern);
    }
    return ssh_pattern_list_matches(low, low_patterns.items, low_patterns.len);
}

/* The HostName as it stands: %h and %% are replaced (no other passed the check); not an address's letters. */
static char *expand_hostname(const char *text, const char *name)
{
    struct str out = STR_INIT;
    char *expanded;

    for (; *text != '\0'; text++) {
        if (text[0] == '%' && text[1] == 'h')
            str_add(&out, name);
        else
            str_add_char(&out, text[0]);
        if (text[0] == '%')
            text++;
    }
    expanded = str_detach(&out);
    if (strchr(expanded, ':') == NULL)
        text_lower(expanded);
    return expanded;
}

/* The HostName so far; in the second walk it stands. */
static bool matches_hostname(const struct lookup_state *state, const struct strlist *patterns)
{
    AUTO_FREE char *host =
        state->final_pass ? xstrdup(state->values->hostname)
                          : expand_hostname(state->values->hostname != NULL ? state->values->hostname : "%h",
                                            state->query->name);

    return matches_lower(host, patterns);
}

static bool judge_criterion(const struct lookup_state *state, const struct ssh_criterion *criterion)
{
    const struct strlist *patterns = &criterion->patterns;
    const char *user = state->values->user != NULL ? state->values->user : state->query->local_user;

    switch (criterion->subject) {
    case SSH_SUBJECT_ALL:
        return true;
    case SSH_SUBJECT_FINAL:
        return state->final_pass;
    case SSH_SUBJECT_HOST:
        return ssh_pattern_list_matches(state->query->name, patterns->items, patterns->len);
    case SSH_SUBJECT_HOSTNAME:
        return matches_hostname(state, patterns);
    case SSH_SUBJECT_ORIGINAL:
        return matches_lower(state->query->name, patterns);
    case SSH_SUBJECT_USER:
        return user != NULL && ssh_pattern_list_matches(user, patterns->items, patterns->len);
    case SSH_SUBJECT_LOCAL_USER:
        return state->query->local_user != NULL &&
               ssh_pattern_list_matches(state->query->local_user, patterns->items, patterns->len);
    case SSH_SUBJECT_OPENSSH:
        break;
    }
    return false;
}

static void note_openssh(const struct lookup_state *state, const char *keyword,
                         const struct ssh_directive *begin)
{
    if (state->values->openssh_only != NULL)
        return;
    state->values->openssh_only = keyword;
    state->values->openssh_place = (struct ssh_config_place){begin->file, begin->line};
}

/* Does the block hold? Where all but an unjudged criterion does, only OpenSSH can tell. */
static bool judge_block(const struct lookup_state *state, const struct ssh_directive *begin)
{
    const struct ssh_block *block = &state->config->blocks[begin->block];
    const char *unjudged = NULL;

    if (block->parent != SSH_NO_BLOCK && !state->holds[block->parent])
        return false;
    for (size_t i = 0; i < block->len; i++) {
        const struct ssh_criterion *criterion = &block->criteria[i];
        if (criterion->subject == SSH_SUBJECT_OPENSSH)
            unjudged = criterion->keyword;
        else if (judge_criterion(state, criterion) == criterion->negated)
            return false;
    }
    if (unjudged != NULL)
        note_openssh(state, unjudged, begin);
    return unjudged == NULL;
}

static void walk(struct lookup_state *state)
{
    for (size_t i = 0; i < state->config->directives_len; i++) {
        const struct ssh_directive *directive = &state->config->directives[i];
        if (directive->keyword == NULL)
            state->holds[directive->block] = judge_block(state, directive);
        else if (directive->keyword->apply != NULL &&
                 (directive->block == SSH_NO_BLOCK || state->holds[directive->block]))
            directive->keyword->apply(state->values, directive);
    }
}

/* The HostName is settled now; where a Match final asks for it, all is walked again with it. */
static void finish(struct lookup_state *state)
{
    struct ssh_config_values *values = state->values;
    bool given = values->hostname != NULL;
    char *hostname = expand_hostname(given ? values->hostname : "%h", state->query->name);

    free(values->hostname);
    values->hostname = hostname;
    state->final_pass = true;
    if (state->config->wants_final)
        walk(state);
    if (given)
        return;
    free(values->hostname);
    values->hostname = NULL;
}

static void drop_none(char **text)
{
    if (*text == NULL || strcasecmp(*text, "none") != 0)
        return;
    free(*text);
    *text = NULL;
}

void ssh_config_lookup(const struct ssh_config *config, const struct ssh_config_query *query,
                       struct ssh_config_values *out)
{
    struct lookup_state state = {.config = config, .query = query, .values = out};

    *out = (struct ssh_config_values){.connect_timeout_s = -1,
                                      .alive_interval_s = -1,
                                      .alive_count_max = -1,
                                      .address_family = -1,
                                      .user = xstrdup(query->user)};
    if (config != NULL) {
        state.holds = xcalloc(config->blocks_len + 1, sizeof(*state.holds));
        walk(&state);
        finish(&state);
        free(state.holds);
    }
    if (out->address_family < 0)
        out->address_family = AF_UNSPEC;
    drop_none(&out->proxy_jump);
    drop_none(&out->proxy_command);
}

void ssh_config_values_release(struct ssh_config_values *values)
{
    free(values->hostname);
    free(values->user);
    free(values->host_key_alias);
    free(values->identity_agent);
    free(values->proxy_jump);
    free(values->proxy_command);
    free(values->control_path);
    strlist_release(&values->identity_files);
    strlist_release(&values->certificate_files);
    strlist_release(&values->user_known_hosts);
    strlist_release(&values->global_known_hosts);
    *values = (struct ssh_config_values){0};
}
