/* Placeholders: what is filled in, what is left for the start, and names that are none. */
#include "model/placeholder.h"
#include "test.h"

static struct placeholders values;

static int setup(void **state)
{
    (void)state;
    placeholders_set(&values, PLACEHOLDER_RUN, "r1");
    placeholders_set(&values, PLACEHOLDER_ARTIFACTS, "/a b/$HOME/${{run}}");
    placeholders_set_count(&values, PLACEHOLDER_NNODES, 4);
    placeholders_set_count(&values, PLACEHOLDER_WORLD_SIZE, 0);
    values.refused[PLACEHOLDER_DEEPSPEED_CONFIG] = "is for launcher deepspeed only";
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    placeholders_release(&values);
    return 0;
}

static void filled(const char *text, const char *wanted, bool wanted_open)
{
    struct str out = STR_INIT;
    struct error err = ERROR_INIT;
    bool open = false;
    assert_int_equal(placeholder_fill(&values, text, &out, &open, &err), 0);
    assert_string_equal(str_text(&out), wanted);
    assert_int_equal(open, wanted_open);
    str_release(&out);
}

static void refused(const char *text, const char *wanted, const char *hint)
{
    struct str out = STR_INIT;
    struct error err = ERROR_INIT;
    assert_int_equal(placeholder_fill(&values, text, &out, NULL, &err), -1);
    assert_true(error_is(&err, &kind_plan));
    assert_string_equal(err.text, wanted);
    if (!strstr(err.hint, hint)) {
        fail_msg("hint is '%s'", err.hint);
    }
    str_release(&out);
}

static void test_fill(void **state)
{
    (void)state;
    filled("", "", false);
    filled("plain", "plain", false);
    filled("${{run}}", "r1", false);
    filled("a${{run}}b${{nnodes}}", "ar1b4", false);
    filled("${{ run }}${{\trun}}", "r1r1", false);
    filled("${{run}}${{run}}}", "r1r1}", false);
    /* what was filled in is not looked at again */
    filled("${{artifacts}}/x", "/a b/$HOME/${{run}}/x", false);
}

static void test_nothing_else_is_expanded(void **state)
{
    (void)state;
    static const char *const texts[] = {"$HOME",
                                        "${HOME}",
                                        "$(id)",
                                        "`id`",
                                        "*",
                                        "$",
                                        "$$",
                                        "{{run}}",
                                        "{\"a\": 1}",
                                        "$ {{run}}",
                                        "${ {run}}",
                                        "it's",
                                        "a\nb",
                                        "\\$",
                                        "$run",
                                        "%s%n",
                                        "\xc3\xa9\xe6\x97\xa5",
                                        "}}",
                                        "${"};
    FOR_ROWS(i, texts, texts[i]) {
        filled(texts[i], texts[i], false);
    }
}

static void test_literal(void **state)
{
    (void)state;
    filled("$${{run}}", "${{run}}", false);
    filled("$${{", "${{", false);
    filled("$${{ no such }}", "${{ no such }}", false);
    filled("$$${{run}}", "$${{run}}", false);
    filled("$${{run}}${{run}}", "${{run}}r1", false);
}

static void test_open(void **state)
{
    (void)state;
    filled("${{ run_id }}/${{run}}", "${{run_id}}/r1", true);
    filled("${{world_size}}", "${{world_size}}", true);
    assert_string_equal(placeholders_text(&values, PLACEHOLDER_RUN_ID), "${{run_id}}");
    assert_string_equal(placeholders_text(&values, PLACEHOLDER_RUN), "r1");
}

static void test_refused(void **state)
{
    (void)state;
    refused("${{node_rnk}}", "unknown placeholder '${{node_rnk}}'", "did you mean '${{node_rank}}'?");
    refused("${{RUN}}", "unknown placeholder '${{RUN}}'", "$${{");
    refused("${{}}", "unknown placeholder '${{}}'", "use one of job, run, run_id");
    refused("${{xyzzyxyzzy}}", "unknown placeholder '${{xyzzyxyzzy}}'", "rendezvous_id, deepspeed_config;");
    refused("${{run}", "'${{' without '}}'", "$${{");
    refused("s3cr3t${{", "'${{' without '}}'", "$${{");
    refused("${{deepspeed_config}}", "'${{deepspeed_config}}' is for launcher deepspeed only",
            "leave it out");
}

/* Every name of the contract is there. */
static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {
        "job",         "run",         "run_id", "node_rank", "nnodes",     "nproc_per_node", "world_size",
        "master_addr", "master_port", "host",   "attempt",   "zero_stage", "artifacts",      "rendezvous_id",
    };
    FOR_ROWS(i, names, names[i]) {
        AUTO_STR struct str out = STR_INIT;
        AUTO_FREE char *text = xasprintf("${{%s}}", names[i]);
        assert_int_equal(placeholder_fill(&values, text, &out, NULL, NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill),    cmocka_unit_test(test_nothing_else_is_expanded),
        cmocka_unit_test(test_literal), cmocka_unit_test(test_open),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
