/* Command lines: every form, every refusal, and the help. */
#include "base/options.h"
#include "base/text.h"
#include "test.h"

struct values {
    bool json, follow, help;
    const char *hostfile, *color;
    struct option_uint nodes, fanout, port, timeout, grace;
    struct strlist env;
};

static const char *const colors[] = {"auto", "always", "never", NULL};

static const struct option host_options[] = {
    {.name = "hostfile",
     .type = OPTION_TEXT,
     .offset = offsetof(struct values, hostfile),
     .value = "FILE",
     .help = "read the hosts from FILE"},
    {.name = "nodes",
     .letter = 'n',
     .type = OPTION_UINT,
     .offset = offsetof(struct values, nodes),
     .value = "N",
     .help = "use the first N hosts only",
     .min = 1,
     .max = 65536},
    {.name = "env",
     .letter = 'e',
     .type = OPTION_LIST,
     .offset = offsetof(struct values, env),
     .value = "NAME=VALUE",
     .help = "set NAME in the environment of the job on every node, over whatever the "
             "spec says about it"},
    {.name = "comm", .type = OPTION_UNBUILT, .help = "measure"},
    {.name = "gather", .letter = 'G', .type = OPTION_UNBUILT, .value = "HOW", .help = "gather"},
};

static const struct option common_options[] = {
    {.name = "json",
     .letter = 'j',
     .type = OPTION_FLAG,
     .offset = offsetof(struct values, json),
     .help = "print JSON"},
    {.name = "follow",
     .letter = 'f',
     .type = OPTION_FLAG,
     .offset = offsetof(struct values, follow),
     .help = "go on"},
    {.name = "color",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct values, color),
     .choices = colors,
     .help = "when to use colour"},
    {.name = "fanout",
     .type = OPTION_UINT,
     .offset = offsetof(struct values, fanout),
     .value = "N",
     .help = "work on N hosts at once",
     .min = 1},
    {.name = "timeout",
     .type = OPTION_DURATION,
     .offset = offsetof(struct values, timeout),
     .value = "DURATION",
     .help = "give up after DURATION"},
    {.name = "grace",
     .type = OPTION_DURATION,
     .offset = offsetof(struct values, grace),
     .help = "how long",
     .min = 1,
     .max = 3600},
    {.name = "a-name-that-is-longer-than-others",
     .type = OPTION_FLAG,
     .offset = offsetof(struct values, help),
     .help = "long"},
};

static const struct option_group host_group = {"Host options", host_options, ARRAY_LEN(host_options)};
static const struct option_group common_group = {"Options", common_options, ARRAY_LEN(common_options)};
static const struct option_group *const groups[] = {&host_group, &common_group, NULL};

struct parsed {
    struct values values;
    struct strlist operands, rest;
    bool saw_rest;
    struct error err;
    int result;
};

static void release_parsed(struct parsed *parsed)
{
    strlist_release(&parsed->values.env);
    strlist_release(&parsed->operands);
    strlist_release(&parsed->rest);
}

#define AUTO_PARSED __attribute__((cleanup(release_parsed)))
#define MAX_WORDS   8

/* words ends at the first NULL. */
static struct parsed parse(char *const words[MAX_WORDS])
{
    struct parsed parsed = {.saw_rest = true};
    int count = 0;

    while (count < MAX_WORDS && words[count] != NULL) {
        count++;
    }
    struct options_words left = {.operands = &parsed.operands, .rest = &parsed.rest};
    parsed.result = options_parse(groups, count, words, &parsed.values, &left, &parsed.err);
    parsed.saw_rest = left.saw_rest;
    return parsed;
}

#define PARSE(...) parse((char *const[MAX_WORDS]){__VA_ARGS__})

static char word_nodes[] = "--nodes";

static void test_nothing(void **state)
{
    (void)state;
    AUTO_PARSED struct parsed p = PARSE(NULL);

    assert_int_equal(p.result, 0);
    assert_false(p.saw_rest);
    assert_false(p.values.json);
    assert_false(p.values.nodes.given);
    assert_null(p.values.hostfile);
}

