/* Answers: whole, noisy, cut, hostile. */

#include "node/answer.h"
#include "test.h"

#define N     "0123456789abcdef0123456789abcdef"
#define FRAME "\n@@" N " "
#define END   FRAME "end=ok\n"

/* Facts of any question: decoded, in order, a key that comes twice is a list. */
static void test_facts(void **state)
{
    (void)state;
    static const char text[] = FRAME "node.host=g1\n" FRAME "node.artifacts=/a%20b%0ac\n" FRAME
                                     "earlier.live=77 S torchrun x\n" FRAME "earlier.live=78 D \n" FRAME
                                     "port.number=29501\n" FRAME "node.python=1\n" FRAME "empty=\n" END;
    AUTO_FACTS struct facts facts = FACTS_INIT;
    struct error err = ERROR_INIT;
    size_t at = 0;

    assert_int_equal(node_answer_facts(text, strlen(text), N, &facts, &err), 0);
    assert_string_equal(facts_text(&facts, "node.host"), "g1");
    assert_string_equal(facts_text(&facts, "node.artifacts"), "/a b\nc");
    assert_string_equal(facts_next(&facts, "earlier.live", &at), "77 S torchrun x");
    assert_string_equal(facts_next(&facts, "earlier.live", &at), "78 D ");
    assert_null(facts_next(&facts, "earlier.live", &at));
    assert_int_equal(facts_uint(&facts, "port.number", 0), 29501);
    assert_int_equal(facts_uint(&facts, "port.pid", 7), 7);
    assert_true(facts_is_set(&facts, "node.python"));
    assert_false(facts_is_set(&facts, "node.perl"));
    assert_string_equal(facts_text(&facts, "empty"), "");
    assert_null(facts_some(&facts, "empty"));
}

static void test_a_start(void **state)
{
    (void)state;
    static const char text[] = FRAME "host=g1\n" FRAME "log=/l\n" FRAME "started=1700000000\n" FRAME
                                     "pid=42\n" FRAME "status=137\n" FRAME "signal=KILL\n" FRAME
                                     "output=%e6%97%a5\n" FRAME "setup_line=2\n" FRAME "stage=setup\n" END;
    struct node_start start;
    struct error err = ERROR_INIT;

    assert_int_equal(node_answer_start(text, strlen(text), N, &start, &err), 0);
    assert_int_equal(start.stage, NODE_START_SETUP);
    assert_int_equal(start.setup_line, 2);
    assert_int_equal(start.status, 137);
    assert_string_equal(start.signal, "KILL");
    assert_string_equal(start.output, "日");
    assert_int_equal(start.started_s, 1700000000);
    node_start_release(&start);
}

static void test_an_observation(void **state)
{
    (void)state;
    static const char text[] =
        FRAME "life=exited\n" FRAME "status=1\n" FRAME "signal=\n" FRAME "ended=5\n" FRAME
              "ended_uptime=12.34\n" FRAME "setup_line=0\n" FRAME "found_run_id=r-1\n" FRAME
              "found_attempt=2\n" FRAME "log=/l\n" FRAME "log_size=18446744073709551615\n" FRAME
              "leftover_total=100\n" FRAME "leftover=1 S x\n" END;
    struct node_observation seen;
    struct error err = ERROR_INIT;

    assert_int_equal(node_answer_observe(text, strlen(text), N, &seen, &err), 0);
    assert_int_equal(seen.life, NODE_LIFE_EXITED);
    assert_int_equal(seen.status, 1);
    assert_null(seen.signal);
    assert_true(seen.never_ran);
    assert_int_equal(seen.ended_uptime_ms, 12340);
    assert_int_equal(seen.found_attempt, 2);
    assert_true(seen.log_size == UINT64_MAX);
    assert_int_equal(seen.leftovers.total, 100);
    assert_int_equal(seen.leftovers.len, 1);
    node_observation_release(&seen);
}

static void test_a_stop(void **state)
{
    (void)state;
    static const char text[] = FRAME "was_alive=1\n" FRAME "signalled=9\n" FRAME "killed=2\n" FRAME
                                     "scan=ok\n" FRAME "survivor=4 D python\n" FRAME "survivor_total=1\n" END;
    struct node_stop stop;
    struct error err = ERROR_INIT;

    assert_int_equal(node_answer_stop(text, strlen(text), N, &stop, &err), 0);
    assert_true(stop.was_alive);
    assert_int_equal(stop.signalled, 9);
    assert_int_equal(stop.killed, 2);
    assert_int_equal(stop.status, -1);
    assert_int_equal(stop.survivors.total, 1);
    assert_int_equal(stop.survivors.items[0].state, 'D');
    node_stop_release(&stop);
}

