/* megatron: what zero_stage becomes, what contradicts it, sizes from args, variables. */

#include "launcher/launcher.h"
#include "test.h"

struct fixture {
    struct job job;
    struct strlist args, warnings;
    struct launch_job in;
    struct launch_whole whole;
    struct error err;
};

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    f->in = (struct launch_job){.job = &f->job, .args = &f->args, .nnodes = 4, .world_size = 32};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    strlist_release(&f->args);
    strlist_release(&f->warnings);
    launch_whole_release(&f->whole);
    free(f);
    return 0;
}

/* Begin anew with these words, divided by blanks. */
static void set_args(struct fixture *f, const char *words)
{
    AUTO_FREE char *text = xstrdup(words);
    strlist_release(&f->args);
    strlist_release(&f->warnings);
    launch_whole_release(&f->whole);
    f->err = ERROR_INIT;
    for (char *rest = text, *word; (word = strsep(&rest, " "));) {
        if (*word) {
            strlist_add(&f->args, word);
        }
    }
}

static int judge(struct fixture *f, const char *words)
{
    set_args(f, words);
    return launcher_find("megatron", NULL)->judge(&f->in, &f->whole, &f->warnings, &f->err);
}

static void added(struct fixture *f, unsigned stage, const char *words, const char *wanted)
{
    f->job.zero_stage = stage;
    if (judge(f, words)) {
        fail_msg("%s", f->err.text);
    }
    AUTO_FREE char *line = strlist_join(&f->whole.args, " ");
    assert_string_equal(line, wanted);
}

static void refused(struct fixture *f, const char *words, const char *text, const char *hint)
{
    assert_int_equal(judge(f, words), -1);
    assert_ptr_equal(f->err.kind, &kind_plan);
    assert_string_equal(f->err.text, text);
    assert_string_equal(f->err.hint, hint);
}

/* The one warning there is; NULL: none. */
static void warned(struct fixture *f, const char *wanted)
{
    assert_int_equal(f->warnings.len, wanted ? 1 : 0);
    if (wanted) {
        assert_string_equal(f->warnings.items[0], wanted);
    }
}

/* --- zero_stage --- */

static void test_megatron_fsdp(void **state)
{
    struct fixture *f = *state;
    added(f, 0, "--lr 1", "");
    added(f, 1, "--lr 1", "--use-distributed-optimizer");
    added(f, 2, "--lr 1",
          "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads --ckpt-format fsdp_dtensor");
    added(f, 3, "--lr 1",
          "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params --ckpt-format "
          "fsdp_dtensor");
    warned(f, NULL);
}

static void test_custom_fsdp(void **state)
{
    struct fixture *f = *state;
    f->job.megatron_sharding = SHARDING_CUSTOM_FSDP;
    added(f, 0, "", "");
    added(f, 1, "", "--use-distributed-optimizer");
    added(f, 2, "",
          "--use-distributed-optimizer --use-custom-fsdp --data-parallel-sharding-strategy optim_grads "
          "--no-gradient-accumulation-fusion");
    added(
        f, 3, "",
        "--use-distributed-optimizer --use-custom-fsdp --data-parallel-sharding-strategy optim_grads_params "
        "--no-gradient-accumulation-fusion");
    warned(f, NULL);
}

#define NO_EFFECT(strategy)                                                                                  \
    "--data-parallel-sharding-strategy " strategy " has no effect without an FSDP switch "                   \
    "(--use-megatron-fsdp, in 0.12 and 0.13 --use-custom-fsdp)"

static void test_flags_only(void **state)
{
    struct fixture *f = *state;
    f->job.megatron_sharding = SHARDING_FLAGS_ONLY;
    added(f, 0, "", "");
    warned(f, NULL);
    added(f, 1, "", "--use-distributed-optimizer --data-parallel-sharding-strategy optim");
    added(f, 2, "", "--use-distributed-optimizer --data-parallel-sharding-strategy optim_grads");
    warned(f, NO_EFFECT("optim_grads"));
    added(f, 3, "", "--use-distributed-optimizer --data-parallel-sharding-strategy optim_grads_params");
    added(f, 2, "--use-megatron-fsdp",
          "--use-distributed-optimizer --data-parallel-sharding-strategy optim_grads");
    warned(f, NULL);
}

