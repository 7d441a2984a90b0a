/* Words after a command's name: values land where they belong, and what is wrong is named. */
#include "cmd/cmd.h"
#include "cmd_test.h"
#include "model/run.h"

/* A call and the words its texts borrow from. */
struct parsed {
    struct cmd_call call;
    struct strlist words;
};

static void release(struct parsed *parsed)
{
    cmd_call_release(&parsed->call);
    strlist_release(&parsed->words);
}

static int parse(struct parsed *parsed, const char *name, const char *line, struct error *err)
{
    AUTO_FREE char *copy = xstrdup(line);
    char *rest = NULL;
    *parsed = (struct parsed){0};
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        strlist_add(&parsed->words, word);
    }
    return cmd_parse(&parsed->call, command_find(name, NULL), (int)parsed->words.len, parsed->words.items,
                     err);
}

static void assert_refused(const char *name, const char *line, const char *text, const char *hint)
{
    struct parsed parsed;
    struct error err = ERROR_INIT;
    assert_int_equal(parse(&parsed, name, line, &err), -1);
    assert_string_equal(err.text, text);
    assert_string_equal(err.hint, hint);
    assert_int_equal(err.kind->exit_code, 2);
    release(&parsed);
}

static void test_values_land(void **state)
{
    (void)state;
    struct parsed parsed;
    struct error err = ERROR_INIT;
    if (parse(&parsed, "start",
              "job.yaml r1 -H g[1-2] --set a.b=1 --set=c=2 -eX=1 --nodes 2 --timeout 2m --wait -qv --json "
              "--connect-timeout=3 --master-port 29501 -- --lr 1e-5",
              &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(parsed.call.operands.items[0], "job.yaml");
    assert_string_equal(parsed.call.operands.items[1], "r1");
    assert_string_equal(parsed.call.options.hosts, "g[1-2]");
    assert_int_equal(parsed.call.options.set.len, 2);
    assert_string_equal(parsed.call.options.set.items[1], "c=2");
    assert_string_equal(parsed.call.options.env.items[0], "X=1");
    assert_int_equal(parsed.call.options.nodes.value, 2);
    assert_int_equal(parsed.call.options.timeout.value, 120);
    assert_int_equal(parsed.call.options.connect_timeout.value, 3);
    assert_string_equal(parsed.call.options.master_port, "29501");
    assert_true(parsed.call.options.wait && parsed.call.options.quiet && parsed.call.options.verbose &&
                parsed.call.options.json);
    assert_true(parsed.call.saw_rest);
    assert_int_equal(parsed.call.rest.len, 2);
    release(&parsed);
}

static void test_paths_may_begin_with_a_dash(void **state)
{
    struct parsed parsed;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(parse(&parsed, "push", "-H h -- src -x --help", &err), 0);
    assert_int_equal(parsed.call.operands.len, 3);
    assert_string_equal(parsed.call.operands.items[2], "--help");
    assert_false(parsed.call.options.help);
    release(&parsed);
}

static void test_words_missing_and_too_many(void **state)
{
    (void)state;
    assert_refused("start", "", "'start' needs JOB",
                   "usage: mtlaunch start JOB [RUN] [HOST OPTION]... [JOB OPTION]... "
                   "[--wait [--timeout DURATION]] [-- ARG...]");
    assert_refused("stop", "", "'stop' needs RUN",
                   "usage: mtlaunch stop RUN... [--grace DURATION] [--signal NAME] [--give-up]");
    assert_refused("status", "r1 r2", "'status' takes 1 argument, so 'r2' is one too many",
                   "usage: mtlaunch status [RUN] [--watch] [--full]");
    assert_refused("list", "-- x", "'list' takes no arguments after '--'",
                   "usage: mtlaunch list [--state STATE] [--job NAME]");
}

/* U16 */
static void test_program_arguments_belong_behind_the_dashes(void **state)
{
    (void)state;
    static const char hint[] =
        "put program arguments after '--', for example: mtlaunch start JOB RUN -- --lr 3";
    assert_refused("start", "j.yaml r1 --lr 3", "unknown option '--lr'", hint);
    assert_refused("start", "j.yaml r1 3", "'start' takes 2 arguments, so '3' is one too many", hint);
    assert_refused("list", "a", "'list' takes no argument 'a'",
                   "usage: mtlaunch list [--state STATE] [--job NAME]");
}

/* U2: as with ssh, the command begins at the first word that is no option, and keeps its own options. */
static void test_a_command_begins_at_the_first_word(void **state)
{
    (void)state;
    static const struct {
        const char *line, *rest;
        bool json;
    } rows[] = {
        {"-H g0001 df -h /", "df -h /", false},
        {"-H g1 hostname", "hostname", false},
        {"-Hg1 --json ls --json --help", "ls --json --help", true},
        {"-H g1 ls --json", "ls --json", false},
        {"-H g1 -- ls -- -x", "ls -- -x", false},
        {"-H g1 ls -- -x", "ls -- -x", false},
        {"-H g1 -- -odd --bogus", "-odd --bogus", false},
        {"-H g1 - x", "- x", false},
    };
    FOR_ROWS(i, rows, rows[i].line) {
        struct parsed parsed;
        struct error err = ERROR_INIT;
        AUTO_STR struct str rest = STR_INIT;
        if (parse(&parsed, "exec", rows[i].line, &err) != 0) {
            fail_msg("%s: %s", rows[i].line, err.text);
        }
        for (size_t w = 0; w < parsed.call.rest.len; w++) {
            str_addf(&rest, "%s%s", w ? " " : "", parsed.call.rest.items[w]);
        }
        assert_string_equal(str_text(&rest), rows[i].rest);
        assert_int_equal(parsed.call.options.json, rows[i].json);
        assert_false(parsed.call.options.help);
        release(&parsed);
    }
    assert_refused("exec", "-H g1 --bogus ls", "unknown option '--bogus'", "see --help for the options");
}

static void test_options_of_other_commands_are_refused(void **state)
{
    (void)state;
    struct parsed parsed;
    struct error err = ERROR_INIT;
    assert_int_equal(parse(&parsed, "stop", "r1 --hostfile x", &err), -1);
    assert_ptr_equal(err.kind, &kind_usage);
    assert_non_null(strstr(err.text, "--hostfile"));
    release(&parsed);
}

static void test_json_is_refused_where_there_is_none(void **state)
{
    (void)state;
    assert_refused("help", "--json", "'help' has no JSON form", "leave out --json");
}

#define WRITE_10S "write --connect-timeout 10s, or leave it out"

static void test_connect_timeout_has_limits(void **state)
{
    (void)state;
    assert_refused("list", "--connect-timeout 0", "'0s' for --connect-timeout is not in the range 1s to 1d",
                   WRITE_10S);
    assert_refused("list", "--connect-timeout 2d",
                   "'172800s' for --connect-timeout is not in the range 1s to 1d", WRITE_10S);
}

static void test_help_needs_no_operands(void **state)
{
    (void)state;
    struct parsed parsed;
    struct error err = ERROR_INIT;
    assert_int_equal(parse(&parsed, "start", "--help", &err), 0);
    assert_true(parsed.call.options.help);
    release(&parsed);
}

static void test_list_knows_every_state(void **state)
{
    (void)state;
    for (int i = RUN_STOPPING; i <= RUN_FINISHED; i++) {
        struct parsed parsed;
        struct error err = ERROR_INIT;
        AUTO_FREE char *line = xasprintf("--state %s", run_state_name((enum run_state)i));
        assert_int_equal(parse(&parsed, "list", line, &err), 0);
        release(&parsed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_knows_every_state),
        cmocka_unit_test(test_values_land),
        cmocka_unit_test(test_paths_may_begin_with_a_dash),
        cmocka_unit_test(test_words_missing_and_too_many),
        cmocka_unit_test(test_program_arguments_belong_behind_the_dashes),
        cmocka_unit_test(test_a_command_begins_at_the_first_word),
        cmocka_unit_test(test_options_of_other_commands_are_refused),

        cmocka_unit_test(test_json_is_refused_where_there_is_none),
        cmocka_unit_test(test_connect_timeout_has_limits),
        cmocka_unit_test(test_help_needs_no_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
