/* What push and pull share. */
#ifndef MTLAUNCH_CMD_COPY_INTERNAL_H
#define MTLAUNCH_CMD_COPY_INTERNAL_H

#include "cmd/cmd.h"
#include "run/push.h"

/*
 * Find the hosts, and copy with work (run_push or run_pull). The last operand is the target, those before it
 * are the sources. verb: "sent", "received". Returns the exit code, or -1.
 */
int cmd_copy(struct cmd_call *call, int (*work)(const struct run_copy_request *, struct error *),
             const char *verb, struct error *err);

/*
 * The options of both, in the order of the help. The texts say what --delete and --dry-run do on the side
 * that is written to.
 */
/* clang-format off */
#define COPY_OPTIONS(delete_help, dry_run_help)                                                              \
    {.name = "job", .type = OPTION_TEXT, .offset = offsetof(struct cmd_options, job), .value = "JOB",        \
     .help = "use the hosts, users, workdir and container of this job"},                                     \
    {.name = "run", .type = OPTION_TEXT, .offset = offsetof(struct cmd_options, run), .value = "RUN",        \
     .help = "use the nodes, users, workdir and container of this run"},                                     \
    {.name = "delete", .type = OPTION_FLAG, .offset = offsetof(struct cmd_options, delete_),                 \
     .help = (delete_help)},                                                                                 \
    {.name = "skip", .type = OPTION_LIST, .offset = offsetof(struct cmd_options, skip), .value = "PATTERN",  \
     .help = "leave out what matches, on both sides"},                                                       \
    {.name = "checksum", .type = OPTION_FLAG, .offset = offsetof(struct cmd_options, checksum),              \
     .help = "compare contents (SHA-256), not sizes and times"},                                             \
    {.name = "dry-run", .type = OPTION_FLAG, .offset = offsetof(struct cmd_options, dry_run),                \
     .help = (dry_run_help)}
/* clang-format on */

#endif
