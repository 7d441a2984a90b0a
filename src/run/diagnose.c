/* Diagnoses a run, or log files on this machine. */
#include "run/diagnose.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "explain_internal.h"
#include "insight/progress.h"
#include "model/kind.h"
#include "node_failures_internal.h"

#define PIECE_BYTES ((size_t)256 * 1024)
#define NODE_MAX    65535
/* of a log's start and end, which show the progress of the training */
#define PROGRESS_BYTES (4 * PIECE_BYTES)

int run_diagnose(struct run_context *context, const char *name, unsigned attempt, struct explanation *out,
                 struct error *err)
{
    struct run run;
    struct node_set set;
    struct node_failures failures;
    *out = (struct explanation){0};
    run_init(&run);
    if (run_store_load(context->store, name, &run, err) != 0) {
        run_release(&run);
        return -1;
    }
    if (attempt > run.attempt) {
        error_set(err, &kind_usage, "run '%s' has no attempt %u: its last one is %u", name, attempt,
                  run.attempt);
        error_hint(err, "mtlaunch status %s lists its attempts", name);
        run_release(&run);
        return -1;
    }
    node_failures_init_run(&failures, &run);
    int result = node_set_open_run(&set, context, &run, err);
    if (result == 0 && run_explain(&set, &run, attempt, NULL, &failures, out) != 0) {
        result = node_set_interrupted_error(&set, err);
    }
    node_set_close(&set);
    if (result == 0 && failures.count > 0) {
        struct error worst = ERROR_INIT;
        node_failures_report(&failures, context, &worst);
        if (failures.count == run.nodes_len) {
            *err = worst;
            result = -1;
        }
    }
    out->forbidden = NULL; /* it borrows from the run, which is released below */
    if (attempt == 0 || attempt == run.attempt) {
        out->progress = run.progress;
    }
    node_failures_release(&failures);
    run_release(&run);
    return result;
}

/* --- files -------------------------------------------------------------------------------------- */

/* The number after the last "node" of a path that is followed by one; -1: there is none. */
static long number_in(const char *path)
{
    long number = -1;
    for (const char *at = strstr(path, "node"); at; at = strstr(at + 4, "node")) {
        if (isdigit((unsigned char)at[4])) {
            unsigned long value = strtoul(at + 4, NULL, 10);
            number = value <= NODE_MAX ? (long)value : number;
        }
    }
    return number;
}

/*
 * Progress is read at the start of a log, where a program prints its sizes, and at the end. Reading the part
 * between would only take time.
 */
static void feed_progress(struct progress_reader *progress, const char *piece, size_t len, off_t at,
                          off_t size)
{
    const bool head = at < (off_t)PROGRESS_BYTES;
    const bool tail = at + (off_t)len + (off_t)PROGRESS_BYTES >= size;
    if (head || tail) {
        progress_reader_feed(progress, piece, len);
    } else if (at < (off_t)(PROGRESS_BYTES + PIECE_BYTES)) {
        progress_reader_feed(progress, "\n", 1); /* end the line that was cut */
    }
}

static int read_file(struct scanner *scanner, const char *path, struct evidence *evidence,
                     struct training_progress *training, struct error *err)
{
    AUTO_FREE char *piece = xcalloc(PIECE_BYTES, 1);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) {
        return error_set_errno(err, &kind_usage, errno, "'%s' cannot be read", path);
    }
    struct evidence_reader *reader = evidence_reader_new(scanner, evidence);
    struct progress_reader *progress = progress_reader_new(NULL, 0);
    struct training_progress read_progress;
    off_t at = 0;
    ssize_t len = 0;
    do {
        len = read(fd, piece, PIECE_BYTES);
        if (len > 0) {
            evidence_reader_feed(reader, piece, (size_t)len);
            feed_progress(progress, piece, (size_t)len, at, info.st_size);
            at += len;
        }
    } while (len > 0 || (len < 0 && errno == EINTR));
    int failed = len < 0 ? errno : 0;
    evidence_reader_end(reader);
    progress_reader_end(progress, &read_progress);
    progress_merge(training, &read_progress);
    return failed == 0 ? 0 : error_set_errno(err, &kind_usage, failed, "'%s' cannot be read", path);
}

static int compare_ends(const void *a, const void *b)
{
    const struct node_end *left = a;
    const struct node_end *right = b;
    return left->rank < right->rank ? -1 : left->rank > right->rank;
}

/* The names decide only if all of them contain a number: a mixture would mean nothing. */
static bool all_hold_a_number(char *const *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (number_in(files[i]) < 0) {
            return false;
        }
    }
    return true;
}

static int check_numbers(const struct explanation *out, struct error *err)
{
    for (size_t i = 1; i < out->nodes_len; i++) {
        if (out->ends[i].rank == out->ends[i - 1].rank) {
            error_set(err, &kind_usage, "'%s' and '%s' are both logs of node %u", out->ends[i - 1].file,
                      out->ends[i].file, out->ends[i].rank);
            return error_hint(err, "give one log per node, with node<number> in its name");
        }
    }
    return 0;
}

int run_diagnose_logs(char *const *files, size_t count, struct explanation *out, struct error *err)
{
    struct scanner *scanner = scanner_new();
    bool numbered = all_hold_a_number(files, count);
    int result = 0;
    explanation_init(out, count);
    for (size_t i = 0; i < count && result == 0; i++) {
        unsigned number = numbered ? (unsigned)number_in(files[i]) : (unsigned)i;
        out->files[i] = xstrdup(files[i]);
        out->hosts[i] = xasprintf("node%u", number);
        out->ends[i] = (struct node_end){
            .rank = number,
            .host = out->hosts[i],
            .file = out->files[i],
            .evidence = &out->evidence[i],
            .exit_status = -1,
            .ended = -1,
        };
        result = read_file(scanner, files[i], &out->evidence[i], &out->progress, err);
    }
    scanner_free(scanner);
    qsort(out->ends, count, sizeof(out->ends[0]), compare_ends);
    if (result == 0) {
        result = check_numbers(out, err);
    }
    if (result == 0) {
        diagnosis_make(&out->diagnosis, out->ends, count, 0);
    }
    return result;
}
