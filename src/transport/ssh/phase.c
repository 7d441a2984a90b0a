/* The table of a link's phases: the limit of each, and the message of its time-out. */
#include "base/alloc.h"
#include "model/kind.h"
#include "transport/ssh/phase_internal.h"

static const struct ssh_phase_row rows[SSH_PHASES] = {
    [SSH_PHASE_LOOKUP] = {"lookup", SSH_LIMIT_CONNECT, &kind_name_not_resolved, "the name was not resolved"},
    [SSH_PHASE_SLOT] = {"login slot", SSH_LIMIT_NONE, NULL, NULL},
    [SSH_PHASE_PASSAGE] = {"passage", SSH_LIMIT_CONNECT, &kind_timed_out,
                           "the jump host has not connected to it"},
    [SSH_PHASE_CONNECT] = {"connect", SSH_LIMIT_ADDRESS, &kind_timed_out, "no answer"},
    [SSH_PHASE_GREETING] = {"greeting", SSH_LIMIT_CONNECT, &kind_timed_out,
                            "it accepts connections and says nothing"},
    [SSH_PHASE_VERSION] = {"version", SSH_LIMIT_CONNECT, &kind_timed_out, "it does not speak ssh"},
    [SSH_PHASE_KEY_EXCHANGE] = {"key exchange", SSH_LIMIT_CONNECT, &kind_timed_out,
                                "the key exchange was not finished"},
    [SSH_PHASE_HOST_KEY] = {"host key", SSH_LIMIT_NONE, NULL, NULL},
    [SSH_PHASE_LOGIN] = {"login", SSH_LIMIT_CONNECT, &kind_timed_out, "the login was not answered"},
    [SSH_PHASE_AGENT] = {"agent", SSH_LIMIT_CONNECT, &kind_timed_out, "the ssh agent has not answered"},
    [SSH_PHASE_RETRY] = {"retry", SSH_LIMIT_PAUSE, NULL, NULL},
    [SSH_PHASE_OPEN] = {"open", SSH_LIMIT_NONE, NULL, NULL},
    [SSH_PHASE_BROKEN] = {"broken", SSH_LIMIT_NONE, NULL, NULL},
    [SSH_PHASE_CHANNEL] = {"channel", SSH_LIMIT_ANSWER, &kind_timed_out, "the ssh server opened no channel"},
    [SSH_PHASE_COMMAND] = {"command", SSH_LIMIT_ANSWER, &kind_timed_out,
                           "the ssh server did not start the command"},
};

const struct ssh_phase_row *ssh_phase_row(enum ssh_phase phase)
{
    return &rows[phase];
}

void ssh_phase_time_out(enum ssh_phase phase, const char *where, unsigned limit_ms, struct error *err)
{
    error_set(err, rows[phase].kind, "%s%s%s within %g s", where ? where : "", where ? ": " : "",
              rows[phase].words, limit_ms / 1000.0);
    error_hint(err, "%s--connect-timeout gives it more time",
               where ? "check that the host is up and reachable from here; " : "");
}
