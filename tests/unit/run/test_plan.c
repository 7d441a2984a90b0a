/* The plan as a whole: what is refused, what facts change, sizes, paths. Environments: test_plan_env.c. */
#include "plan_fixture.h"

static void test_refused_jobs(void **state)
{
    struct fixture *f = *state;
    set_text(&f->job.launcher, "torchrn");
    plan_refused(f, &kind_plan, "unknown launcher 'torchrn'");
    set_text(&f->job.launcher, "torchrun");
    f->job.program_is_list = true;
    plan_refused(f, &kind_plan, "program is a list, launcher 'torchrun' takes one string");
    f->job.program_is_list = false;
    strlist_release(&f->job.program);
    plan_refused(f, &kind_plan, "program is empty");
    set_program(f, "train.py");
    hostlist_release(&f->hosts);
    plan_refused(f, &kind_plan, "the host list is empty");
}

/* What a launcher refuses for the job as a whole, as soon as the processes are known. */
static void test_launchers_judgement(void **state)
{
    struct fixture *f = *state;
    set_text(&f->job.launcher, "megatron");
    add_arg(f, "--micro-batch-size=1");
    add_arg(f, "--global-batch-size=${{world_size}}0");
    add_arg(f, "--lr");
    add_arg(f, "1");
    strlist_add(&f->job.extra_args, "--tensor-model-parallel-size");
    strlist_add(&f->job.extra_args, "4");
    planned(f); /* GPUs are found on start */
    assert_true(f->plan.has_batch);
    assert_int_equal(f->plan.batch.split.tensor, 4);
    assert_int_equal(f->plan.batch.data_parallel, 0);
    set_facts(f, 16, 8, "eth0");
    planned(f);
    assert_int_equal(f->plan.batch.data_parallel, 4);
    assert_int_equal(f->plan.batch.accumulation, 160 / 4);
    assert_env(&f->plan, 1, "CUDA_DEVICE_MAX_CONNECTIONS",
               "CUDA_DEVICE_MAX_CONNECTIONS=1 (launcher megatron (tensor or context parallel))");
    set_facts(f, 16, 3, "eth0");
    plan_refused(f, &kind_plan,
                 "world size 6 is not divisible by 4 (tensor 4 x pipeline 1 x context 1 parallel)");
    f->job.nproc_per_node = 2;
    planned(f);

    /* A variable that is set stays, and is warned of once for both nodes. */
    env_set(&f->job.env, "CUDA_DEVICE_MAX_CONNECTIONS", "8", "spec");
    planned(f);
    assert_env(&f->plan, 1, "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_DEVICE_MAX_CONNECTIONS=8 (spec)");
    assert_int_equal(f->plan.warnings.len, 1);
    f->job.zero_stage = 2;
    planned(f);
    assert_int_equal(f->plan.warnings.len, 0);
    env_set(&f->job.env, "CUDA_DEVICE_MAX_CONNECTIONS", "1", "spec");
    plan_refused(
        f, &kind_plan,
        "CUDA_DEVICE_MAX_CONNECTIONS is '1' (spec), but '--use-megatron-fsdp' needs it unset or above 1");
}

/* The launcher's words stand before the job's, those after "--" stay last. */
static void test_order_of_arguments(void **state)
{
    struct fixture *f = *state;
    set_text(&f->job.launcher, "megatron");
    f->job.zero_stage = 1;
    add_arg(f, "--lr");
    add_arg(f, "1");
    strlist_add(&f->job.extra_args, "--last");
    AUTO_FREE char *line = strlist_join(&planned(f)->nodes[1].argv, " ");
    assert_non_null(strstr(line, " train.py --use-distributed-optimizer --lr 1 --last"));
}

