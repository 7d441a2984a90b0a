/* How to log in to an endpoint and which host keys to trust: identities, agent, known hosts, time limits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "model/kind.h"
#include "reach/endpoint_internal.h"

static const char *const default_identities[] = {"id_ed25519", "id_ecdsa", "id_rsa"};
static const char *const default_user_known_hosts[] = {"known_hosts", "known_hosts2"};
static const char *const default_global_known_hosts[] = {"/etc/ssh/ssh_known_hosts",
                                                         "/etc/ssh/ssh_known_hosts2"};

/* An endpoint that is being filled, and its sources. */
struct login {
    struct endpoint *endpoint;
    const struct machine *machine;
    const struct ssh_config_values *values;
    struct strlist *notes;
};

static void add_token(struct str *out, char token, const struct login *login)
{
    const struct endpoint *endpoint = login->endpoint;
    const struct machine *machine = login->machine;

    switch (token) {
    case '%':
        str_add_char(out, '%');
        break;
    case 'd':
        str_add(out, machine->home);
        break;
    case 'h':
        str_add(out, endpoint->hostname);
        break;
    case 'n':
        str_add(out, endpoint->name);
        break;
    case 'k':
        str_add(out, endpoint->key_name ? endpoint->key_name : endpoint->name);
        break;
    case 'p':
        str_addf(out, "%u", endpoint->port);
        break;
    case 'r':
        str_add(out, endpoint->user);
        break;
    case 'u':
        str_add(out, machine->user);
        break;
    case 'i':
        str_addf(out, "%lu", (unsigned long)getuid());
        break;
    case 'l':
        str_add(out, machine->name);
        break;
    case 'L':
        str_add_mem(out, machine->name, strcspn(machine->name, "."));
        break;
    default:
        str_add_char(out, '%');
        str_add_char(out, token);
        break;
    }
}

static int add_variable(struct str *out, const char *name, size_t len, const char *text, struct error *err)
{
    AUTO_FREE char *copy = xstrndup(name, len);
    const char *value = getenv(copy);

    if (!value) {
        error_set(err, &kind_ssh_config, "variable '%s' of '%s' in the ssh configuration is not set", copy,
                  text);
        return error_hint(err, "export it, or write the path out");
    }
    str_add(out, value);
    return 0;
}

/* "~", the tokens of ssh_config(5) and ${VARIABLES}. NULL with err. */
static char *expand(const char *text, const struct login *login, struct error *err)
{
    AUTO_FREE char *path = path_expand_home(text, login->machine->home);
    AUTO_STR struct str out = STR_INIT;

    for (const char *at = path; *at != '\0'; at++) {
        const char *close = at[0] == '$' && at[1] == '{' ? strchr(at, '}') : NULL;
        if (close) {
            if (add_variable(&out, at + 2, (size_t)(close - at - 2), text, err) != 0) {
                return NULL;
            }
            at = close;
        } else if (at[0] == '%' && at[1] != '\0') {
            add_token(&out, *++at, login);
        } else {
            str_add_char(&out, *at);
        }
    }
    return str_detach(&out);
}

/* A private key, or only its public half: an agent may hold the private one. */
static bool is_there(const char *path)
{
    AUTO_FREE char *public_half = xasprintf("%s.pub", path);

    return access(path, F_OK) == 0 || access(public_half, F_OK) == 0;
}

static void add_default_identities(const struct login *login)
{
    for (size_t i = 0; i < ARRAY_LEN(default_identities); i++) {
        AUTO_FREE char *path = xasprintf("%s/.ssh/%s", login->machine->home, default_identities[i]);
        if (access(path, F_OK) == 0) {
            strlist_add(&login->endpoint->identities, path);
        }
    }
}

static int set_spec_identity(const struct login *login, const char *identity, struct error *err)
{
    AUTO_FREE char *path = path_expand_home(identity, login->machine->home);

    if (!is_there(path)) {
        error_set(err, &kind_identity_missing, "identity '%s' cannot be found: %s", path, strerror(errno));
        return error_hint(err, "name a private key file in ssh.identity, or leave it out to use ~/.ssh/id_*");
    }
    strlist_add(&login->endpoint->identities, path);
    return 0;
}

/* Those files named by ssh_config that exist. */
static int add_files(const struct login *login, const struct strlist *files, const char *keyword,
                     struct strlist *out, struct error *err)
{
    for (size_t i = 0; i < files->len; i++) {
        AUTO_FREE char *path = expand(files->items[i], login, err);
        if (!path) {
            return -1;
        }
        if (strcasecmp(path, "none") == 0) {
            continue;
        }
        if (is_there(path)) {
            strlist_add(out, path);
        } else if (login->notes) {
            strlist_addf(login->notes, "%s: %s '%s' is skipped: %s", login->endpoint->name, keyword, path,
                         strerror(errno));
        }
    }
    return 0;
}

