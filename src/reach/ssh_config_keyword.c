/* The table of ssh_config keywords: how each is checked and what it does. */
#include <arpa/inet.h>
#include <ctype.h>
#include <limits.h>
#include <netdb.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"
#include "model/kind.h"
#include "reach/ssh_config_keyword_internal.h"

unsigned ssh_port_read(const char *text)
{
    char *end = NULL;
    long port = strtol(text, &end, 10);
    const struct servent *service;

    if (end != text && *end == '\0' && port >= 0 && port <= 65535) {
        return (unsigned)port;
    }
    service = getservbyname(text, "tcp");
    return service ? ntohs((uint16_t)service->s_port) : 0;
}

static int check_port(const struct strlist *args, struct error *err)
{
    if (ssh_port_read(args->items[0]) != 0) {
        return 0;
    }
    return error_set(err, &kind_ssh_config,
                     "port '%s' is neither a number from 1 to 65535 nor the name of a service",
                     args->items[0]);
}

static void set_first(char **slot, const char *value)
{
    if (!*slot) {
        *slot = xstrdup(value);
    }
}

static struct ssh_config_place place_of(const struct ssh_directive *directive)
{
    return (struct ssh_config_place){directive->file, directive->line};
}

/* Note why the host needs OpenSSH's own client; the first reason is kept. reason: static. */
static void leave_to_openssh(struct ssh_config_values *values, const struct ssh_directive *directive,
                             const char *reason)
{
    if (values->openssh_only) {
        return;
    }
    values->openssh_only = reason;
    values->openssh_place = place_of(directive);
}

static void apply_hostname(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->hostname) {
        return;
    }
    values->hostname = xstrdup(directive->args.items[0]);
    values->hostname_place = place_of(directive);
}

static void apply_user(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    set_first(&values->user, directive->args.items[0]);
}

static void apply_port(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->port == 0) {
        values->port = ssh_port_read(directive->args.items[0]);
    }
}

static void apply_host_key_alias(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    set_first(&values->host_key_alias, directive->args.items[0]);
}

/* "none" has to be the only value. */
static int check_files(const struct strlist *args, struct error *err)
{
    for (size_t i = 0; i < args->len; i++) {
        if (args->items[i][0] == '\0') {
            return error_set(err, &kind_ssh_config, "a file's name is empty");
        }
        if (strcasecmp(args->items[i], "none") == 0 && args->len > 1) {
            return error_set(err, &kind_ssh_config, "'none' cannot be combined with other files");
        }
    }
    return 0;
}

/* Does an argument contain %C, a hash of several tokens, which is not computed here? */
static bool has_hash(const struct ssh_directive *directive)
{
    for (size_t i = 0; i < directive->args.len; i++) {
        for (const char *at = strchr(directive->args.items[i], '%'); at && at[1] != '\0';
             at = strchr(at + 2, '%')) {
            if (at[1] == 'C') {
                return true;
            }
        }
    }
    return false;
}

static void apply_identity_file(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (has_hash(directive)) {
        leave_to_openssh(values, directive, "%C in IdentityFile");
    }
    if (!strlist_has(&values->identity_files, directive->args.items[0])) {
        strlist_add(&values->identity_files, directive->args.items[0]);
    }
}

static void apply_user_known_hosts(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->user_known_hosts.len > 0) {
        return;
    }
    strlist_copy(&values->user_known_hosts, &directive->args);
    if (has_hash(directive)) {
        leave_to_openssh(values, directive, "%C in UserKnownHostsFile");
    }
}

static void apply_global_known_hosts(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->global_known_hosts.len == 0) {
        strlist_copy(&values->global_known_hosts, &directive->args);
    }
}

static void apply_certificate_file(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (has_hash(directive)) {
        leave_to_openssh(values, directive, "%C in CertificateFile");
    }
    if (!strlist_has(&values->certificate_files, directive->args.items[0])) {
        strlist_add(&values->certificate_files, directive->args.items[0]);
    }
}

static void apply_identity_agent(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    set_first(&values->identity_agent, directive->args.items[0]);
}

/* --- values from a fixed set --- */

struct word {
    const char *text;
    int value;
};

