/*
 * Classifies the messages of OpenSSH's client. Source: versions 8.0 to 9.2, ssh.c, sshconnect.c,
 * sshconnect2.c, authfile.c, packet.c, clientloop.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "model/login_words.h"
#include "transport/openssh/openssh_internal.h"

struct meaning {
    const char *text;
    const struct error_kind *kind;
    const char *hint;
};

/* The first text that is found wins, so causes come before their consequences. */
static const struct meaning meanings[] = {
    {"Could not resolve hostname", &kind_name_not_resolved,
     "check the spelling: DNS, /etc/hosts or a HostName in ssh_config must have the name"},
    {"REVOKED HOST KEY DETECTED", &kind_hostkey_revoked,
     "do not log in to this host before its keys have been replaced"},
    {"REMOTE HOST IDENTIFICATION HAS CHANGED", &kind_hostkey_changed,
     "someone may be intercepting the connection; if the host was reinstalled, remove the old key with "
     "ssh-keygen -R"},
    {"host key is known for", &kind_hostkey_unknown,
     "compare the fingerprint with the host's own, then add it: run ssh to the host once"},
    {"Host key verification failed", &kind_hostkey_unknown,
     "compare the fingerprint with the host's own, then add it: run ssh to the host once"},
    {"Connection refused", &kind_refused, "check that sshd runs there, and on that port"},
    {"timed out", &kind_timed_out, "check that the host is up and reachable from here"},
    {"not responding", &kind_timed_out, "check that the host is up and reachable from here"},
    {"No route to host", &kind_unreachable, "check that the host is up and reachable from here"},
    {"unreachable", &kind_unreachable, "check that the host is up and reachable from here"},
    {"UNPROTECTED PRIVATE KEY FILE", &kind_key_mode, "chmod 600 that file"},
    {"incorrect passphrase supplied", &kind_key_encrypted,
     "load the key into an ssh agent, or name one without a passphrase"},
    {"Too many authentication failures", &kind_auth_failed,
     "the server's MaxAuthTries is reached: name the one key (ssh.identity), with IdentitiesOnly yes"},
    {"Permission denied", &kind_auth_failed,
     "check the user, and that 'ssh HOST true' works from this shell without a prompt"},
    {"open failed", &kind_node_unsupported, "look at MaxSessions in its sshd_config"},
    {"Bad configuration option", &kind_ssh_config, "look at the configuration that ssh itself reads"},
    {"jumphost loop", &kind_ssh_config, "look at ProxyJump in the configuration"},
};

/* Messages of a jump host that cannot connect: "channel 0: open failed: …". */
static const struct meaning meanings_behind[] = {
    {"refused", &kind_refused, "check that sshd runs there, and on that port"},
    {"timed out", &kind_timed_out, "check that the host is up and reachable from the jump host"},
    {"nknown host", &kind_name_not_resolved, "the jump host resolves the name: check that it is known there"},
    {"Name or service", &kind_name_not_resolved,
     "the jump host resolves the name: check that it is known there"},
    {"resolution", &kind_name_not_resolved, "the jump host resolves the name: check that it is known there"},
    {"prohibited", &kind_jump_unreachable, "look at AllowTcpForwarding and PermitOpen in its sshd_config"},
    {"open failed", &kind_unreachable, "check that the host is up and reachable from the jump host"},
};

static const struct meaning *find_meaning(const char *said, const struct meaning *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strstr(said, from[i].text)) {
            return &from[i];
        }
    }
    return NULL;
}

/* Does a message say that the server dropped the connection, usually because it has no room? */
static bool is_dropped(const char *said)
{
    return strstr(said, "kex_exchange_identification: ") || strstr(said, "ssh_exchange_identification: ");
}

bool openssh_is_early(const struct openssh_command *command)
{
    const char *said = str_text(&command->said), *aside = str_text(&command->aside);

    return is_dropped(said) && !find_meaning(said, meanings, ARRAY_LEN(meanings)) &&
           !find_meaning(aside, meanings, ARRAY_LEN(meanings));
}

/* The line that contains the text; text NULL: the last line that is not empty. The caller frees. */
static char *pick_line(const char *said, const char *text)
{
    const char *start = said, *at = text ? strstr(said, text) : NULL;

    if (at) {
        for (const char *p = said; p < at; p++) {
            start = *p == '\n' ? p + 1 : start;
        }
        return xstrndup(start, strcspn(start, "\r\n"));
    }
    for (const char *p = said; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n') {
        if (strcspn(p, "\r\n") > 0) {
            start = p;
        }
    }
    return xstrndup(start, strcspn(start, "\r\n"));
}

/* "Offending ED25519 key in FILE:LINE" */
static void add_place(const char *said, struct error *err)
{
    const char *at = strstr(said, "Offending ");
    const char *in = at ? strstr(at, " key in ") : NULL;
    AUTO_FREE char *file = NULL;
    char *colon;

    if (!in) {
        return;
    }
    in += strlen(" key in ");
    file = xstrndup(in, strcspn(in, "\r\n"));
    colon = strrchr(file, ':');
    if (!colon) {
        return;
    }
    *colon = '\0';
    error_at(err, file, (unsigned)strtoul(colon + 1, NULL, 10), 0);
}

