/* What the tests of the launchers share: a job of two nodes, its command as a line, and its judge. */
#ifndef MTLAUNCH_TESTS_LAUNCHER_FIXTURE_H
#define MTLAUNCH_TESTS_LAUNCHER_FIXTURE_H

#include "launcher/launcher.h"
#include "model/kind.h"
#include "test.h"

struct fixture {
    struct job job;
    struct strlist program, args, labels, warnings, ready;
    struct launch_input in;
    struct launch_job whole_in;
    struct launch_whole whole;
    struct launch_probe probe;
    struct env env;
    struct str about;
    struct error err;
};

/* Two nodes of two processes each; the second one is looked at. */
static inline int launcher_setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    job_init(&f->job);
    strlist_add(&f->program, "train.py");
    strlist_add(&f->job.program, "train.py");
    strlist_add(&f->labels, "n1");
    strlist_add(&f->labels, "n2");
    f->in = (struct launch_input){.job = &f->job,
                                  .program = &f->program,
                                  .args = &f->args,
                                  .labels = &f->labels,
                                  .nnodes = 2,
                                  .rank = 1,
                                  .nproc = "2",
                                  .world = "4",
                                  .state_base = "/art/run_state/r_node1",
                                  .master_addr = "n1",
                                  .master_port = 29500,
                                  .rendezvous_id = "r-0123abcd.1"};
    f->whole_in = (struct launch_job){.job = &f->job, .args = &f->args, .nnodes = 2, .world_size = 4};
    *state = f;
    return 0;
}

/* Begin anew, but for the job. */
static inline void launcher_reset(struct fixture *f)
{
    strlist_release(&f->args);
    strlist_release(&f->warnings);
    strlist_release(&f->ready);
    launch_whole_release(&f->whole);
    launch_probe_release(&f->probe);
    env_release(&f->env);
    str_release(&f->about);
    f->err = ERROR_INIT;
}

static inline int launcher_teardown(void **state)
{
    struct fixture *f = *state;
    launcher_reset(f);
    strlist_release(&f->program);
    strlist_release(&f->labels);
    job_release(&f->job);
    free(f);
    return 0;
}

static inline void set_text(char **field, const char *text)
{
    free(*field);
    *field = xstrdup(text);
}

static inline void set_launcher(struct fixture *f, const char *name, const char *program)
{
    set_text(&f->job.launcher, name);
    strlist_release(&f->program);
    strlist_release(&f->job.program);
    strlist_add(&f->program, program);
    strlist_add(&f->job.program, program);
}

static inline void add_words(struct strlist *list, const char *words)
{
    AUTO_FREE char *text = xstrdup(words);
    for (char *rest = text, *word; (word = strsep(&rest, " "));) {
        if (*word) {
            strlist_add(list, word);
        }
    }
}

static inline const struct launcher *row_of(const struct fixture *f)
{
    const struct launcher *row = launcher_find(f->job.launcher, NULL);
    assert_non_null(row);
    return row;
}

/* The command of the node with these args must be this line. */
static inline void built(struct fixture *f, const char *args, const char *wanted)
{
    AUTO_STRLIST struct strlist argv = STRLIST_INIT;
    launcher_reset(f);
    add_words(&f->args, args);
    if (row_of(f)->build(&f->in, &argv, &f->probe, &f->err)) {
        fail_msg("%s", f->err.text);
    }
    AUTO_FREE char *line = strlist_join(&argv, " ");
    assert_string_equal(line, wanted);
}

static inline int judged(struct fixture *f, const char *args)
{
    launcher_reset(f);
    add_words(&f->args, args);
    return row_of(f)->judge(&f->whole_in, &f->whole, &f->warnings, &f->err);
}

/* A job that is fine: the words it gets and the one warning, NULL for none. */
static inline void accepted(struct fixture *f, const char *args, const char *added, const char *warning)
{
    if (judged(f, args)) {
        fail_msg("%s", f->err.text);
    }
    AUTO_FREE char *line = strlist_join(&f->whole.args, " ");
    assert_string_equal(line, added);
    assert_int_equal(f->warnings.len, warning ? 1 : 0);
    if (warning) {
        assert_non_null(strstr(f->warnings.items[0], warning));
    }
}

static inline void refused(struct fixture *f, const char *args, const char *text)
{
    assert_int_equal(judged(f, args), -1);
    assert_ptr_equal(f->err.kind, &kind_plan);
    assert_string_equal(f->err.text, text);
    assert_true(*f->err.hint);
}

static inline void batch_is(const struct fixture *f, unsigned micro, unsigned accumulation,
                            unsigned data_parallel, unsigned global)
{
    assert_true(f->whole.has_batch);
    assert_int_equal(f->whole.batch.micro, micro);
    assert_int_equal(f->whole.batch.accumulation, accumulation);
    assert_int_equal(f->whole.batch.data_parallel, data_parallel);
    assert_int_equal(f->whole.batch.global, global);
}

static inline void make_ready(struct fixture *f)
{
    launcher_reset(f);
    row_of(f)->ready(&f->in, &f->ready, &f->about);
}

#define LAUNCHER_TEST(function) cmocka_unit_test_setup_teardown(function, launcher_setup, launcher_teardown)

#endif
