/* The route to an endpoint: its jump hosts, and the command line when the system's ssh has to be used. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "model/host.h"
#include "model/kind.h"
#include "reach/endpoint_route_internal.h"
#include "reach/ssh_config_keyword_internal.h"

/* --- jumps --- */

const char *endpoint_find_jump(const struct reach *options, const struct ssh_config_values *values)
{
    const char *jump = options && options->jump ? options->jump : values->proxy_jump;

    return !jump || jump[0] == '\0' || strcasecmp(jump, "none") == 0 ? NULL : jump;
}

static int refuse_hop(const char *text, const struct ssh_config_place *place, struct error *err)
{
    error_set(err, &kind_ssh_config, "jump '%s' is not [user@]host[:port]", text);
    if (place->file) {
        error_at(err, place->file, place->line, 0);
    }
    return error_hint(err, "several jumps are separated by commas, the nearest first");
}

/* "host:port", "[address]:port", "address" with several colons. */
static int split_port(char *text, struct host *hop, const char *whole, const struct ssh_config_place *place,
                      struct error *err)
{
    char *colon = strrchr(text, ':'), *close = text[0] == '[' ? strchr(text, ']') : NULL;

    if (text[0] == '[') {
        if (!close || (close[1] != '\0' && close[1] != ':')) {
            return refuse_hop(whole, place, err);
        }
        colon = close[1] == ':' ? close + 1 : NULL;
        *close = '\0';
        text++;
    } else if (colon && strchr(text, ':') != colon) {
        colon = NULL;
    }
    if (colon) {
        hop->port = ssh_port_read(colon + 1);
        if (hop->port == 0 && colon[1] != '\0') {
            return refuse_hop(whole, place, err);
        }
        *colon = '\0';
    }
    if (text[0] == '\0' || text[0] == '-' || text[strcspn(text, " \t\"'`$;&|<>()\\")] != '\0') {
        return refuse_hop(whole, place, err);
    }
    hop->name = xstrdup(text);
    return 0;
}

/* One hop as a host; it is never local. */
static int parse_hop(const char *text, const struct ssh_config_place *place, struct host *hop,
                     struct error *err)
{
    AUTO_FREE char *copy = xstrdup(text_starts(text, "ssh://") ? text + strlen("ssh://") : text);
    char *at = strrchr(copy, '@'), *name = at ? at + 1 : copy;

    *hop = (struct host){.ssh_always = true};
    if (copy[0] != '\0' && copy[strlen(copy) - 1] == '/') {
        copy[strlen(copy) - 1] = '\0';
    }
    if (at) {
        *at = '\0';
        if (!host_user_is_valid(copy, strlen(copy))) {
            return refuse_hop(text, place, err);
        }
        hop->user = xstrdup(copy);
    }
    if (split_port(name, hop, text, place, err) == 0) {
        return 0;
    }
    free(hop->user);
    return -1;
}

/* Does the route to this entry lead through the entry itself? Addresses may repeat: behind a jump the same
 * address is another machine.
 */
static int check_loop(const struct endpoint *hop, const struct endpoint_way *outer, struct error *err)
{
    unsigned hops = 0;

    for (const struct endpoint_way *way = outer; way; way = way->outer) {
        const struct endpoint *at = way->endpoint;
        if (++hops > ENDPOINT_MAX_HOPS) {
            error_set(err, &kind_ssh_config, "more than %d jumps lead to a host", ENDPOINT_MAX_HOPS);
            return error_hint(err, "look at ProxyJump in ssh_config, and at ssh.jump");
        }
        if (strcasecmp(at->name, hop->name) == 0 && at->port == hop->port &&
            strcmp(at->user, hop->user) == 0) {
            error_set(err, &kind_ssh_config, "jump '%s' leads to itself", hop->name);
            return error_hint(
                err, "set 'ProxyJump none' for the jump in ssh_config, or remove it from the host list");
        }
    }
    return 0;
}

/* The hops before the last one, as text; NULL: there are none. The caller frees. */
static char *hops_before(const char *jump, const char **last)
{
    const char *comma = strrchr(jump, ',');

    *last = comma ? comma + 1 : jump;
    *last += strspn(*last, " \t");
    return comma ? xstrndup(jump, (size_t)(comma - jump)) : NULL;
}

/*
 * As with ssh -J, the last hop of the text is reached through those before it, and the first one as its own
 * configuration says.
 */
static int resolve_jump(const char *jump, const struct ssh_config_place *place,
                        const struct endpoint_sources *sources, const struct endpoint_way *outer,
                        struct endpoint *out, struct error *err)
{
    const char *last;
    AUTO_FREE char *before = hops_before(jump, &last);
    struct reach options = {0};
    struct endpoint_sources hop_sources = *sources;
    const struct endpoint_way way = {.outer = outer, .endpoint = out, .options = sources->options};
    struct host hop;
    int failed;

    if (sources->options) {
        options.client = sources->options->client;
        options.config = sources->options->config;
        options.host_key = sources->options->host_key;
    }
    options.jump = before;
    hop_sources.options = &options;
    hop_sources.notes = NULL; /* the same for every host behind it */
    if (parse_hop(last, place, &hop, err) != 0) {
        return -1;
    }
    out->jump = xcalloc(1, sizeof(*out->jump));
    failed = endpoint_resolve_hop(&hop, &hop_sources, &way, out->jump, err);
    if (failed != 0) {
        free(out->jump);
        out->jump = NULL;
        if (place->file && err && err->line == 0) {
            error_at(err, place->file, place->line, 0);
        }
    }
    free(hop.name);
    free(hop.user);
    return failed;
}