static void test_own_options_are_not_doubled(void **state)
{
    struct fixture *f = *state;
    added(f, 1, "--use-distributed-optimizer", "");
    added(f, 2,
          "--use-megatron-fsdp --data-parallel-sharding-strategy=optim_grads --ckpt-format fsdp_dtensor", "");
    warned(f, NULL);
    added(f, 3, "--data-parallel-sharding-strategy optim_grads_params",
          "--use-megatron-fsdp --ckpt-format fsdp_dtensor");
    added(f, 2, "--ckpt-format torch_dist",
          "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads");
    warned(f, "--ckpt-format is torch_dist; --use-megatron-fsdp takes only fsdp_dtensor");
    added(f, 1, "--use-megatron-fsdp --data-parallel-sharding-strategy optim", "--use-distributed-optimizer");
    f->job.megatron_sharding = SHARDING_CUSTOM_FSDP;
    added(f, 2, "--use-custom-fsdp --use-distributed-optimizer --no-gradient-accumulation-fusion",
          "--data-parallel-sharding-strategy optim_grads");
}

static void test_own_sharding_without_a_level(void **state)
{
    struct fixture *f = *state;
    added(f, 0,
          "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads --ckpt-format fsdp_dtensor", "");
    warned(f, NULL);
    added(f, 0, "--use-torch-fsdp2 --ckpt-format torch_dist", "");
    warned(f, NULL);
    added(f, 0, "--use-distributed-optimizer --data-parallel-sharding-strategy optim_grads", "");
    warned(f, NO_EFFECT("optim_grads"));
}

static void test_contradictions(void **state)
{
    struct fixture *f = *state;
    f->job.zero_stage = 2;
    refused(f, "--data-parallel-sharding-strategy optim",
            "zero_stage 2 shards by 'optim_grads', but args have '--data-parallel-sharding-strategy optim'",
            "leave --data-parallel-sharding-strategy out, or change zero_stage");
    refused(f, "--data-parallel-sharding-strategy=optim_grads_params",
            "zero_stage 2 shards by 'optim_grads', but args have '--data-parallel-sharding-strategy "
            "optim_grads_params'",
            "leave --data-parallel-sharding-strategy out, or change zero_stage");
    refused(f, "--use-custom-fsdp", "zero_stage is 2, but args have '--use-custom-fsdp'",
            "leave --use-custom-fsdp out, or set megatron.sharding: custom-fsdp");
    refused(f, "--use-torch-fsdp2", "zero_stage is 2, but args have '--use-torch-fsdp2'",
            "leave --use-torch-fsdp2 out, or zero_stage at 0");
    f->job.megatron_sharding = SHARDING_CUSTOM_FSDP;
    refused(f, "--use-megatron-fsdp", "zero_stage is 2, but args have '--use-megatron-fsdp'",
            "leave --use-megatron-fsdp out, or set megatron.sharding: megatron-fsdp");
    f->job.zero_stage = 1;
    refused(f, "--use-megatron-fsdp", "zero_stage is 1, but args have '--use-megatron-fsdp'",
            "use zero_stage 2 or 3, or leave --use-megatron-fsdp out");
    refused(f, "--data-parallel-sharding-strategy optim_grads",
            "zero_stage 1 shards by 'optim', but args have '--data-parallel-sharding-strategy optim_grads'",
            "leave --data-parallel-sharding-strategy out, or change zero_stage");
}

/* --- sizes --- */