static void test_a_removal(void **state)
{
    (void)state;
    static const char text[] = FRAME "live=4 S python\n" FRAME "live_total=1\n" FRAME "removed=0\n" END;
    struct node_removal removal;
    struct error err = ERROR_INIT;

    assert_int_equal(node_answer_remove(text, strlen(text), N, &removal, &err), 0);
    assert_false(removal.removed);
    assert_int_equal(removal.live.total, 1);
    node_removal_release(&removal);
}

/* S1: an answer that names nobody counts only with the node's word that it has seen all. */
static void test_silence_is_no_proof(void **state)
{
    (void)state;
    static const char stopped[] = FRAME "was_alive=0\n" FRAME "survivor_total=0\n" END;
    static const char unproven[] =
        FRAME "survivor=4 S x\n" FRAME "survivor_total=1\n" FRAME "unproven=cannot fork\n" END;
    static const char removed[] = FRAME "live_total=0\n" FRAME "removed=1\n" END;
    static const char looked[] = FRAME "life=none\n" FRAME "leftover_total=0\n" END;
    static const char refused[] = FRAME "error=scan\n" FRAME "detail=awk was killed\n" END;
    struct node_stop stop;
    struct node_removal removal;
    struct node_observation seen;
    struct error err = ERROR_INIT;

    assert_int_equal(node_answer_stop(stopped, strlen(stopped), N, &stop, &err), -1);
    assert_string_equal(err.text, "the node's answer to a stop does not prove that it saw all processes");
    node_stop_release(&stop);
    assert_int_equal(node_answer_stop(unproven, strlen(unproven), N, &stop, &err), 0);
    assert_string_equal(stop.unproven, "cannot fork");
    assert_int_equal(stop.survivors.total, 1);
    node_stop_release(&stop);
    assert_int_equal(node_answer_remove(removed, strlen(removed), N, &removal, &err), -1);
    node_removal_release(&removal);
    assert_int_equal(node_answer_observe(looked, strlen(looked), N, &seen, &err), 0);
    assert_false(seen.scanned);
    node_observation_release(&seen);
    assert_int_equal(node_answer_observe(refused, strlen(refused), N, &seen, &err), -1);
    assert_ptr_equal(err.kind, &kind_scan_failed);
    assert_string_equal(err.text, "the node could not list all its processes: awk was killed");
    node_observation_release(&seen);
}

/* One text through the observation parser: its error. */
static void observe(const char *text, struct error *err)
{
    struct node_observation seen;

    *err = ERROR_INIT;
    assert_int_equal(node_answer_observe(text, strlen(text), N, &seen, err), -1);
    node_observation_release(&seen);
}

static void test_noise_does_not_matter(void **state)
{
    (void)state;
    static const char text[] =
        "Welcome\r\n@@\n@@" N "\n@@" N "x life=none\n@@ffff life=none\nno newline" FRAME "life=none\n" END
        "logout\n@@" N " life=running\n";
    struct node_observation seen;
    struct error err = ERROR_INIT;

    assert_int_equal(node_answer_observe(text, strlen(text), N, &seen, &err), 0);
    assert_int_equal(seen.life, NODE_LIFE_NONE);
    node_observation_release(&seen);
}

static void test_what_is_no_answer(void **state)
{
    (void)state;
    struct error err;

    observe("", &err);
    assert_true(error_is(&err, &kind_node_answer));
    assert_string_equal(err.text, "the node's answer could not be understood");
    assert_string_equal(err.hint, "look at the login's start-up files: nothing came back");
    observe("hello\nThis account is \xff closed.\n\n", &err);
    assert_string_equal(err.hint, "look at the login's start-up files: the last output was 'This account is "
                                  "\xef\xbf\xbd closed.'");
    observe(FRAME "life=none\n", &err);
    assert_string_equal(err.text, "the node's answer has no end");
    observe(FRAME "life=none\n" FRAME "end=o", &err);
    assert_string_equal(err.text, "the node's answer has no end");
}

