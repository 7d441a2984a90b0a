#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "transport/ssh_keyword_internal.h"

static int check_port(const struct strlist *args, struct error *err)
{
    uint64_t port;

    if (!text_to_uint(args->items[0], 1, 65535, &port))
        return error_set(err, &kind_ssh_config, "port '%s' is not a number from 1 to 65535", args->items[0]);
    return 0;
}

/* Only %h and %% may stand in HostName. */
static int check_hostname(const struct strlist *args, struct error *err)
{
    for (const char *at = strchr(args->items[0], '%'); at != NULL; at = strchr(at + 2, '%')) {
        if (at[1] != 'h' && at[1] != '%')
            return error_set(err, &kind_ssh_config, "host name '%s' holds a token other than %%h and %%%%",
                             args->items[0]);
    }
    return 0;
}

static void set_first(char **slot, const char *value)
{
    if (*slot == NULL)
        *slot = xstrdup(value);
}

static void apply_hostname(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    set_first(&values->hostname, directive->args.items[0]);
}

static void apply_user(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    set_first(&values->user, directive->args.items[0]);
}

static void apply_port(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->port == 0)
        values->port = (unsigned)strtoul(directive->args.items[0], NULL, 10);
}

static void apply_host_key_alias(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    set_first(&values->host_key_alias, directive->args.items[0]);
}

static void apply_identity_file(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (!strlist_has(&values->identity_files, directive->args.items[0]))
        strlist_add(&values->identity_files, directive->args.items[0]);
}

static void apply_user_known_hosts(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->user_known_hosts.len == 0)
        strlist_copy(&values->user_known_hosts, &directive->args);
}

static void apply_global_known_hosts(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->global_known_hosts.len == 0)
        strlist_copy(&values->global_known_hosts, &directive->args);
}

/* The first of ProxyJump and ProxyCommand decides, "none" included. */
static void apply_proxy(struct ssh_config_values *values, const struct ssh_directive *directive)
{
    if (values->unsupported_line != 0)
        return;
    values->unsupported_line = directive->line;
    values->unsupported_file = directive->file;
    if (strcasecmp(directive->args.items[0], "none") != 0)
        values->unsupported = xstrdup(directive->keyword->name);
}

