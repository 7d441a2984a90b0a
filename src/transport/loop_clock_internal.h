/*
 * A clock for time limits: it runs while the event loop listens, and stands still while it cannot. While this
 * process is busy, stopped (SIGSTOP, Ctrl-Z) or frozen, answers wait unread in the sockets, and no limit may
 * expire because of that. The time between two readings of the clock counts only as far as the loop meant to
 * spend it.
 */
#ifndef MTLAUNCH_TRANSPORT_LOOP_CLOCK_INTERNAL_H
#define MTLAUNCH_TRANSPORT_LOOP_CLOCK_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* The longest wait that counts in full. A longer wait is split into waits of this length, so that a stop of
 * the process adds no more than this. */
#define LOOP_CLOCK_BEAT_MS 250
/* How long callbacks, or the scheduler, may take before the clock stands still. */
#define LOOP_CLOCK_WORK_MS 50

struct loop_clock {
    uv_prepare_t before_wait;
    uv_check_t after_wait;
    int64_t counted_ms; /* until the last reading */
    int64_t read_ms;    /* monotonic time of the last reading */
    bool waiting;       /* the loop has waited since then */
};

/* Its handles do not keep the loop alive. */
void loop_clock_init(struct loop_clock *clock, uv_loop_t *loop);
void loop_clock_close(struct loop_clock *clock); /* the loop has to run once more */

/* Starts with the monotonic clock's milliseconds and falls behind it. Never goes back. */
int64_t loop_clock_now(const struct loop_clock *clock);
/* How far it is behind the monotonic clock, in milliseconds. */
int64_t loop_clock_lost(const struct loop_clock *clock);

#endif
