/*
 * The terminal of a command that redraws it in place: its mode, its size, keys, and the signals that change
 * either. Everything is driven by one descriptor, which the loop that talks to nodes watches
 * (run/observer.h). However the command ends, by return or by one of these signals, the terminal is restored.
 */
#ifndef MTLAUNCH_CMD_TERMINAL_INTERNAL_H
#define MTLAUNCH_CMD_TERMINAL_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "base/error.h"

/* All run inside terminal_ready. */
struct terminal_handler {
    void (*key)(void *ctx, int key);
    void (*redraw)(void *ctx);          /* its size may have changed, or something else wrote to it */
    void (*alarm)(void *ctx);           /* the time set by terminal_set_alarm has come */
    void (*end)(void *ctx, int number); /* SIGINT, SIGTERM or SIGHUP; 0: no more keys will come */
};

struct terminal {
    const struct terminal_handler *handler;
    void *ctx;
    bool has_keys; /* standard input is a terminal too */
    bool taken;    /* the screen is taken over */
    int events, signals, alarm;
    bool alarm_set;
    struct termios before;
    sigset_t mask;
};

/* Take over standard output, which must be a terminal. Errors: kind_local. Close it in any case. */
int terminal_open(struct terminal *terminal, const struct terminal_handler *handler, void *ctx,
                  struct error *err);
void terminal_close(struct terminal *terminal);

/* The descriptor to watch, and what to call when it is readable. */
int terminal_fd(const struct terminal *terminal);
void terminal_ready(void *terminal);

/* Call alarm once in ms milliseconds, unless an alarm is pending. */
void terminal_set_alarm(struct terminal *terminal, unsigned ms);

#endif
