/* Line formats that are taken as facts: torchrun's report of a worker's end, watchdogs, what NCCL uses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "reader_internal.h"

static const char *after(const struct clean_line *line, const char *literal)
{
    const char *at = strstr(line->text, literal);
    return at ? at + strlen(literal) : NULL;
}

/* A worker's end is reported once on its "failed" line and once in the block: the block's has the rank. */
static void add_child(struct evidence *evidence, const struct child_end *child, const char *text)
{
    for (size_t i = 0; i < evidence->children_len; i++) {
        struct child_end *known = &evidence->children[i];
        bool same = known->local_rank == child->local_rank && known->exit_code == child->exit_code &&
                    (known->rank < 0 || child->rank < 0 || known->rank == child->rank);
        if (same) {
            known->rank = child->rank >= 0 ? child->rank : known->rank;
            known->first = known->first || child->first;
            known->time = known->time >= 0 ? known->time : child->time;
            return;
        }
    }
    if (evidence->children_len == EVIDENCE_CHILDREN) {
        return;
    }
    evidence->children =
        xgrow(evidence->children, evidence->children_len, &evidence->children_cap, sizeof(struct child_end));
    evidence->children[evidence->children_len] = *child;
    evidence->children[evidence->children_len++].text = xstrdup(text);
}

/* torch/distributed/elastic/multiprocessing/api.py: "failed (exitcode: 1) local_rank: 0 (pid: 632) of binary:
 * …" */
static void take_failed(struct evidence_reader *reader, unsigned long number, const struct clean_line *line)
{
    const char *at = after(line, "failed (exitcode: ");
    struct child_end child = {
        .line = number, .rank = -1, .local_rank = -1, .time = line->time, .first = true};
    if (!at || sscanf(at, "%6d) local_rank: %6ld", &child.exit_code, &child.local_rank) != 2) {
        return;
    }
    if (reader->evidence->failed_line == 0) {
        reader->evidence->failed_line = number;
    }
    add_child(reader->evidence, &child, line->text);
}

/* torch/distributed/elastic/multiprocessing/errors/__init__.py: the block's lines, "  time      : …" first.
 */
static void take_block_time(struct evidence_reader *reader, unsigned long number,
                            const struct clean_line *line)
{
    if (!text_starts(line->text, "  time      : ")) {
        return;
    }
    reader->in_child = true;
    reader->child = (struct child_end){.line = number, .rank = -1, .local_rank = -1, .time = line->time};
}

static void take_block_rank(struct evidence_reader *reader, unsigned long number,
                            const struct clean_line *line)
{
    (void)number;
    if (reader->in_child && text_starts(line->text, "  rank      : ")) {
        sscanf(line->text, "  rank      : %6ld (local_rank: %6ld)", &reader->child.rank,
               &reader->child.local_rank);
    }
}

static void take_block_exit(struct evidence_reader *reader, unsigned long number,
                            const struct clean_line *line)
{
    (void)number;
    if (!reader->in_child || sscanf(line->text, "  exitcode  : %6d", &reader->child.exit_code) != 1) {
        return;
    }
    reader->in_child = false;
    add_child(reader->evidence, &reader->child, line->text);
    evidence_note_rank(reader->evidence, reader->child.rank);
}

/* ProcessGroupNCCL.cpp: "[PG ID 0 PG GUID 0(default_pg) Rank 0] … last enqueued work: 36, last completed
 * work: 35" */
static void add_enqueued(struct evidence *evidence, unsigned long number, const struct clean_line *line,
                         long long enqueued, long long completed)
{
    struct enqueued fresh = {
        .rank = line->rank, .line = number, .enqueued = enqueued, .completed = completed};
    const char *group = strstr(line->text, "PG GUID ");
    if (group) {
        group += strlen("PG GUID ");
        size_t len = strcspn(group, " ]");
        snprintf(fresh.group, sizeof fresh.group, "%.*s", (int)len, group);
    }
    for (size_t i = 0; i < evidence->enqueued_len; i++) {
        struct enqueued *known = &evidence->enqueued[i];
        if (known->rank == fresh.rank && strcmp(known->group, fresh.group) == 0) {
            return; /* the first one is of the moment when it noticed */
        }
    }
    if (line->rank < 0 || evidence->enqueued_len == EVIDENCE_RANKS) {
        return;
    }
    evidence->enqueued =
        xgrow(evidence->enqueued, evidence->enqueued_len, &evidence->enqueued_cap, sizeof(struct enqueued));
    evidence->enqueued[evidence->enqueued_len++] = fresh;
    evidence_note_rank(evidence, line->rank);
}

static void take_enqueued(struct evidence_reader *reader, unsigned long number, const struct clean_line *line)
{
    static const char *const forms[][2] = {
        {"last enqueued work: ", "last completed work: "},
        {"ast enqueued NCCL work: ", "last completed NCCL work: "},
    };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        const char *enqueued = after(line, forms[i][0]);
        const char *completed = after(line, forms[i][1]);
        if (enqueued && completed) {
            add_enqueued(reader->evidence, number, line, strtoll(enqueued, NULL, 10),
                         strtoll(completed, NULL, 10));
            return;
        }
    }
}

