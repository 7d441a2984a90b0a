/* What a step holds, by the arguments of the job: nothing is guessed, nothing refused. */
#include "launcher_fixture.h"

static struct launch_step read_step(struct fixture *f, const char *line)
{
    struct launch_step step;
    AUTO_FREE char *copy = xstrdup(line);
    char *rest = NULL;
    launcher_reset(f);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        strlist_add(&f->args, word);
    }
    const struct launcher *launcher = launcher_find(f->job.launcher, NULL);
    if (launcher->judge) {
        assert_int_equal(launcher->judge(&f->whole_in, &f->whole, &f->warnings, &f->err), 0);
    }
    launcher_read_step(&f->whole_in, &f->whole, &step);
    return step;
}

/* Two nodes of two processes each. */
static const struct {
    const char *launcher, *args;
    unsigned global_batch, sequence;
} rows[] = {
    {"megatron", "--micro-batch-size 2 --global-batch-size 32 --seq-length 2048", 32, 2048},
    {"megatron", "--micro-batch-size 2 --tensor-model-parallel-size 2", 4, 0},
    {"torchrun", "--per_device_train_batch_size 4 --gradient_accumulation_steps 2", 32, 0},
    {"torchrun", "--per-device-train-batch-size=4 --block_size 1024", 16, 1024},
    {"torchrun", "--per_device_train_batch_size auto --seq_len x", 0, 0},
    {"torchrun", "--per_device_train_batch_size 4 --gradient_accumulation_steps auto", 0, 0},
    {"torchrun", "--per_device_train_batch_size 1000000000", 0, 0},
    {"torchrun", "--lr 3", 0, 0},
    {"accelerate", "--per_device_train_batch_size 4", 16, 0},
    {"swift",
     "--per_device_train_batch_size 1 --gradient_accumulation_steps 1 --max_length 20480 --packing true", 4,
     20480},
    {"swift", "--per_device_train_batch_size 1 --gradient_accumulation_steps 1 --max_length 20480", 4, 0},
    {"swift",
     "--per_device_train_batch_size 1 --gradient_accumulation_steps 1 --max_length 20480 --packing false", 4,
     0},
    {"script", "--seq-length 512", 0, 512},
};

static void test_steps(void **state)
{
    struct fixture *f = *state;
    FOR_ROWS(i, rows, rows[i].args) {
        free(f->job.launcher);
        f->job.launcher = xstrdup(rows[i].launcher);
        strlist_release(&f->job.program);
        strlist_add(&f->job.program, strcmp(rows[i].launcher, "swift") == 0 ? "sft" : "train.py");
        struct launch_step step = read_step(f, rows[i].args);
        assert_int_equal(step.global_batch, rows[i].global_batch);
        assert_int_equal(step.sequence, rows[i].sequence);
    }
}

/* While the number of processes is open, so is the batch. */
static void test_an_open_world(void **state)
{
    struct fixture *f = *state;
    f->whole_in.world_size = 0;
    assert_int_equal(read_step(f, "--per_device_train_batch_size 4").global_batch, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_steps, launcher_setup, launcher_teardown),
        cmocka_unit_test_setup_teardown(test_an_open_world, launcher_setup, launcher_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
