/* A line of a log without what launchers, terminals and progress bars put around its text. */
#ifndef MTLAUNCH_INSIGHT_CLEAN_INTERNAL_H
#define MTLAUNCH_INSIGHT_CLEAN_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "insight/signature.h"

struct clean_line {
    char text[SIGNATURE_TEXT_MAX + 1]; /* cut at the end when it is longer */
    size_t len;
    long rank, local_rank; /* as the prefixes or the text say; -1: they do not */
    double time;           /* negative: none */
    bool prefixed; /* the line has a rank before it, which distinguishes it from lines of other ranks */
};

/* Lines between the tracebacks of exceptions that were raised one from another. */
#define TRACEBACK_DURING "During handling of the above exception"
#define TRACEBACK_CAUSE  "The above exception was the direct cause"

/* Lines before tracebacks of exceptions that end no process. */
#define TRACEBACK_THREAD  "Exception in thread "
#define TRACEBACK_ATEXIT  "Error in atexit."
#define TRACEBACK_LOGGING "--- Logging error ---"

/* The first line of a traceback, as Python and as rich print it. */
#define TRACEBACK_TITLE "Traceback (most recent call last)"

/*
 * Bytes contain no line end. These prefixes are removed: "[rank3]:" (torch 2.4 on), "[default3]:" (torchrun
 * --tee), "3: " (srun), and before them the time stamps of containers and loggers: "[2026-11-29 16:11:57] ",
 * and "2026-11-29T16:11:57.245Z " with or without "stdout F " (containerd).
 * "[Rank 3]" and "Rank 3]" in the text give the rank too (ProcessGroupNCCL).
 */
void clean_line(const char *bytes, size_t len, struct clean_line *out);

/*
 * The length of what a logger, a container or a progress bar put before the first line of a traceback; 0 when
 * there is no such prefix, or the line is not the first of a traceback.
 */
size_t clean_title_prefix(const struct clean_line *line);

/*
 * Remove the prefix if the line begins with it, where any digit equals any other; then remove prefixes of
 * ranks.
 */
void clean_strip_prefix(struct clean_line *line, const char *prefix, size_t len);

/* Does a logger call the line a warning: "[W1129 …", "WARNING: …"? */
bool clean_is_warning(const char *text);

/*
 * A time in the text in seconds, comparable within a run, or -1: glog's "E1129 16:11:57.245000" (torch) or a
 * date such as "2026-11-29 16:11:57" (NCCL, Megatron-LM) or "2026-11-29_16:11:57" (torchrun's block).
 */
double clean_time(const char *text);

#endif
