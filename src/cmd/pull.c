/* The command `pull`: files from every host to a folder here. */
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
    "SRC comes to stand in DIR/HOST/ under its own name; 'SRC/' means what is in it.\n"
    "A relative SRC is in the login folder, with --job or --run in the job's workdir,\n"
    "inside its container where it has one. Only what differs in size, time, mode or\n"
    "kind is fetched, and each file is replaced whole or not at all. A large file\n"
    "goes on where an earlier pull stopped.\n";
static const struct option own_options[] = {
    COPY_OPTIONS("remove what is here and not there, in folders that are pulled",
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
