/*
 * Commands. Each is one file that ends in one const struct command; the table in table.c lists them. Parsing
 * and help are made from these structs.
 *
 * To add a command: one file, one line in table.c. tests/unit/cmd/test_table.c catches omissions.
 */
#ifndef MTLAUNCH_CMD_CMD_H
#define MTLAUNCH_CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/options.h"
#include "base/strlist.h"
#include "report/failure.h"
#include "report/style.h"

/* Values of all options of all commands; texts are borrowed from argv. */
struct cmd_options {
    /* every command */
    bool json;
    bool quiet;
    bool verbose;
    const char *color; /* auto (NULL), always, never */
    struct option_uint fanout;
    struct option_uint connect_timeout; /* seconds; 0: not given: that of each host's ssh_config, else 10 */
    bool help;

    /* where a job runs */
    const char *hosts;
    const char *hostfile;
    const char *exclude;
    struct option_uint nodes;

    /* what a job is */
    struct strlist set; /* KEY.PATH=VALUE, in order */
    struct strlist env; /* NAME=VALUE or NAME */
    struct strlist profiles;
    /* as typed: they override a key of the spec and are checked with it */
    const char *container;
    const char *zero_stage;
    const char *nproc_per_node;
    const char *master_addr;
    const char *master_port;
    const char *artifacts;

    /* hosts */
    bool trust;
    bool yes;

    /* start */
    bool wait;
    bool dry_run;
    bool no_check;
    bool no_sync;
    bool no_supervise;
    struct option_uint timeout; /* also wait */

    /* check */
    const char *check_only; /* ids of checks */
    const char *check_skip;
    bool check_list;
    bool check_comm;

    /* stop */
    struct option_uint grace;
    const char *signal;
    bool give_up;
    bool take_over; /* supervise */

    /* status */
    bool watch;
    bool full; /* also start --dry-run */

    /* show */
    bool show_spec;
    bool show_plan;
    bool show_events;
    bool logs; /* operands are log files */

    /* logs */
    struct strlist log_nodes;
    bool follow;
    const char *lines; /* a number or "all" */
    struct option_uint attempt;
    struct option_uint rank;
    const char *grep;
    bool raw;
    const char *save;

    /* stacks; also log_nodes, full */
    struct strlist stack_ranks;
    const char *py_spy;

    /* hosts */
    bool fold;

    /* container */
    bool replace;

    /* compare */
    const char *tokens; /* a number */
    const char *samples;
    bool csv;

    /* ladder; also dry_run, no_check, no_sync */
    const char *steps;
    struct option_uint limit;

    /* metrics */
    const char *listen;
    const char *textfile;

    /* exec; also timeout */
    bool label;
    bool gather;
    bool stdin_;
    const char *run; /* RUN whose nodes are used; also push, pull */

    /* push, pull; also dry_run */
    bool delete_;
    bool checksum;
    bool relay;
    struct strlist skip;

    /* report */
    const char *output; /* a file, or - */

    /* list */
    const char *state; /* one of the states' names */
    const char *job;   /* also exec */

    /* remove; also force */
    bool remove_artifacts;
    bool ended;
    struct option_uint older_than;

    /* init */
    const char *launcher;
    const char *program;
    bool force;
};

#define CMD_FANOUT_DEFAULT 64
#define CMD_RUNS_MAX       65536 /* operands of a command that takes RUN... or SRC... */

/* Options for what a start leaves out, for commands that start runs. */
#define CMD_OPTIONS_WITHOUT                                                                                  \
    {.name = "no-sync",                                                                                      \
     .type = OPTION_FLAG,                                                                                    \
     .offset = offsetof(struct cmd_options, no_sync),                                                        \
     .help = "do not push the files of the job's 'sync'"},                                                   \
    {                                                                                                        \
        .name = "no-check", .type = OPTION_FLAG, .offset = offsetof(struct cmd_options, no_check),           \
        .help = "skip the checks before a start, except ports and running processes"                         \
    }

/* In an option table: --node of a command on a run. In a command's row: its operands. */
/* clang-format off */
#define CMD_OPTION_NODE                                                                                      \
    {.name = "node", .type = OPTION_LIST, .offset = offsetof(struct cmd_options, log_nodes),                 \
     .value = "N|HOST", .help = "only this node, by its number or its host"}
#define CMD_TAKES_RUN  .min_operands = 1, .max_operands = 1, .operands = "RUN"
#define CMD_TAKES_RUNS .min_operands = 1, .max_operands = CMD_RUNS_MAX, .operands = "RUN"
#define CMD_TAKES_COPIES(words)                                                                              \
    .takes_hosts = true, .takes_paths = true, .min_operands = 2, .max_operands = CMD_RUNS_MAX,               \
    .operands = (words)
/* clang-format on */

struct command;

/* One invocation. */
struct cmd_call {
    char *const *argv; /* of the program, borrowed */
    const struct command *command;
    struct cmd_options options;
    struct strlist operands;
    struct strlist rest; /* after "--" */
    bool saw_rest;
    struct report_style style;
    struct failures failures; /* of single hosts, shown when they occurred */
    int64_t began_ms;         /* monotonic: when a command on several runs began */
    bool answered;            /* the JSON object has been printed, including the error */
};

struct command {
    const char *name;
    const char *summary;            /* one sentence, lower case, no full stop */
    const char *const *usage;       /* lines after "mtlaunch ", NULL-terminated */
    const char *notes;              /* paragraphs below the options; NULL: none */
    const struct option_group *own; /* options of this command alone; NULL: none */
    bool takes_hosts;               /* host options */
    bool takes_job;                 /* job options */
    unsigned min_operands, max_operands;
    const char *operands; /* for the message when some are missing: "JOB and RUN" */
    bool takes_rest;      /* words after "--" */
    bool takes_paths;     /* words after "--" are operands, even if they begin with '-' */
    bool takes_command;   /* options end at the first operand: it and all further words are rest */
    bool no_json;         /* --json is refused */
    /* The exit code, or -1 with err set. */
    int (*run)(struct cmd_call *call, struct error *err);
};

extern const struct command *const commands[];
extern const size_t commands_count;

/* The command of that name, or NULL with kind_usage and the nearest name as hint. */
const struct command *command_find(const char *name, struct error *err);

#define CMD_GROUPS_MAX 5

/* The option groups of a command, NULL-terminated. */
void command_groups(const struct command *command, const struct option_group *groups[CMD_GROUPS_MAX]);

extern const struct option_group cmd_group_global;
extern const struct option_group cmd_group_hosts;
extern const struct option_group cmd_group_job;

/*
 * Parse the words after the command's name into call, and check the number of operands. With --help the rest
 * is not checked. Errors: kind_usage, kind_not_supported.
 */
int cmd_parse(struct cmd_call *call, const struct command *command, int argc, char *const *argv,
              struct error *err);
void cmd_call_release(struct cmd_call *call);

/* Choose the style of this invocation from its options, its streams and NO_COLOR. */
void cmd_choose_style(struct cmd_call *call);
/* --fanout and --connect-timeout in the form that the use cases take. */
unsigned cmd_fanout(const struct cmd_call *call);
unsigned cmd_connect_timeout_ms(const struct cmd_call *call);

/* Help texts from the tables. */
void help_overview(size_t columns, struct str *out);
void help_command(const struct command *command, size_t columns, struct str *out);

#endif
