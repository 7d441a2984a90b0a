#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/commands_internal.h"

/* In the order of help: the main job first. */
const struct command *const commands[] = {
    &command_start,   &command_stop,   &command_status,   &command_logs,       &command_wait,
    &command_list,    &command_remove, &command_hosts,    &command_help,       &command_version,
    &command_exec,    &command_check,  &command_diagnose, &command_container,  &command_supervise,
    &command_compare, &command_report, &command_init,     &command_completion,
};
const size_t commands_count = ARRAY_LEN(commands);

const struct command *command_find(const char *name, struct error *err)
{
    const char *names[ARRAY_LEN(commands)];
    for (size_t i = 0; i < commands_count; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
        names[i] = commands[i]->name;
    }
    const char *nearest = text_nearest(name, names, commands_count);
    error_set(err, &kind_usage, "unknown command '%s'", name);
    if (nearest)
        error_hint(err, "did you mean '%s'?", nearest);
    else
        error_hint(err, "see 'mtlaunch help' for the commands");
    return NULL;
}