/* Lines that only the tracebacks need. */
static void take_nothing(struct evidence_reader *reader, unsigned long number, const struct clean_line *line)
{
    (void)reader;
    (void)number;
    (void)line;
}

static void take_signalled(struct evidence_reader *reader, unsigned long number,
                           const struct clean_line *line)
{
    (void)number;
    const char *at = after(line, "got signal: ");
    if (at && reader->evidence->signalled == 0) {
        reader->evidence->signalled = (int)strtol(at, NULL, 10);
    }
}

/* "Sending process 1928 closing signal SIGTERM": one for each worker that lived. */
static void take_closing(struct evidence_reader *reader, unsigned long number, const struct clean_line *line)
{
    (void)number;
    (void)line;
    reader->evidence->workers++;
}

static void set_once(char **text, const char *from, size_t len)
{
    if (!*text && len > 0) {
        *text = xstrndup(from, len);
    }
}

static void take_nccl_version(struct evidence_reader *reader, unsigned long number,
                              const struct clean_line *line)
{
    (void)number;
    const char *at = after(line, "NCCL version ");
    set_once(&reader->evidence->nccl_version, at ? at : "", at ? strspn(at, "0123456789.") : 0);
}

static void take_network(struct evidence_reader *reader, unsigned long number, const struct clean_line *line)
{
    (void)number;
    const char *at = after(line, "Using network ");
    set_once(&reader->evidence->network, at ? at : "", at ? strcspn(at, " ") : 0);
}

/* net_ib.cc: "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>" */
static void take_ib_link(struct evidence_reader *reader, unsigned long number, const struct clean_line *line)
{
    (void)number;
    const char *at = after(line, "NET/IB : Using [");
    at = at ? strchr(at, '/') : NULL;
    set_once(&reader->evidence->ib_link, at ? at + 1 : "", at ? strcspn(at + 1, " ;[") : 0);
}

/* bootstrap.cc: "Bootstrap: Using eth0:10.0.0.1<0>", before 2.27 "Bootstrap : Using" */
static void take_interface(struct evidence_reader *reader, unsigned long number,
                           const struct clean_line *line)
{
    (void)number;
    const char *at = after(line, ": Using ");
    if (at && strstr(line->text, "Bootstrap")) {
        set_once(&reader->evidence->interface, at, strcspn(at, ":< "));
    }
}

/* init.cc: "ncclCommInitRank comm 0x… rank 3 nranks 32 … commId 0x… - Init START", later "- Init COMPLETE" */
static void take_init(struct evidence_reader *reader, unsigned long number, const struct clean_line *line)
{
    (void)number;
    struct evidence *evidence = reader->evidence;
    const char *at = after(line, " rank ");
    long rank = at ? strtol(at, NULL, 10) : -1;
    if (rank < 0) {
        return;
    }
    if (strstr(line->text, "Init START")) {
        if (evidence->init_open_len < EVIDENCE_RANKS) {
            evidence->init_open =
                xgrow(evidence->init_open, evidence->init_open_len, &evidence->init_open_cap, sizeof(long));
            evidence->init_open[evidence->init_open_len++] = rank;
        }
        return;
    }
    for (size_t i = 0; i < evidence->init_open_len; i++) {
        if (evidence->init_open[i] == rank) {
            evidence->init_open[i] = evidence->init_open[--evidence->init_open_len];
            return;
        }
    }
}

const struct line_format line_formats[] = {
    {"traceback", "Traceback (most recent call last):", take_nothing, true},
    {"ignored", "Exception ignored in", take_nothing, true},
    {"frame", "  File \"", fault_take_frame, true},
    {"fatal", "Fatal Python error: ", fault_take_fatal, false},
    {"current-thread", "Current thread 0x", fault_take_thread, false},
    {"thread", "Thread 0x", fault_take_thread, false},
    {"killed", "Killed", fault_take_shell, false},
    {"segmentation-fault", "Segmentation fault", fault_take_shell, false},
    {"aborted", "Aborted", fault_take_shell, false},
    {"bus-error", "Bus error", fault_take_shell, false},
    {"illegal-instruction", "Illegal instruction", fault_take_shell, false},
    {"failed", "failed (exitcode: ", take_failed, false},
    {"block-time", "  time      : ", take_block_time, false},
    {"block-rank", "  rank      : ", take_block_rank, false},
    {"block-exit", "  exitcode  : ", take_block_exit, false},
    {"enqueued", "last enqueued work: ", take_enqueued, false},
    {"enqueued-dump", "ast enqueued NCCL work: ", take_enqueued, false},
    {"signalled", "got signal: ", take_signalled, false},
    {"closing", " closing signal SIG", take_closing, false},
    {"init-start", " - Init START", take_init, false},
    {"init-complete", " - Init COMPLETE", take_init, false},
    {"nccl-version", "NCCL version ", take_nccl_version, false},
    {"network", "Using network ", take_network, false},
    {"interface", "Bootstrap", take_interface, false},
    {"ib-link", "NET/IB : Using [", take_ib_link, false},
};
const size_t line_formats_len = ARRAY_LEN(line_formats);