static void assert_batch(struct fixture *f, const char *words, unsigned micro, unsigned global,
                         unsigned data_parallel, unsigned accumulation)
{
    if (judge(f, words)) {
        fail_msg("%s: %s", words, f->err.text);
    }
    assert_true(f->whole.has_batch);
    assert_int_equal(f->whole.batch.micro, micro);
    assert_int_equal(f->whole.batch.global, global);
    assert_int_equal(f->whole.batch.data_parallel, data_parallel);
    assert_int_equal(f->whole.batch.accumulation, accumulation);
}

static void test_batch(void **state)
{
    struct fixture *f = *state;
    assert_batch(f, "--micro-batch-size 16 --global-batch-size 2048", 16, 2048, 32, 4);
    assert_batch(f, "--micro-batch-size=16 --global-batch-size=2048 --tensor-model-parallel-size=4", 16, 2048,
                 8, 16);
    assert_batch(f, "--micro-batch-size 1 --micro-batch-size 2", 2, 64, 32,
                 1); /* global: Megatron's default */
    assert_batch(f, "", 0, 0, 32, 0);
    assert_batch(f, "--global-batch-size 2048", 0, 2048, 32, 0);
    assert_batch(f,
                 "--micro-batch-size 1 --global-batch-size 8 --pipeline-model-parallel-size 2 "
                 "--context-parallel-size 2",
                 1, 8, 8, 1);
    f->in.world_size = 16;
    assert_batch(f, "--micro-batch-size 1 --global-batch-size 4 --tensor-model-parallel-size 4", 1, 4, 4, 1);
    warned(f, NULL);
}

static void test_what_only_the_start_knows(void **state)
{
    struct fixture *f = *state;
    f->in.world_size = 0;
    assert_batch(f, "--micro-batch-size 1 --global-batch-size 5", 1, 5, 0, 0);
    f->in.world_size = 32;
    assert_batch(f, "--micro-batch-size 1 --tensor-model-parallel-size ${{nproc_per_node}}", 1, 0, 0, 0);
    assert_int_equal(f->whole.batch.split.tensor, 0);
    const struct env_var *var = env_get(&f->whole.defaults, "CUDA_DEVICE_MAX_CONNECTIONS");
    assert_non_null(var);
    assert_null(var->value);
}

static void test_refused_batches(void **state)
{
    struct fixture *f = *state;
    refused(
        f, "--micro-batch-size 1 --global-batch-size 4 --tensor-model-parallel-size 4",
        "global batch size 4 is not divisible by micro batch size 1 times data-parallel size 8, which is 8",
        "use a global batch size of 8");
    f->in.world_size = 24;
    refused(f, "--micro-batch-size 16 --global-batch-size 2048",
            "global batch size 2048 is not divisible by micro batch size 16 times data-parallel size 24, "
            "which is "
            "384",
            "use a global batch size of 1920 or 2304");
    refused(f, "--tensor-model-parallel-size 16",
            "world size 24 is not divisible by 16 (tensor 16 x pipeline 1 x context 1 parallel)",
            "use 16 or 32 processes in all, or other parallel sizes");
    refused(f, "--micro-batch-size 16 --global-batch-size 2048 --micro-batch-size",
            "'--micro-batch-size' has no value",
            "give it a whole number from 1 to 1073741824, or leave it out");
    refused(f, "--micro-batch-size 0", "'--micro-batch-size' is '0', allowed: 1 to 1073741824",
            "give it a whole number");
    refused(f, "--tensor-model-parallel-size two",
            "'--tensor-model-parallel-size' is 'two', allowed: 1 to 1048576", "give it a whole number");
}

