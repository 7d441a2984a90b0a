/* ms-swift's two commands: verbs, torchrun's options as variables, ZeRO by their own means, batches. */
#include "launcher_fixture.h"

static void variable_is(struct fixture *f, const char *name, const char *value)
{
    const struct env_var *var = env_get(&f->env, name);
    assert_non_null(var);
    if (value) {
        assert_string_equal(var->value, value);
    } else {
        assert_null(var->value);
    }
}

static void test_commands(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "swift", "sft");
    built(f, "--model m", "swift sft --model m");
    assert_int_equal(f->probe.program_type, LAUNCH_PROGRAM_COMMAND);
    assert_string_equal(f->probe.program, "swift");
    assert_null(f->probe.interpreter);
    set_launcher(f, "megatron-swift", "pt");
    built(f, "--model m", "megatron pt --model m");
    f->in.python = "/venv/bin/python";
    built(f, "", "/venv/bin/python -m swift.cli._megatron.main pt");
    assert_string_equal(f->probe.module, "swift");
    set_launcher(f, "swift", "rlhf");
    built(f, "", "/venv/bin/python -m swift.cli.main rlhf");
    set_launcher(f, "swift", "train.py");
    AUTO_STRLIST struct strlist argv = STRLIST_INIT;
    assert_int_equal(row_of(f)->build(&f->in, &argv, &f->probe, &f->err), -1);
    assert_string_equal(f->err.text, "program 'train.py' is not a verb of ms-swift");
}

static void test_variables(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "swift", "sft");
    add_words(&f->job.launcher_args, "--tee 3 --log-dir=/l -r1 --virtual_local_rank --max_restarts 0");
    env_set(&f->env, "PET_RDZV_CONF", "timeout=9", "spec");
    row_of(f)->add_env(&f->in, &f->env);
    variable_is(f, "PET_RDZV_BACKEND", "static");
    variable_is(f, "PET_RDZV_CONF", "timeout=9"); /* the job's own word counts */
    variable_is(f, "PET_RDZV_ID", "r-0123abcd.1");
    variable_is(f, "PET_TEE", "3");
    variable_is(f, "PET_LOG_DIR", "/l");
    variable_is(f, "PET_REDIRECTS", "1");
    variable_is(f, "PET_VIRTUAL_LOCAL_RANK", "1");
    variable_is(f, "PET_MAX_RESTARTS", "0");
    assert_null(env_get(&f->env, "PET_RDZV_ENDPOINT"));
    launcher_reset(f);
    f->job.rendezvous = RENDEZVOUS_C10D;
    f->in.rendezvous_id = "${{rendezvous_id}}";
    row_of(f)->add_env(&f->in, &f->env);
    variable_is(f, "PET_RDZV_BACKEND", "c10d");
    variable_is(f, "PET_RDZV_CONF", "is_host=false,join_timeout=300");
    variable_is(f, "PET_RDZV_ENDPOINT", "n1:29500");
    variable_is(f, "PET_RDZV_ID", NULL);
}

static void test_options_without_a_variable(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "swift", "sft");
    add_words(&f->job.launcher_args, "--numa-binding=node");
    refused(f, "", "launcher_args contain '--numa-binding=node', which ms-swift cannot hand on to torchrun");
    strlist_release(&f->job.launcher_args);
    add_words(&f->job.launcher_args, "-x");
    refused(f, "", "launcher_args contain '-x', which ms-swift cannot hand on to torchrun");
}

static void test_verbs_without_torchrun(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "swift", "export");
    accepted(f, "", "", "'swift export' does not use torchrun");
    set_launcher(f, "megatron-swift", "export");
    accepted(f, "--tensor_model_parallel_size 4", "", NULL);
}

static void test_zero(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "swift", "sft");
    f->job.zero_stage_given = true;
    accepted(f, "", "", NULL);
    f->job.zero_stage = 3;
    accepted(f, "", "--deepspeed zero3", NULL);
    refused(f, "--deepspeed zero2", "zero_stage is 3, but args have '--deepspeed'");
    refused(f, "--fsdp fsdp2", "zero_stage is 3, but args have '--fsdp'");
    set_launcher(f, "megatron-swift", "sft");
    accepted(f, "",
             "--use_distributed_optimizer true --use_megatron_fsdp true --data_parallel_sharding_strategy "
             "optim_grads_params",
             NULL);
    assert_string_equal(env_get(&f->whole.defaults, "CUDA_DEVICE_MAX_CONNECTIONS")->value, "8");
    f->job.zero_stage = 1;
    accepted(f, "", "--use_distributed_optimizer true", NULL);
    assert_null(env_get(&f->whole.defaults, "CUDA_DEVICE_MAX_CONNECTIONS"));
    accepted(f, "--use-distributed-optimizer true", "", NULL);
    f->job.zero_stage = 0;
    accepted(f, "", "--use_distributed_optimizer false", NULL);
    f->job.zero_stage_given = false;
    accepted(f, "", "", NULL);
}

/* Unless told how often, ms-swift accumulates up to 16 samples (swift/trainers/arguments.py). */
static void test_swift_batch(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "swift", "sft");
    accepted(f, "--per_device_train_batch_size 1", "", NULL);
    batch_is(f, 1, 4, 4, 16);
    accepted(f, "--per_device_train_batch_size 3", "", NULL);
    batch_is(f, 3, 2, 4, 24);
    accepted(f, "--gradient_accumulation_steps 2 --sequence_parallel_size 2", "", NULL);
    batch_is(f, 1, 2, 2, 4);
    refused(f, "--gradient_accumulation_steps 2 --sequence_parallel_size 3",
            "world size 4 is not divisible by '--sequence_parallel_size' 3");
}

/* The published settings of H200 nodes: they fit two nodes of eight and not four. */
static void test_megatron_batch(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "megatron-swift", "sft");
    f->whole_in.world_size = 16;
    accepted(f, "--tensor_model_parallel_size 4 --micro_batch_size 1 --global_batch_size 4", "", NULL);
    batch_is(f, 1, 1, 4, 4);
    accepted(f, "--expert_model_parallel_size 2", "", NULL); /* the experts stand in the model */
    batch_is(f, 1, 1, 16, 16);
    f->whole_in.world_size = 32;
    refused(
        f, "--tensor_model_parallel_size 4 --micro_batch_size 1 --global_batch_size 4",
        "global batch size 4 is not divisible by micro batch size 1 times data-parallel size 8, which is 8");
    refused(f, "",
            "global batch size 16 is not divisible by micro batch size 1 times data-parallel size 32, which "
            "is 32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAUNCHER_TEST(test_commands),
        LAUNCHER_TEST(test_variables),
        LAUNCHER_TEST(test_options_without_a_variable),
        LAUNCHER_TEST(test_verbs_without_torchrun),
        LAUNCHER_TEST(test_zero),
        LAUNCHER_TEST(test_swift_batch),
        LAUNCHER_TEST(test_megatron_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
