/* Jobs: their defaults, valid run names, and signal names. */
#include "model/job.h"
#include "test.h"

static void test_init_gives_the_defaults(void **state)
{
    (void)state;
    struct job job;
    job_init(&job);
    assert_string_equal(job.launcher, "torchrun");
    assert_int_equal(job.rendezvous, RENDEZVOUS_STATIC);
    assert_string_equal(job.shell, "auto");
    assert_string_equal(job.python, "python3");
    AUTO_FREE char *pass = strlist_join(&job.pass_env, " ");
    assert_string_equal(pass, "NCCL_* GLOO_* UCX_* TORCH_NCCL_*");
    AUTO_FREE char *secret = strlist_join(&job.secret_env, " ");
    assert_string_equal(secret, "*_TOKEN *_KEY *_SECRET *PASSWORD*");
    assert_int_equal(job.nproc_per_node, 0);
    assert_int_equal(job.master_port, 0);
    assert_int_equal(job.zero_stage, 0);
    assert_int_equal(job.start_timeout_s, 120);
    assert_int_equal(job.policy.on_failure, POLICY_STOP);
    assert_int_equal(job.policy.lost_after_s, 300);
    assert_string_equal(job.stop_signal, "TERM");
    assert_int_equal(job.stop_grace_s, 40);
    assert_null(job.name);
    assert_null(job.artifacts);
    job_release(&job);
    assert_null(job.launcher);
    job_release(&job); /* an empty one is fine */
}

static void test_args_keep_order_and_kind(void **state)
{
    (void)state;
    struct job_args args = {0};
    job_args_add_word(&args, "--x");
    struct job_arg *arg = job_args_add(&args);
    arg->type = JOB_ARG_PAIR;
    arg->key = xstrdup("lr");
    strlist_add(&arg->values, "1e-5");
    assert_int_equal(args.len, 2);
    assert_int_equal(args.items[0].type, JOB_ARG_WORD);
    assert_string_equal(args.items[0].values.items[0], "--x");
    assert_string_equal(args.items[1].key, "lr");
    job_args_release(&args);
    assert_int_equal(args.len, 0);
    assert_null(args.items);
}

static void test_run_names(void **state)
{
    (void)state;
    char longest[66];
    memset(longest, 'a', sizeof(longest));
    longest[64] = '\0';
    const char *const good[] = {"r", "run1", "0", "A.b_c-d", "1.", longest};
    FOR_ROWS(i, good, good[i]) {
        struct error err = ERROR_INIT;
        assert_int_equal(job_check_run_name(good[i], &err), 0);
        assert_null(err.kind);
    }
    longest[64] = 'a';
    longest[65] = '\0';
    const char *const bad[] = {"",    ".",   "..", "-x",  "_x",   ".x",   "a/b",
                               "a b", "a\n", "é",  "a:b", "${x}", longest};
    FOR_ROWS(i, bad, bad[i]) {
        struct error err = ERROR_INIT;
        assert_int_equal(job_check_run_name(bad[i], &err), -1);
        assert_ptr_equal(err.kind, &kind_usage);
    }
    struct error err = ERROR_INIT;
    job_check_run_name("a/b", &err);
    assert_string_equal(
        err.text, "'a/b' is not a valid run name, allowed: 1 to 64 letters, digits, '.', '_' and '-', the "
                  "first a letter or digit");
    assert_string_equal(err.hint, "choose a name such as 'run1'");
}

static void test_signal_names(void **state)
{
    (void)state;
    assert_string_equal(job_signal_name("TERM"), "TERM");
    assert_string_equal(job_signal_name("SIGTERM"), "TERM");
    assert_string_equal(job_signal_name("sigint"), "INT");
    assert_string_equal(job_signal_name("usr1"), "USR1");
    assert_string_equal(job_signal_name("SIGIOT"), "ABRT");
    assert_string_equal(job_signal_name("CLD"), "CHLD");
    const char *const bad[] = {"", "SIG", "15", "TERMX", "SIGSIGTERM", "SIG TERM", "EXIT"};
    FOR_ROWS(i, bad, bad[i]) {
        assert_null(job_signal_name(bad[i]));
    }
    for (size_t i = 0; i < job_signal_names_count; i++) {
        assert_ptr_equal(job_signal_name(job_signal_names[i]), job_signal_names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_init_gives_the_defaults),
        cmocka_unit_test(test_args_keep_order_and_kind),
        cmocka_unit_test(test_run_names),
        cmocka_unit_test(test_signal_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
