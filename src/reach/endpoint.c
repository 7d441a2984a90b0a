/* Resolves an entry of the host list into an endpoint: name, user, port, and whether it is this machine. */
#include "reach/endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "model/host.h"
#include "model/kind.h"
#include "reach/endpoint_route_internal.h"

#define SSH_PORT 22

/* Are both the same address, however they are written (::1 and 0:0:0:0:0:0:0:1)? */
static bool is_same_address(const char *a, const char *b)
{
    for (int family = AF_INET;; family = AF_INET6) {
        unsigned char raw_a[16] = {0}, raw_b[16] = {0};
        if (inet_pton(family, a, raw_a) == 1 && inet_pton(family, b, raw_b) == 1) {
            return memcmp(raw_a, raw_b, sizeof(raw_a)) == 0;
        }
        if (family == AF_INET6) {
            return false;
        }
    }
}

/* uname -n may be the full name; its first label also names this machine. */
static bool is_machine_name(const struct machine *machine, const char *name)
{
    size_t label = strcspn(machine->name, ".");

    if (strcasecmp(machine->name, name) == 0) {
        return true;
    }
    return label > 0 && strlen(name) == label && strncasecmp(machine->name, name, label) == 0;
}

/* The reason why the name means this machine, or NULL. */
static char *find_why_local(const struct machine *machine, const char *hostname)
{
    AUTO_FREE char *bare = xstrndup(hostname, strcspn(hostname, "%"));

    if (strcasecmp(hostname, "localhost") == 0) {
        return xstrdup("'localhost' is this machine");
    }
    if (is_same_address(bare, "127.0.0.1") || is_same_address(bare, "::1")) {
        return xasprintf("'%s' is this machine", hostname);
    }
    if (is_machine_name(machine, hostname)) {
        return xasprintf("'%s' is this machine's name", hostname);
    }
    for (size_t i = 0; i < machine->addresses.len; i++) {
        if (is_same_address(bare, machine->addresses.items[i])) {
            return xasprintf("'%s' is an address of this machine", hostname);
        }
    }
    return NULL;
}

/*
 * Behind a jump or a ProxyCommand, an address from HostName belongs to a machine on the far side, even if it
 * is also an address of this machine.
 */
static bool means_another(const struct reach *options, const struct ssh_config_values *values,
                          const struct machine *machine, const struct endpoint *endpoint)
{
    return strcasecmp(endpoint->name, endpoint->hostname) != 0 &&
           (endpoint_find_jump(options, values) || values->proxy_command) &&
           !is_machine_name(machine, endpoint->hostname);
}

/* Name, user and port, in this order: entry, spec, ssh_config, default. */
static void fill_basics(const struct host *host, const struct reach *options, const struct machine *machine,
                        const struct ssh_config_values *values, struct endpoint *out)
{
    unsigned spec_port = options ? options->port : 0;

    *out = (struct endpoint){0};
    out->name = xstrdup(host->name);
    out->hostname = xstrdup(values->hostname ? values->hostname : host->name);
    out->user = xstrdup(values->user ? values->user : machine->user);
    out->port = host->port != 0 ? host->port : spec_port != 0 ? spec_port : values->port;
    if (out->port == 0) {
        out->port = SSH_PORT;
    }
    out->home = xstrdup(machine->home);
    out->key_name = xstrdup(values->host_key_alias);
    if (host->here) {
        out->why_local = xstrdup("no host list: this machine alone");
        out->local = true;
    } else if (!host->ssh_always && out->port == SSH_PORT && strcmp(out->user, machine->user) == 0 &&
               !means_another(options, values, machine, out)) {
        out->why_local = find_why_local(machine, out->hostname);
        out->local = out->why_local;
    }
}

/* A jump uses its own configuration. The spec supplies what is not set there, as for the hosts. */
static void add_spec_trust(struct endpoint *hop, const struct reach *spec, const struct machine *machine,
                           bool has_identities)
{
    struct strlist identities = STRLIST_INIT, known_hosts = STRLIST_INIT;

    if (spec->identity && !has_identities) {
        strlist_take(&identities, path_expand_home(spec->identity, machine->home));
        strlist_copy(&identities, &hop->identities);
        strlist_release(&hop->identities);
        hop->identities = identities;
    }
    if (spec->known_hosts) {
        strlist_take(&known_hosts, path_expand_home(spec->known_hosts, machine->home));
        strlist_copy(&known_hosts, &hop->known_hosts);
        strlist_release(&hop->known_hosts);
        hop->known_hosts = known_hosts;
    }
}

/* The spec's options for the host itself. */
static const struct reach *find_spec(const struct endpoint_way *outer)
{
    while (outer->outer) {
        outer = outer->outer;
    }
    return outer->options;
}