static const struct word flags[] = {
    {"yes", SSH_CONFIG_YES}, {"true", SSH_CONFIG_YES}, {"no", SSH_CONFIG_NO}, {"false", SSH_CONFIG_NO}};
static const struct word stricts[] = {
    {"ask", SSH_STRICT_ASK},  {"yes", SSH_STRICT_YES}, {"accept-new", SSH_STRICT_ACCEPT_NEW},
    {"no", SSH_STRICT_OFF},   {"off", SSH_STRICT_OFF}, {"true", SSH_STRICT_YES},
    {"false", SSH_STRICT_OFF}};
static const struct word families[] = {{"any", AF_UNSPEC}, {"inet", AF_INET}, {"inet6", AF_INET6}};

/* The value of the word that equals text; -1: there is none. */
static int find_word(const struct word *words, size_t len, const char *text)
{
    for (size_t i = 0; i < len; i++) {
        if (strcasecmp(words[i].text, text) == 0) {
            return words[i].value;
        }
    }
    return -1;
}

static int check_word(const struct word *words, size_t len, const char *text, struct error *err)
{
    AUTO_STR struct str allowed = STR_INIT;

    if (find_word(words, len, text) >= 0) {
        return 0;
    }
    for (size_t i = 0; i < len; i++) {
        str_addf(&allowed, "%s%s", i > 0 ? ", " : "", words[i].text);
    }
    return error_set(err, &kind_ssh_config, "value '%s' is not one of: %s", text, str_text(&allowed));
}

static int check_flag(const struct strlist *args, struct error *err)
{
    return check_word(flags, ARRAY_LEN(flags), args->items[0], err);
}

static int check_strict(const struct strlist *args, struct error *err)
{
    return check_word(stricts, ARRAY_LEN(stricts), args->items[0], err);
}

static int check_family(const struct strlist *args, struct error *err)
{
    return check_word(families, ARRAY_LEN(families), args->items[0], err);
}

static enum ssh_config_flag read_flag(const struct ssh_directive *directive)
{
    return (enum ssh_config_flag)find_word(flags, ARRAY_LEN(flags), directive->args.items[0]);
}

static void apply_identities_only(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->identities_only == SSH_CONFIG_ABSENT) {
        values->identities_only = read_flag(directive);
    }
}

static void apply_compression(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->compression == SSH_CONFIG_ABSENT) {
        values->compression = read_flag(directive);
    }
}

static void apply_gssapi(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->gssapi == SSH_CONFIG_ABSENT) {
        values->gssapi = read_flag(directive);
    }
}

static void apply_strict(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->strict == SSH_STRICT_ABSENT) {
        values->strict =
            (enum ssh_config_strict)find_word(stricts, ARRAY_LEN(stricts), directive->args.items[0]);
    }
}

static void apply_family(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->address_family < 0) {
        values->address_family = find_word(families, ARRAY_LEN(families), directive->args.items[0]);
    }
}

/* --- numbers and times --- */

#define MAX_SECONDS 2147483

/* "90", "1m30s", "2h"; -1: it is not a time. */
static int read_time(const char *text)
{
    static const struct {
        char letter;
        int seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}, {'\0', 1}};
    long total = 0;

    do {
        char *end;
        long number = strtol(text, &end, 10);
        size_t unit = 0;
        while (unit < ARRAY_LEN(units) && tolower((unsigned char)*end) != units[unit].letter) {
            unit++;
        }
        if (end == text || unit == ARRAY_LEN(units) || number < 0 ||
            number > (MAX_SECONDS - total) / units[unit].seconds) {
            return -1;
        }
        total += number * units[unit].seconds;
        text = end + (*end != '\0');
    } while (*text != '\0');
    return (int)total;
}

static int check_time(const struct strlist *args, struct error *err)
{
    if (strcmp(args->items[0], "none") == 0 || read_time(args->items[0]) >= 0) {
        return 0;
    }
    return error_set(err, &kind_ssh_config,
                     "time '%s' is neither 'none' nor a time such as 30, 90s, 2m, 1h30m, up to %ds",
                     args->items[0], MAX_SECONDS);
}