static void test_experts(void **state)
{
    struct fixture *f = *state;
    assert_batch(f,
                 "--num-experts 64 --expert-model-parallel-size 8 --expert-tensor-parallel-size 1 "
                 "--tensor-model-parallel-size 2 --micro-batch-size 1",
                 1, 16, 16, 1);
    assert_int_equal(f->whole.batch.split.expert_tensor, 1);
    refused(f, "--num-experts 60 --expert-model-parallel-size 8",
            "'--num-experts' is 60, not divisible by '--expert-model-parallel-size' 8",
            "use a multiple of 8 experts, or another expert parallel size");
    refused(f, "--expert-model-parallel-size 8",
            "'--expert-model-parallel-size' is 8 without '--num-experts'",
            "give --num-experts, or leave --expert-model-parallel-size out");
    refused(f, "--num-experts 64 --expert-model-parallel-size 16 --tensor-model-parallel-size 4",
            "world size 32 is not divisible by 64 (expert tensor 4 x expert 16 x pipeline 1 parallel)",
            "use 64 processes in all, or other parallel sizes");
}

static void test_changing_batches_are_left_alone(void **state)
{
    struct fixture *f = *state;
    assert_batch(f, "--micro-batch-size 1 --global-batch-size 100 --rampup-batch-size 32 32 1000", 1, 100, 32,
                 0);
    warned(f,
           "--rampup-batch-size changes the batch while it trains: whether each step divides is not checked");
    assert_batch(f, "--micro-batch-size 1 --global-batch-size 100 --decrease-batch-size-if-needed", 1, 100,
                 32, 3);
    warned(f, NULL);
    refused(f, "--micro-batch-size 1 --global-batch-size 20 --decrease-batch-size-if-needed",
            "global batch size 20 is not divisible by micro batch size 1 times data-parallel size 32, which "
            "is 32",
            "use a global batch size of 32");
    assert_int_equal(judge(f, "--yaml-cfg x.yaml --micro-batch-size 3 --global-batch-size 4"), 0);
    assert_false(f->whole.has_batch);
    warned(f, "args have --yaml-cfg: parallel and batch sizes are not checked");
}

static void test_underscores(void **state)
{
    struct fixture *f = *state;
    assert_batch(f, "--micro_batch_size 16 --global-batch-size=2048", 16, 2048, 32, 4);
    warned(f, "Megatron-LM knows no '--micro_batch_size'; it spells it '--micro-batch-size'");
}

/* --- variables --- */

static const char *connections(struct fixture *f, const char *words)
{
    if (judge(f, words)) {
        fail_msg("%s", f->err.text);
    }
    const struct env_var *var = env_get(&f->whole.defaults, "CUDA_DEVICE_MAX_CONNECTIONS");
    if (var) {
        assert_string_equal(var->source, "launcher megatron (tensor or context parallel)");
    }
    return var ? var->value : NULL;
}

static void test_connections(void **state)
{
    struct fixture *f = *state;
    assert_null(connections(f, ""));
    assert_null(connections(f, "--pipeline-model-parallel-size 2"));
    assert_string_equal(connections(f, "--tensor-model-parallel-size 2"), "1");
    assert_string_equal(connections(f, "--context-parallel-size 2"), "1");
    assert_null(connections(f, "--tensor-model-parallel-size 2 --use-megatron-fsdp"));
    assert_null(connections(f, "--tensor-model-parallel-size 2 --use-torch-fsdp2"));
    f->job.zero_stage = 1;
    assert_string_equal(connections(f, "--tensor-model-parallel-size 2"), "1");
    f->job.zero_stage = 2;
    assert_null(connections(f, "--tensor-model-parallel-size 2"));
    f->job.megatron_sharding = SHARDING_FLAGS_ONLY;
    assert_string_equal(connections(f, "--tensor-model-parallel-size 2"), "1");
}

static int check_env(struct fixture *f, const char *words, const char *value)
{
    struct env env = ENV_INIT;
    set_args(f, words);
    env_set(&env, "CUDA_DEVICE_MAX_CONNECTIONS", value, "spec");
    const struct launch_input in = {.job = &f->job, .args = &f->args};
    int rc = 0;
    for (int node = 0; rc == 0 && node < 2; node++) {
        rc = launcher_find("megatron", NULL)->check_env(&in, &env, &f->warnings, &f->err);
    }
    env_release(&env);
    return rc;
}

