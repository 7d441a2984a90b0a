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
    "[--dry-run]",
    NULL,
};
static const char notes[] =
    "SRC comes to stand in DEST under its own name; 'SRC/' means what is in it. DEST\n"
    "is a folder, made where it lacks; a relative one is in the login folder, with\n"
    "--job or --run in the job's workdir, inside its container where it has one. Only\n"
    "what differs in size, time, mode or kind is sent, and each file is replaced\n"
    "whole or not at all. PATTERN is a name ('*.pyc'), a path from the top ('/data')\n"
    "or a folder ('cache/'). Hosts need sh and tar.\n";
static const struct option own_options[] = {
    COPY_OPTIONS("remove what is there and not here, in folders that are pushed",
                 "print what would be sent and removed, and change nothing"),
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
const struct command command_push = {
    .name = "push",
    .summary = "copy files from here to every host",
    .usage = usage,
    .notes = notes,
    .own = &own,
    .takes_hosts = true,
    .min_operands = 2,
    .max_operands = 65536,
    .operands = "SRC and DEST",
    .run = push,
};