/*
 * Take the key from the warning: "The fingerprint for the ED25519 key sent by the remote host is\nSHA256:….".
 */
static void set_changed(const char *said, struct error *err)
{
    const char *at = strstr(said, "The fingerprint for the ");
    const char *hash = at ? strstr(at, "SHA256:") : NULL;

    if (!hash) {
        return;
    }
    at += strlen("The fingerprint for the ");
    error_set(err, &kind_hostkey_changed, "the host key has changed: it shows %.*s %.*s",
              (int)strcspn(at, " \r\n"), at, (int)strcspn(hash, ".\r\n"), hash);
}

/* host_key: the one that the server has shown; NULL: none, or it belongs to another host. */
static void set_meaning(const char *said, const struct meaning *meaning, const char *host_key,
                        struct error *err)
{
    AUTO_FREE char *line = pick_line(said, meaning->text);

    error_set(err, meaning->kind, "%s%s", text_starts(line, "ssh: ") ? "" : "ssh: ", line);
    if (meaning->kind == &kind_hostkey_unknown && host_key) {
        error_set(err, &kind_hostkey_unknown, "the host key is not known: %s", host_key);
    }
    if (meaning->kind == &kind_hostkey_changed) {
        set_changed(said, err);
    }
    error_hint(err, "%s", meaning->hint);
    if (meaning->kind == &kind_hostkey_changed || meaning->kind == &kind_hostkey_unknown) {
        add_place(said, err);
    }
}

static void set_dropped(const struct openssh_command *command, struct error *err)
{
    AUTO_FREE char *aside = pick_line(str_text(&command->aside), NULL);

    if (aside[0] != '\0') { /* usually of a ProxyCommand */
        error_set(err, &kind_connection_lost, "ssh: the connection ended before the login: %s", aside);
        error_hint(err, "look at its ProxyCommand in ssh_config");
        return;
    }
    error_set(err, &kind_connection_lost, "ssh: the server closed the connection before the login%s",
              command->tries > 0 ? ", repeatedly" : "");
    error_hint(
        err,
        "check that an ssh server listens there, and that its MaxStartups allows this many logins at once");
}

/* Explain messages of a jump host, or of a ProxyCommand that runs ssh. False: none of them is known. */
static bool explain_aside(const struct openssh_command *command, struct error *err)
{
    static const struct error_kind *const out_of_reach[] = {
        &kind_name_not_resolved, &kind_refused, &kind_timed_out, &kind_unreachable, &kind_connection_lost};
    const struct endpoint *jump = command->child.link->endpoint->jump;
    const char *aside = str_text(&command->aside);
    bool behind = strstr(aside, "open failed");
    const struct meaning *meaning = behind ? find_meaning(aside, meanings_behind, ARRAY_LEN(meanings_behind))
                                           : find_meaning(aside, meanings, ARRAY_LEN(meanings));

    if (meaning) {
        set_meaning(aside, meaning, NULL, err);
    } else if (jump && is_dropped(aside)) {
        set_dropped(command, err);
    } else {
        return false;
    }
    if (!jump || behind) {
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(out_of_reach); i++) {
        if (err->kind == out_of_reach[i]) {
            err->kind = &kind_jump_unreachable;
        }
    }
    error_prefix(err, "jump host '%s'", jump->name);
    return true;
}

static void explain_end(const struct openssh_command *command, struct error *err)
{
    const char *said = str_text(&command->said);
    const struct meaning *meaning = find_meaning(said, meanings, ARRAY_LEN(meanings));
    AUTO_FREE char *last = NULL;

    if (meaning) {
        set_meaning(said, meaning, command->host_key, err);
        return;
    }
    if (explain_aside(command, err)) {
        return;
    }
    if (is_dropped(said)) {
        set_dropped(command, err);
        return;
    }
    last = pick_line(said[0] != '\0' ? said : str_text(&command->aside), NULL);
    error_set(err, &kind_connection_lost, "ssh: %s", last[0] != '\0' ? last : "it ended before the login");
}

/* The server's banner comes on standard error, separate from the messages of ssh. */
void openssh_explain(const struct openssh_command *command, struct error *err)
{
    explain_end(command, err);
    if (err->kind != &kind_hostkey_changed && err->kind != &kind_hostkey_unknown) { /* our own texts */
        openssh_drop_name(command->child.link->endpoint, err);
    }
    if (err->kind == &kind_connection_lost && command->greeting.len > 0) {
        login_words_explain(err, "the server says", str_text(&command->greeting), command->greeting.len);
    } else if ((err->kind == &kind_auth_failed || err->kind == &kind_connection_lost) &&
               command->said.len > 0) {
        login_words_explain(err, "the server says", str_text(&command->aside), command->aside.len);
    }
}

void openssh_explain_loss(const struct openssh_command *command, struct error *err)
{
    AUTO_FREE char *last = pick_line(str_text(&command->said), NULL);

    error_set(err, &kind_connection_lost, "connection lost: ssh: %s", last);
    openssh_drop_name(command->child.link->endpoint, err);
}
