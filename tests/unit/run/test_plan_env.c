/* The environment of a job: which layer wins, what is never taken over, what is refused. */
#include "plan_fixture.h"

static void test_precedence(void **state)
{
    struct fixture *f = *state;
    static const char *const environ_[] = {"NCCL_A=caller", "NCCL_B=caller", "NCCL_C=caller", "OTHER=caller",
                                           NULL};
    f->in.environ_ = environ_;
    set_hosts(f, "a env.NCCL_B=host env.NCCL_C=host\nb\n");
    env_set(&f->job.env_files, "NCCL_A", "file", "env_file c.env:3");
    env_set(&f->job.env_files, "FILE", "${{run}} $HOME", "env_file c.env:4");
    env_set(&f->job.env_files, "BOTH", "file", "env_file c.env:5");
    env_set(&f->job.env, "NCCL_A", "spec", "spec");
    env_set(&f->job.env, "BOTH", "spec", "spec");
    env_set(&f->job.env, "OTHER", "spec", "spec");
    env_set(&f->job.env_options, "NCCL_C", "option", "-e");
    env_set(&f->job.env_options, "LANG", "C", "-e");
    planned(f);
    assert_env(&f->plan, 0, "FILE", "FILE=${{run}} $HOME (env_file c.env:4)"); /* data, nothing is expanded */
    assert_env(&f->plan, 0, "BOTH", "BOTH=spec (spec)");
    assert_env(&f->plan, 0, "OTHER", "OTHER=spec (spec)");
    assert_env(&f->plan, 0, "NCCL_A", "NCCL_A=caller (caller (NCCL_*))");
    assert_env(&f->plan, 0, "NCCL_B", "NCCL_B=host (host list)");
    assert_env(&f->plan, 1, "NCCL_B", "NCCL_B=caller (caller (NCCL_*))");
    assert_env(&f->plan, 0, "NCCL_C", "NCCL_C=option (-e)");
    assert_env(&f->plan, 0, "LANG", "LANG=C (-e)");
    assert_null(env_get(&f->plan.nodes[0].defaults, "LANG"));
    assert_env(&f->plan, 0, "PYTHONUNBUFFERED", "PYTHONUNBUFFERED=1 (default)");
}

/* The recorder's names before and after torch 2.9 are one setting: who has set one of them has set it. */
static void test_the_flight_recorder(void **state)
{
    struct fixture *f = *state;
    env_set(&f->job.env, "TORCH_NCCL_TRACE_BUFFER_SIZE", "5", "spec");
    free(f->job.artifacts);
    f->job.artifacts = xstrdup("/a");
    planned(f);
    const struct env *defaults = &f->plan.nodes[1].defaults;
    assert_null(env_get(defaults, "TORCH_FR_BUFFER_SIZE"));
    assert_null(env_get(defaults, "TORCH_NCCL_TRACE_BUFFER_SIZE"));
    assert_env(&f->plan, 1, "PYTHONFAULTHANDLER", "PYTHONFAULTHANDLER=1 (default)");
    assert_env(&f->plan, 1, "TORCH_NCCL_DUMP_ON_TIMEOUT", "TORCH_NCCL_DUMP_ON_TIMEOUT=1 (default)");
    assert_string_equal(env_get(defaults, "TORCH_FR_DUMP_TEMP_FILE")->value,
                        "/a/run_state/run1_node1.fr/dump_");
    assert_string_equal(env_get(defaults, "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")->value,
                        "/a/run_state/run1_node1.fr/dump_");
    assert_string_equal(env_get(defaults, "TORCH_NCCL_DEBUG_INFO_PIPE_FILE")->value,
                        "/a/run_state/run1_node1.fr/pipe_");
    /* Megatron-LM turns it on where a dump file is named, and its ranks then hang when they end. */
    assert_env(&f->plan, 1, "TORCH_NCCL_EXTRA_DUMP_ON_EXEC", "TORCH_NCCL_EXTRA_DUMP_ON_EXEC=0 (default)");
}

