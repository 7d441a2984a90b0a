/* `hosts` of the job file: what the host list's parser gets, and where its errors point. */
#include "jobfile_test.h"
#include "model/hostlist.h"

/* The hosts of a spec, "name slots@line" each, as the host list reads them. */
static void assert_hosts(const char *hosts, bool is_list, unsigned line, const char *want)
{
    AUTO_FREE char *spec = xasprintf("program: x\n%s", hosts);
    AUTO_OUTCOME struct outcome got = read_spec(spec, NULL);
    assert_read(&got);
    assert_int_equal(got.job.hosts_is_list, is_list);
    assert_int_equal(got.job.hosts_line, line);
    struct hostlist list = HOSTLIST_INIT;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;
    struct error err = ERROR_INIT;
    assert_int_equal(hostlist_parse(&list, got.job.hosts, strlen(got.job.hosts),
                                    is_list ? HOSTLIST_LINES : HOSTLIST_COMMAS, "f", line, &warnings, &err),
                     0);
    AUTO_STR struct str text = STR_INIT;
    for (size_t i = 0; i < list.len; i++) {
        str_addf(&text, "%s%s %u@%u", i > 0 ? ", " : "", list.items[i].name, list.items[i].slots,
                 list.items[i].line);
    }
    assert_string_equal(str_text(&text), want);
    hostlist_release(&list);
}

static void test_forms(void **state)
{
    (void)state;
    assert_hosts("hosts: g[1-2] slots=8, h\n", false, 2, "g1 8@2, g2 8@2, h 0@2");
    assert_hosts("hosts:\n  - g1 slots=4\n  # note\n  - 'g2'\n\n  - g3\n", true, 3, "g1 4@3, g2 0@5, g3 0@7");
    assert_hosts("hosts: [g1 slots=4, 'g[2-3]',   h]\n", false, 2, "g1 4@2, g2 0@2, g3 0@2, h 0@2");
    assert_hosts("hosts: [g1, g2,\n  h1,   h2]\n", false, 2, "g1 0@2, g2 0@2, h1 0@3, h2 0@3");
    assert_hosts("hosts: [g1]\n", true, 2, "g1 0@2");
    assert_hosts("hosts: ['g[1,3]', 'h gpus=0,1']\n", true, 2, "g1 0@2, g3 0@2, h 2@3");
    assert_hosts("hosts: ['g1 # note', g2]\n", true, 2, "g1 0@2, g2 0@3");
    assert_hosts("hosts: [g1, g2, ^g1]\n", false, 2, "g2 0@2");
    assert_hosts("hosts: >-\n  g1,\n  g2\n", false, 2, "g1 0@2, g2 0@2");
}

static const struct refusal wrong[] = {
    {"hosts: {a: b}\n", 1, 8, "'hosts' is a mapping, expected an expression or a list of entries",
     "write 'hosts: [g1, g2]'"},
    {"hosts: ''\n", 1, 8, "'hosts' is empty", "give a value, or leave it out"},
    {"hosts: []\n", 1, 8, "'hosts' is an empty list", "name at least one host, or leave it out"},
    {"hosts: [g1, [g2]]\n", 1, 13, "'hosts[1]' is a list, expected a string",
     "write one text, in quotes if the brackets belong to it"},
    {"hosts: [g1, '']\n", 1, 13, "'hosts[1]' is empty", "give a value, or leave it out"},
    {"hosts: [\"g1\\ng2\"]\n", 1, 9, "'hosts[0]' has several lines, expected one entry",
     "write one list item for each host"},
};

static void test_wrong_types(void **state)
{
    (void)state;
    FOR_ROWS(i, wrong, wrong[i].spec) {
        AUTO_OUTCOME struct outcome got = read_spec(wrong[i].spec, NULL);
        assert_refused(&got, &kind_job_file, SPEC_FILE, &wrong[i]);
    }
}

static void test_errors_point_into_the_job_file(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *source;
        unsigned line, column; /* of 'slots=0' */
    } cases[] = {
        {"hosts: g1, g2 slots=0\n", "hosts: g1, g2 slots=0", 1, 15},
        {"hosts: 'g1, g2 slots=0'\n", "hosts: 'g1, g2 slots=0'", 1, 16},
        {"hosts:\n  - g1\n\n  # note\n  - g2 slots=0\n  - g3\n", "  - g2 slots=0", 5, 8},
        {"hosts:\n  - g1\n  - \"g2 slots=0\"\n", "  - \"g2 slots=0\"", 3, 9},
        {"hosts: [g1,  g2 slots=0]\n", "hosts: [g1,  g2 slots=0]", 1, 17},
        {"hosts: [g1, \"g2 slots=0\", g3]\n", "hosts: [g1, \"g2 slots=0\", g3]", 1, 17},
        {"hosts: [g1, g2,\n   g3,  g4 slots=0, g5]\n", "   g3,  g4 slots=0, g5]", 2, 12},
        {"hosts: ['g[1,3]', 'g4 slots=0']\n", "hosts: ['g[1,3]', 'g4 slots=0']", 1, 23},
    };
    FOR_ROWS(i, cases, cases[i].spec) {
        AUTO_OUTCOME struct outcome got = read_spec(cases[i].spec, NULL);
        assert_int_equal(got.result, -1);
        assert_ptr_equal(got.err.kind, &kind_host_list);
        assert_string_equal(got.err.file, SPEC_FILE);
        assert_non_null(strstr(got.err.text, "slots=0"));
        if (got.err.line != cases[i].line || got.err.column != cases[i].column) {
            fail_msg("%s: %u:%u", cases[i].spec, got.err.line, got.err.column);
        }
        assert_string_equal(got.err.source, cases[i].source);
    }
}

static void test_hosts_of_an_option(void **state)
{
    (void)state;
    AUTO_STRLIST struct strlist sets = STRLIST_INIT;
    strlist_add(&sets, "hosts=[a, b]");
    const struct job_request request = {.sets = &sets};
    AUTO_OUTCOME struct outcome got = read_spec("program: x\nhosts: c\n", &request);
    assert_read(&got);
    assert_string_equal(got.job.hosts, "a\nb");
    assert_int_equal(got.job.hosts_line, 0); /* no line of the job file */
    strlist_add(&sets, "hosts=[a, b slots=0]");
    AUTO_OUTCOME struct outcome bad = read_spec("program: x\n", &request);
    assert_int_equal(bad.result, -1);
    assert_string_equal(bad.err.file, "--set hosts=[a, b slots=0]");
    assert_int_equal(bad.err.line, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_errors_point_into_the_job_file),
        cmocka_unit_test(test_hosts_of_an_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