static void test_refused_placeholders(void **state)
{
    struct fixture *f = *state;
    set_program(f, "${{jobs}}.py");
    plan_refused(f, &kind_plan, "program: unknown placeholder '${{jobs}}'");
    set_program(f, "train.py");
    add_arg(f, "${{deepspeed_config}}");
    plan_refused(f, &kind_plan, "args: '${{deepspeed_config}}' is for launcher deepspeed only");
    set_text(&f->job.launcher, "deepspeed");
    plan_refused(f, &kind_plan, "args: '${{deepspeed_config}}' needs 'deepspeed.config'");
    set_text(&f->job.launcher, "torchrun");
    job_args_release(&f->job.args);
    f->job.args = (struct job_args){0};
    env_set(&f->job.env, "X", "s3cr3t ${{nodes}}", "spec");
    plan_refused(f, &kind_plan, "X: unknown placeholder '${{nodes}}'");
    env_release(&f->job.env);
    set_text(&f->job.workdir, "/x/${{run");
    plan_refused(f, &kind_plan, "workdir: '${{' without '}}'");
    set_text(&f->job.workdir, NULL);
    set_text(&f->job.artifacts, "/x/${{artifacts}}");
    plan_refused(f, &kind_plan, "artifacts: '${{artifacts}}' cannot be part of itself");
    set_text(&f->job.artifacts, "");
    plan_refused(f, &kind_plan, "artifacts is empty");
}

static void test_refused_masters(void **state)
{
    struct fixture *f = *state;
    set_text(&f->job.master_addr, "127.0.0.1");
    plan_refused(f, &kind_plan, "master.addr '127.0.0.1' is a loopback address, but there are 2 nodes");
    f->host_facts[0].hostname = "127.0.0.11";
    f->host_facts[1].hostname = "127.0.0.12";
    assert_string_equal(planned(f)->master_addr, "127.0.0.1");
}

static void test_master_port(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(planned(f)->master_port, 29500);
    set_facts(f, 8, 0, "eth0");
    assert_int_equal(planned(f)->master_port, 29503);
    f->job.master_port = 4000;
    assert_int_equal(planned(f)->master_port, 4000);
}

static void test_unequal(void **state)
{
    struct fixture *f = *state;
    set_hosts(f, "a slots=8\nb slots=4\n");
    plan_refused(f, &kind_plan, "unequal process counts: 8 on a, 4 on b");
    assert_string_equal(f->err.hint, "'torchrun' needs the same number on every node: use --nproc-per-node");
    set_hosts(f, "a\nb\n");
    set_facts(f, 8, 8, "eth0");
    f->node_facts[1].gpus = f->node_facts[1].gpus_present = 7;
    plan_refused(f, &kind_unequal_gpus, "unequal process counts: 8 on a, 7 on b");
    set_text(&f->job.launcher, "script");
    assert_int_equal(planned(f)->world_size, 15);
    assert_int_equal(f->plan.nproc_per_node, 0);
    assert_env(&f->plan, 1, "NPROC_PER_NODE", "NPROC_PER_NODE=7 (computed)");
}

static void test_gpus(void **state)
{
    struct fixture *f = *state;
    set_hosts(f, "a gpus=0,2\n");
    set_facts(f, 8, 2, NULL);
    plan_refused(f, &kind_gpus_missing, "host 'a' has GPUs 0-1, the host list gives it gpus=0,2");
    set_facts(f, 8, 1, NULL);
    plan_refused(f, &kind_gpus_missing, "host 'a' has GPU 0 only, the host list gives it gpus=0,2");
    set_facts(f, 8, 0, NULL); /* no tool there that lists them */
    assert_int_equal(planned(f)->nproc_per_node, 2);
    set_facts(f, 8, 3, NULL);
    assert_env(planned(f), 0, "CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES=0,2 (host list (gpus=))");
}

/* auto counts what the job will see: the job's own CUDA_VISIBLE_DEVICES, else the login's. */
static void test_visible_gpus(void **state)
{
    struct fixture *f = *state;
    set_facts(f, 8, 2, "eth0");
    f->node_facts[0].gpus_present = f->node_facts[1].gpus_present = 8;
    assert_int_equal(planned(f)->nproc_per_node, 2);
    env_set(&f->job.env, "CUDA_VISIBLE_DEVICES", "4,5,6", "spec");
    assert_int_equal(planned(f)->nproc_per_node, 3);
    env_set(&f->job.env_options, "CUDA_VISIBLE_DEVICES", "${{node_rank}}", "-e");
    assert_int_equal(planned(f)->nproc_per_node, 1);
    assert_env(&f->plan, 1, "CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES=1 (-e)");
}

