/* The table of checks: every row is whole, what is asked of a node, and facts that cannot be. */

#include "base/text.h"
#include "check/check.h"
#include "node/request.h"
#include "test.h"

static bool is_id(const char *text)
{
    return text && text[0] != '\0' && text[strspn(text, "abcdefghijklmnopqrstuvwxyz_")] == '\0' &&
           strcmp(text, "node") != 0 && strcmp(text, "end") != 0;
}

static bool is_sentence_part(const char *text)
{
    return text && text[0] != '\0' && !text_ends(text, ".");
}

/* Is what it needs there, and made whenever it is? */
static bool needs_fit(const struct check *check)
{
    const struct check *needed = check->needs ? check_find(check->needs) : NULL;
    return !check->needs || (needed && needed != check);
}

/* What the row lacks; NULL for a whole one. */
static const char *lacking(const struct check *check)
{
    AUTO_FREE char *part = xasprintf("check/%s", check->id);
    if (!is_id(check->id)) {
        return "an id of letters";
    }
    if (check_find(check->id) != check) {
        return "an id of its own";
    }
    if (!is_sentence_part(check->title) || !is_sentence_part(check->why)) {
        return "title or why, without a full stop";
    }
    if (!check->ask || !check->judge) {
        return "ask or judge";
    }
    if (!needs_fit(check)) {
        return "a check that it needs";
    }
    if (check->timeout_s == 0 && check->apart) {
        return "a limit for its own shell";
    }
    return node_script_has(part) ? NULL : "src/check/ID.sh";
}

static void test_every_row_is_whole(void **state)
{
    (void)state;
    assert_true(checks_count <= CHECKS_MAX);
    for (size_t i = 0; i < checks_count; i++) {
        const char *what = lacking(checks_all[i]);
        if (what) {
            fail_msg("the check '%s' lacks %s", checks_all[i]->id, what);
        }
    }
    static const struct check half = {.id = "half", .title = "t"};
    assert_string_equal(lacking(&half), "an id of its own");
    assert_null(check_find("nothing"));
}

static const char *request_for(const struct check_subject *subject, bool no_check,
                               struct check_request *request)
{
    struct check_choice choice;
    check_choose_start(&choice, no_check);
    check_ask(subject, &choice, request);
    return str_text(&request->lanes);
}

static bool has_word(const struct str *text, const char *word)
{
    return strstr(str_text(text), word);
}

static void test_what_a_start_asks(void **state)
{
    (void)state;
    struct check_request request;
    AUTO_STRLIST struct strlist argv = STRLIST_INIT;
    strlist_add(&argv, "torchrun");
    const struct job_require require = {0};
    struct check_subject subject = {
        .starting = true,
        .require = &require,
        .run = "r",
        .nnodes = 2,
        .rank = 0,
        .start_timeout_s = 100,
        .program_type = CHECK_PROGRAM_FILE,
        .program = "train.py",
        .interpreter = "python3",
        .argv = &argv,
        .visible = "0,1",
        .counts_gpus = true,
        .master_port = 7,
        .master_addr = "g1",
    };
    request_for(&subject, false, &request);
    assert_string_equal(str_text(&request.own), "earlier others");
    assert_true(has_word(&request.lanes, "/artifacts:30,logout:30 "));
    /* one after the other, the port last; the limit of the setup lines is above start_timeout */
    assert_true(has_word(&request.lanes, "/workdir:30,setup:120,fault:30,interpreter:30,program:30,port:30"));
    assert_true(has_word(&request.lanes, "setup/gpus:30"));
    assert_false(has_word(&request.lanes, "volume")); /* no container */
    assert_true(strlist_has(&request.parts, "check/port"));
    assert_string_equal(env_get(&request.values, "master_port")->value, "7");
    assert_string_equal(env_get(&request.values, "visible")->value, "0,1");
    assert_string_equal(env_get(&request.values, "visible_set")->value, "1");
    assert_string_equal(env_get(&request.values, "setup_timeout")->value, "100");
    check_request_release(&request);

    subject.rank = 1;
    subject.container = "box";
    subject.counts_gpus = false;
    request_for(&subject, true, &request);
    assert_string_equal(str_text(&request.own), "earlier others");
    assert_string_equal(str_text(&request.lanes), "/artifacts:30,volume:30 /route:30");
    check_request_release(&request);
}