static int fill_identities(const struct login *login, const struct reach *options, struct error *err)
{
    const struct ssh_config_values *values = login->values;
    struct endpoint *endpoint = login->endpoint;

    endpoint->identities_only = values->identities_only == SSH_CONFIG_YES;
    endpoint->gssapi = values->gssapi == SSH_CONFIG_YES && endpoint_has_ticket();
    if (add_files(login, &values->certificate_files, "CertificateFile", &endpoint->certificates, err) != 0) {
        return -1;
    }
    if (options && options->identity) {
        return set_spec_identity(login, options->identity, err);
    }
    if (values->identity_files.len == 0) {
        add_default_identities(login);
    }
    return add_files(login, &values->identity_files, "IdentityFile", &endpoint->identities, err);
}

/* IdentityAgent: none, SSH_AUTH_SOCK, $VARIABLE or a path; by default SSH_AUTH_SOCK. */
static int fill_agent(const struct login *login, struct error *err)
{
    const char *setting = login->values->identity_agent;
    const char *socket = login->machine->agent;

    if (setting && strcasecmp(setting, "none") == 0) {
        return 0;
    }
    if (!setting || strcmp(setting, "SSH_AUTH_SOCK") == 0) {
        login->endpoint->agent = xstrdup(socket);
        return 0;
    }
    if (setting[0] == '$' && setting[1] != '{') {
        login->endpoint->agent = xstrdup(getenv(setting + 1));
        return 0;
    }
    login->endpoint->agent = expand(setting, login, err);
    return login->endpoint->agent ? 0 : -1;
}

static int add_known_hosts(const struct login *login, const struct strlist *files, struct error *err)
{
    for (size_t i = 0; i < files->len; i++) {
        char *path = NULL;
        if (strcasecmp(files->items[i], "none") == 0) {
            continue;
        }
        path = expand(files->items[i], login, err);
        if (!path) {
            return -1;
        }
        strlist_take(&login->endpoint->known_hosts, path);
    }
    return 0;
}

/* New keys go to the first of the user's own files. */
static int fill_known_hosts(const struct login *login, const struct reach *options, struct error *err)
{
    struct endpoint *endpoint = login->endpoint;
    const struct ssh_config_values *values = login->values;

    if (options && options->known_hosts) {
        strlist_take(&endpoint->known_hosts, path_expand_home(options->known_hosts, login->machine->home));
        endpoint->trust_file = xstrdup(endpoint->known_hosts.items[0]);
        return 0;
    }
    if (add_known_hosts(login, &values->user_known_hosts, err) != 0) {
        return -1;
    }
    for (size_t i = 0; values->user_known_hosts.len == 0 && i < ARRAY_LEN(default_user_known_hosts); i++) {
        strlist_addf(&endpoint->known_hosts, "%s/.ssh/%s", login->machine->home, default_user_known_hosts[i]);
    }
    if (endpoint->known_hosts.len > 0) {
        endpoint->trust_file = xstrdup(endpoint->known_hosts.items[0]);
    }
    if (add_known_hosts(login, &values->global_known_hosts, err) != 0) {
        return -1;
    }
    for (size_t i = 0; values->global_known_hosts.len == 0 && i < ARRAY_LEN(default_global_known_hosts);
         i++) {
        strlist_add(&endpoint->known_hosts, default_global_known_hosts[i]);
    }
    return 0;
}

/* StrictHostKeyChecking no is treated as accept-new: a changed key is never accepted. */
static void fill_policy(const struct login *login, const struct reach *options)
{
    const struct ssh_config_values *values = login->values;
    struct endpoint *endpoint = login->endpoint;
    const char *setting = options ? options->host_key : NULL;

    endpoint->accept_by_spec = setting;
    endpoint->accept_new = setting
                               ? strcmp(setting, "accept-new") == 0
                               : values->strict == SSH_STRICT_ACCEPT_NEW || values->strict == SSH_STRICT_OFF;
    endpoint->address_family = values->address_family;
    endpoint->compression = values->compression == SSH_CONFIG_YES;
    endpoint->connect_timeout_ms =
        values->connect_timeout_s > 0 ? (unsigned)values->connect_timeout_s * 1000 : 0;
    endpoint->alive_interval_ms =
        values->alive_interval_s > 0 ? (unsigned)values->alive_interval_s * 1000 : 0;
    endpoint->alive_count_max = values->alive_count_max > 0 ? (unsigned)values->alive_count_max : 0;
}

int endpoint_fill_login(struct endpoint *endpoint, const struct reach *options, const struct machine *machine,
                        const struct ssh_config_values *values, struct strlist *notes, struct error *err)
{
    const struct login login = {.endpoint = endpoint, .machine = machine, .values = values, .notes = notes};

    fill_policy(&login, options);
    if (fill_identities(&login, options, err) != 0 || fill_agent(&login, err) != 0) {
        return -1;
    }
    return fill_known_hosts(&login, options, err);
}

char *endpoint_expand(const char *text, struct endpoint *endpoint, const struct machine *machine,
                      struct error *err)
{
    const struct login login = {.endpoint = endpoint, .machine = machine};

    return expand(text, &login, err);
}
