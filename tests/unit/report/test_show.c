/* The spec of a run as a job file: YAML that reads as the same values. */
#include "report/show.h"
#include "report_test.h"

static void assert_spec(const char *json, const char *wanted)
{
    struct run run;
    AUTO_STR struct str out = STR_INIT;
    const struct report_style style = REPORT_STYLE_PLAIN;
    const struct report_show show = {.run = &run, .with_spec = true};
    run_init(&run);
    run.name = xstrdup("r1");
    run.attempt = 2;
    run.job_spec = xstrdup(json);
    report_show_text(&show, &style, &out);
    const char *text = str_text(&out);
    const char *heading = "# run r1, attempt 2; what is not here has its default, *** is a secret\n";
    assert_int_equal(strncmp(text, heading, strlen(heading)), 0);
    assert_string_equal(text + strlen(heading), wanted);
    run_release(&run);
}

static void test_nesting(void **state)
{
    (void)state;
    assert_spec(
        "{\"job\": \"a\", \"stop\": {\"grace\": 3}, \"setup\": [\"x\", \"y\"], \"nproc_per_node\": 8,"
        " \"prepare\": [{\"name\": \"p\", \"command\": [\"b\", \"c\"]}, {\"name\": \"q\"}], \"args\": [],"
        " \"sync\": {\"git\": true}}",
        "job: a\nstop:\n  grace: 3\nsetup:\n  - x\n  - y\nnproc_per_node: 8\n"
        "prepare:\n  - name: p\n    command:\n      - b\n      - c\n  - name: q\nargs: []\n"
        "sync:\n  git: true\n");
}

static void test_texts(void **state)
{
    static const struct {
        const char *json, *wanted;
    } cases[] = {
        {"train.py", "train.py"},
        {"two words", "two words"},
        {"600", "600"},
        {"1e-4", "1e-4"},
        {"--lr", "--lr"},
        {"-x", "-x"},
        {"~/code", "~/code"},
        {"A=b", "A=b"},
        {"true", "\"true\""},
        {"null", "\"null\""},
        {"~", "\"~\""},
        {"", "\"\""},
        {"-", "\"-\""},
        {"--", "\"--\""},
        {"- x", "\"- x\""},
        {"a: b", "\"a: b\""},
        {"a #b", "\"a #b\""},
        {"#b", "\"#b\""},
        {"a  b", "\"a  b\""},
        {" a", "\" a\""},
        {"a ", "\"a \""},
        {"*", "\"*\""},
        {"***", "\"***\""},
        {"[a]", "\"[a]\""},
        {"{a}", "\"{a}\""},
        {"a,b", "\"a,b\""},
        {"%x", "\"%x\""},
        {"it's", "\"it's\""},
        {"${{run}}", "\"${{run}}\""},
        {"a\\nb", "\"a\\nb\""},
        {"a\\u001b[2J", "\"a\\u001B[2J\""},
        {"\\u8bad\\u7ec3", "\"训练\""},
        {"a\\u202eb", "\"a\\u202Eb\""},
    };
    (void)state;
    FOR_ROWS(i, cases, cases[i].json) {
        AUTO_FREE char *json = xasprintf("{\"k\": \"%s\"}", cases[i].json);
        AUTO_FREE char *wanted = xasprintf("k: %s\n", cases[i].wanted);
        assert_spec(json, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
