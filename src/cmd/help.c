/* The command `help`: prints the overview, a command, a topic, or a key of the job file. */
#include <stdlib.h>

#include "base/text.h"
#include "cmd/commands_internal.h"
#include "cmd/reference_internal.h"
#include "cmd/topics_internal.h"
#include "input/jobfile.h"
#include "report/output.h"

void help_overview(size_t columns, struct str *out)
{
    const struct option_group *groups[] = {&cmd_group_global, NULL};
    str_add(out, "Usage: mtlaunch COMMAND [WORD]... [OPTION]...\n\n"
                 "Start, watch, explain and stop multi-node training over plain SSH.\n\nCommands:\n");
    for (size_t i = 0; i < commands_count; i++) {
        str_addf(out, "  %-11s %s\n", commands[i]->name, commands[i]->summary);
    }
    str_add_char(out, '\n');
    options_help(groups, columns, out);
    str_add(out, "\nTopics:\n");
    help_topics(out);
    str_add(out, "\n'mtlaunch help NAME' explains a command, a topic, or a key of the job file.\n");
}

void help_command(const struct command *command, size_t columns, struct str *out)
{
    const struct option_group *groups[CMD_GROUPS_MAX];
    for (size_t i = 0; command->usage[i]; i++) {
        str_addf(out, "%s mtlaunch %s\n", i ? "      " : "Usage:", command->usage[i]);
    }
    str_addf(out, "\n%s: %s.\n\n", command->name, command->summary);
    command_groups(command, groups);
    options_help(groups, columns, out);
    if (command->notes) {
        str_addf(out, "\n%s", command->notes);
    }
}

/* Add the keys of the job file with this name. exact: only the key with exactly this path. */
static bool add_keys(const char *word, bool exact, size_t columns, struct str *out)
{
    AUTO_STR struct str keys = STR_INIT;
    struct page page = {.out = &keys, .form = PAGE_TEXT, .columns = columns};
    page_section(&page, "Key of the job file");
    if (reference_job_key(&page, word, exact) == 0) {
        return false;
    }
    str_addf(out, "%s%s", out->len > 0 ? "\n" : "", str_text(&keys));
    return true;
}

static int refuse_word(const char *word, struct error *err)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    help_topic_names(&names);
    jobfile_key_names(&names);
    const char *nearest = text_nearest(word, (const char *const *)names.items, names.len);
    if (!nearest) {
        return -1; /* command_find() has set the error */
    }
    error_set(err, &kind_usage, "no help about '%s'", word);
    return error_hint(err, "did you mean 'mtlaunch help %s'?", nearest);
}

/* Add the help of the command, the topic and the keys with this name: 'hosts' is all of them. */
static int add_word(const char *word, size_t columns, struct str *out, struct error *err)
{
    AUTO_STR struct str topic = STR_INIT;
    const bool is_topic = help_topic(word, columns, &topic);
    const struct command *command = command_find(word, err);
    if (command) {
        help_command(command, columns, out);
    }
    if (command && is_topic) {
        str_add_char(out, '\n');
    }
    str_add(out, str_text(&topic));
    bool is_key = !is_topic && add_keys(word, command, columns, out);
    return command || is_topic || is_key ? 0 : refuse_word(word, err);
}

static int run_help(struct cmd_call *call, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    if (call->operands.len == 0) {
        help_overview(call->style.columns, &text);
    } else if (add_word(call->operands.items[0], call->style.columns, &text, err) != 0) {
        return -1;
    }
    return output_print(&text, err);
}

static const char *const usage[] = {"help [COMMAND|TOPIC|KEY]", NULL};
const struct command command_help = {
    .name = "help",
    .summary = "print help: commands, one of them, a topic, a key of the job file",
    .usage = usage,
    .max_operands = 1,
    .no_json = true,
    .run = run_help,
};
