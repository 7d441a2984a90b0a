/* Looks up what the configuration says about one name. */
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"
#include "model/kind.h"
#include "reach/pattern_internal.h"
#include "reach/ssh_config_internal.h"

/* A lookup in progress. As in OpenSSH, the condition of a block is evaluated where it begins, with the values
 * known by then. */
struct lookup_state {
    const struct ssh_config *config;
    const struct ssh_config_query *query;
    struct ssh_config_values *values;
    bool *holds;      /* whether each block applies */
    const char *host; /* what Host is compared with */
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

/* The HostName so far, with %h and %% replaced; the second walk does not change it. */
static char *expand_hostname(const struct lookup_state *state)
{
    const char *text = state->values->hostname ? state->values->hostname : "%h";
    struct str out = STR_INIT;

    if (state->final_pass) {
        return xstrdup(text);
    }
    for (; *text != '\0'; text++) {
        if (text[0] == '%' && text[1] == 'h') {
            str_add(&out, state->query->name);
            text++;
        } else {
            text += text[0] == '%' && text[1] == '%';
            str_add_char(&out, *text);
        }
    }
    return str_detach(&out);
}

/* HostName may contain only the tokens %h and %%. */
static int check_hostname(const struct ssh_config_values *values, struct error *err)
{
    const char *text = values->hostname ? values->hostname : "";

    for (const char *at = strchr(text, '%'); at; at = strchr(at + 2, '%')) {
        if (at[1] == 'h' || at[1] == '%') {
            continue;
        }
        error_set(err, &kind_ssh_config, "host name '%s' contains a token other than %%h and %%%%", text);
        return error_at(err, values->hostname_place.file, values->hostname_place.line, 0);
    }
    return 0;
}

/* Names in lower case; an address in its canonical form ("::1" for "0::0:1"). */
static char *canonical_hostname(char *host, int family)
{
    const struct addrinfo hints = {
        .ai_family = family < 0 ? AF_UNSPEC : family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    char printed[NI_MAXHOST];

    if (getaddrinfo(host, NULL, &hints, &found) == 0 &&
        getnameinfo(found->ai_addr, found->ai_addrlen, printed, sizeof(printed), NULL, 0, NI_NUMERICHOST) ==
            0 &&
        strcasecmp(host, printed) != 0) {
        free(host);
        host = xstrdup(printed);
    } else if (!strpbrk(host, ":%")) {
        text_lower(host);
    }
    if (found) {
        freeaddrinfo(found);
    }
    return host;
}

static bool matches_hostname(const struct lookup_state *state, const struct strlist *patterns)
{
    AUTO_FREE char *host = expand_hostname(state);

    return matches_lower(host, patterns);
}

static bool judge_criterion(const struct lookup_state *state, const struct ssh_criterion *criterion)
{
    const struct strlist *patterns = &criterion->patterns;
    const char *user = state->values->user ? state->values->user : state->query->local_user;

    switch (criterion->subject) {
    case SSH_SUBJECT_ALL:
        return true;
    case SSH_SUBJECT_FINAL:
        return state->final_pass;
    case SSH_SUBJECT_HOST:
        return ssh_pattern_list_matches(state->host, patterns->items, patterns->len);
    case SSH_SUBJECT_HOSTNAME:
        return matches_hostname(state, patterns);
    case SSH_SUBJECT_ORIGINAL:
        return matches_lower(state->query->name, patterns);
    case SSH_SUBJECT_USER:
        return user && ssh_pattern_list_matches(user, patterns->items, patterns->len);
    case SSH_SUBJECT_LOCAL_USER:
        return state->query->local_user &&
               ssh_pattern_list_matches(state->query->local_user, patterns->items, patterns->len);
    case SSH_SUBJECT_OPENSSH:
        break;
    }
    return false;
}

static void note_openssh(const struct lookup_state *state, const char *keyword,
                         const struct ssh_directive *begin)
{
    if (state->values->openssh_only) {
        return;
    }
    state->values->openssh_only = keyword;
    state->values->openssh_place = (struct ssh_config_place){begin->file, begin->line};
}

/* Does the block apply? If only a criterion that is not evaluated here is left, OpenSSH has to decide. */
static bool judge_block(const struct lookup_state *state, const struct ssh_directive *begin)
{
    const struct ssh_block *block = &state->config->blocks[begin->block];
    const char *unjudged = NULL;

    if (block->parent != SSH_NO_BLOCK && !state->holds[block->parent]) {
        return false;
    }
    for (size_t i = 0; i < block->len; i++) {
        const struct ssh_criterion *criterion = &block->criteria[i];
        if (criterion->subject == SSH_SUBJECT_OPENSSH) {
            unjudged = criterion->keyword;
        } else if (judge_criterion(state, criterion) == criterion->negated) {
            return false;
        }
    }
    if (unjudged) {
        note_openssh(state, unjudged, begin);
    }
    return !unjudged;
}

static void walk(struct lookup_state *state)
{
    for (size_t i = 0; i < state->config->directives_len; i++) {
        const struct ssh_directive *directive = &state->config->directives[i];
        if (!directive->keyword) {
            state->holds[directive->block] = judge_block(state, directive);
        } else if (directive->keyword->apply &&
                   (directive->block == SSH_NO_BLOCK || state->holds[directive->block])) {
            directive->keyword->apply(state->values, directive);
        }
    }
}

/* The HostName is final now; if a Match final asks for it, everything is walked again. */
static void finish(struct lookup_state *state)
{
    struct ssh_config_values *values = state->values;
    bool given = values->hostname;
    char *hostname = canonical_hostname(expand_hostname(state), values->address_family);

    free(values->hostname);
    values->hostname = hostname;
    state->host = hostname;
    state->final_pass = true;
    if (state->config->wants_final) {
        walk(state);
    }
    if (given || strcasecmp(hostname, state->query->name) != 0) {
        return;
    }
    free(values->hostname);
    values->hostname = NULL;
}

static void drop_none(char **text)
{
    if (!*text || strcasecmp(*text, "none") != 0) {
        return;
    }
    free(*text);
    *text = NULL;
}

int ssh_config_lookup(const struct ssh_config *config, const struct ssh_config_query *query,
                      struct ssh_config_values *out, struct error *err)
{
    struct lookup_state state = {.config = config, .query = query, .values = out, .host = query->name};
    int failed = 0;

    *out = (struct ssh_config_values){.connect_timeout_s = -1,
                                      .alive_interval_s = -1,
                                      .alive_count_max = -1,
                                      .address_family = -1,
                                      .user = xstrdup(query->user)};
    if (config) {
        state.holds = xcalloc(config->blocks_len + 1, sizeof(*state.holds));
        walk(&state);
        failed = check_hostname(out, err);
        if (failed == 0) {
            finish(&state);
        }
        free(state.holds);
    }
    if (failed != 0) {
        ssh_config_values_release(out);
        return -1;
    }
    if (out->address_family < 0) {
        out->address_family = AF_UNSPEC;
    }
    drop_none(&out->proxy_jump);
    drop_none(&out->proxy_command);
    if (out->host_key_alias) {
        text_lower(out->host_key_alias);
    }
    return 0;
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
