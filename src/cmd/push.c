/* The command `push`: files from here to the same place on every host. */
#include "base/alloc.h"
#include "cmd/commands_internal.h"
#include "cmd/copy_internal.h"

static int push(struct cmd_call *call, struct error *err)
{
    return cmd_copy(call, run_push, "sent", err);
}

static const char *const usage[] = {
    "push SRC... DEST [HOST OPTION]... [--job JOB|--run RUN] [--delete] [--skip PATTERN]... [--checksum] "
    "[--relay] [--dry-run]",
    NULL,
};
static const char notes[] =
    "SRC comes to stand in DEST under its own name; 'SRC/' means what is in it. DEST\n"
    "is a folder, made where it lacks; a relative one is in the login folder, with\n"
    "--job or --run in the job's workdir, inside its container where it has one. Only\n"
    "what differs in size, time, mode or kind is sent, and each file is replaced\n"
    "whole or not at all. PATTERN is a name ('*.pyc'), a path from the top ('/data')\n"
    "or a folder ('cache/'). Hosts need sh and tar.\n"
    "\n"
    "With --relay hosts that lack the same files pass them on to each other, so that\n"
    "many hosts cost this machine's network about as much as one. Each host runs an\n"
    "sshd of its own for that while the command runs, on a free port from 20000 to\n"
    "28999 of the address the host list gives (addr=) or it is reached by, with keys\n"
    "made for this push. Contents are compared by SHA-256 before they are used. A\n"
    "host that has no sshd, ssh or ssh-keygen, or cannot reach the others, gets its\n"
    "files from here, and that is said.\n";
static const struct option own_options[] = {
    COPY_OPTIONS("remove what is there and not here, in folders that are pushed",
                 "print what would be sent and removed, and change nothing"),
    {.name = "relay",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, relay),
     .help = "let hosts pass on to each other what several of them lack"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
const struct command command_push = {
    .name = "push",
    .summary = "copy files from here to every host",
    .usage = usage,
    .notes = notes,
    .own = &own,
    CMD_TAKES_COPIES("SRC and DEST"),
    .run = push,
};