static void test_artifacts(void **state)
{
    struct fixture *f = *state;
    add_arg(f, "${{artifacts}}");
    assert_string_equal(planned(f)->nodes[0].argv.items[12], "${{artifacts}}");
    set_text(&f->job.artifacts, "/data/${{run}}/n${{node_rank}}//");
    assert_string_equal(planned(f)->nodes[1].argv.items[12], "/data/run1/n1");
    assert_string_equal(f->plan.nodes[1].log, "/data/run1/n1/logs/run1_node1.log");
    assert_env(&f->plan, 1, "MTLAUNCH_ARTIFACTS", "MTLAUNCH_ARTIFACTS=/data/run1/n1 (computed)");
    set_text(&f->job.artifacts, "/data/${{run_id}}");
    assert_string_equal(planned(f)->nodes[1].artifacts, "/data/${{run_id}}");
    assert_env(&f->plan, 1, "MTLAUNCH_ARTIFACTS", "MTLAUNCH_ARTIFACTS (on start)");
    set_text(&f->job.artifacts, "/");
    assert_string_equal(planned(f)->nodes[0].log, "/logs/run1_node0.log");
}

/* What is known before the probe: the run's id and attempt. */
static void test_half_known(void **state)
{
    struct fixture *f = *state;
    struct plan_facts half = {.run_id = "run1-0123abcd", .attempt = 1};
    f->in.facts = &half;
    assert_string_equal(planned(f)->rendezvous_id, "run1-0123abcd.1");
    assert_env(&f->plan, 1, "MTLAUNCH_MARK", "MTLAUNCH_MARK=run1-0123abcd.1.1 (computed)");
    assert_env(&f->plan, 1, "OMP_NUM_THREADS", "OMP_NUM_THREADS (on start)");
    assert_string_equal(f->plan.nodes[0].argv.items[6], "--rdzv_id=run1-0123abcd.1");
    assert_string_equal(f->plan.nodes[0].argv.items[4], "--nproc_per_node=${{nproc_per_node}}");
    half.attempt = 0;
    assert_null(planned(f)->rendezvous_id);
}

static void test_sizes(void **state)
{
    struct fixture *f = *state;
    AUTO_FREE char *big = xcalloc(131073, 1);
    memset(big, 'x', 131072);
    add_arg(f, big);
    plan_refused(f, &kind_plan,
                 "argument 12 of the command is 131072 bytes long; at most 131071 can be handed over");
    f->job.args.items[0].values.items[0][131071] = '\0';
    assert_int_equal(strlen(planned(f)->nodes[0].argv.items[12]), 131071);
    for (size_t i = 0; i < 16; i++) {
        add_arg(f, f->job.args.items[0].values.items[0]);
    }
    plan_release(&f->plan);
    assert_int_equal(plan_make(&f->plan, &f->in, &f->err), -1);
    assert_non_null(strstr(f->err.text, "bytes; at most 2097152 can be handed over"));
    job_args_release(&f->job.args);
    f->job.args = (struct job_args){0};
    big[131000] = '\0';
    memcpy(big + 130900, "${{nnodes}}${{nnodes}}", 22); /* shrinks: still fits */
    env_set(&f->job.env, "BIG", big, "spec");
    planned(f);
    /* A value may grow past the limit when its placeholders are filled. */
    set_text(&f->job.name, "a-job-with-a-name-that-is-much-longer-than-its-placeholder-and-then-some-more");
    memset(big, 'x', 131000);
    for (size_t i = 0; i < 10; i++) {
        memcpy(big + 9 * i, "${{job}} ", 9);
    }
    env_set(&f->job.env, "BIG", big, "spec");
    plan_refused(f, &kind_plan,
                 "'BIG' with its value is 131694 bytes long; at most 131071 can be handed over");
}

static void test_nodes_are_reached(void **state)
{
    struct fixture *f = *state;
    set_hosts(f, "yi@a:2022\nb\n");
    set_text(&f->job.reach.user, "root");
    f->job.reach.port = 22022;
    planned(f);
    assert_string_equal(f->plan.nodes[0].user, "yi");
    assert_int_equal(f->plan.nodes[0].port, 2022);
    assert_string_equal(f->plan.nodes[1].user, "root");
    assert_int_equal(f->plan.nodes[1].port, 22022);
    f->host_facts[1] = (struct plan_host){.user = "me", .port = 23};
    planned(f);
    assert_string_equal(f->plan.nodes[1].user, "me");
    assert_int_equal(f->plan.nodes[1].port, 23);
    f->in.host_facts = NULL;
    assert_false(planned(f)->nodes[1].local);
}

