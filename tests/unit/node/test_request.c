/* What is sent: the command, the nonce line, values as literals, nothing that runs before all has come. */

#include "base/text.h"
#include "node/request.h"
#include "test.h"

#define N "0123456789abcdef0123456789abcdef"

static const struct node_target target = {
    .run = "r", .run_id = "r-12345678", .rank = 3, .attempt = 2, .artifacts = "/it's"};

static void check_frame_of_script(const struct node_call *call)
{
    static const char begin[] = N "\nmt_all() {\n";
    static const char end[] = "\n}\nmt_all\n";

    assert_string_equal(call->nonce, N);
    assert_true(text_starts(str_text(&call->input), begin));
    assert_true(text_ends(str_text(&call->input), end));
    assert_non_null(strstr(str_text(&call->input), "\nmt_artifacts='/it'\\''s'\n"));
    assert_non_null(strstr(str_text(&call->input), "\nmt_run_id='r-12345678'\n"));
    assert_non_null(strstr(str_text(&call->input), "\nmt_rank=3\n"));
    assert_non_null(strstr(str_text(&call->input), "\nmt_attempt=2\n"));
}

static void check_runs_here(const struct node_call *call)
{
    assert_string_equal(call->command,
                        "exec /bin/sh -c 'IFS= read -r l && [ \"$l\" = " N " ] || exit 97; exec /bin/sh -s'");
}

/* S9: in a session of its own. Every login shell must read the command alike: no "!", no backslash, one line.
 */
static void check_runs_detached(const struct node_call *call)
{
    assert_non_null(strstr(call->command, "setsid /bin/sh -s <&3 3<&- & trap - EXIT; exec 3<&-; wait'"));
    assert_null(strpbrk(call->command, "!\\\n"));
}

static void check_has(const struct node_call *call, const char *text)
{
    if (strstr(str_text(&call->input), text) == NULL) {
        fail_msg("lacks %s", text);
    }
}

static void test_a_stop(void **state)
{
    (void)state;
    AUTO_NODE_CALL struct node_call call;

    node_request_stop(&target, &(struct node_stop_options){.signal = "INT", .grace_s = 40}, N, &call);
    check_frame_of_script(&call);
    check_runs_detached(&call);
    check_has(&call, "\nmt_verb='stop'\n");
    check_has(&call, "\nmt_signal_name='INT'\n");
    check_has(&call, "\nmt_grace=40\n");
    check_has(&call, "\nmt_verb_stop() {\n");
}

static void test_a_tail(void **state)
{
    (void)state;
    AUTO_NODE_CALL struct node_call call;
    AUTO_NODE_CALL struct node_call other;

    node_request_tail(&target, &(struct node_tail_options){.from = NODE_TAIL_LINES, .count = 100}, N, &call);
    check_frame_of_script(&call);
    check_runs_here(&call);
    check_has(&call, "\nmt_tail_attempt=2\n");
    check_has(&call, "\nmt_tail_from='lines'\nmt_tail_count=100\nmt_want_follow=\nmt_tail_filter=''\n");
    node_request_tail(&target,
                      &(struct node_tail_options){
                          .attempt = 1, .from = NODE_TAIL_OFFSET, .count = UINT64_MAX, .follow = true},
                      N, &other);
    check_has(&other, "\nmt_tail_attempt=1\n");
    check_has(&other, "\nmt_tail_from='offset'\nmt_tail_count=18446744073709551615\nmt_want_follow=1\n");
    node_call_release(&other);
    node_request_tail(&target, &(struct node_tail_options){.filter = "it's\nb", .filter_fixed = true}, N,
                      &other);
    check_has(&other, "\nmt_tail_filter='it'\\''s\nb'\nmt_tail_mode='F'\n");
}

static void test_a_removal(void **state)
{
    (void)state;
    AUTO_NODE_CALL struct node_call call;

    node_request_remove(&target, true, N, &call);
    check_frame_of_script(&call);
    check_runs_here(&call);
    check_has(&call, "\nmt_want_logs=1\n");
}

