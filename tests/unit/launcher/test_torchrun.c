/* The torchrun launcher: its argv for one node and for several, and what it refuses. */
#include "launcher/launcher.h"
#include "test.h"

struct fixture {
    struct job job;
    struct strlist program, args, argv, warnings;
    struct launch_probe probe;
    struct launch_input in;
    struct error err;
};

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    f->job.python = xstrdup("python3");
    strlist_add(&f->program, "train.py");
    f->in = (struct launch_input){.job = &f->job,
                                  .program = &f->program,
                                  .args = &f->args,
                                  .nnodes = 2,
                                  .rank = 1,
                                  .nproc = "8",
                                  .master_addr = "2001:db8::2",
                                  .master_port = 29511,
                                  .rendezvous_id = "r-0123abcd.1"};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    free(f->job.python);
    strlist_release(&f->program);
    strlist_release(&f->args);
    strlist_release(&f->argv);
    strlist_release(&f->warnings);
    launch_probe_release(&f->probe);
    free(f);
    return 0;
}

static void program(struct fixture *f, const char *text)
{
    strlist_release(&f->program);
    strlist_add(&f->program, text);
}

static void python(struct fixture *f, const char *text)
{
    free(f->job.python);
    f->job.python = xstrdup(text);
}

static void built(struct fixture *f, const char *wanted)
{
    assert_int_equal(launcher_find("torchrun", NULL)->build(&f->in, &f->argv, &f->probe, &f->err), 0);
    AUTO_FREE char *line = strlist_join(&f->argv, "|");
    assert_string_equal(line, wanted);
}

static void refused(struct fixture *f, const char *text)
{
    assert_int_equal(launcher_find("torchrun", NULL)->build(&f->in, &f->argv, &f->probe, &f->err), -1);
    assert_true(error_is(&f->err, &kind_plan));
    assert_string_equal(f->err.text, text);
    assert_true(f->err.hint[0] != '\0');
}

static void judge(struct fixture *f, unsigned nnodes)
{
    const struct launch_job in = {.job = &f->job, .nnodes = nnodes};
    struct launch_whole whole = {0};
    assert_int_equal(launcher_find("torchrun", NULL)->judge(&in, &whole, &f->warnings, NULL), 0);
    launch_whole_release(&whole);
}

static void test_static(void **state)
{
    struct fixture *f = *state;
    strlist_add(&f->args, "--lr");
    strlist_add(&f->args, "1e-5");
    built(
        f,
        "python3|-m|torch.distributed.run|--nnodes=2|--nproc_per_node=8|--node_rank=1|--rdzv_id=r-0123abcd.1|"
        "--rdzv_backend=static|--rdzv_conf=timeout=300|--master_addr=2001:db8::2|--master_port=29511|train."
        "py|"
        "--lr|1e-5");
    assert_int_equal(f->probe.program_type, LAUNCH_PROGRAM_FILE);
    assert_string_equal(f->probe.program, "train.py");
    assert_string_equal(f->probe.interpreter, "python3");
    assert_string_equal(f->probe.module, "torch");
    judge(f, 2);
    assert_int_equal(f->warnings.len, 0);
}

static void test_c10d(void **state)
{
    struct fixture *f = *state;
    f->job.rendezvous = RENDEZVOUS_C10D;
    built(
        f,
        "python3|-m|torch.distributed.run|--nnodes=2|--nproc_per_node=8|--node_rank=1|--rdzv_id=r-0123abcd.1|"
        "--rdzv_backend=c10d|--rdzv_endpoint=[2001:db8::2]:29511|--rdzv_conf=is_host=false,join_timeout=300|"
        "train.py");
    judge(f, 1);
    assert_int_equal(f->warnings.len, 0);
    judge(f, 2);
    assert_int_equal(f->warnings.len, 1);
    assert_non_null(strstr(f->warnings.items[0], "may not follow the order of the hosts"));
}

