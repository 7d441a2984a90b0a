/* The script launcher: the argv of a list and of shell text, run for real. */
#include "launcher/launcher.h"
#include "test.h"

struct fixture {
    struct job job;
    struct strlist program, args, argv;
    struct launch_probe probe;
    struct launch_input in;
    struct error err;
};

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    f->in = (struct launch_input){
        .job = &f->job, .program = &f->program, .args = &f->args, .nnodes = 1, .nproc = "1"};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    strlist_release(&f->program);
    strlist_release(&f->args);
    strlist_release(&f->argv);
    launch_probe_release(&f->probe);
    free(f);
    return 0;
}

static int build(struct fixture *f)
{
    return launcher_find("script", NULL)->build(&f->in, &f->argv, &f->probe, &f->err);
}

static void built(struct fixture *f, const char *wanted)
{
    assert_int_equal(build(f), 0);
    AUTO_FREE char *line = strlist_join(&f->argv, "|");
    assert_string_equal(line, wanted);
}

static void test_line(void **state)
{
    struct fixture *f = *state;
    strlist_add(&f->program, "cd x; echo \"$HOME\" | tee y\n");
    built(f, "/bin/sh|-c|cd x; echo \"$HOME\" | tee y\n");
    assert_int_equal(f->probe.program_type, LAUNCH_PROGRAM_NONE);
    assert_null(f->probe.interpreter);
}

static void test_line_with_args(void **state)
{
    struct fixture *f = *state;
    strlist_add(&f->program, "./run.sh\n");
    strlist_add(&f->args, "--lr");
    strlist_add(&f->args, "it's $HOME");
    strlist_add(&f->args, "");
    built(f, "/bin/sh|-c|./run.sh --lr 'it'\\''s $HOME' ''");
}

static void test_list(void **state)
{
    struct fixture *f = *state;
    f->job.program_is_list = true;
    strlist_add(&f->program, "echo");
    strlist_add(&f->program, "a b");
    strlist_add(&f->args, "$HOME");
    built(f, "echo|a b|$HOME");
    assert_int_equal(f->probe.program_type, LAUNCH_PROGRAM_COMMAND);
    assert_string_equal(f->probe.program, "echo");
}

static void test_empty(void **state)
{
    struct fixture *f = *state;
    strlist_add(&f->program, " \n");
    assert_int_equal(build(f), -1);
    assert_true(error_is(&f->err, &kind_plan));
    assert_string_equal(f->err.text, "program is empty");
    f->job.program_is_list = true;
    strlist_release(&f->program);
    strlist_add(&f->program, "");
    assert_int_equal(build(f), -1);
    assert_string_equal(f->err.text, "the first word of program is empty");
}

/* Run the built command and compare what it prints: NUL-separated arguments. */
static void printed(struct fixture *f)
{
    assert_int_equal(build(f), 0);
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        execv(f->argv.items[0], f->argv.items);
        _exit(126);
    }
    close(fds[1]);
    AUTO_STR struct str out = STR_INIT;
    char buffer[4096];
    for (ssize_t n; (n = read(fds[0], buffer, sizeof buffer)) > 0;) {
        str_add_mem(&out, buffer, (size_t)n);
    }
    close(fds[0]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    const char *at = out.data;
    for (size_t i = 0; i < f->args.len; i++) {
        assert_string_equal(at, f->args.items[i]);
        at += strlen(at) + 1;
    }
    assert_ptr_equal(at, out.data + out.len);
}

static void test_nasty_args_arrive(void **state)
{
    struct fixture *f = *state;
    static const char *const nasty[] = {
        "I'm", "\"",   "\\", "$(id)", "*", "!",  "a\nb", "{\"a\": [1]}",         "",      "-4C", "`id`",
        ";",   "&",    "|",  "~",     "#", "\t", " ",    "\xc3\xa9\xe6\x97\xa5", "$HOME", "\\n", "%s",
        "--",  "a'b'c"};
    strlist_add(&f->program, "printf '%s\\0'");
    for (size_t i = 0; i < ARRAY_LEN(nasty); i++) {
        strlist_add(&f->args, nasty[i]);
    }
    printed(f);
}

/* Each fits by itself, the joined line would not. */
static void test_long_args_arrive(void **state)
{
    struct fixture *f = *state;
    AUTO_FREE char *big = xcalloc(100001, 1);
    memset(big, '\'', 100000);
    strlist_add(&f->program, "printf '%s\\0' \n");
    strlist_add(&f->args, big);
    strlist_add(&f->args, "b c");
    printed(f);
    assert_string_equal(f->argv.items[2], "printf '%s\\0' \"$@\"");
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_line),  TEST(test_line_with_args),    TEST(test_list),
        TEST(test_empty), TEST(test_nasty_args_arrive), TEST(test_long_args_arrive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