static int check_count(const struct strlist *args, struct error *err)
{
    char *end;
    long count = strtol(args->items[0], &end, 10);

    if (end != args->items[0] && *end == '\0' && count >= 0 && count <= INT_MAX) {
        return 0;
    }
    return error_set(err, &kind_ssh_config, "number '%s' is not a number from 0 to %d", args->items[0],
                     INT_MAX);
}

static void apply_connect_timeout(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->connect_timeout_s < 0) {
        values->connect_timeout_s = read_time(directive->args.items[0]);
    }
}

static void apply_alive_interval(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->alive_interval_s < 0) {
        values->alive_interval_s = read_time(directive->args.items[0]);
    }
}

static void apply_alive_count(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->alive_count_max < 0) {
        values->alive_count_max = (int)strtol(directive->args.items[0], NULL, 10);
    }
}

/* --- proxies --- */

/* "[ssh://][user@]host[:port]", of len bytes; an IPv6 address with a port is in brackets. */
static bool is_hop(const char *text, size_t len)
{
    AUTO_FREE char *hop = xstrndup(text, len);
    bool is_uri = strncasecmp(hop, "ssh://", 6) == 0;
    char *host = is_uri ? hop + 6 : hop;
    char *at = strrchr(host, '@'), *slash = strchr(host, '/'), *colon;

    if (at == host || (slash && (!is_uri || slash[1] != '\0'))) {
        return false;
    }
    if (slash) {
        *slash = '\0';
    }
    host = at ? at + 1 : host;
    colon = host[0] == '[' ? strchr(host, ']') : strchr(host, ':');
    if (host[0] == '[') {
        if (!colon) {
            return false;
        }
        colon++;
    }
    if (host[0] != '[' && colon && strchr(colon + 1, ':')) { /* a bare IPv6 address */
        return true;
    }
    if (!colon || *colon == '\0') {
        return host[0] != '\0';
    }
    return colon > host && *colon == ':' && (colon[1] == '\0' || ssh_port_read(colon + 1) != 0);
}

static int check_jump(const struct strlist *args, struct error *err)
{
    const char *all = args->items[0] + strspn(args->items[0], "=");

    if (strcasecmp(all, "none") == 0) {
        return 0;
    }
    for (const char *at = all;; at++) {
        size_t len = strcspn(at, ",#");
        if (!is_hop(at, len)) {
            return error_set(err, &kind_ssh_config, "jump '%s' is not written as [user@]host[:port],…", all);
        }
        at += len;
        if (*at != ',') {
            return 0;
        }
    }
}

/* The rest of the line; OpenSSH skips any number of '='. */
static const char *text_of(const struct ssh_directive *directive)
{
    return directive->rest + strspn(directive->rest, " \t=");
}

/* The first of ProxyJump and ProxyCommand wins; "ProxyJump none" prevents only later jumps. */
static void apply_proxy_jump(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->proxy_jump || values->proxy_command) {
        return;
    }
    values->proxy_jump = xstrndup(text_of(directive), strcspn(text_of(directive), "# \t"));
    values->proxy_place = place_of(directive);
}

static void apply_proxy_command(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->proxy_command || (values->proxy_jump && strcasecmp(values->proxy_jump, "none") != 0)) {
        return;
    }
    values->proxy_command = xstrdup(text_of(directive));
    values->proxy_place = place_of(directive);
}

static void apply_control_path(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    set_first(&values->control_path, directive->args.items[0]);
}

/* Features that only OpenSSH's own client has, unless they are turned off. */
static void apply_openssh(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    static const char *const off[] = {"no", "none", "false"};

    for (size_t i = 0; i < ARRAY_LEN(off); i++) {
        if (strcasecmp(directive->args.items[0], off[i]) == 0) {
            return;
        }
    }
    leave_to_openssh(values, directive, directive->keyword->name);
}

/* Lists of algorithms are ignored, because libssh has its own; but a list that adds to OpenSSH's is there for
 * an old server. */
static void apply_algorithms(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (directive->args.items[0][0] == '+') {
        leave_to_openssh(values, directive, directive->keyword->name);
    }
}