/* What belongs to the launching shell is taken only when a pattern spells it out. */
static void test_personal_names(void **state)
{
    struct fixture *f = *state;
    static const char *const environ_[] = {"HOSTNAME=head",
                                           "CUDA_VISIBLE_DEVICES=3",
                                           "SSH_CONNECTION=x",
                                           "SLURM_PROCID=7",
                                           "LC_ALL=de_DE",
                                           "LANG=de_DE",
                                           "PET_TEE=3",
                                           "RANK=5",
                                           "WORLD_SIZE=9",
                                           "NNODES=9",
                                           "MTLAUNCH_MARK=o.1.0",
                                           "UID=1",
                                           "HOME=/h",
                                           "MINE=1",
                                           "TORCHELASTIC_RUN_ID=x",
                                           "BASH_FUNC_x%%=() {",
                                           "SLURMD_NODENAME=n",
                                           "noequals",
                                           "GROUP_RANK=1",
                                           NULL};
    f->in.environ_ = environ_;
    strlist_add(&f->job.pass_env, "*");
    planned(f);
    assert_int_equal(f->plan.nodes[0].env.len, 1);
    assert_env(&f->plan, 0, "MINE", "MINE=1 (caller (*))");
    assert_env(&f->plan, 0, "LANG", "LANG=C.UTF-8 (default)");

    strlist_add(&f->job.pass_env, "CUDA_*");
    strlist_add(&f->job.pass_env, "SLURM_PROC*");
    strlist_add(&f->job.pass_env, "PET_*");
    strlist_add(&f->job.pass_env, "HOSTNAM?");
    strlist_add(&f->job.pass_env, "LC_ALL");
    strlist_add(&f->job.pass_env, "RANK");
    planned(f);
    assert_env(&f->plan, 0, "CUDA_VISIBLE_DEVICES", NULL);
    assert_env(&f->plan, 0, "HOSTNAME", NULL);
    assert_env(&f->plan, 0, "RANK", NULL);
    assert_env(&f->plan, 0, "SLURM_PROCID", "SLURM_PROCID=7 (caller (SLURM_PROC*))");
    assert_env(&f->plan, 0, "PET_TEE", "PET_TEE=3 (caller (PET_*))");
    assert_env(&f->plan, 0, "LC_ALL", "LC_ALL=de_DE (caller (LC_ALL))");

    strlist_add(&f->job.pass_env, "CUDA_VISIBLE_DEVICES");
    assert_env(planned(f), 1, "CUDA_VISIBLE_DEVICES",
               "CUDA_VISIBLE_DEVICES=3 (caller (CUDA_VISIBLE_DEVICES))");
}

static void name_refused(struct fixture *f, struct env *env, const char *name, const char *text)
{
    env_set(env, name, "1", "spec");
    plan_refused(f, &kind_usage, text);
    env_release(env);
}

static void test_names_that_may_not_be_set(void **state)
{
    struct fixture *f = *state;
    name_refused(f, &f->job.env, "MASTER_ADDR", "spec: 'MASTER_ADDR' may not be set");
    name_refused(f, &f->job.env_options, "RANK", "spec: 'RANK' may not be set");
    name_refused(f, &f->job.env_files, "UID", "spec: 'UID' may not be set: the shell reserves it");
    name_refused(f, &f->hosts.items[1].env, "9X", "spec: '9X' is not a valid environment variable name");
    assert_int_equal(f->err.line, 2);
    assert_string_equal(f->err.file, "hosts.txt");
}

static void test_gloo_interface(void **state)
{
    struct fixture *f = *state;
    static const char *const environ_[] = {"GLOO_SOCKET_IFNAME=^lo,docker", NULL};
    env_set(&f->job.env, "GLOO_SOCKET_IFNAME", "=eth0", "spec");
    plan_refused(f, &kind_plan, "GLOO_SOCKET_IFNAME is '=eth0' (spec): gloo knows no '=', which is NCCL's");
    f->in.environ_ = environ_;
    plan_refused(f, &kind_plan,
                 "GLOO_SOCKET_IFNAME is '^lo,docker' (caller (GLOO_*)): gloo knows no '^', which is NCCL's");
    env_set(&f->job.env_options, "GLOO_SOCKET_IFNAME", "eth0", "-e");
    assert_env(planned(f), 0, "GLOO_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME=eth0 (-e)");
}