int endpoint_resolve_hop(const struct host *host, const struct endpoint_sources *sources,
                         const struct endpoint_way *outer, struct endpoint *out, struct error *err)
{
    const struct reach *options = sources->options;
    const struct machine *machine = sources->machine;
    const char *spec_user = options ? options->user : NULL;
    const struct ssh_config_query query = {
        .name = host->name, .user = host->user ? host->user : spec_user, .local_user = machine->user};
    struct ssh_config_values values;
    int failed;

    if (ssh_config_lookup(sources->config, &query, &values, err) != 0) {
        return -1;
    }
    if (values.user && !host_user_is_valid(values.user, strlen(values.user))) {
        error_set(err, &kind_ssh_config, "'%s' is not a valid user name for '%s'", values.user, host->name);
        ssh_config_values_release(&values);
        return error_hint(err, HOST_USER_HINT);
    }
    fill_basics(host, options, machine, &values, out);
    failed = endpoint_fill_login(out, options, machine, &values, sources->notes, err);
    if (failed == 0) {
        if (outer && find_spec(outer)) {
            add_spec_trust(out, find_spec(outer), machine, values.identity_files.len > 0);
        }
        failed = endpoint_find_route(host, sources, &values, outer, out, err);
    }
    if (failed != 0) {
        endpoint_release(out);
    }
    ssh_config_values_release(&values);
    return failed;
}

int endpoint_resolve(const struct host *host, const struct reach *options, const struct machine *machine,
                     const struct ssh_config *config, struct endpoint *out, struct strlist *notes,
                     struct error *err)
{
    const struct endpoint_sources sources = {
        .options = options, .machine = machine, .config = config, .notes = notes};

    return endpoint_resolve_hop(host, &sources, NULL, out, err);
}

void endpoint_release(struct endpoint *endpoint)
{
    free(endpoint->name);
    free(endpoint->hostname);
    free(endpoint->user);
    free(endpoint->why_local);
    free(endpoint->home);
    free(endpoint->key_name);
    strlist_release(&endpoint->identities);
    strlist_release(&endpoint->known_hosts);
    strlist_release(&endpoint->certificates);
    free(endpoint->agent);
    free(endpoint->trust_file);
    strlist_release(&endpoint->openssh_args);
    if (endpoint->jump) {
        endpoint_release(endpoint->jump);
    }
    free(endpoint->jump);
    *endpoint = (struct endpoint){0};
}

void endpoint_copy(struct endpoint *to, const struct endpoint *from)
{
    *to = *from;
    to->name = xstrdup(from->name);
    to->hostname = xstrdup(from->hostname);
    to->user = xstrdup(from->user);
    to->why_local = xstrdup(from->why_local);
    to->home = xstrdup(from->home);
    to->key_name = xstrdup(from->key_name);
    to->identities = (struct strlist)STRLIST_INIT;
    to->known_hosts = (struct strlist)STRLIST_INIT;
    strlist_copy(&to->identities, &from->identities);
    strlist_copy(&to->known_hosts, &from->known_hosts);
    to->certificates = (struct strlist)STRLIST_INIT;
    strlist_copy(&to->certificates, &from->certificates);
    to->agent = xstrdup(from->agent);
    to->trust_file = xstrdup(from->trust_file);
    to->openssh_args = (struct strlist)STRLIST_INIT;
    strlist_copy(&to->openssh_args, &from->openssh_args);
    if (from->jump) {
        to->jump = xcalloc(1, sizeof(*to->jump));
        endpoint_copy(to->jump, from->jump);
    }
}

/* Each item has its length before it, so that no two lists make the same text. */
static void add_key_list(struct str *out, const struct strlist *list)
{
    for (size_t i = 0; i < list->len; i++) {
        str_addf(out, "%zu:%s", strlen(list->items[i]), list->items[i]);
    }
    str_add_char(out, ';');
}

static void add_key_text(struct str *out, const char *text)
{
    if (text) {
        str_addf(out, "%zu:%s", strlen(text), text);
    }
    str_add_char(out, ';');
}

char *endpoint_login_key(const struct endpoint *endpoint)
{
    struct str out = STR_INIT;

    for (; endpoint; endpoint = endpoint->jump) {
        str_addf(&out, "%s@%s:%u ", endpoint->user, endpoint->hostname, endpoint->port);
        add_key_text(&out, endpoint->key_name);
        add_key_list(&out, &endpoint->known_hosts);
        add_key_list(&out, &endpoint->identities);
        add_key_list(&out, &endpoint->certificates);
        add_key_text(&out, endpoint->agent);
        str_addf(&out, "%d%d ", endpoint->identities_only, endpoint->accept_new);
    }
    return str_detach(&out);
}
