/* Reads lines that are facts: torchrun's report of a worker's end, watchdogs, what NCCL uses. */
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

/* A worker's end is reported once on its "failed" line and once in the block. Only the block has the rank. */
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
            return; /* the first report is from when it noticed the hang */
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

/* deepspeed/launcher/launch.py: "['/opt/venv/bin/python', '-u', 'train.py', '--local_rank=0', …] exits with
 * return code = -9" */
static void take_launch_exit(struct evidence_reader *reader, unsigned long number,
                             const struct clean_line *line)
{
    struct child_end child = {
        .line = number, .rank = -1, .local_rank = -1, .time = line->time, .first = true};
    const char *code = after(line, "exits with return code = ");
    const char *rank = after(line, "--local_rank=");
    if (!code || sscanf(code, "%6d", &child.exit_code) != 1) {
        return;
    }
    if (rank) {
        sscanf(rank, "%6ld", &child.local_rank);
    }
    if (reader->evidence->failed_line == 0 && child.exit_code != 0) {
        reader->evidence->failed_line = number;
    }
    add_child(reader->evidence, &child, line->text);
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
    struct evidence *evidence = reader->evidence;
    const char *at = after(line, "got signal: ");
    if (at && evidence->signalled == 0) {
        evidence->signalled = (int)strtol(at, NULL, 10);
    }
    evidence->signalled_at = evidence->signalled_at >= 0 ? evidence->signalled_at : line->time;
}

/* "Sending process 1928 closing signal SIGTERM": one line for each worker that still ran. */
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
        evidence->init_begun++;
        if (evidence->init_open_len < EVIDENCE_RANKS) {
            evidence->init_open =
                xgrow(evidence->init_open, evidence->init_open_len, &evidence->init_open_cap, sizeof(long));
            evidence->init_open[evidence->init_open_len++] = rank;
        }
        return;
    }
    evidence->met_at = evidence->met_at >= 0 ? evidence->met_at : line->time;
    for (size_t i = 0; i < evidence->init_open_len; i++) {
        if (evidence->init_open[i] == rank) {
            evidence->init_open[i] = evidence->init_open[--evidence->init_open_len];
            return;
        }
    }
}

/* The title of torchrun's block: "pretrain_gpt.py FAILED"; Megatron-LM's programs are named like that. */
static void take_program(struct evidence_reader *reader, unsigned long number, const struct clean_line *line)
{
    (void)number;
    reader->evidence->megatron = reader->evidence->megatron || strstr(line->text, "pretrain_");
}

const struct line_format line_formats[] = {
    {"traceback", TRACEBACK_TITLE, take_nothing, LINE_ALL},
    {"rich-frame", "│ /", take_nothing, LINE_ALL},
    {"rich-end", "╰──", take_nothing, LINE_ALL},
    {"thread-exception", TRACEBACK_THREAD, take_nothing, LINE_ALL},
    {"atexit", TRACEBACK_ATEXIT, take_nothing, LINE_ALL},
    {"logging", TRACEBACK_LOGGING, take_nothing, LINE_ALL},
    {"during", TRACEBACK_DURING, take_nothing, LINE_ALL},
    {"cause", TRACEBACK_CAUSE, take_nothing, LINE_ALL},
    {"ignored", "Exception ignored in", take_nothing, LINE_ALL},
    {"frame", "  File \"", fault_take_frame, LINE_ALL},
    {"fatal", "Fatal Python error: ", fault_take_fatal, LINE_FIRST_ONES},
    {"current-thread", "Current thread 0x", fault_take_thread, LINE_FIRST_ONES},
    {"thread", "Thread 0x", fault_take_thread, LINE_FIRST_ONES},
    {"killed", "Killed", fault_take_shell, LINE_FIRST_ONES},
    {"segmentation-fault", "Segmentation fault", fault_take_shell, LINE_FIRST_ONES},
    {"aborted", "Aborted", fault_take_shell, LINE_FIRST_ONES},
    {"bus-error", "Bus error", fault_take_shell, LINE_FIRST_ONES},
    {"illegal-instruction", "Illegal instruction", fault_take_shell, LINE_FIRST_ONES},
    {"failed", "failed (exitcode: ", take_failed, LINE_FIRST_ONES},
    {"block-time", "  time      : ", take_block_time, LINE_FIRST_ONES},
    {"block-rank", "  rank      : ", take_block_rank, LINE_FIRST_ONES},
    {"block-exit", "  exitcode  : ", take_block_exit, LINE_FIRST_ONES},
    {"enqueued", "last enqueued work: ", take_enqueued, LINE_FIRST_ONES},
    {"enqueued-dump", "ast enqueued NCCL work: ", take_enqueued, LINE_FIRST_ONES},
    {"signalled", "got signal: ", take_signalled, LINE_FIRST_ONES},
    {"death-signal", " death signal, shutting down workers", take_signalled, LINE_FIRST_ONES},
    {"closing", " closing signal SIG", take_closing, LINE_FIRST_ONES},
    {"init-start", " - Init START", take_init, LINE_FIRST_ONES},
    {"init-complete", " - Init COMPLETE", take_init, LINE_FIRST_ONES},
    {"nccl-version", "NCCL version ", take_nccl_version, LINE_FIRST_ONES},
    {"network", "Using network ", take_network, LINE_FIRST_ONES},
    {"interface", "Bootstrap", take_interface, LINE_FIRST_ONES},
    {"ib-link", "NET/IB : Using [", take_ib_link, LINE_FIRST_ONES},
    {"launch-exit", "exits with return code = ", take_launch_exit, LINE_FIRST_ONES},
    {"program", ".py FAILED", take_program, LINE_FIRST_ONES},
    {"step", "step ", NULL, LINE_STEP},
    {"step-title", "Step ", NULL, LINE_STEP},
    {"step-colon", "step:", NULL, LINE_STEP},
    {"step-equals", "step=", NULL, LINE_STEP},
    {"iteration", "iteration ", NULL, LINE_STEP},
    {"iteration-title", "Iteration ", NULL, LINE_STEP},
    {"epoch", "Epoch ", NULL, LINE_STEP},
    {"batch", "atch ", NULL, LINE_STEP},
    {"loss", "'loss': ", NULL, LINE_STEP},
    {"bar", "%|", NULL, LINE_STEP},
};
const size_t line_formats_len = ARRAY_LEN(line_formats);
