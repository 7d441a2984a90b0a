/* What `logs` refuses before it asks any node. */
#include "cmd/commands_internal.h"
#include "cmd_test.h"
#include "run/store.h"

struct fixture {
    struct stage stage;
    struct cmd_call call;
};

static void save_run(const struct stage *stage, unsigned nproc)
{
    struct run_store store;
    struct run run;
    struct error err = ERROR_INIT;
    run_init(&run);
    run.name = xstrdup("r1");
    run.job = xstrdup("hello");
    strcpy(run.id, "r1-00aa11bb");
    run.attempt = 1;
    run.state = RUN_FINISHED;
    run.nproc_per_node = nproc;
    run_nodes_alloc(&run, 2);
    for (unsigned i = 0; i < 2; i++) {
        run.nodes[i].rank = i;
        run.nodes[i].host.name = xasprintf("g%u", i);
        run.nodes[i].label = xasprintf("g%u", i);
    }
    run.attempts = xcalloc(1, sizeof(run.attempts[0]));
    run.attempts_len = run.attempts_cap = 1;
    run.attempts[0].number = 1;
    assert_int_equal(run_store_open(&store, NULL, stage->folder, &err), 0);
    if (run_store_save(&store, &run, &err) != 0) {
        fail_msg("%s", err.text);
    }
    run_store_release(&store);
    run_release(&run);
}

static int set_up(void **state)
{
    struct fixture *fixture = xcalloc(1, sizeof(*fixture));
    stage_begin(&fixture->stage);
    fixture->call.command = &command_logs;
    fixture->call.style = REPORT_STYLE_PLAIN;
    strlist_add(&fixture->call.operands, "r1");
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    cmd_call_release(&fixture->call);
    stage_end(&fixture->stage);
    free(fixture);
    return 0;
}

static void assert_refused(struct fixture *fixture, const char *text, const char *hint)
{
    struct error err = ERROR_INIT;
    assert_int_equal(command_logs.run(&fixture->call, &err), -1);
    assert_ptr_equal(err.kind, &kind_usage);
    assert_string_equal(err.text, text);
    assert_string_equal(err.hint, hint);
}

static void test_a_rank_beyond_the_last(void **state)
{
    struct fixture *fixture = *state;
    save_run(&fixture->stage, 4);
    fixture->call.options.rank = (struct option_uint){true, 8};
    assert_refused(fixture, "'8' for --rank is not in the range 0 to 7 (2 nodes x 4 processes)",
                   "give a rank as torch counts them, or a node's number with --node");
}

static void test_ranks_that_cannot_be_counted(void **state)
{
    struct fixture *fixture = *state;
    save_run(&fixture->stage, 0);
    fixture->call.options.rank = (struct option_uint){true, 0};
    assert_refused(fixture, "'r1' has no fixed number of processes per node to count ranks by",
                   "use --node with a node's number or host");
}

static void test_lines(void **state)
{
    struct fixture *fixture = *state;
    fixture->call.options.lines = "-3";
    assert_refused(fixture, "'-3' for -n is neither a number of lines nor 'all'", "use -n 100, or -n all");
}

static void test_raw_and_what_it_excludes(void **state)
{
    struct fixture *fixture = *state;
    fixture->call.options.raw = true;
    fixture->call.options.grep = "x";
    assert_refused(fixture, "'--raw' cannot be used with --json or --grep",
                   "leave out --raw, or filter its output with grep");
}

static void test_run_name(void **state)
{
    struct fixture *fixture = *state;
    struct error err = ERROR_INIT;
    free(fixture->call.operands.items[0]);
    fixture->call.operands.items[0] = xstrdup("../r1");
    assert_int_equal(command_logs.run(&fixture->call, &err), -1);
    assert_ptr_equal(err.kind, &kind_usage);
    assert_contains(err.text, "'../r1' is not a valid run name");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_rank_beyond_the_last),
        TEST(test_ranks_that_cannot_be_counted),
        TEST(test_lines),
        TEST(test_raw_and_what_it_excludes),
        TEST(test_run_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