static void test_long_forms(void **state)
{
    (void)state;
    AUTO_PARSED struct parsed p =
        PARSE((char[]){"--json"}, (char[]){"--hostfile=a=b"}, word_nodes, (char[]){"4"},
              (char[]){"--color=never"}, (char[]){"--timeout"}, (char[]){"2m"});

    assert_int_equal(p.result, 0);
    assert_true(p.values.json);
    assert_string_equal(p.values.hostfile, "a=b");
    assert_true(p.values.nodes.given);
    assert_int_equal(p.values.nodes.value, 4);
    assert_string_equal(p.values.color, "never");
    assert_true(p.values.timeout.given);
    assert_int_equal(p.values.timeout.value, 120);
    assert_false(p.values.fanout.given);
}

static void test_letters(void **state)
{
    (void)state;
    AUTO_PARSED struct parsed p = PARSE((char[]){"-jfn7"}, (char[]){"-e"}, (char[]){"A=1"}, (char[]){"-eB=-"},
                                        (char[]){"-je"}, (char[]){"-C"});

    assert_int_equal(p.result, 0);
    assert_true(p.values.json);
    assert_true(p.values.follow);
    assert_int_equal(p.values.nodes.value, 7);
    AUTO_FREE char *env = strlist_join(&p.values.env, " ");
    assert_string_equal(env, "A=1 B=- -C");
}

static void test_operands_and_rest(void **state)
{
    (void)state;
    AUTO_PARSED struct parsed p = PARSE((char[]){"job"}, (char[]){"-j"}, (char[]){"-"}, (char[]){""},
                                        (char[]){"--"}, (char[]){"--json"}, (char[]){"--"}, (char[]){"x"});

    assert_int_equal(p.result, 0);
    assert_int_equal(p.operands.len, 3);
    assert_string_equal(p.operands.items[1], "-");
    assert_string_equal(p.operands.items[2], "");
    assert_true(p.saw_rest);
    AUTO_FREE char *rest = strlist_join(&p.rest, " ");
    assert_string_equal(rest, "--json -- x");
}

static void test_empty_rest_is_seen(void **state)
{
    (void)state;
    AUTO_PARSED struct parsed p = PARSE((char[]){"--"});

    assert_int_equal(p.result, 0);
    assert_true(p.saw_rest);
    assert_int_equal(p.rest.len, 0);
}

static void test_the_last_one_wins(void **state)
{
    (void)state;
    AUTO_PARSED struct parsed p =
        PARSE((char[]){"-n1"}, (char[]){"--nodes=2"}, (char[]){"--hostfile"}, (char[]){"a"},
              (char[]){"--hostfile="}, (char[]){"--color=auto"}, (char[]){"--color=always"});

    assert_int_equal(p.result, 0);
    assert_int_equal(p.values.nodes.value, 2);
    assert_string_equal(p.values.hostfile, ""); /* a text may be empty */
    assert_string_equal(p.values.color, "always");
}

static void test_limits(void **state)
{
    (void)state;
    AUTO_PARSED struct parsed p =
        PARSE((char[]){"-n65536"}, (char[]){"--fanout=18446744073709551615"}, (char[]){"--grace=1h"});

    assert_int_equal(p.result, 0);
    assert_int_equal(p.values.nodes.value, 65536);
    assert_true(p.values.fanout.value == UINT64_MAX);
    assert_int_equal(p.values.grace.value, 3600);
}

struct refusal {
    const char *words[3];
    const char *text, *hint;
};

#define LOOK        "see --help for the options"
#define WRITE       "write whole seconds or a whole number with s, m, h or d, such as 90s or 10m"
#define NODES_RANGE "must be a whole number from 1 to 65536, not "

