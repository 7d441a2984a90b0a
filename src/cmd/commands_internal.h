/* One name per command; each is defined in the file that implements it. */
#ifndef MTLAUNCH_CMD_COMMANDS_INTERNAL_H
#define MTLAUNCH_CMD_COMMANDS_INTERNAL_H

#include "cmd/cmd.h"

extern const struct command command_start, command_stop, command_status, command_logs, command_wait,
    command_list, command_remove, command_hosts, command_help, command_version;
extern const struct command command_exec, command_check, command_diagnose, command_container,
    command_supervise, command_compare, command_report, command_init, command_completion;
extern const struct command command_push, command_pull, command_stacks, command_ladder, command_metrics,
    command_signal, command_show;

#endif
