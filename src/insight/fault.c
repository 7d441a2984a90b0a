/*
 * Reads reports of deadly signals from a log: those of Python's faulthandler, with the place, and of shells.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "reader_internal.h"

struct death {
    const char *words;
    const char *signal;
};

/* Python's Modules/faulthandler.c; strsignal(3) as bash, dash and busybox print it */
static const struct death deaths[] = {
    {"Segmentation fault", "SEGV"},
    {"Aborted", "ABRT"},
    {"Bus error", "BUS"},
    {"Floating point exception", "FPE"},
    {"Floating-point exception", "FPE"},
    {"Illegal instruction", "ILL"},
    {"Killed", "KILL"},
};

static const char *signal_of(const char *words)
{
    for (size_t i = 0; i < ARRAY_LEN(deaths); i++) {
        size_t len = strlen(deaths[i].words);
        if (strncmp(words, deaths[i].words, len) == 0 && !isalnum((unsigned char)words[len])) {
            return deaths[i].signal;
        }
    }
    return NULL;
}

static void add_fault(struct evidence_reader *reader, unsigned long number, const struct clean_line *line,
                      const char *signal)
{
    struct evidence *evidence = reader->evidence;
    if (evidence->faults_len == EVIDENCE_CHILDREN) {
        return;
    }
    evidence->faults =
        xgrow(evidence->faults, evidence->faults_len, &evidence->faults_cap, sizeof(struct fault));
    evidence->faults[evidence->faults_len++] = (struct fault){
        .signal = signal,
        .line = number,
        .rank = line->rank,
        .local_rank = line->local_rank,
        .prefixed = line->prefixed,
        .text = xstrdup(line->text),
    };
}

/* "Fatal Python error: Segmentation fault" */
void fault_take_fatal(struct evidence_reader *reader, unsigned long number, const struct clean_line *line)
{
    static const char head[] = "Fatal Python error: ";
    const char *at = strstr(line->text, head);
    const char *signal = at ? signal_of(at + strlen(head)) : NULL;
    if (signal) {
        add_fault(reader, number, line, signal);
    }
}

/* "run.sh: line 3:  1234 Killed    python train.py" (bash), or "Killed" alone (dash and busybox) */
void fault_take_shell(struct evidence_reader *reader, unsigned long number, const struct clean_line *line)
{
    const char *at = strstr(line->text, ": line ");
    if (at) {
        at += strlen(": line ");
        at += strspn(at, "0123456789");
        at += strspn(at, ": ");
        size_t digits = strspn(at, "0123456789");
        at = digits > 0 && at[digits] == ' ' ? at + digits + strspn(at + digits, " ") : NULL;
    } else {
        size_t len = strcspn(line->text, "(");
        at = len == line->len || strcmp(line->text + len, "(core dumped)") == 0 ? line->text : NULL;
    }
    const char *signal = at ? signal_of(at) : NULL;
    bool whole = at != line->text || (signal && line->len < 40 && !strchr(line->text, ':'));
    if (signal && whole) {
        add_fault(reader, number, line, signal);
    }
}

/* The last fault of the rank that prints the line. */
static struct fault *find(struct evidence_reader *reader, const struct clean_line *line)
{
    struct evidence *evidence = reader->evidence;
    for (size_t i = evidence->faults_len; i > 0; i--) {
        struct fault *fault = &evidence->faults[i - 1];
        if (fault->prefixed == line->prefixed &&
            (!line->prefixed || (fault->rank == line->rank && fault->local_rank == line->local_rank))) {
            return fault;
        }
    }
    return NULL;
}

/* "Current thread 0x00007f… (most recent call first):"; the stacks of other threads are not reported. */
void fault_take_thread(struct evidence_reader *reader, unsigned long number, const struct clean_line *line)
{
    (void)number;
    struct fault *fault = find(reader, line);
    if (fault) {
        fault->current = text_starts(line->text, "Current thread 0x");
    }
}

/* `  File "/a/train.py", line 42 in step`: innermost first, and without the comma of a traceback. */
void fault_take_frame(struct evidence_reader *reader, unsigned long number, const struct clean_line *line)
{
    (void)number;
    struct fault *fault = find(reader, line);
    struct traceback_frame frame;
    if (fault && fault->current && !fault->place && traceback_read_frame(line->text, &frame) &&
        text_starts(frame.rest, " in ") && frame.own) {
        fault->place = xasprintf("%.*s:%lu", (int)frame.name_len, frame.name, frame.line);
    }
}
