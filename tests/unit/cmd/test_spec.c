/* The job file that init writes: it loads for every launcher, as it stands and with its examples brought to
 * life. */
#include "cmd/spec_internal.h"
#include "cmd_test.h"
#include "input/jobfile.h"
#include "launcher/launcher.h"

static void load(struct job *job, const struct str *text)
{
    static const char *const nothing[] = {NULL};
    const struct job_request request = {.home = "/home/u", .environ_ = nothing};
    struct error err = ERROR_INIT;
    if (jobfile_parse_text(job, "train.yaml", str_text(text), text->len, &request, NULL, NULL, &err) != 0) {
        fail_msg("%s:%u: %s\n%s", err.file, err.line, err.text, str_text(text));
    }
}

/* The '#' of every line taken away that has no blank behind it, or more than one. */
static void bring_to_life(const struct str *text, struct str *out)
{
    for (const char *at = str_text(text); *at;) {
        size_t len = strcspn(at, "\n");
        bool setting = at[0] == '#' && (at[1] != ' ' || at[2] == ' ');
        str_add_mem(out, at + setting, len - setting);
        str_add_char(out, '\n');
        at += len + (at[len] == '\n');
    }
}

static void test_it_loads_for_every_launcher(void **state)
{
    (void)state;
    for (size_t i = 0; launchers_all[i]; i++) {
        const struct spec_answers answers = {.job = "train", .launcher = launchers_all[i]->name};
        AUTO_STR struct str text = STR_INIT, living = STR_INIT;
        struct job job;
        spec_render(&answers, &text);
        load(&job, &text);
        assert_string_equal(job.launcher, launchers_all[i]->name);
        assert_string_equal(job.program.items[0], spec_example_program(launchers_all[i]->name));
        assert_null(job.hosts);
        job_release(&job);
        bring_to_life(&text, &living);
        load(&job, &living);
        assert_string_equal(job.hosts, "g[0033-0036]");
        assert_int_equal(job.setup.len, 2);
        assert_int_equal(job.notify.len, 1);
        assert_int_equal(job.args.len, 2);
        job_release(&job);
    }
}

static void test_answers_arrive_as_they_are(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "train.py",
        "-m pkg.train",
        "it's",
        "a: b",
        "a #b",
        "true",
        "null",
        "\"q\"",
        "'",
        "&a",
        "*a",
        "!t",
        "a\\b",
        "line\nbreak\ttab\x01",
        "x\x7f\"\\",
        "caf\xc3\xa9",
        " lead",
        "trail ",
        "{a}",
        "[a]",
        "%x",
        "@x",
        "`x`",
        "|",
        ">",
        "-",
        "- a",
        "?",
        "a,b",
        "0033",
        "1e-5",
        "~",
        "g[0033-0036],^g0034",
        "no",
        "${{run}}",
        "\\n",
        "# c",
    };
    FOR_ROWS(i, texts, texts[i]) {
        const struct spec_answers answers = {.job = "t", .launcher = "script", .program = texts[i]};
        AUTO_STR struct str text = STR_INIT;
        struct job job;
        spec_render(&answers, &text);
        load(&job, &text);
        assert_string_equal(job.program.items[0], texts[i]);
        job_release(&job);
    }
}

static void test_hosts_and_host_files(void **state)
{
    (void)state;
    struct spec_answers answers = {
        .job = "t", .launcher = "torchrun", .hosts = "root@g[01-04],[2001:db8::1]:2222"};
    AUTO_STR struct str text = STR_INIT;
    struct job job;
    spec_render(&answers, &text);
    load(&job, &text);
    assert_string_equal(job.hosts, answers.hosts);
    job_release(&job);
    answers = (struct spec_answers){.job = "t", .launcher = "torchrun", .hostfile = "/my hosts: all.txt"};
    str_reset(&text);
    spec_render(&answers, &text);
    load(&job, &text);
    assert_string_equal(job.hostfile, answers.hostfile);
    job_release(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_loads_for_every_launcher),
        cmocka_unit_test(test_answers_arrive_as_they_are),
        cmocka_unit_test(test_hosts_and_host_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
