/* The table of commands is whole: names, usage, help of everything. */
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/topics_internal.h"
#include "cmd_test.h"

/* Every command of README, "Commands". */
static const char *const names[] = {
    "start",      "stop", "status", "logs",     "wait",      "list",      "remove",  "hosts",  "help",
    "version",    "exec", "check",  "diagnose", "container", "supervise", "compare", "report", "init",
    "completion", "push", "pull",   "stacks",   "ladder",    "metrics",   "signal",  "show",
};

static void test_every_command_has_a_row(void **state)
{
    (void)state;
    assert_int_equal(commands_count, ARRAY_LEN(names));
    FOR_ROWS(i, names, names[i]) {
        const struct command *command = command_find(names[i], NULL);
        assert_non_null(command);
        assert_string_equal(command->name, names[i]);
    }
}

static void test_rows_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < commands_count; i++) {
        const struct command *command = commands[i];
        assert_non_null(command->summary);
        assert_false(text_ends(command->summary, "."));
        assert_non_null(command->usage[0]);
        for (size_t line = 0; command->usage[line]; line++) {
            assert_true(text_starts(command->usage[line], command->name));
        }
        assert_true(command->min_operands <= command->max_operands);
        assert_true(command->min_operands == 0 || command->operands);
    }
}

static void test_overview_lists_every_command(void **state)
{
    (void)state;
    AUTO_STR struct str help = STR_INIT;
    help_overview(80, &help);
    for (size_t i = 0; i < commands_count; i++) {
        AUTO_FREE char *line = xasprintf("\n  %-11s %s\n", commands[i]->name, commands[i]->summary);
        assert_non_null(strstr(str_text(&help), line));
    }
}

static void test_help_lists_every_option(void **state)
{
    (void)state;
    for (size_t i = 0; i < commands_count; i++) {
        const struct option_group *groups[CMD_GROUPS_MAX];
        AUTO_STR struct str help = STR_INIT;
        help_command(commands[i], 80, &help);
        command_groups(commands[i], groups);
        for (size_t g = 0; groups[g]; g++) {
            for (size_t o = 0; o < groups[g]->count; o++) {
                const struct option *option = &groups[g]->options[o];
                AUTO_FREE char *name = xasprintf("--%s", option->name);
                assert_non_null(option->help);
                if (option->type != OPTION_UNBUILT) {
                    assert_non_null(strstr(str_text(&help), name));
                }
            }
        }
    }
}

static void test_help_fits_the_width(void **state)
{
    (void)state;
    for (size_t i = 0; i < commands_count; i++) {
        AUTO_STR struct str help = STR_INIT;
        help_command(commands[i], 80, &help);
        char *rest = NULL;
        for (char *line = strtok_r(help.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            if (!strstr(line, " mtlaunch ")) { /* a usage line is one line, to be copied */
                assert_true(text_columns(line) <= 80);
            }
        }
    }
}

static void test_unknown_command(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    assert_null(command_find("strat", &err));
    assert_ptr_equal(err.kind, &kind_usage);
    assert_string_equal(err.text, "unknown command 'strat'");
    assert_string_equal(err.hint, "did you mean 'start'?");
    assert_null(command_find("frobnicate", &err));
    assert_string_equal(err.hint, "see 'mtlaunch help' for the commands");
}

/* U16: what people type who come from other tools. */
static void test_words_of_other_tools(void **state)
{
    (void)state;
    static const struct {
        const char *word, *hint;
    } rows[] = {
        {"run", "did you mean 'start'?"},     {"ps", "did you mean 'list'?"},
        {"ls", "did you mean 'list'?"},       {"kill", "did you mean 'stop'?"},
        {"cancel", "did you mean 'stop'?"},   {"rm", "did you mean 'remove'?"},
        {"delete", "did you mean 'remove'?"}, {"top", "did you mean 'status --watch'?"},
        {"tail", "did you mean 'logs -f'?"},  {"KILL", "did you mean 'stop'?"},
    };
    FOR_ROWS(i, rows, rows[i].word) {
        struct error err = ERROR_INIT;
        assert_null(command_find(rows[i].word, &err));
        assert_string_equal(err.hint, rows[i].hint);
    }
}

static void test_topics_are_there_and_fit(void **state)
{
    (void)state;
    static const char *const expected[] = {"job",        "hosts", "environment",
                                           "exit-codes", "json",  "troubleshooting"};
    AUTO_STRLIST struct strlist topics = STRLIST_INIT;
    help_topic_names(&topics);
    assert_int_equal(topics.len, ARRAY_LEN(expected));
    FOR_ROWS(i, expected, expected[i]) {
        AUTO_STR struct str text = STR_INIT;
        assert_true(help_topic(expected[i], 80, &text));
        assert_true(text.len > 400);
        char *rest = NULL;
        for (char *line = strtok_r(text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            /* the JSON Schema is for programs */
            if (strcmp(expected[i], "json") != 0 && text_columns(line) > 88) {
                fail_msg("%s", line);
            }
        }
    }
    assert_false(help_topic("start", 80, NULL));
    AUTO_STR struct str job = STR_INIT;
    assert_true(help_topic("job", 80, &job));
    assert_non_null(strstr(str_text(&job), " restart.spares"));
    assert_non_null(strstr(str_text(&job), " container.run.image"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_command_has_a_row),      cmocka_unit_test(test_rows_are_complete),
        cmocka_unit_test(test_overview_lists_every_command), cmocka_unit_test(test_help_lists_every_option),
        cmocka_unit_test(test_help_fits_the_width),          cmocka_unit_test(test_unknown_command),
        cmocka_unit_test(test_topics_are_there_and_fit),     cmocka_unit_test(test_words_of_other_tools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
