/*
 * Merges the logs of several nodes into one output: bytes in, whole lines out, each prefixed with its host;
 * parts of two nodes are never joined. Of a line only the text after its last carriage return is shown
 * (progress bars), control characters are replaced, and a line without end is let through after 64 KiB
 * or one second, so that a prompt or a progress bar becomes visible.
 */
#ifndef MTLAUNCH_REPORT_LOGVIEW_H
#define MTLAUNCH_REPORT_LOGVIEW_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "insight/lines.h"

#define LOGVIEW_LINE_MAX     LINES_PIECE_MAX
#define LOGVIEW_LINE_WAIT_MS 1000

struct logview_node {
    char *label;
    unsigned rank;
    struct str prefix;     /* as shown before each of its lines; made with the first */
    struct lines lines;    /* the part of an unfinished line that has arrived */
    int64_t line_since_ms; /* monotonic time at which it began */
};

struct logview {
    struct logview_node *nodes;
    size_t len, cap;
    bool json; /* one object per line {host, rank, text} */
    bool color;
    bool raw;     /* bytes as they are, without prefix */
    bool bare;    /* lines as they are shown, without prefix; where one has no end none is added */
    bool patient; /* a line waits for its end, however long that takes */
    bool has_grep;
    regex_t grep;
    struct str text; /* the line that is looked at */
    struct str out;  /* finished lines; the caller takes and empties it */
};

void logview_init(struct logview *view);
void logview_release(struct logview *view);

/* The index of the node of that rank; made when it is new. */
size_t logview_node(struct logview *view, unsigned rank, const char *label);

/* Show only lines that match the POSIX extended expression. Errors: kind_usage. */
int logview_grep(struct logview *view, const char *pattern, struct error *err);

/* Bytes of a node's log; now_ms is monotonic. Finished lines are appended to view->out. */
void logview_feed(struct logview *view, size_t node, const char *bytes, size_t len, int64_t now_ms);

/* Show unfinished lines that have waited long enough. */
void logview_tick(struct logview *view, int64_t now_ms);

/* Feeding was interrupted for a reason other than missing input: restart the wait of unfinished lines. */
void logview_restart(struct logview *view, int64_t now_ms);

/* Milliseconds until logview_tick has something to do; -1: nothing waits. */
int64_t logview_wait_ms(const struct logview *view, int64_t now_ms);

/* The end of a node's log: what is left is shown as a line. */
void logview_end(struct logview *view, size_t node);

#endif