static void test_shell_line(void **state)
{
    struct fixture *f = *state;
    set_hosts(f, "a\n");
    set_text(&f->job.launcher, "script");
    set_text(&f->job.reach.config, "/c f");
    set_text(&f->job.reach.identity, "/k");
    set_text(&f->job.reach.known_hosts, "/h");
    set_text(&f->job.workdir, "~");
    f->job.program_is_list = true;
    set_program(f, "env");
    AUTO_STR struct str line = STR_INIT;
    plan_shell_line(planned(f), 0, &line);
    assert_non_null(
        strstr(str_text(&line), "ssh -F '/c f' -i /k -o UserKnownHostsFile=/h a 'cd ~ && env NNODES=1 "));
}

/* U10: as a person would paste it, the home folder of interpreter and program stays to be expanded. */
static void test_shell_line_home(void **state)
{
    struct fixture *f = *state;
    set_hosts(f, "a\n");
    set_text(&f->job.python, "~/my env/python");
    set_program(f, "~/x.py");
    add_arg(f, "~/x.py");
    AUTO_STR struct str line = STR_INIT;
    plan_shell_line(planned(f), 0, &line);
    assert_non_null(strstr(str_text(&line), " ~/'\\''my env/python'\\'' -m torch.distributed.run "));
    assert_non_null(strstr(str_text(&line), " ~/x.py '\\''~/x.py'\\''"
                                            "'"));
}

/* What nodes have in common is kept once, however it came about. */
static void test_nodes_share(void **state)
{
    static const char *const environ_[] = {"P_X=passed", NULL};
    struct fixture *f = *state;
    set_hosts(f, "a\nb ifname=ib0\nc env.SPEC=own\n");
    f->in.environ_ = environ_;
    strlist_add(&f->job.pass_env, "P_*");
    add_arg(f, "--same");
    add_arg(f, "${{node_rank}}-of-${{nnodes}}");
    env_set(&f->job.env, "SPEC", "same", "spec");
    env_set(&f->job.env, "P_X", "${{run}}", "spec");
    env_set(&f->job.env, "RUN_", "${{run}}", "spec");
    const struct plan *plan = planned(f);
    const struct plan_node *a = &plan->nodes[0], *b = &plan->nodes[1], *c = &plan->nodes[2];
    assert_ptr_equal(a->argv.items[a->argv.len - 2], b->argv.items[b->argv.len - 2]);
    assert_string_equal(a->argv.items[a->argv.len - 2], "--same");
    assert_string_equal(b->argv.items[b->argv.len - 1], "1-of-3");
    assert_string_equal(c->argv.items[c->argv.len - 1], "2-of-3");
    assert_ptr_equal(env_get(&a->env, "SPEC")->value, env_get(&b->env, "SPEC")->value);
    assert_ptr_equal(env_get(&a->env, "RUN_")->value, env_get(&b->env, "RUN_")->value);
    assert_env(plan, 1, "SPEC", "SPEC=same (spec)");
    assert_env(plan, 2, "SPEC", "SPEC=own (host list)");
    assert_env(plan, 1, "P_X", "P_X=passed (caller (P_*))");
    assert_env(plan, 1, "RUN_", "RUN_=run1 (spec)");
    assert_env(plan, 1, "GLOO_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME=ib0 (host list (ifname=))");
    /* What pass_env replaces is refused all the same. */
    env_set(&f->job.env, "P_X", "${{nope}}", "spec");
    plan_refused(f, &kind_plan, "P_X: unknown placeholder '${{nope}}'");
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, plan_setup, plan_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_refused_jobs),
        TEST(test_launchers_judgement),
        TEST(test_order_of_arguments),
        TEST(test_refused_placeholders),
        TEST(test_refused_masters),
        TEST(test_master_port),
        TEST(test_unequal),
        TEST(test_gpus),
        TEST(test_visible_gpus),
        TEST(test_artifacts),
        TEST(test_half_known),
        TEST(test_sizes),
        TEST(test_nodes_share),
        TEST(test_nodes_are_reached),
        TEST(test_shell_line),
        TEST(test_shell_line_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