/* --- the system's ssh --- */

static void add_option(struct strlist *args, const char *name, const char *value)
{
    strlist_add(args, "-o");
    strlist_addf(args, "%s=\"%s\"", name, value);
}

/* Files that ssh would look for in a home folder other than $HOME. */
static void add_home_args(const struct reach *options, const struct machine *machine, struct endpoint *out)
{
    struct strlist *args = &out->openssh_args;

    if (!options->config) {
        AUTO_FREE char *config = xasprintf("%s/.ssh/config", machine->home);
        strlist_add(args, "-F");
        strlist_add(args, file_exists(config) ? config : "none");
    }
    if (!options->known_hosts && out->known_hosts.len > 0) {
        AUTO_FREE char *files = strlist_join(&out->known_hosts, "\" \"");
        add_option(args, "UserKnownHostsFile", files);
    }
    for (size_t i = 0; !options->identity && i < out->identities.len; i++) {
        add_option(args, "IdentityFile", out->identities.items[i]);
    }
}

/* Pass only the options of the entry and the spec: ssh reads its own configuration. */
static void add_openssh_args(const struct host *host, const struct endpoint_sources *sources,
                             struct endpoint *out)
{
    static const struct reach none = {0};
    const struct reach *options = sources->options ? sources->options : &none;
    struct strlist *args = &out->openssh_args;

    if (options->config) {
        strlist_add(args, "-F");
        strlist_take(args, path_expand_home(options->config, sources->machine->home));
    }
    if (host->user || options->user) {
        strlist_add(args, "-l");
        strlist_add(args, out->user);
    }
    if (host->port != 0 || options->port != 0) {
        strlist_add(args, "-p");
        strlist_addf(args, "%u", out->port);
    }
    if (options->identity) {
        strlist_add(args, "-i");
        strlist_take(args, path_expand_home(options->identity, sources->machine->home));
    }
    if (options->known_hosts) {
        AUTO_FREE char *path = path_expand_home(options->known_hosts, sources->machine->home);
        add_option(args, "UserKnownHostsFile", path);
        add_option(args, "GlobalKnownHostsFile", "none");
    }
    if (sources->machine->moved) {
        add_home_args(options, sources->machine, out);
    }
    if (options->jump && !out->jump) {
        strlist_add(args, "-o");
        strlist_add(args, "ProxyJump=none");
    }
}

static bool names_jump(const struct reach *options)
{
    return options && options->jump;
}

/* The reason why the host needs the system's ssh: something in its own configuration, or in that of a jump.
 */
static char *find_need(const struct endpoint_sources *sources, const struct ssh_config_values *values,
                       struct endpoint *out)
{
    if (values->proxy_command && !names_jump(sources->options)) {
        return xasprintf("ProxyCommand (%s:%u)", values->proxy_place.file, values->proxy_place.line);
    }
    if (out->jump && out->jump->openssh) {
        return xasprintf("its jump '%s' needs it", out->jump->name);
    }
    return endpoint_needs_openssh(out, values, sources->machine);
}

static int choose_client(const struct host *host, const struct endpoint_sources *sources,
                         const struct ssh_config_values *values, const struct endpoint_way *outer,
                         struct endpoint *out, struct error *err)
{
    const char *given = sources->options ? sources->options->client : NULL;
    const char *client = given ? given : "auto";
    AUTO_FREE char *need = find_need(sources, values, out);

    if (strcmp(client, "builtin") == 0 && values->proxy_command && !out->jump &&
        !names_jump(sources->options)) {
        error_set(err, &kind_ssh_config,
                  "the built-in client does not run ProxyCommand, which applies to '%s'", out->name);
        error_at(err, values->proxy_place.file, values->proxy_place.line, 0);
        return error_hint(err, "leave ssh.client out, or name a jump (ssh.jump)");
    }
    out->openssh = strcmp(client, "openssh") == 0 || (strcmp(client, "auto") == 0 && need);
    if (out->openssh || outer) { /* the host behind a jump may need it */
        add_openssh_args(host, sources, out);
    }
    if (sources->notes && out->openssh && strcmp(client, "auto") == 0) {
        strlist_addf(sources->notes, "%s: reached through the system's ssh, for %s", out->name, need);
    } else if (sources->notes && out->openssh) {
        strlist_addf(sources->notes, "%s: reached through the system's ssh, as ssh.client says", out->name);
    }
    return 0;
}

int endpoint_find_route(const struct host *host, const struct endpoint_sources *sources,
                        const struct ssh_config_values *values, const struct endpoint_way *outer,
                        struct endpoint *out, struct error *err)
{
    bool given = sources->options && sources->options->jump;
    const char *jump = endpoint_find_jump(sources->options, values);
    const struct ssh_config_place nowhere = {0};

    if (out->local) {
        return 0;
    }
    if (check_loop(out, outer, err) != 0) {
        return -1;
    }
    if (jump && resolve_jump(jump, given ? &nowhere : &values->proxy_place, sources, outer, out, err) != 0) {
        return -1;
    }
    return choose_client(host, sources, values, outer, out, err);
}
