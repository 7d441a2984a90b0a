/*
 * Whole plans against tests/data/plans/NAME.txt. After a wanted change: MTLAUNCH_UPDATE_GOLDEN=1 writes the
 * files anew, and the difference is read before it is committed.
 */
#include "plan_fixture.h"

static void golden(struct fixture *f, const char *name)
{
    AUTO_FREE char *path = xasprintf("tests/data/plans/%s.txt", name);
    AUTO_STR struct str got = STR_INIT, wanted = STR_INIT;
    add_plan_text(planned(f), &got);
    if (getenv("MTLAUNCH_UPDATE_GOLDEN")) {
        assert_int_equal(file_write_atomic(path, got.data, got.len, 0644, NULL), 0);
    }
    assert_int_equal(file_read(path, 1 << 20, &wanted, &f->err), 0);
    assert_string_equal(str_text(&got), str_text(&wanted));
}

static void test_one_local(void **state)
{
    struct fixture *f = *state;
    set_hosts(f, "localhost\n");
    f->host_facts[0].local = true;
    golden(f, "one-local");
}

static void test_one_started(void **state)
{
    struct fixture *f = *state;
    set_hosts(f, "localhost\n");
    f->host_facts[0].local = true;
    set_facts(f, 64, 0, NULL);
    golden(f, "one-local-started");
}

static void prepare_four(struct fixture *f)
{
    set_hosts(f, "g[0033-0036] slots=8\n");
    f->host_facts[0] = (struct plan_host){.hostname = "10.0.0.33", .user = "yi", .port = 2222};
    f->host_facts[1] = (struct plan_host){.hostname = "10.0.0.34", .user = "yi", .local = true};
    set_text(&f->job.workdir, "/apps/yi/Megatron LM");
    add_arg(f, "--save");
    add_arg(f, "${{artifacts}}/checkpoints/${{ run }}");
    add_arg(f, "--prompt=a b");
    add_arg(f, "$${{x}} $HOME");
}

static void test_four(void **state)
{
    struct fixture *f = *state;
    prepare_four(f);
    golden(f, "four");
}

static void test_four_started(void **state)
{
    struct fixture *f = *state;
    prepare_four(f);
    set_facts(f, 128, 8, "bond0");
    golden(f, "four-started");
}

static void test_ipv6_c10d(void **state)
{
    struct fixture *f = *state;
    set_hosts(f, "root@[2001:db8::2]:2222 slots=2\n2001:db8::3 slots=2\n");
    f->job.rendezvous = RENDEZVOUS_C10D;
    set_program(f, "-m pkg.train");
    golden(f, "ipv6-c10d");
}

static void test_script(void **state)
{
    struct fixture *f = *state;
    set_hosts(f, "a slots=2 env.ROLE=first ifname=ib0\nb gpus=0,2,3 workdir=/other\n");
    set_text(&f->job.launcher, "script");
    set_text(&f->job.workdir, "~/work dir");
    set_program(f, "./go.sh ${{node_rank}} of ${{nnodes}}");
    strlist_add(&f->job.setup, ". /opt/conda.sh");
    strlist_add(&f->job.setup, "conda activate x # it's ours");
    add_arg(f, "it's");
    strlist_add(&f->job.extra_args, "${{host}}");
    golden(f, "script");
}

static void test_secrets(void **state)
{
    struct fixture *f = *state;
    static const char *const environ_[] = {"NCCL_DEBUG=INFO", "HF_TOKEN=s3cr3t-hf", "HOME=/home/yi", NULL};
    f->in.environ_ = environ_;
    f->job.nproc_per_node = 4;
    env_set(&f->job.env_files, "DB_PASSWORD_FILE", "s3cr3t-file", "env_file c.env:1");
    env_set(&f->job.env, "WANDB_API_KEY", "s3cr3t-wandb", "spec");
    env_set(&f->job.env, "OUT", "/o/${{run}}/${{node_rank}}", "spec");
    env_set(&f->job.env, "LOGS", "/o/${{run_id}}", "spec");
    env_set(&f->job.env_options, "EMPTY", "", "-e");
    strlist_add(&f->job.pass_env, "HF_*");
    golden(f, "secrets");
    AUTO_STR struct str text = STR_INIT;
    add_plan_text(&f->plan, &text);
    assert_null(strstr(str_text(&text), "s3cr3t"));
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, plan_setup, plan_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_one_local), TEST(test_one_started), TEST(test_four),    TEST(test_four_started),
        TEST(test_ipv6_c10d), TEST(test_script),      TEST(test_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
