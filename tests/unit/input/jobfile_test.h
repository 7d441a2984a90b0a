/* Shared by the tests of the job file: read a text, look at the job or at the error. */
#ifndef MTLAUNCH_TESTS_JOBFILE_TEST_H
#define MTLAUNCH_TESTS_JOBFILE_TEST_H

#include "input/jobfile.h"
#include "test.h"

#define SPEC_FOLDER "tests/data/specs"
#define SPEC_FILE   SPEC_FOLDER "/job.yaml"

struct outcome {
    int result;
    struct job job;
    struct error err;
    struct strlist notes, warnings;
};

static inline void outcome_release(struct outcome *outcome)
{
    job_release(&outcome->job);
    strlist_release(&outcome->notes);
    strlist_release(&outcome->warnings);
}

#define AUTO_OUTCOME __attribute__((cleanup(outcome_release)))

/* Read text as the file SPEC_FILE, which need not exist. request may be NULL. */
static inline struct outcome read_spec(const char *text, const struct job_request *request)
{
    static const struct job_request nothing = {.home = "/home/u"};
    struct outcome outcome = {.err = ERROR_INIT};
    outcome.result =
        jobfile_parse_text(&outcome.job, SPEC_FILE, text, strlen(text), request != NULL ? request : &nothing,
                           &outcome.notes, &outcome.warnings, &outcome.err);
    return outcome;
}

static inline void assert_read(const struct outcome *outcome)
{
    if (outcome->result != 0) {
        fail_msg("refused: %s:%u:%u: %s", outcome->err.file, outcome->err.line, outcome->err.column,
                 outcome->err.text);
    }
}

/* A text that is refused: what is said, what is advised and where. */
struct refusal {
    const char *spec;
    unsigned line, column;
    const char *text; /* the whole message */
    const char *hint; /* the whole hint, "" for none */
};

static inline void assert_refused(const struct outcome *outcome, const struct error_kind *kind,
                                  const char *file, const struct refusal *want)
{
    const struct error *err = &outcome->err;
    if (outcome->result == 0) {
        fail_msg("accepted: %s", want->spec);
    }
    if (strcmp(err->text, want->text) != 0 || strcmp(err->hint, want->hint) != 0 || err->line != want->line ||
        err->column != want->column || strcmp(err->file, file) != 0) {
        fail_msg("%s\n  got  %s:%u:%u: %s (%s)\n  want %s:%u:%u: %s (%s)", want->spec, err->file, err->line,
                 err->column, err->text, err->hint, file, want->line, want->column, want->text, want->hint);
    }
    assert_string_equal(err->kind->name, kind->name);
    assert_int_equal(err->kind->exit_code, 2);
    assert_null(outcome->job.name); /* nothing is left to release */
}

#endif