static const struct ssh_keyword keywords[] = {
    {"HostName", 1, NULL, apply_hostname},
    {"User", 1, NULL, apply_user},
    {"Port", 1, check_port, apply_port},
    {"IdentityFile", 1, NULL, apply_identity_file},
    {"HostKeyAlias", 1, NULL, apply_host_key_alias},
    {"UserKnownHostsFile", 0, check_files, apply_user_known_hosts},
    {"GlobalKnownHostsFile", 0, check_files, apply_global_known_hosts},
    {"ProxyJump", 0, check_jump, apply_proxy_jump},
    {"ProxyCommand", 0, NULL, apply_proxy_command},
    {"CertificateFile", 1, NULL, apply_certificate_file},
    {"IdentityAgent", 1, NULL, apply_identity_agent},
    {"IdentitiesOnly", 1, check_flag, apply_identities_only},
    {"GSSAPIAuthentication", 1, check_flag, apply_gssapi},
    {"StrictHostKeyChecking", 1, check_strict, apply_strict},
    {"AddressFamily", 1, check_family, apply_family},
    {"Compression", 1, check_flag, apply_compression},
    {"ConnectTimeout", 1, check_time, apply_connect_timeout},
    {"ServerAliveInterval", 1, check_time, apply_alive_interval},
    {"ServerAliveCountMax", 1, check_count, apply_alive_count},
    {"ControlPath", 1, NULL, apply_control_path},
    {"CanonicalizeHostname", 1, NULL, apply_openssh},
    {"HostbasedAuthentication", 1, NULL, apply_openssh},
    {"KnownHostsCommand", 0, NULL, apply_openssh},
    {"PKCS11Provider", 1, NULL, apply_openssh},
    {"BindAddress", 1, NULL, apply_openssh},
    {"BindInterface", 1, NULL, apply_openssh},
    {"NoHostAuthenticationForLocalhost", 1, check_flag, apply_openssh},
    {"RevokedHostKeys", 1, NULL, apply_openssh},
    {"Ciphers", 1, NULL, apply_algorithms},
    {"HostKeyAlgorithms", 1, NULL, apply_algorithms},
    {"KexAlgorithms", 1, NULL, apply_algorithms},
    {"MACs", 1, NULL, apply_algorithms},
    {"PubkeyAcceptedAlgorithms", 1, NULL, apply_algorithms},
    {"PubkeyAcceptedKeyTypes", 1, NULL, apply_algorithms},
    /* no effect here */
    {"AddKeysToAgent", 0, NULL, NULL},
    {"AFSTokenPassing", 0, NULL, NULL},
    {"BatchMode", 0, NULL, NULL},
    {"CanonicalDomains", 0, NULL, NULL},
    {"CanonicalizeFallbackLocal", 0, NULL, NULL},
    {"CanonicalizeMaxDots", 0, NULL, NULL},
    {"CanonicalizePermittedCNAMEs", 0, NULL, NULL},
    {"CASignatureAlgorithms", 0, NULL, NULL},
    {"ChallengeResponseAuthentication", 0, NULL, NULL},
    {"ChannelTimeout", 0, NULL, NULL},
    {"CheckHostIP", 0, NULL, NULL},
    {"Cipher", 0, NULL, NULL},
    {"ClearAllForwardings", 0, NULL, NULL},
    {"CompressionLevel", 0, NULL, NULL},
    {"ConnectionAttempts", 0, NULL, NULL},
    {"ControlMaster", 0, NULL, NULL},
    {"ControlPersist", 0, NULL, NULL},
    {"DSAAuthentication", 0, NULL, NULL},
    {"DynamicForward", 0, NULL, NULL},
    {"EnableEscapeCommandline", 0, NULL, NULL},
    {"EnableSSHKeysign", 0, NULL, NULL},
    {"EscapeChar", 0, NULL, NULL},
    {"ExitOnForwardFailure", 0, NULL, NULL},
    {"FallBackToRsh", 0, NULL, NULL},
    {"FingerprintHash", 0, NULL, NULL},
    {"ForkAfterAuthentication", 0, NULL, NULL},
    {"ForwardAgent", 0, NULL, NULL},
    {"ForwardX11", 0, NULL, NULL},
    {"ForwardX11Timeout", 0, NULL, NULL},
    {"ForwardX11Trusted", 0, NULL, NULL},
    {"GatewayPorts", 0, NULL, NULL},
    {"GlobalKnownHostsFile2", 0, NULL, NULL},
    {"GSSAPIClientIdentity", 0, NULL, NULL},
    {"GSSAPIDelegateCredentials", 0, NULL, NULL},
    {"GSSAPIKexAlgorithms", 0, NULL, NULL},
    {"GSSAPIKeyExchange", 0, NULL, NULL},
    {"GSSAPIRenewalForcesRekey", 0, NULL, NULL},
    {"GSSAPIServerIdentity", 0, NULL, NULL},
    {"GSSAPITrustDns", 0, NULL, NULL},
    {"HashKnownHosts", 0, NULL, NULL},
    {"HostbasedAcceptedAlgorithms", 0, NULL, NULL},
    {"HostbasedKeyTypes", 0, NULL, NULL},
    {"IgnoreUnknown", 0, NULL, NULL},
    {"IPQoS", 0, NULL, NULL},
    {"KbdInteractiveAuthentication", 0, NULL, NULL},
    {"KbdInteractiveDevices", 0, NULL, NULL},
    {"KerberosAuthentication", 0, NULL, NULL},
    {"KerberosTGTPassing", 0, NULL, NULL},
    {"LocalCommand", 0, NULL, NULL},
    {"LocalForward", 0, NULL, NULL},
    {"LogLevel", 0, NULL, NULL},
    {"LogVerbose", 0, NULL, NULL},
    {"NumberOfPasswordPrompts", 0, NULL, NULL},
    {"ObscureKeystrokeTiming", 0, NULL, NULL},
    {"PasswordAuthentication", 0, NULL, NULL},
    {"PermitLocalCommand", 0, NULL, NULL},
    {"PermitRemoteOpen", 0, NULL, NULL},
    {"PreferredAuthentications", 0, NULL, NULL},
    {"Protocol", 0, NULL, NULL},
    {"ProxyUseFdpass", 0, NULL, NULL},
    {"PubkeyAuthentication", 0, NULL, NULL},
    {"RekeyLimit", 0, NULL, NULL},
    {"RemoteCommand", 0, NULL, NULL},
    {"RemoteForward", 0, NULL, NULL},
    {"RequestTTY", 0, NULL, NULL},
    {"RequiredRSASize", 0, NULL, NULL},
    {"RhostsAuthentication", 0, NULL, NULL},
    {"RhostsRSAAuthentication", 0, NULL, NULL},
    {"RSAAuthentication", 0, NULL, NULL},
    {"SecurityKeyProvider", 0, NULL, NULL},
    {"SendEnv", 0, NULL, NULL},
    {"SessionType", 0, NULL, NULL},
    {"SetEnv", 0, NULL, NULL},
    {"SkeyAuthentication", 0, NULL, NULL},
    {"SmartcardDevice", 0, NULL, NULL},
    {"StdinNull", 0, NULL, NULL},
    {"StreamLocalBindMask", 0, NULL, NULL},
    {"StreamLocalBindUnlink", 0, NULL, NULL},
    {"SyslogFacility", 0, NULL, NULL},
    {"Tag", 0, NULL, NULL},
    {"TCPKeepAlive", 0, NULL, NULL},
    {"Tunnel", 0, NULL, NULL},
    {"TunnelDevice", 0, NULL, NULL},
    {"UpdateHostKeys", 0, NULL, NULL},
    {"UseBlacklistedKeys", 0, NULL, NULL},
    {"UseKeychain", 0, NULL, NULL},
    {"UsePrivilegedPort", 0, NULL, NULL},
    {"UseRoaming", 0, NULL, NULL},
    {"UseRsh", 0, NULL, NULL},
    {"UserKnownHostsFile2", 0, NULL, NULL},
    {"VerifyHostKeyDNS", 0, NULL, NULL},
    {"VisualHostKey", 0, NULL, NULL},
    {"XAuthLocation", 0, NULL, NULL},
};

const struct ssh_keyword *ssh_keyword_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++) {
        if (strcasecmp(keywords[i].name, name) == 0) {
            return &keywords[i];
        }
    }
    return NULL;
}
