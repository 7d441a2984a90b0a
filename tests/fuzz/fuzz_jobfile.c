/*
 * Any text as a job file, with a --set option and a profile behind bytes 0xFF: what is taken keeps the job's
 * rules and is taken the same way again; what is refused says what, ends with 2 and points into the text.
 */
#include <string.h>

#include "../unit/input/job_dump.h"
#include "base/alloc.h"
#include "base/strlist.h"
#include "fuzz.h"
#include "input/jobfile.h"
#include "model/env.h"
#include "model/kind.h"

#define SPEC_NAME "/nowhere/job.yaml"

static void check_job(const struct job *job)
{
    CHECK(job->name != NULL && job->name[0] != '\0' && strcmp(job->file, SPEC_NAME) == 0);
    CHECK(job->program.len >= 1 && job->program.items[0][0] != '\0');
    CHECK(!job->program_is_list || strcmp(job->launcher, "script") == 0);
    CHECK(job->zero_stage <= 3 && job->nproc_per_node <= 1024 && job->master_port <= 65535 &&
          job->reach.port <= 65535);
    CHECK(job->hosts == NULL || job->hostfile == NULL);
    CHECK(job->start_timeout_s >= 1 && job->policy.lost_after_s >= 1);
    CHECK(job_signal_name(job->stop_signal) != NULL);
    for (size_t i = 0; i < job->args.len; i++) {
        const struct job_arg *arg = &job->args.items[i];
        CHECK(arg->type == JOB_ARG_WORD ? arg->key == NULL : arg->key != NULL && arg->key[0] != '\0');
        CHECK((arg->type == JOB_ARG_WORD || arg->type == JOB_ARG_PAIR) ? arg->values.len == 1 : true);
        for (size_t v = 0; v < arg->values.len; v++) {
            CHECK(strlen(arg->values.items[v]) <= ENV_VALUE_MAX);
        }
    }
    for (size_t i = 0; i < job->env.len; i++) {
        CHECK(env_check_settable(job->env.items[i].name, job->env.items[i].value, NULL) == 0);
        CHECK(job->env.items[i].source != NULL);
    }
}

static void check_error(const struct error *err)
{
    CHECK(err->kind != NULL && err->kind->exit_code == 2 && err->text[0] != '\0');
    CHECK((err->line == 0) == (err->column == 0));
    CHECK(err->line == 0 || strcmp(err->file, SPEC_NAME) == 0);
}

/* The part up to the next 0xFF; *at moves behind it. */
static char *next_part(const uint8_t *data, size_t size, size_t *at, size_t *len)
{
    size_t start = *at < size ? *at : size;
    const uint8_t *end = start < size ? memchr(data + start, 0xFF, size - start) : NULL;
    *len = end != NULL ? (size_t)(end - (data + start)) : size - start;
    *at = start + *len + 1;
    char *part = xcalloc(*len + 1, 1);
    if (*len > 0) {
        memcpy(part, data + start, *len);
    }
    return part;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t at = 0;
    size_t len = 0;
    size_t ignored = 0;
    AUTO_FREE char *spec = next_part(data, size, &at, &len);
    AUTO_STRLIST struct strlist sets = STRLIST_INIT;
    AUTO_STRLIST struct strlist profiles = STRLIST_INIT;
    if (at <= size) {
        strlist_take(&sets, next_part(data, size, &at, &ignored));
    }
    if (at <= size) {
        strlist_take(&profiles, next_part(data, size, &at, &ignored));
    }
    if (memmem(data, size, "/dev", 4) != NULL || memmem(data, size, "/proc", 5) != NULL) {
        return 0; /* an env file there may wait for ever */
    }
    const struct job_request request = {.sets = &sets, .profiles = &profiles, .home = "/home/u"};
    struct job job, again;
    struct error err = ERROR_INIT;
    struct error err_again = ERROR_INIT;
    int result = jobfile_parse_text(&job, SPEC_NAME, spec, len, &request, NULL, NULL, &err);
    CHECK(jobfile_parse_text(&again, SPEC_NAME, spec, len, &request, NULL, NULL, &err_again) == result);
    if (result == 0) {
        check_job(&job);
        AUTO_FREE char *first = dump_job(&job);
        AUTO_FREE char *second = dump_job(&again);
        CHECK(strcmp(first, second) == 0);
        job_release(&job);
        job_release(&again);
    } else {
        check_error(&err);
        CHECK(strcmp(err.text, err_again.text) == 0);
    }
    return 0;
}