static void test_c10d_host(void **state)
{
    struct fixture *f = *state;
    f->job.rendezvous = RENDEZVOUS_C10D;
    f->in.rank = 0;
    f->in.master_addr = "10.0.0.7";
    built(
        f,
        "python3|-m|torch.distributed.run|--nnodes=2|--nproc_per_node=8|--node_rank=0|--rdzv_id=r-0123abcd.1|"
        "--rdzv_backend=c10d|--rdzv_endpoint=10.0.0.7:29511|--rdzv_conf=is_host=true,join_timeout=300|train."
        "py");
}

static const char *program_words(struct fixture *f)
{
    for (size_t i = 0; i < f->argv.len; i++) {
        if (strncmp(f->argv.items[i], "--master_port", 13) == 0) {
            return strlist_join(&(struct strlist){.items = f->argv.items + i + 1, .len = f->argv.len - i - 1},
                                "|");
        }
    }
    return NULL;
}

static void program_built(struct fixture *f, const char *wanted)
{
    assert_int_equal(launcher_find("torchrun", NULL)->build(&f->in, &f->argv, &f->probe, &f->err), 0);
    char *line = (char *)(uintptr_t)program_words(f);
    assert_string_equal(line, wanted);
    free(line);
}

static void test_module(void **state)
{
    struct fixture *f = *state;
    program(f, "-m  pkg.mod");
    strlist_add(&f->args, "-x");
    program_built(f, "-m|pkg.mod|-x");
    assert_int_equal(f->probe.program_type, LAUNCH_PROGRAM_MODULE);
    assert_string_equal(f->probe.program, "pkg.mod");
}

static void test_no_python(void **state)
{
    struct fixture *f = *state;
    python(f, "none");
    program(f, "./run me");
    program_built(f, "--no_python|./run me");
    assert_string_equal(f->argv.items[0], "python3");
    assert_int_equal(f->probe.program_type, LAUNCH_PROGRAM_COMMAND);
    assert_string_equal(f->probe.interpreter, "python3");
}

/* U10: which words are the user's home on the node; an argument like one of them is none. */
static void test_home_words(void **state)
{
    struct fixture *f = *state;
    python(f, "~/venv/bin/python");
    program(f, "~/train.py");
    strlist_add(&f->args, "~/train.py");
    assert_int_equal(launcher_find("torchrun", &f->err)->build(&f->in, &f->argv, &f->probe, &f->err), 0);
    assert_int_equal(f->probe.home_words_len, 2);
    assert_int_equal(f->probe.home_words[0], 0);
    assert_int_equal(f->probe.home_words[1], f->argv.len - 2);
    assert_string_equal(f->argv.items[f->argv.len - 2], "~/train.py");
    assert_string_equal(f->argv.items[f->argv.len - 1], "~/train.py");
}

static void test_other_python(void **state)
{
    struct fixture *f = *state;
    python(f, "/opt/venv/bin/python");
    program_built(f, "train.py");
    assert_string_equal(f->argv.items[0], "/opt/venv/bin/python");
    assert_string_equal(f->probe.interpreter, "/opt/venv/bin/python");
}

/* argparse eats the first "--" (tried with Python 3.11): the program must still get its own. */
static void test_double_dash(void **state)
{
    struct fixture *f = *state;
    strlist_add(&f->args, "--");
    strlist_add(&f->args, "a");
    program_built(f, "--|train.py|--|a");
}

static void test_program_is_no_module(void **state)
{
    struct fixture *f = *state;
    program(f, "-mod.py");
    refused(f, "program '-mod.py' begins with '-'");
}

static void test_refused(void **state)
{
    struct fixture *f = *state;
    program(f, "");
    refused(f, "program is empty");
    program(f, "-m");
    refused(f, "program '-m' names no module");
    program(f, "-m a --x");
    refused(f, "program '-m a --x' names no module");
    program(f, "--x");
    refused(f, "program '--x' begins with '-'");
    python(f, "none");
    program(f, "-m a");
    refused(f, "program '-m a' is a module, but python is none");
    assert_int_equal(f->argv.len, 0);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_static),     TEST(test_c10d),        TEST(test_c10d_host),
        TEST(test_module),     TEST(test_no_python),   TEST(test_other_python),
        TEST(test_home_words), TEST(test_double_dash), TEST(test_program_is_no_module),
        TEST(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
