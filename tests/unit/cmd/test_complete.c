/* What may stand at the cursor, from the tables. */
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/complete_internal.h"
#include "cmd_test.h"

/* The candidates for a line of words separated by blanks; a blank at its end begins a new word. Descriptions
 * are cut off, the candidates joined by blanks. Caller frees. */
static char *complete(const char *line)
{
    AUTO_STRLIST struct strlist words = STRLIST_INIT;
    struct complete_names names = {0};
    AUTO_STR struct str out = STR_INIT;
    struct str joined = STR_INIT;
    for (const char *at = line;; at++) {
        size_t len = strcspn(at, " ");
        strlist_add_mem(&words, at, len);
        at += len;
        if (*at == '\0') {
            break;
        }
    }
    strlist_add(&names.runs, "night");
    strlist_add(&names.runs, "noon");
    strlist_add(&names.live, "night");
    strlist_add(&names.ended, "noon");
    strlist_add(&names.jobs, "qwen");
    strlist_add(&names.profiles, "smoke");
    strlist_add(&names.containers, "box");
    strlist_add(&names.nodes, "g1");
    strlist_add(&names.keys, "stop.grace");
    str_add(&out, "");
    complete_words(words.items, words.len, &names, &out);
    complete_names_release(&names);
    for (char *rest = NULL, *one = strtok_r(out.data, "\n", &rest); one; one = strtok_r(NULL, "\n", &rest)) {
        one[strcspn(one, "\t")] = '\0';
        str_addf(&joined, "%s%s", joined.len ? " " : "", one);
    }
    return str_detach(&joined);
}

static void assert_completes(const char *line, const char *expected)
{
    AUTO_FREE char *got = complete(line);
    assert_string_equal(got, expected);
}

static bool offers(const char *line, const char *candidate)
{
    AUTO_FREE char *got = complete(line);
    AUTO_FREE char *all = xasprintf(" %s ", got);
    AUTO_FREE char *one = xasprintf(" %s ", candidate);
    return strstr(all, one) != NULL;
}

static void test_commands(void **state)
{
    (void)state;
    assert_completes("star", "start");
    assert_completes("zzz", "");
    for (size_t i = 0; i < commands_count; i++) {
        assert_int_equal(offers("", commands[i]->name), commands[i]->run != NULL);
    }
}

static void test_every_option_of_every_command(void **state)
{
    (void)state;
    for (size_t i = 0; i < commands_count; i++) {
        const struct option_group *groups[CMD_GROUPS_MAX];
        AUTO_FREE char *line = xasprintf("%s --", commands[i]->name);
        command_groups(commands[i], groups);
        for (size_t g = 0; commands[i]->run && groups[g]; g++) {
            for (size_t o = 0; o < groups[g]->count; o++) {
                AUTO_FREE char *name = xasprintf("--%s", groups[g]->options[o].name);
                assert_int_equal(offers(line, name), groups[g]->options[o].type != OPTION_UNBUILT);
            }
        }
    }
}

static void test_options_by_their_beginning(void **state)
{
    (void)state;
    assert_completes("stop --gr", "--grace");
    assert_completes("stop night --giv", "--give-up");
    assert_false(offers("stop --", "--follow"));
    assert_false(offers("start --", "--label"));
}

static void test_values(void **state)
{
    (void)state;
    assert_completes("list --color ", "auto always never");
    assert_completes("list --color=a", "--color=auto --color=always");
    assert_completes("list --state fi", "finished");
    assert_completes("start --hostfile ", ":files");
    assert_completes("start --hostfile=x", ":files");
    assert_completes("start --artifacts ", ":files");
    assert_completes("stop --grace ", "");
    assert_completes("stop --grace=", "");
    assert_completes("stop --nosuch=", "");
    assert_completes("stop --give-up=", "");
    assert_completes("start -H ", "");
    assert_completes("logs -fn ", "");          /* -n takes the value */
    assert_completes("logs -f ", "night noon"); /* -f takes none */
}

static void test_operands(void **state)
{
    (void)state;
    assert_completes("stop ", "night");
    assert_completes("remove no", "noon");
    assert_completes("stop --grace 5 ni", "night");
    assert_completes("stop --grace=5 ni", "night");
    assert_completes("stop night ", "night"); /* U12: it takes several */
    assert_completes("status night ", "");
    assert_completes("status ", "night noon");
    assert_completes("logs ", "night noon");
    assert_completes("remove --artifacts ", "noon");
    assert_completes("start ", "qwen :specs");
    assert_completes("start -q qw", "qwen :specs");
    assert_completes("start qwen ", "night noon");
    assert_completes("start qwen night ", "");
    assert_completes("start qwen night -- ", ":files");
    assert_completes("completion ", "bash zsh fish");
    assert_completes("list ", "");
    assert_completes("nosuch ", "");
    assert_true(offers("help ", "start"));
}

static void test_lines_that_end_oddly(void **state)
{
    (void)state;
    assert_completes("stop --grace -", ""); /* a value, whatever it looks like */
    assert_completes("stop - ", "night");
    assert_true(offers("stop -", "--grace"));
}

/* U18 */
static void test_values_from_the_spec_and_the_store(void **state)
{
    (void)state;
    assert_completes("start qwen r --profile ", "smoke");
    assert_completes("start qwen r --profile=", "--profile=smoke");
    assert_completes("start qwen r --container ", "box");
    assert_completes("start qwen r --set stop", "stop.grace=");
    assert_completes("logs night --node ", "g1");
    assert_completes("exec --run n", "night noon");
    assert_completes("exec --job ", "qwen");
    assert_true(offers("signal night ", "USR1"));
    assert_completes("init ", "");
    assert_completes("container ", "up status down");
    assert_completes("container d", "down");
    assert_true(offers("init --launcher ", "torchrun"));
    assert_true(offers("stop night --signal ", "USR1"));
}

static void test_runs_that_fit_the_command(void **state)
{
    (void)state;
    assert_completes("stop ", "night");
    assert_completes("wait ", "night");
    assert_completes("remove ", "noon");
    assert_completes("logs n", "night noon");
    assert_completes("start ", "qwen :specs"); /* no train.py */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_from_the_spec_and_the_store),
        cmocka_unit_test(test_runs_that_fit_the_command),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_every_option_of_every_command),
        cmocka_unit_test(test_options_by_their_beginning),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_lines_that_end_oddly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