static const struct refusal refusals[] = {
    {{"--hostfiel", "x"}, "unknown option '--hostfiel'", "did you mean '--hostfile'?"},
    {{"--hostfiel=x"}, "unknown option '--hostfiel'", "did you mean '--hostfile'?"},
    {{"--xyzzy"}, "unknown option '--xyzzy'", LOOK},
    {{"--host"}, "unknown option '--host'", "did you mean '--hostfile'?"},
    {{"--con"}, "unknown option '--con'", LOOK}, /* never the refused '--comm' */
    {{"--=x"}, "unknown option '--'", LOOK},
    {{"-x"}, "unknown option '-x'", LOOK},
    {{"-jxf"}, "unknown option '-x' in '-jxf'", LOOK},
    {{"-J"}, "unknown option '-J'", "did you mean '-j'?"},
    {{"-hostfile", "x"}, "unknown option '-h' in '-hostfile'", "did you mean '--hostfile'?"},
    {{"-timeout=3"}, "unknown option '-t' in '-timeout=3'", "did you mean '--timeout'?"},
    {{"-5"}, "unknown option '-5'", LOOK},
    {{"-\xC3\xA4"}, "unknown option '-\xC3\xA4'", LOOK},
    {{"--json=1"}, "'--json' takes no value, but '1' was given", "write --json alone"},
    {{"--json="}, "'--json' takes no value, but '' was given", "write --json alone"},
    {{"--nodes"}, "'--nodes' needs a value", "write --nodes N"},
    {{"-n"}, "'-n' needs a value", "write -n N"},
    {{"-jn"}, "'-n' needs a value", "write -n N"},
    {{"--grace"}, "'--grace' needs a value", "write --grace VALUE"},
    {{"--hostfile", "--", "x"}, "'--hostfile' needs a value", "write --hostfile FILE"},
    {{"--hostfile", "--json"}, "'--hostfile' needs a value", "write --hostfile FILE"},
    {{"--nodes", ""}, "'--nodes' " NODES_RANGE "''", "write --nodes 1"},
    {{"--nodes="}, "'--nodes' " NODES_RANGE "''", "write --nodes 1"},
    {{"--nodes", "0"}, "'--nodes' " NODES_RANGE "'0'", "write --nodes 1"},
    {{"-n", "65537"}, "'-n' " NODES_RANGE "'65537'", "write -n 65536"},
    {{"-nx"}, "'-n' " NODES_RANGE "'x'", "write -n 1"},
    {{"-n=3"}, "'-n' " NODES_RANGE "'=3'", "write -n 1"},
    {{"--nodes", "-1"}, "'--nodes' " NODES_RANGE "'-1'", "write --nodes 1"},
    {{"--nodes", "8x"}, "'--nodes' " NODES_RANGE "'8x'", "write --nodes 1"},
    {{"--fanout", "0"}, "'--fanout' must be a whole number of at least 1, not '0'", "write --fanout 1"},
    {{"--timeout", ""}, "'--timeout' must be a duration, not ''", WRITE},
    {{"--timeout=1w"}, "'--timeout' must be a duration, not '1w'", WRITE},
    {{"--timeout", "1.5h"}, "'--timeout' must be a duration, not '1.5h'", WRITE},
    {{"--timeout=10 min"}, "'--timeout' must be a duration, not '10 min'", "write --timeout 10m"},
    {{"--grace", "0"}, "'--grace' must be at least 1s, not '0'", "write --grace 1s"},
    {{"--grace", "2h"}, "'--grace' must be at most 3600s, not '2h'", "write --grace 3600s"},
    {{"--color=allways"},
     "'--color' must be 'auto', 'always' or 'never', not 'allways'",
     "did you mean 'always'?"},
    {{"--color", "blue"}, "'--color' must be 'auto', 'always' or 'never', not 'blue'", "write --color auto"},
    {{"--color="}, "'--color' must be 'auto', 'always' or 'never', not ''", "write --color auto"},
};