static void test_connections_that_are_set(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(check_env(f, "--use-megatron-fsdp", "1"), -1);
    assert_ptr_equal(f->err.kind, &kind_plan);
    assert_string_equal(f->err.text,
                        "CUDA_DEVICE_MAX_CONNECTIONS is '1' (spec), but '--use-megatron-fsdp' needs it "
                        "unset or above 1");
    assert_string_equal(f->err.hint,
                        "leave CUDA_DEVICE_MAX_CONNECTIONS out, or shard without FSDP (zero_stage 0 or 1)");
    assert_int_equal(check_env(f, "--use-megatron-fsdp --tensor-model-parallel-size 2", "8"), 0);
    assert_int_equal(check_env(f, "--use-megatron-fsdp", NULL), 0); /* known on start */
    assert_int_equal(check_env(f, "--use-custom-fsdp", "1"), -1);
    assert_int_equal(check_env(f, "--use-torch-fsdp2", "1"), -1);
    assert_int_equal(check_env(f, "--tensor-model-parallel-size 2", "1"), 0);
    warned(f, NULL);
    assert_int_equal(check_env(f, "--tensor-model-parallel-size 2", "8"), 0);
    warned(f, "CUDA_DEVICE_MAX_CONNECTIONS is '8' (spec); with tensor or context parallelism Megatron-LM "
              "takes only 1 "
              "on GPUs before Blackwell");
    assert_int_equal(check_env(f, "--tensor-model-parallel-size 1", "8"), 0);
    warned(f, NULL);
}

/* --- the command --- */

static void test_command_is_torchruns(void **state)
{
    struct fixture *f = *state;
    char python[] = "python3";
    f->job.python = python;
    struct strlist program = STRLIST_INIT, lines[2] = {STRLIST_INIT, STRLIST_INIT};
    strlist_add(&program, "pretrain_gpt.py");
    set_args(f, "--use-distributed-optimizer --lr 1");
    const struct launch_input in = {.job = &f->job,
                                    .program = &program,
                                    .args = &f->args,
                                    .nnodes = 2,
                                    .rank = 1,
                                    .nproc = "8",
                                    .master_addr = "g1",
                                    .master_port = 29500,
                                    .rendezvous_id = "r-0123abcd.1"};
    const char *const names[] = {"megatron", "torchrun"};
    for (size_t i = 0; i < 2; i++) {
        struct launch_probe probe = {0};
        assert_int_equal(launcher_find(names[i], NULL)->build(&in, &lines[i], &probe, &f->err), 0);
        assert_int_equal(probe.program_type, LAUNCH_PROGRAM_FILE);
        assert_string_equal(probe.program, "pretrain_gpt.py");
        assert_string_equal(probe.interpreter, "python3");
        launch_probe_release(&probe);
    }
    AUTO_FREE char *megatron = strlist_join(&lines[0], " "), *torchrun = strlist_join(&lines[1], " ");
    assert_string_equal(megatron, torchrun);
    f->job.rendezvous = RENDEZVOUS_C10D;
    assert_int_equal(judge(f, "--x 1"), 0);
    assert_int_equal(f->warnings.len, 1);
    strlist_release(&program);
    strlist_release(&lines[0]);
    strlist_release(&lines[1]);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_megatron_fsdp),
        TEST(test_custom_fsdp),
        TEST(test_flags_only),
        TEST(test_own_options_are_not_doubled),
        TEST(test_own_sharding_without_a_level),
        TEST(test_contradictions),
        TEST(test_batch),
        TEST(test_what_only_the_start_knows),
        TEST(test_refused_batches),
        TEST(test_experts),
        TEST(test_changing_batches_are_left_alone),
        TEST(test_underscores),
        TEST(test_connections),
        TEST(test_connections_that_are_set),
        TEST(test_command_is_torchruns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
