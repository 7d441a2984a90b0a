/*
 * Merges the logs of several nodes into one output: bytes in, whole lines out, each prefixed with its host;
 * parts of lines from two nodes are never joined. Of a line only the text after its last carriage return is
 * shown (progress bars). Control characters are replaced. A line without an end is shown after 64 KiB or one
 * second, so that a prompt or a progress bar becomes visible.
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
    struct str prefix;     /* as shown before each of its lines; made for the first one */
    struct lines lines;    /* the part of an unfinished line that has arrived */
    int64_t line_since_ms; /* monotonic time at which the unfinished line began */
};

struct logview {
    struct logview_node *nodes;
    size_t len, cap;
    bool json; /* one object per line {host, rank, text} */
    bool color;
    bool raw;     /* bytes unchanged, without prefix */
    bool bare;    /* lines without prefix; no line end is added where one is missing */
    bool patient; /* an unfinished line waits for its end, however long */
    bool has_grep;
    regex_t grep;
    struct str text; /* the current line */
    struct str out;  /* finished lines; the caller takes and empties it */
};

void logview_init(struct logview *view);
void logview_release(struct logview *view);

/* The index of the node with that rank; a new node is added. */
size_t logview_node(struct logview *view, unsigned rank, const char *label);

/* Show only lines that match the POSIX extended expression. Errors: kind_usage. */
int logview_grep(struct logview *view, const char *pattern, struct error *err);

/* Take bytes of a node's log; now_ms is monotonic. Finished lines are appended to view->out. */
void logview_feed(struct logview *view, size_t node, const char *bytes, size_t len, int64_t now_ms);

/* Show unfinished lines that have waited long enough. */
void logview_tick(struct logview *view, int64_t now_ms);

/* Feeding was interrupted for a reason other than missing input: restart the wait of unfinished lines. */
void logview_restart(struct logview *view, int64_t now_ms);

/* Milliseconds until logview_tick has something to do; -1: nothing waits. */
int64_t logview_wait_ms(const struct logview *view, int64_t now_ms);

/* The node's log has ended: show what is left as a line. */
void logview_end(struct logview *view, size_t node);

#endif