/* The job's text is one literal of the script: its own quotes are quoted again. */
static void test_a_start(void **state)
{
    (void)state;
    AUTO_NODE_CALL struct node_call call;
    struct strlist setup = STRLIST_INIT;
    struct strlist argv = STRLIST_INIT;
    struct strlist unset = STRLIST_INIT;
    struct env defaults = ENV_INIT;
    struct env env = ENV_INIT;
    struct env computed = ENV_INIT;

    strlist_add(&setup, "module load x");
    strlist_add(&argv, "python3");
    strlist_add(&argv, "$(id)");
    strlist_add(&unset, "GONE");
    env_set(&defaults, "LANG", "C.UTF-8", "default");
    env_set(&env, "TOKEN", "s3cr3t", "spec");
    env_set(&env, "LATER", NULL, "on start");
    env_set(&computed, "NODE_RANK", "3", "computed");
    const struct node_job job = {.workdir = "/w",
                                 .shell = "auto",
                                 .setup = &setup,
                                 .argv = &argv,
                                 .unset = &unset,
                                 .defaults = &defaults,
                                 .env = &env,
                                 .computed = &computed};
    node_request_start(&target, &job, &(struct node_start_options){.master_port = 29500, .version = "1"}, N,
                       &call);
    check_frame_of_script(&call);
    check_runs_here(&call);
    check_has(&call, "\nmt_master_port=29500\n");
    check_has(&call, "\nmt_start_timeout=120\n");
    check_has(&call, "\nunset GONE\n");
    check_has(&call, "\n[ -n \"${LANG+x}\" ] || [ -n \"${LC_ALL+x}\" ] || export LANG='\\''C.UTF-8'\\''\n");
    check_has(&call, "\nexport TOKEN='\\''s3cr3t'\\''\n");
    check_has(&call, "\neval '\\''module load x'\\''\n");
    check_has(&call, "\nexec '\\''python3'\\'' '\\''$(id)'\\''\n");
    assert_null(strstr(str_text(&call.input), "LATER"));
    assert_null(strstr(call.command, "s3cr3t"));
    strlist_release(&setup);
    strlist_release(&argv);
    strlist_release(&unset);
    env_release(&defaults);
    env_release(&env);
    env_release(&computed);
}

static void test_checks_exec_nothing(void **state)
{
    (void)state;
    AUTO_NODE_CALL struct node_call call;
    AUTO_STRLIST struct strlist argv = STRLIST_INIT, parts = STRLIST_INIT;
    struct env env = ENV_INIT, values = ENV_INIT;

    strlist_add(&argv, "never-run");
    strlist_add(&parts, "check/port");
    env_set(&env, "CUDA_VISIBLE_DEVICES", "0,1", "host");
    env_set(&values, "master_port", "7", NULL);
    env_set(&values, "text", "it's", NULL);
    const struct node_job job = {.argv = &argv, .env = &env, .env_mode = NODE_ENV_CLEAN};
    const struct node_probe probe = {.program = "train.py", .interpreter = "python3"};
    const struct node_check_options options = {
        .probe = &probe, .lanes = "/port:30", .own = "earlier", .parts = &parts, .values = &values};
    node_request_check(&target, &job, &options, N, &call);
    check_frame_of_script(&call);
    check_runs_here(&call);
    check_has(&call, "\nmt_env_mode='clean'\n");
    check_has(&call,
              "\nmt_lanes='/port:30'\nmt_own_checks='earlier'\nmt_master_port='7'\nmt_text='it'\\''s'\n");
    check_has(&call, "\nmt_check_port() {\n");
    check_has(&call, "\n[ ! -f '\\''train.py'\\'' ] ||");
    assert_null(strstr(str_text(&call.input), "never-run"));
    assert_null(strstr(str_text(&call.input), "mt_check_route"));
    env_release(&env);
    env_release(&values);
}

/* Every part is there by its name. */
static void test_parts(void **state)
{
    (void)state;
    assert_true(node_script_has("90-main") && node_script_has("check/port"));
    assert_false(node_script_has("port"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stop),
        cmocka_unit_test(test_a_tail),
        cmocka_unit_test(test_a_removal),
        cmocka_unit_test(test_a_start),
        cmocka_unit_test(test_checks_exec_nothing),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
