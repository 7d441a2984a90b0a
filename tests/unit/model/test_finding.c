/* Facts within their bounds, and findings of many hosts as one. */
#include "model/facts.h"
#include "model/finding.h"
#include "model/kind.h"
#include "test.h"

static void test_the_same_on_many_hosts_is_one(void **state)
{
    (void)state;
    AUTO_FINDINGS struct findings all = FINDINGS_INIT;
    for (int host = 1; host <= 3; host++) {
        AUTO_FINDINGS struct findings found = FINDINGS_INIT;
        AUTO_FREE char *label = xasprintf("g%d", host);
        findings_add(&found, "a", FINDING_OK, "well");
        if (host != 2) {
            struct finding *finding = findings_fail(&found, "b", &kind_port_taken, "port %d is taken", 7);
            finding_set_remedy(finding, "use another");
        } else {
            findings_add(&found, "b", FINDING_WARN, "port 7 is taken");
        }
        findings_fold(&all, &found, label);
    }
    assert_int_equal(all.len, 3);
    assert_int_equal(all.items[0].hosts.len, 3);
    assert_string_equal(all.items[1].text, "port 7 is taken");
    assert_int_equal(all.items[1].hosts.len, 2);
    assert_string_equal(all.items[1].hosts.items[1], "g3");
    assert_int_equal(all.items[2].severity, FINDING_WARN);
    assert_int_equal(findings_worst(&all, NULL), FINDING_FAIL);
    assert_int_equal(findings_worst(&all, "a"), FINDING_OK);
}

static void test_a_failure_is_an_error_and_back(void **state)
{
    (void)state;
    AUTO_FINDINGS struct findings found = FINDINGS_INIT;
    struct error err = ERROR_INIT, back = ERROR_INIT;
    assert_null(findings_first_failure(&found));
    error_set(&err, &kind_run_live, "it lives");
    error_hint(&err, "stop it");
    findings_add(&found, "x", FINDING_WARN, "slow");
    findings_fail_error(&found, "x", &err);
    assert_int_equal(finding_to_error(findings_first_failure(&found), &back), -1);
    assert_ptr_equal(back.kind, &kind_run_live);
    assert_string_equal(back.text, "it lives");
    assert_string_equal(back.hint, "stop it");
}

static void test_findings_move_by_id(void **state)
{
    (void)state;
    AUTO_FINDINGS struct findings from = FINDINGS_INIT, to = FINDINGS_INIT;
    findings_add(&from, "a", FINDING_OK, "1");
    findings_add(&from, "b", FINDING_OK, "2");
    findings_add(&from, "a", FINDING_OK, "3");
    findings_move(&to, &from, "a");
    assert_int_equal(to.len, 2);
    assert_string_equal(to.items[1].text, "3");
    assert_int_equal(from.len, 1);
    assert_string_equal(from.items[0].text, "2");
}

static void test_facts_are_bounded(void **state)
{
    (void)state;
    AUTO_FACTS struct facts facts = FACTS_INIT;
    struct error err = ERROR_INIT;
    for (int i = 0; i < FACTS_MAX; i++) {
        assert_int_equal(facts_add(&facts, "k", "v", &err), 0);
    }
    assert_int_equal(facts_add(&facts, "k", "v", &err), -1);
    assert_ptr_equal(err.kind, &kind_node_answer);
    facts_release(&facts);
    AUTO_FREE char *large = xcalloc(FACTS_BYTES_MAX, 1);
    for (size_t i = 0; i + 1 < FACTS_BYTES_MAX; i++) {
        large[i] = 'x';
    }
    assert_int_equal(facts_add(&facts, "k", large, &err), -1);
    assert_int_equal(facts.len, 0);
}

static char *shout(void *ctx, char *value)
{
    (void)ctx;
    char *loud = xasprintf("%s!", value);
    free(value);
    return loud;
}

static void test_facts_can_be_mapped(void **state)
{
    (void)state;
    AUTO_FACTS struct facts facts = FACTS_INIT;
    facts_add(&facts, "a", "1", NULL);
    facts_add(&facts, "b", "2", NULL);
    facts_map(&facts, "b", shout, NULL);
    assert_string_equal(facts_text(&facts, "a"), "1");
    assert_string_equal(facts_text(&facts, "b"), "2!");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_on_many_hosts_is_one),
        cmocka_unit_test(test_a_failure_is_an_error_and_back),
        cmocka_unit_test(test_findings_move_by_id),
        cmocka_unit_test(test_facts_are_bounded),
        cmocka_unit_test(test_facts_can_be_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