static void test_interface(void **state)
{
    struct fixture *f = *state;
    set_hosts(f, "a\nb ifname=ib1\nc env.NCCL_SOCKET_IFNAME=eth7\nd\n");
    assert_env(planned(f), 0, "NCCL_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME (on start)");
    set_facts(f, 8, 0, "bond0");
    f->node_facts[3].interface = NULL;
    planned(f);
    assert_env(&f->plan, 0, "NCCL_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME==bond0 (interface auto)");
    assert_env(&f->plan, 0, "GLOO_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME=bond0 (interface auto)");
    /* never over a value that is set on the node either */
    assert_non_null(env_get(&f->plan.nodes[0].defaults, "NCCL_SOCKET_IFNAME"));
    assert_env(&f->plan, 1, "NCCL_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME==ib1 (host list (ifname=))");
    assert_env(&f->plan, 1, "GLOO_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME=ib1 (host list (ifname=))");
    assert_env(&f->plan, 2, "NCCL_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME=eth7 (host list)");
    assert_env(&f->plan, 2, "GLOO_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME=bond0 (interface auto)");
    assert_env(&f->plan, 3, "NCCL_SOCKET_IFNAME", NULL);
    assert_env(&f->plan, 3, "GLOO_SOCKET_IFNAME", NULL);
    assert_int_equal(f->plan.warnings.len, 1);
    assert_non_null(
        strstr(f->plan.warnings.items[0], "no interface that leads to the master 'a' was found on d:"));

    set_text(&f->job.master_interface, "eth1");
    planned(f);
    assert_env(&f->plan, 3, "NCCL_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME==eth1 (master.interface)");
    assert_env(&f->plan, 1, "NCCL_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME==ib1 (host list (ifname=))");
    assert_int_equal(f->plan.warnings.len, 0);
}

static void test_interface_of_one_node(void **state)
{
    struct fixture *f = *state;
    set_hosts(f, "a\n");
    assert_env(planned(f), 0, "NCCL_SOCKET_IFNAME", NULL);
    set_facts(f, 8, 0, NULL);
    assert_env(planned(f), 0, "NCCL_SOCKET_IFNAME", NULL);
    assert_int_equal(f->plan.warnings.len, 0);
}

static void threads(struct fixture *f, unsigned cores, unsigned nproc, const char *wanted)
{
    set_facts(f, cores, 0, "eth0");
    f->job.nproc_per_node = nproc;
    AUTO_FREE char *text = xasprintf("OMP_NUM_THREADS=%s (default)", wanted);
    assert_env(planned(f), 1, "OMP_NUM_THREADS", text);
}

static void test_threads(void **state)
{
    struct fixture *f = *state;
    threads(f, 128, 4, "16");
    threads(f, 32, 8, "4");
    threads(f, 31, 8, "3");
    threads(f, 2, 8, "1");
    threads(f, 0, 1, "1");
    threads(f, 17, 1, "16");
    env_set(&f->job.env, "OMP_NUM_THREADS", "7", "spec");
    assert_env(planned(f), 1, "OMP_NUM_THREADS", "OMP_NUM_THREADS=7 (spec)");
}

static void test_secrets_are_flagged(void **state)
{
    struct fixture *f = *state;
    env_set(&f->job.env, "HF_TOKEN", "a", "spec");
    env_set(&f->job.env, "MY_PASSWORD_X", "b", "spec");
    env_set(&f->job.env, "TOKENIZER", "c", "spec");
    env_set(&f->job.env, "PASS", "d", "spec");
    strlist_add(&f->job.secret_env, "TOKENI*");
    planned(f);
    assert_true(env_get(&f->plan.nodes[1].env, "HF_TOKEN")->secret);
    assert_true(env_get(&f->plan.nodes[1].env, "MY_PASSWORD_X")->secret);
    assert_false(env_get(&f->plan.nodes[1].env, "PASS")->secret);
    assert_true(env_get(&f->plan.nodes[1].env, "TOKENIZER")->secret);
    assert_false(env_get(&f->plan.nodes[1].computed, "MASTER_ADDR")->secret);
}

