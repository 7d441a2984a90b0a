/* The command `pull`: copies files from every host to a folder on this machine. */
#include "base/alloc.h"
#include "cmd/commands_internal.h"
#include "cmd/copy_internal.h"

static int pull(struct cmd_call *call, struct error *err)
{
    return cmd_copy(call, run_pull, "received", err);
}

static const char *const usage[] = {
    "pull SRC... DIR [HOST OPTION]... [--job JOB|--run RUN] [--delete] [--skip PATTERN]... [--checksum] "
    "[--dry-run]",
    NULL,
};
static const char notes[] =
    "SRC is copied to DIR/HOST/ under its own name; 'SRC/' means its contents. A\n"
    "relative SRC is in the login folder, or with --job or --run in the job's\n"
    "workdir, inside its container if it has one. Only what differs in size, time,\n"
    "mode or type is fetched, and each file is replaced completely or not at all. The\n"
    "transfer of a large file resumes where an earlier pull stopped.\n";
static const struct option own_options[] = {
    COPY_OPTIONS("remove files here that are not there, in the folders that are pulled",
                 "print what would be fetched and removed, and change nothing"),
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
const struct command command_pull = {
    .name = "pull",
    .summary = "copy files from every host to a folder here",
    .usage = usage,
    .notes = notes,
    .own = &own,
    CMD_TAKES_COPIES("SRC and DIR"),
    .run = pull,
};
