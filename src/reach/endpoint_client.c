/* Decides whether the built-in client can reach a host, or only OpenSSH's. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "reach/authority_internal.h"
#include "reach/endpoint_route_internal.h"

static const char *const hardware_identities[] = {"id_ed25519_sk", "id_ecdsa_sk"};

/* Does a process listen on the socket? */
static bool is_live_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 || strlen(path) >= sizeof(address.sun_path)) {
        return false;
    }
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    return connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

/*
 * Does the caller have a master connection of ssh to the host? %C, a hash, is not computed here: any matching
 * socket counts, and ssh itself finds out whether it is the right one.
 */
static bool has_master(struct endpoint *endpoint, const struct ssh_config_values *values,
                       const struct machine *machine)
{
    AUTO_FREE char *path = NULL;
    AUTO_STR struct str pattern = STR_INIT;
    glob_t found = {0};
    bool live = false;

    if (!values->control_path || strcasecmp(values->control_path, "none") == 0) {
        return false;
    }
    path = endpoint_expand(values->control_path, endpoint, machine, NULL);
    if (!path) {
        return false;
    }
    if (!strstr(path, "%C")) {
        return is_live_socket(path);
    }
    for (const char *at = path; *at != '\0'; at++) {
        if (text_starts(at, "%C")) {
            str_add_char(&pattern, '*');
            at++;
        } else {
            if (strchr("*?[\\", *at)) {
                str_add_char(&pattern, '\\');
            }
            str_add_char(&pattern, *at);
        }
    }
    if (glob(str_text(&pattern), 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && !live; i++) {
            live = is_live_socket(found.gl_pathv[i]);
        }
    }
    globfree(&found);
    return live;
}

bool endpoint_has_ticket(void)
{
    const char *cache = getenv("KRB5CCNAME");
    AUTO_FREE char *path = NULL;

    if (!cache || cache[0] == '\0') {
        path = xasprintf("/tmp/krb5cc_%lu", (unsigned long)getuid());
    } else if (!strchr(cache, ':') || text_starts(cache, "FILE:") || text_starts(cache, "DIR:")) {
        path = xstrdup(strchr(cache, ':') ? strchr(cache, ':') + 1 : cache);
    }
    return !path || file_exists(path);
}

/* The public half starts with "sk-": the private half is in a hardware token. */
static bool is_hardware_key(const char *identity)
{
    AUTO_FREE char *path = xasprintf("%s.pub", identity);
    char text[4] = "";
    FILE *file = fopen(path, "re");

    if (!file) {
        return false;
    }
    (void)!fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    return strcmp(text, "sk-") == 0;
}

static const char *find_hardware_key(const struct endpoint *endpoint)
{
    for (size_t i = 0; i < endpoint->identities.len; i++) {
        if (is_hardware_key(endpoint->identities.items[i])) {
            return endpoint->identities.items[i];
        }
    }
    return NULL;
}

/* The file contains the private half. */
static bool is_private_file(const char *identity)
{
    return file_exists(identity) && !text_ends(identity, ".pub");
}

/* A certificate whose private key is not in a file, which the built-in client cannot use. The caller frees;
 * NULL: there is none. */
static char *find_agents_certificate(const struct endpoint *endpoint)
{
    bool has_file = false;

    if (!endpoint->agent) {
        return NULL;
    }
    for (size_t i = 0; i < endpoint->identities.len; i++) {
        char *certificate = xasprintf("%s-cert.pub", endpoint->identities.items[i]);
        if (!is_private_file(endpoint->identities.items[i]) && file_exists(certificate)) {
            return certificate;
        }
        free(certificate);
        has_file |= is_private_file(endpoint->identities.items[i]);
    }
    return !has_file && endpoint->certificates.len > 0 ? xstrdup(endpoint->certificates.items[0]) : NULL;
}

static char *find_default_hardware_key(const struct machine *machine)
{
    for (size_t i = 0; i < ARRAY_LEN(hardware_identities); i++) {
        char *path = xasprintf("%s/.ssh/%s", machine->home, hardware_identities[i]);
        if (file_exists(path)) {
            return path;
        }
        free(path);
    }
    return NULL;
}

char *endpoint_needs_openssh(struct endpoint *endpoint, const struct ssh_config_values *values,
                             const struct machine *machine)
{
    const char *key = find_hardware_key(endpoint);
    AUTO_FREE char *default_key = NULL;

    if (values->openssh_only) {
        return xasprintf("%s (%s:%u)", values->openssh_only,
                         values->openssh_place.file ? values->openssh_place.file : "?",
                         values->openssh_place.line);
    }
    const struct known_name name = known_name_of(endpoint);
    AUTO_FREE char *authority = ssh_authorities_find(machine->authorities, &name);
    if (authority) {
        return xasprintf("the host key's certificate authority (%s)", authority);
    }
    AUTO_FREE char *certificate = find_agents_certificate(endpoint);
    if (certificate) {
        return xasprintf("the certificate '%s', whose key is the agent's", certificate);
    }
    if (has_master(endpoint, values, machine)) {
        return xasprintf("a master connection at ControlPath '%s'", values->control_path);
    }
    if (endpoint->gssapi) {
        return xstrdup("GSSAPIAuthentication, and there are tickets");
    }
    if (!key && endpoint->identities.len == 0) {
        default_key = find_default_hardware_key(machine);
        key = default_key;
    }
    return key ? xasprintf("the hardware key '%s'", key) : NULL;
}