static void test_frames_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {FRAME "no key\n" END, "the node's answer contains a frame without a key"},
        {FRAME "=x\n" END, "the node's answer contains a frame without a key"},
        {FRAME "K=x\n" END, "the node's answer contains a frame without a key"},
        {FRAME "host=%\n" END, "the node's answer contains a broken value for 'host'"},
        {FRAME "host=%4\n" END, "the node's answer contains a broken value for 'host'"},
        {FRAME "host=%zz\n" END, "the node's answer contains a broken value for 'host'"},
        {FRAME "host=a%00b\n" END, "the node's answer contains a broken value for 'host'"},
        {FRAME "life=dancing\n" END, "the node's answer about a run says 'dancing'"},
        {END, "the node's answer about a run says 'nothing'"},
        {FRAME "life=none\n" FRAME "pid=-1\n" END,
         "the node's answer says '-1' for 'pid', expected a number up to 4194304"},
        {FRAME "life=none\n" FRAME "status=256\n" END,
         "the node's answer says '256' for 'status', expected a number up to 255"},
        {FRAME "life=none\n" FRAME "uptime=1.2.3\n" END,
         "the node's answer says '1.2.3' for 'uptime', expected a time"},
        /* S11: limits of every number */
        {FRAME "life=none\n" FRAME "ended=99999999999\n" END,
         "the node's answer says '99999999999' for 'ended', expected a number up to 4102444800"},
        {FRAME "life=none\n" FRAME "found_attempt=4294967297\n" END,
         "the node's answer says '4294967297' for 'found_attempt', expected a number up to 1000000"},
        {FRAME "life=none\n" FRAME "leftover=5 %1b y\n" END,
         "the node's answer says '5 \x1b y' for a process"},
        {FRAME "life=none\n" FRAME "leftover=x S y\n" END, "the node's answer says 'x S y' for a process"},
        {FRAME "life=none\n" FRAME "leftover=5\n" END, "the node's answer says '5' for a process"},
        {FRAME "life=none\n" FRAME "leftover=0 S y\n" END, "the node's answer says '0 S y' for a process"},
    };
    FOR_ROWS(i, cases, cases[i].text) {
        struct error err;
        observe(cases[i].text, &err);
        assert_true(error_is(&err, &kind_node_answer));
        assert_string_equal(err.text, cases[i].message);
    }
}

static void test_errors_of_the_node(void **state)
{
    (void)state;
    struct error err;

    observe(FRAME "error=unsupported\n" FRAME "detail=/proc setsid\n" END, &err);
    assert_true(error_is(&err, &kind_node_unsupported));
    assert_string_equal(err.text, "this node lacks '/proc setsid'");
    observe(FRAME "error=place\n" FRAME "detail=%27/a%27 is a symbolic link\n" END, &err);
    assert_true(error_is(&err, &kind_artifacts_unwritable));
    assert_string_equal(err.text, "the artifacts folder cannot be used: '/a' is a symbolic link");
    observe(FRAME "error=never-heard\n" END, &err);
    assert_true(error_is(&err, &kind_node_answer));
    assert_string_equal(err.text, "the node answers with an unknown error 'never-heard': ");
}

static void test_other_verbs_ask_for_what_they_need(void **state)
{
    (void)state;
    struct node_start start;
    struct node_stop stop;
    struct error err = ERROR_INIT;

    assert_int_equal(node_answer_start(END, strlen(END), N, &start, &err), -1);
    assert_string_equal(err.text, "the node's answer to a start says 'nothing'");
    node_start_release(&start);
    assert_int_equal(node_answer_stop(END, strlen(END), N, &stop, &err), -1);
    assert_string_equal(err.text, "the node's answer to a stop does not say what survived");
    node_stop_release(&stop);
}

static void test_a_signal_is_a_name_or_nothing(void **state)
{
    (void)state;
    static const char text[] = FRAME "life=exited\n" FRAME "signal=%1b[31m\n" END;
    struct node_observation seen;
    struct error err = ERROR_INIT;

    assert_int_equal(node_answer_observe(text, strlen(text), N, &seen, &err), 0);
    assert_null(seen.signal);
    node_observation_release(&seen);
}

static void test_lists_and_frames_are_bounded(void **state)
{
    (void)state;
    AUTO_STR struct str text = STR_INIT;
    struct node_stop stop;
    struct error err = ERROR_INIT;

    for (int i = 1; i <= 500; i++) {
        str_addf(&text, FRAME "survivor=%d S x\n", i);
    }
    str_add(&text, FRAME "survivor_total=500\n" FRAME "scan=ok\n" END);
    assert_int_equal(node_answer_stop(str_text(&text), text.len, N, &stop, &err), 0);
    assert_int_equal(stop.survivors.len, 64);
    assert_int_equal(stop.survivors.total, 500);
    node_stop_release(&stop);

    str_reset(&text);
    for (int i = 0; i < 5000; i++) {
        str_add(&text, FRAME "a=\n");
    }
    observe(str_text(&text), &err);
    assert_string_equal(err.text, "the node's answer contains more than 4096 frames");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_a_start),
        cmocka_unit_test(test_an_observation),
        cmocka_unit_test(test_a_stop),
        cmocka_unit_test(test_a_removal),
        cmocka_unit_test(test_silence_is_no_proof),
        cmocka_unit_test(test_noise_does_not_matter),
        cmocka_unit_test(test_what_is_no_answer),
        cmocka_unit_test(test_frames_that_cannot_be),
        cmocka_unit_test(test_errors_of_the_node),
        cmocka_unit_test(test_other_verbs_ask_for_what_they_need),
        cmocka_unit_test(test_a_signal_is_a_name_or_nothing),
        cmocka_unit_test(test_lists_and_frames_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
