/* The command `push`: copies files from this machine to the same place on every host. */
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
    "SRC is copied to DEST under its own name; 'SRC/' means its contents. DEST is a\n"
    "folder, created if it does not exist. A relative DEST is in the login folder, or\n"
    "with --job or --run in the job's workdir, inside its container if it has one.\n"
    "Only what differs in size, time, mode or type is sent, and each file is replaced\n"
    "completely or not at all. PATTERN is a name ('*.pyc'), a path from the top\n"
    "('/data') or a folder ('cache/'). Hosts need sh and tar.\n"
    "\n"
    "With --relay, hosts that lack the same files pass them on to each other, so that\n"
    "many hosts load this machine's network about as much as one. While the command\n"
    "runs, each host runs its own sshd for this, with keys made for this push. It\n"
    "uses a free port from 20000 to 28999 of the address that the host list gives\n"
    "(addr=), or of the address by which the host is reached. Contents are verified\n"
    "by SHA-256 before they are used. A host that has no sshd, ssh or ssh-keygen, or\n"
    "cannot reach the others, gets its files from here, and a message says so.\n";
static const struct option own_options[] = {
    COPY_OPTIONS("remove files there that are not here, in the folders that are pushed",
                 "print what would be sent and removed, and change nothing"),
    {.name = "relay",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, relay),
     .help = "let hosts that lack the same files pass them on to each other"},
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