static void test_refusals(void **state)
{
    (void)state;
    FOR_ROWS(i, refusals, refusals[i].text) {
        AUTO_STRLIST struct strlist words = STRLIST_INIT;
        for (size_t w = 0; w < 3 && refusals[i].words[w] != NULL; w++) {
            strlist_add(&words, refusals[i].words[w]);
        }
        char *given[MAX_WORDS] = {NULL};
        memcpy(given, words.items, words.len * sizeof *given);
        AUTO_PARSED struct parsed p = parse(given);
        if (p.result != -1) {
            fail_msg("'%s' was taken", given[0]);
        }
        assert_string_equal(p.err.text, refusals[i].text);
        assert_string_equal(p.err.hint, refusals[i].hint);
        assert_true(error_is(&p.err, &kind_usage));
    }
}

static void test_unbuilt(void **state)
{
    (void)state;
    static const char *const words[][2] = {
        {"--comm", "comm"}, {"--comm=1", "comm"}, {"--gather", "gather"},
        {"-G", "gather"},   {"-jGx", "gather"},
    };

    FOR_ROWS(i, words, words[i][0]) {
        AUTO_FREE char *word = xstrdup(words[i][0]);
        AUTO_FREE char *want = xasprintf("'--%s' is not supported by this version", words[i][1]);
        AUTO_PARSED struct parsed p = PARSE(word);
        assert_int_equal(p.result, -1);
        assert_string_equal(p.err.text, want);
        assert_string_equal(p.err.hint, "");
        assert_true(error_is(&p.err, &kind_not_supported));
    }
}

static void test_help_is_aligned(void **state)
{
    (void)state;
    AUTO_STR struct str out = STR_INIT;

    options_help(groups, 80, &out);
    assert_string_equal(str_text(&out),
                        "Host options:\n"
                        "      --hostfile FILE     read the hosts from FILE\n"
                        "  -n, --nodes N           use the first N hosts only\n"
                        "  -e, --env NAME=VALUE    set NAME in the environment of the job on every node,\n"
                        "                          over whatever the spec says about it\n"
                        "\n"
                        "Options:\n"
                        "  -j, --json              print JSON\n"
                        "  -f, --follow            go on\n"
                        "      --color auto|always|never\n"
                        "                          when to use colour\n"
                        "      --fanout N          work on N hosts at once\n"
                        "      --timeout DURATION  give up after DURATION\n"
                        "      --grace             how long\n"
                        "      --a-name-that-is-longer-than-others\n"
                        "                          long\n");
}

static void test_help_fits_the_width(void **state)
{
    (void)state;
    for (size_t columns = 20; columns < 120; columns++) {
        AUTO_STR struct str out = STR_INIT;
        options_help(groups, columns, &out);
        char *line = out.data;
        for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
            *end = '\0';
            /* Option names are never broken; texts are, between their words. */
            if (text_columns(line) > columns && strstr(line, "--") == NULL) {
                fail_msg("at %zu columns: '%s'", columns, line);
            }
            if (end > line) {
                assert_int_not_equal(end[-1], ' ');
            }
        }
    }
}

static void test_help_when_narrow(void **state)
{
    (void)state;
    AUTO_STR struct str out = STR_INIT;
    const struct option_group *const one[] = {&host_group, NULL};

    options_help(one, 40, &out);
    assert_string_equal(str_text(&out), "Host options:\n"
                                        "      --hostfile FILE\n"
                                        "        read the hosts from FILE\n"
                                        "  -n, --nodes N\n"
                                        "        use the first N hosts only\n"
                                        "  -e, --env NAME=VALUE\n"
                                        "        set NAME in the environment of\n"
                                        "        the job on every node, over\n"
                                        "        whatever the spec says about it\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_long_forms),
        cmocka_unit_test(test_letters),
        cmocka_unit_test(test_operands_and_rest),
        cmocka_unit_test(test_empty_rest_is_seen),
        cmocka_unit_test(test_the_last_one_wins),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_unbuilt),
        cmocka_unit_test(test_help_is_aligned),
        cmocka_unit_test(test_help_fits_the_width),
        cmocka_unit_test(test_help_when_narrow),
    };
    return cmocka_run_group_tests_name("base/options", tests, NULL, NULL);
}
