/* DeepSpeed: by torchrun and by its own launcher, the copy of its configuration, what is refused. */
#include "launcher_fixture.h"

static void test_torchrun_form(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "deepspeed", "train.py");
    built(
        f, "--lr 1",
        "python3 -m torch.distributed.run --nnodes=2 --nproc_per_node=2 --node_rank=1 --rdzv_id=r-0123abcd.1 "
        "--rdzv_backend=static --rdzv_conf=timeout=300 --master_addr=n1 --master_port=29500 train.py --lr 1");
    assert_string_equal(f->probe.module, "deepspeed");
    make_ready(f);
    assert_int_equal(f->ready.len, 0);
    assert_ptr_equal(launcher_words(row_of(f), &f->job), row_of(f)->words);
}

static void test_no_ssh_form(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "deepspeed", "-m pkg.train");
    f->job.deepspeed_form = DEEPSPEED_NO_SSH;
    add_words(&f->job.launcher_args, "--no_local_rank");
    built(f, "--lr 1",
          "python3 -m deepspeed.launcher.runner --hostfile=/art/run_state/r_node1.hostfile --no_ssh "
          "--node_rank=1 "
          "--master_addr=n1 --master_port=29500 --no_local_rank --module pkg.train --lr 1");
    make_ready(f);
    assert_int_equal(f->ready.len, 9);
    assert_string_equal(f->ready.items[3], "");
    assert_string_equal(f->ready.items[7], "/art/run_state/r_node1.hostfile");
    assert_string_equal(f->ready.items[8], "n1 slots=2\nn2 slots=2\n");
    assert_string_equal(str_text(&f->about), "write /art/run_state/r_node1.hostfile");
    const struct launcher_words *words = launcher_words(row_of(f), &f->job);
    assert_non_null(launcher_find_owned(words, "-H"));
    assert_non_null(launcher_find_owned(words, "--include=n1"));
    assert_null(launcher_find_owned(words, "--bind_cores_to_rank"));
    assert_true(launcher_is_flag(words, "--bind_cores_to_rank"));
}

/* Two users on one host are two nodes: DeepSpeed tells nodes apart by name. */
static void test_names_that_repeat(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "deepspeed", "train.py");
    f->job.deepspeed_form = DEEPSPEED_NO_SSH;
    strlist_release(&f->labels);
    add_words(&f->labels, "n1 n1 n2");
    make_ready(f);
    assert_string_equal(f->ready.items[8], "node0 slots=2\nnode1 slots=2\nn2 slots=2\n");
}

static void test_config(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "deepspeed", "train.py");
    set_text(&f->job.deepspeed_config, "ds.json");
    make_ready(f);
    assert_int_equal(f->ready.len, 9);
    assert_string_equal(f->ready.items[3], "ds.json");
    assert_string_equal(f->ready.items[4], "/art/run_state/r_node1.deepspeed.json");
    assert_string_equal(f->ready.items[5], ""); /* the stage stays as it is */
    assert_string_equal(f->ready.items[6], "4");
    f->job.zero_stage_given = true;
    make_ready(f);
    assert_string_equal(f->ready.items[5], "0");
    f->job.zero_stage = 3;
    make_ready(f);
    assert_string_equal(f->ready.items[5], "3");
    assert_string_equal(str_text(&f->about),
                        "copy 'ds.json' to /art/run_state/r_node1.deepspeed.json with ZeRO stage 3");
    accepted(f, "--deepspeed_config ${{deepspeed_config}}", "", NULL);
    accepted(f, "--deepspeed_config ds.json", "", "args do not contain ${{deepspeed_config}}");
}

static void test_refusals(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "deepspeed", "train.py");
    f->job.zero_stage = 2;
    refused(f, "", "zero_stage is 2, but there is no DeepSpeed configuration to put it into");
    f->job.zero_stage = 0;
    f->job.deepspeed_form = DEEPSPEED_NO_SSH;
    f->job.rendezvous = RENDEZVOUS_C10D;
    refused(f, "", "rendezvous c10d is torchrun's; deepspeed.form no_ssh has none");
}

static void test_visible_devices(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "deepspeed", "train.py");
    env_set(&f->env, "CUDA_VISIBLE_DEVICES", "4,5", "host list (gpus=)");
    assert_int_equal(row_of(f)->check_env(&f->in, &f->env, &f->warnings, &f->err), 0);
    f->job.deepspeed_form = DEEPSPEED_NO_SSH;
    assert_int_equal(row_of(f)->check_env(&f->in, &f->env, &f->warnings, &f->err), -1);
    assert_string_equal(f->err.text,
                        "CUDA_VISIBLE_DEVICES is '4,5' (host list (gpus=)), but deepspeed.form no_ssh "
                        "always takes the first GPUs");
}

static void test_batch(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "deepspeed", "train.py");
    accepted(f, "--per_device_train_batch_size 1 --gradient_accumulation_steps 8", "", NULL);
    batch_is(f, 1, 8, 4, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAUNCHER_TEST(test_torchrun_form),
        LAUNCHER_TEST(test_no_ssh_form),
        LAUNCHER_TEST(test_names_that_repeat),
        LAUNCHER_TEST(test_config),
        LAUNCHER_TEST(test_refusals),
        LAUNCHER_TEST(test_visible_devices),
        LAUNCHER_TEST(test_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
