/* The table of all commands, and the search for one by name. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/commands_internal.h"

/* In the order of the help: the main tasks first. */
const struct command *const commands[] = {
    &command_start,      &command_stop,      &command_status,  &command_logs,   &command_wait,
    &command_signal,     &command_show,      &command_list,    &command_remove, &command_hosts,
    &command_help,       &command_version,   &command_exec,    &command_check,  &command_diagnose,
    &command_container,  &command_supervise, &command_compare, &command_report, &command_init,
    &command_completion, &command_push,      &command_pull,    &command_stacks, &command_ladder,
    &command_metrics,
};
const size_t commands_count = ARRAY_LEN(commands);

/* What other tools call a command, or what users try; words are separated by blanks. */
static const struct {
    const char *command, *words;
} other_names[] = {
    {"start", " run launch submit sbatch srun up restart "},
    {"start JOB --dry-run", " plan dry-run dryrun "},
    {"stop", " kill cancel end abort terminate scancel down "},
    {"list", " ps ls runs jobs squeue "},
    {"remove", " rm delete del forget clean prune "},
    {"status --watch", " top watch "},
    {"status", " st state "},
    {"show", " info describe inspect "},
    {"show RUN --events", " events history "},
    {"logs", " log output "},
    {"logs -f", " tail attach follow "},
    {"exec", " ssh sh shell cmd "},
    {"init", " new create "},
    {"help", " man usage "},
    {"hosts", " nodes hostlist "},
    {"hosts --trust", " trust "},
};

static const char *other_name(const char *name)
{
    AUTO_FREE char *word = xasprintf(" %s ", name);
    text_lower(word);
    for (size_t i = 0; i < ARRAY_LEN(other_names); i++) {
        if (strstr(other_names[i].words, word)) {
            return other_names[i].command;
        }
    }
    return NULL;
}

const struct command *command_find(const char *name, struct error *err)
{
    const char *names[ARRAY_LEN(commands)];
    for (size_t i = 0; i < commands_count; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
        names[i] = commands[i]->name;
    }
    const char *nearest = other_name(name);
    if (!nearest) {
        nearest = text_nearest(name, names, commands_count);
    }
    error_set(err, &kind_usage, "unknown command '%s'", name);
    if (nearest) {
        error_hint(err, "did you mean '%s'?", nearest);
    } else {
        error_hint(err, "see 'mtlaunch help' for the commands");
    }
    return NULL;
}