/* S11, U6: facts that cannot be are refused. */
static void test_facts_have_limits(void **state)
{
    (void)state;
#define LONG "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    static const struct {
        const char *key, *value;
        bool good;
    } cases[] = {
        {"port.number", "65535", true},
        {"port.number", "999999", false},
        {"port.number", "65536", false},
        {"port.number", "-1", false},
        {"gpus.visible", "1025", false},
        {"gpus.present", "1e3", false},
        {"node.cores", "99999999", false},
        {"node.uid", "4294967296", false},
        {"port.pid", "4194305", false},
        {"earlier.live_total", "-1", false},
        {"earlier.live", "5 S x", true},
        {"earlier.live", "x S y", false},
        {"earlier.foreign_pid", "4194305", false},
        {"setup.status", "-1", true},
        {"setup.status", "256", false},
        {"others.run", "r-1-0a1b2c3d lab", true},
        {"others.run", "s-00000000 1007", true},
        {"others.run", "r-1", false},
        {"others.run", "r-0a1b2c3d", false},
        {"others.run", "r-0a1b2c3d ", false},
        {"others.run", "-0a1b2c3d lab", false},
        {"others.run", "r-0A1b2c3d lab", false},
        {"others.run", "r\n-0a1b2c3d lab", false},
        {"others.run", "r-0a1b2c3d a b", false},
        {"others.run", "r-0a1b2c3d a'", false},
        {"others.run", "r-0a1b2c3d \x1b[1m", false},
        {"others.run", "r-0a1b2c3d " LONG "x", false},
        {"others.run", LONG "x-0a1b2c3d lab", false},
        {"others.run", "", false},
        {"never.heard", "x", true},
        {"port.never_heard", "x", true},
    };
    FOR_ROWS(i, cases, cases[i].key) {
        AUTO_FACTS struct facts facts = FACTS_INIT;
        struct error err = ERROR_INIT;
        facts_add(&facts, "node.host", "g1", NULL);
        facts_add(&facts, "node.artifacts", "/a", NULL);
        facts_add(&facts, cases[i].key, cases[i].value, NULL);
        if ((check_verify(&facts, &err) == 0) != cases[i].good) {
            fail_msg("%s=%s is %s, wanted the opposite", cases[i].key, cases[i].value,
                     cases[i].good ? "refused" : "taken");
        }
        assert_true(cases[i].good || error_is(&err, &kind_node_answer));
    }
}

/* A node that names a thousand other runs is believed for 64 of them. */
static void test_other_runs_are_bounded(void **state)
{
    (void)state;
    AUTO_FACTS struct facts facts = FACTS_INIT;
    AUTO_FINDINGS struct findings found = FINDINGS_INIT;
    const struct check_subject subject = {.run = "r"};
    for (unsigned i = 0; i < 1000; i++) {
        AUTO_FREE char *other = xasprintf("r-%08x lab", i);
        facts_add(&facts, "others.run", other, NULL);
    }
    check_find("others")->judge(&subject, &facts, &found);
    assert_int_equal(found.len, 64);
}

static void test_a_node_names_itself(void **state)
{
    (void)state;
    AUTO_FACTS struct facts facts = FACTS_INIT;
    struct error err = ERROR_INIT;
    assert_int_equal(check_verify(&facts, &err), -1);
    assert_string_equal(err.text, "the node's answer lacks its name or its artifacts folder");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_is_whole),  cmocka_unit_test(test_what_a_start_asks),
        cmocka_unit_test(test_facts_have_limits),   cmocka_unit_test(test_other_runs_are_bounded),
        cmocka_unit_test(test_a_node_names_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