static const struct ssh_keyword keywords[] = {
    {"HostName", 1, check_hostname, apply_hostname},
    {"User", 1, NULL, apply_user},
    {"Port", 1, check_port, apply_port},
    {"IdentityFile", 1, NULL, apply_identity_file},
    {"HostKeyAlias", 1, NULL, apply_host_key_alias},
    {"UserKnownHostsFile", 0, NULL, apply_user_known_hosts},
    {"GlobalKnownHostsFile", 0, NULL, apply_global_known_hosts},
    {"ProxyJump", 0, NULL, apply_proxy},
    {"ProxyCommand", 0, NULL, apply_proxy},
    /* without effect here */
    {"AddKeysToAgent", 0, NULL, NULL},
    {"AddressFamily", 0, NULL, NULL},
    {"AFSTokenPassing", 0, NULL, NULL},
    {"BatchMode", 0, NULL, NULL},
    {"BindAddress", 0, NULL, NULL},
    {"BindInterface", 0, NULL, NULL},
    {"CanonicalDomains", 0, NULL, NULL},
    {"CanonicalizeFallbackLocal", 0, NULL, NULL},
    {"CanonicalizeHostname", 0, NULL, NULL},
    {"CanonicalizeMaxDots", 0, NULL, NULL},
    {"CanonicalizePermittedCNAMEs", 0, NULL, NULL},
    {"CASignatureAlgorithms", 0, NULL, NULL},
    {"CertificateFile", 0, NULL, NULL},
    {"ChallengeResponseAuthentication", 0, NULL, NULL},
    {"ChannelTimeout", 0, NULL, NULL},
    {"CheckHostIP", 0, NULL, NULL},
    {"Cipher", 0, NULL, NULL},
    {"Ciphers", 0, NULL, NULL},
    {"ClearAllForwardings", 0, NULL, NULL},
    {"Compression", 0, NULL, NULL},
    {"CompressionLevel", 0, NULL, NULL},
    {"ConnectionAttempts", 0, NULL, NULL},
    {"ConnectTimeout", 0, NULL, NULL},
    {"ControlMaster", 0, NULL, NULL},
    {"ControlPath", 0, NULL, NULL},
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
    {"GSSAPIAuthentication", 0, NULL, NULL},
    {"GSSAPIClientIdentity", 0, NULL, NULL},
    {"GSSAPIDelegateCredentials", 0, NULL, NULL},
    {"GSSAPIKexAlgorithms", 0, NULL, NULL},
    {"GSSAPIKeyExchange", 0, NULL, NULL},
    {"GSSAPIRenewalForcesRekey", 0, NULL, NULL},
    {"GSSAPIServerIdentity", 0, NULL, NULL},
    {"GSSAPITrustDns", 0, NULL, NULL},
    {"HashKnownHosts", 0, NULL, NULL},
    {"HostbasedAcceptedAlgorithms", 0, NULL, NULL},
    {"HostbasedAuthentication", 0, NULL, NULL},
    {"HostbasedKeyTypes", 0, NULL, NULL},
    {"HostKeyAlgorithms", 0, NULL, NULL},
    {"IdentitiesOnly", 0, NULL, NULL},
    {"IdentityAgent", 0, NULL, NULL},
    {"IgnoreUnknown", 0, NULL, NULL},
    {"IPQoS", 0, NULL, NULL},
    {"KbdInteractiveAuthentication", 0, NULL, NULL},
    {"KbdInteractiveDevices", 0, NULL, NULL},
    {"KerberosAuthentication", 0, NULL, NULL},
    {"KerberosTGTPassing", 0, NULL, NULL},
    {"KexAlgorithms", 0, NULL, NULL},
    {"KnownHostsCommand", 0, NULL, NULL},
    {"LocalCommand", 0, NULL, NULL},
    {"LocalForward", 0, NULL, NULL},
    {"LogLevel", 0, NULL, NULL},
    {"LogVerbose", 0, NULL, NULL},
    {"MACs", 0, NULL, NULL},
    {"NoHostAuthenticationForLocalhost", 0, NULL, NULL},
    {"NumberOfPasswordPrompts", 0, NULL, NULL},
    {"ObscureKeystrokeTiming", 0, NULL, NULL},
    {"PasswordAuthentication", 0, NULL, NULL},
    {"PermitLocalCommand", 0, NULL, NULL},
    {"PermitRemoteOpen", 0, NULL, NULL},
    {"PKCS11Provider", 0, NULL, NULL},
    {"PreferredAuthentications", 0, NULL, NULL},
    {"Protocol", 0, NULL, NULL},
    {"ProxyUseFdpass", 0, NULL, NULL},
    {"PubkeyAcceptedAlgorithms", 0, NULL, NULL},
    {"PubkeyAcceptedKeyTypes", 0, NULL, NULL},
    {"PubkeyAuthentication", 0, NULL, NULL},
    {"RekeyLimit", 0, NULL, NULL},
    {"RemoteCommand", 0, NULL, NULL},
    {"RemoteForward", 0, NULL, NULL},
    {"RequestTTY", 0, NULL, NULL},
    {"RequiredRSASize", 0, NULL, NULL},
    {"RevokedHostKeys", 0, NULL, NULL},
    {"RhostsAuthentication", 0, NULL, NULL},
    {"RhostsRSAAuthentication", 0, NULL, NULL},
    {"RSAAuthentication", 0, NULL, NULL},
    {"SecurityKeyProvider", 0, NULL, NULL},
    {"SendEnv", 0, NULL, NULL},
    {"ServerAliveCountMax", 0, NULL, NULL},
    {"ServerAliveInterval", 0, NULL, NULL},
    {"SessionType", 0, NULL, NULL},
    {"SetEnv", 0, NULL, NULL},
    {"SkeyAuthentication", 0, NULL, NULL},
    {"SmartcardDevice", 0, NULL, NULL},
    {"StdinNull", 0, NULL, NULL},
    {"StreamLocalBindMask", 0, NULL, NULL},
    {"StreamLocalBindUnlink", 0, NULL, NULL},
    {"StrictHostKeyChecking", 0, NULL, NULL},
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
        if (strcasecmp(keywords[i].name, name) == 0)
            return &keywords[i];
    }
    return NULL;
}
