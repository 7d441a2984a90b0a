/* accelerate launch: its command, its configuration file, what the job's batch comes to. */
#include "launcher_fixture.h"

#define COMMAND "python3 -m accelerate.commands.launch "
#define PLACE                                                                                                \
    "--num_machines=2 --num_processes=4 --machine_rank=1 --main_process_ip=n1 --main_process_port=29500 "
#define STATIC "--same_network --rdzv_backend=static --rdzv_conf=timeout=300 "
#define ALONE  "--deepspeed_multinode_launcher=standard "

static void test_command(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "accelerate", "train.py");
    built(f, "--lr 1", COMMAND "--multi_gpu " PLACE STATIC ALONE "train.py --lr 1");
    assert_int_equal(f->probe.program_type, LAUNCH_PROGRAM_FILE);
    assert_string_equal(f->probe.program, "train.py");
    assert_string_equal(f->probe.module, "accelerate");
    set_launcher(f, "accelerate", "-m pkg.train");
    built(f, "", COMMAND "--multi_gpu " PLACE STATIC ALONE "-m pkg.train");
    add_words(&f->job.launcher_args, "--mixed_precision bf16 --use_fsdp");
    built(f, "", COMMAND PLACE STATIC ALONE "--mixed_precision bf16 --use_fsdp -m pkg.train");
}

/* accelerate refuses --multi_gpu with one process. */
static void test_one_process(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "accelerate", "train.py");
    f->in.nnodes = 1;
    f->in.rank = 0;
    f->in.world = "1";
    built(f, "",
          COMMAND "--num_machines=1 --num_processes=1 --machine_rank=0 --main_process_ip=n1 "
                  "--main_process_port=29500 " STATIC ALONE "train.py");
}

static void test_c10d(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "accelerate", "train.py");
    f->job.rendezvous = RENDEZVOUS_C10D;
    f->in.master_addr = "2001:db8::1";
    built(f, "",
          COMMAND "--multi_gpu --num_machines=2 --num_processes=4 --machine_rank=1 "
                  "--main_process_ip=[2001:db8::1] --main_process_port=29500 --rdzv_backend=c10d "
                  "--rdzv_conf=is_host=false,join_timeout=300 " ALONE "train.py");
}

static void test_config_file(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "accelerate", "train.py");
    make_ready(f);
    assert_int_equal(f->ready.len, 0);
    set_text(&f->job.accelerate_config, "a.yaml");
    built(f, "", COMMAND "--config_file=a.yaml " PLACE STATIC ALONE "train.py");
    make_ready(f);
    assert_int_equal(f->ready.len, 5);
    assert_string_equal(f->ready.items[0], "python3");
    assert_string_equal(f->ready.items[3], "a.yaml");
    assert_string_equal(f->ready.items[4], "4");
    assert_non_null(strstr(str_text(&f->about), "a.yaml"));
    add_words(&f->job.launcher_args, "--multi-gpu"); /* says by itself how processes are spread */
    make_ready(f);
    assert_int_equal(f->ready.len, 0);
}

static void test_zero_stage(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "accelerate", "train.py");
    f->job.zero_stage = 2;
    built(f, "", COMMAND "--zero_stage=2 --use_deepspeed " PLACE STATIC ALONE "train.py");
    accepted(f, "", "", NULL);
    set_text(&f->job.accelerate_config, "a.yaml");
    built(f, "", COMMAND "--config_file=a.yaml --zero_stage=2 " PLACE STATIC ALONE "train.py");
    accepted(f, "", "", "counts only when distributed_type is DEEPSPEED");
}

static void test_batch(void **state)
{
    struct fixture *f = *state;
    set_launcher(f, "accelerate", "train.py");
    accepted(f, "--lr 1", "", NULL);
    assert_false(f->whole.has_batch);
    accepted(f, "--per_device_train_batch_size 4 --gradient_accumulation_steps=2", "", NULL);
    batch_is(f, 4, 2, 4, 32);
    accepted(f, "--per-device-train-batch-size 4", "", NULL);
    batch_is(f, 4, 1, 4, 16);
    accepted(f, "--gradient-accumulation-steps 3", "", NULL);
    batch_is(f, 8, 3, 4, 96);
    f->whole_in.world_size = 0;
    accepted(f, "--per_device_train_batch_size 4", "", NULL);
    batch_is(f, 4, 0, 0, 0);
    refused(f, "--per_device_train_batch_size 0",
            "'--per_device_train_batch_size' is '0', allowed: 1 to 1073741824");
    refused(f, "--gradient_accumulation_steps", "'--gradient_accumulation_steps' has no value");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAUNCHER_TEST(test_command),     LAUNCHER_TEST(test_one_process), LAUNCHER_TEST(test_c10d),
        LAUNCHER_TEST(test_config_file), LAUNCHER_TEST(test_zero_stage),  LAUNCHER_TEST(test_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