/* Nodes differ only in what belongs to one node. */
static void test_nodes_have_equal_environments(void **state)
{
    struct fixture *f = *state;
    static const char *const per_node[] = {"NODE_RANK",
                                           "MTLAUNCH_HOST",
                                           "MTLAUNCH_MARK",
                                           "TORCH_FR_DUMP_TEMP_FILE",
                                           "TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
                                           "TORCH_NCCL_DEBUG_INFO_PIPE_FILE"};
    set_hosts(f, "a slots=8\nb slots=8\n");
    f->host_facts[1].local = true;
    set_facts(f, 64, 8, "eth0");
    env_set(&f->job.env, "A", "(x) \"$HOME\"", "spec");
    planned(f);
    struct env first = ENV_INIT, second = ENV_INIT;
    plan_node_env(&f->plan.nodes[0], &first);
    plan_node_env(&f->plan.nodes[1], &second);
    assert_int_equal(first.len, second.len);
    for (size_t i = 0; i < first.len; i++) {
        bool differs = strcmp(first.items[i].value, second.items[i].value) != 0;
        bool may = false;
        for (size_t k = 0; k < ARRAY_LEN(per_node); k++) {
            may = may || strcmp(first.items[i].name, per_node[k]) == 0;
        }
        assert_string_equal(first.items[i].name, second.items[i].name);
        assert_int_equal(differs, may);
    }
    env_release(&first);
    env_release(&second);
}

static void test_caller_env(void **state)
{
    (void)state;
    static const char *const environ_[] = {"PATH=/x",
                                           "PET_TEE=1",
                                           "RANK=1",
                                           "LOCAL_RANK=1",
                                           "WORLD_SIZE=2",
                                           "RANKS=3",
                                           "GROUP_RANK=1",
                                           "HOME=/h",
                                           "TORCHELASTIC_RUN_ID=a",
                                           "USER=yi",
                                           "MTLAUNCH_MARK=o.1.0",
                                           "MTLAUNCH_HOSTFILE=h",
                                           "SHELL=/bin/zsh",
                                           "LOGNAME=yi",
                                           "LANG=de_DE",
                                           NULL};
    struct strlist out = STRLIST_INIT;
    plan_caller_env(PLAN_ENV_KEEP, environ_, &out);
    AUTO_FREE char *kept = strlist_join(&out, " ");
    assert_string_equal(
        kept, "PATH=/x RANKS=3 HOME=/h USER=yi MTLAUNCH_HOSTFILE=h SHELL=/bin/zsh LOGNAME=yi LANG=de_DE");
    strlist_release(&out);
    plan_caller_env(PLAN_ENV_CLEAN, environ_, &out);
    AUTO_FREE char *clean = strlist_join(&out, " ");
    assert_string_equal(clean, "HOME=/h USER=yi SHELL=/bin/zsh LOGNAME=yi "
                               "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    strlist_release(&out);
}

static void test_env_mode(void **state)
{
    struct fixture *f = *state;
    f->host_facts[0].local = true;
    planned(f);
    assert_int_equal(f->plan.nodes[0].env_mode, PLAN_ENV_CLEAN);
    assert_int_equal(f->plan.nodes[1].env_mode, PLAN_ENV_LOGIN);
    set_hosts(f, "a\n");
    assert_int_equal(planned(f)->nodes[0].env_mode, PLAN_ENV_KEEP);
    f->host_facts[0].local = false;
    assert_int_equal(planned(f)->nodes[0].env_mode, PLAN_ENV_LOGIN);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, plan_setup, plan_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_precedence),
        TEST(test_the_flight_recorder),
        TEST(test_personal_names),
        TEST(test_names_that_may_not_be_set),
        TEST(test_gloo_interface),
        TEST(test_interface),
        TEST(test_interface_of_one_node),
        TEST(test_threads),
        TEST(test_secrets_are_flagged),
        TEST(test_nodes_have_equal_environments),
        TEST(test_caller_env),
        TEST(test_env_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
