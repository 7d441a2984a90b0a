/* `status --watch` on a terminal: what it shows, and the loop that keeps it up to date. */
#ifndef MTLAUNCH_CMD_WATCH_INTERNAL_H
#define MTLAUNCH_CMD_WATCH_INTERNAL_H

#include "base/clock.h"
#include "base/error.h"
#include "cmd/session_internal.h"
#include "report/logpage.h"
#include "run/view.h"
#include "terminal_internal.h"
#include "watch_page_internal.h"

#define WATCH_PERIOD_MS 2000

struct watch {
    struct session *session; /* borrowed */
    const char *name;        /* NULL: all runs */
    struct run_view *view;   /* NULL: all runs */
    struct terminal terminal;
    struct watch_place place;
    struct str picture; /* view of the run, or of all runs */
    char seen[CLOCK_TEXT_SIZE];
    struct logpage log;
    struct str stacks;
    bool wants_stacks, reads_stacks;
    bool chose_node; /* the user chose the node whose log is shown */
    bool quit;
    int signal;          /* the signal that ended the watch; 0: none */
    struct str messages; /* messages to print at the end */
    char *message;       /* the last message */
    int64_t message_ms;  /* monotonic: when the last message came */
    struct error error;  /* of drawing; kind NULL: none */
};

/* watch_draw.c: draw the page anew. */
void watch_draw(struct watch *watch);
/* How many lines the page has and how many of them are shown, as it was last drawn. */
void watch_measure(const struct watch *watch, size_t *lines, size_t *room);

/*
 * Show a run (name NULL: all runs) on the terminal, and update it every two seconds, until the run has ended
 * or the user quits. When the run has ended, its last view is printed. Returns the exit code, or -1.
 */
int watch_on_terminal(struct session *session, const char *name, struct error *err);

/* status.c: the exit code of `status RUN`. */
int status_exit_code(enum run_state state);

#endif
