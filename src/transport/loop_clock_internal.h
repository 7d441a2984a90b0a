/*
 * A clock for waiting on others: it runs while the event loop listens and stands still while it cannot. When
 * this process is busy, stopped (SIGSTOP, Ctrl-Z) or frozen, answers lie unread in the sockets; nobody's time
 * may run out over that. Each stretch between two looks at the clock counts for no more than the loop meant
 * to spend on it.
 */
#ifndef MTLAUNCH_TRANSPORT_LOOP_CLOCK_INTERNAL_H
#define MTLAUNCH_TRANSPORT_LOOP_CLOCK_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* The longest wait that counts in full. Whoever waits for longer wakes up this often, so that a stop of the
 * process costs no more than this. */
#define LOOP_CLOCK_BEAT_MS 250
/* What callbacks may take, or the system to let the process run, before the clock stands still. */
#define LOOP_CLOCK_WORK_MS 50

struct loop_clock {
    uv_prepare_t before_wait;
    uv_check_t after_wait;
    int64_t counted_ms; /* until the last look */
    int64_t look_ms;    /* monotonic time of the last look */
    bool waiting;       /* the loop waits since then */
};

/* Its handles do not keep the loop alive. */
void loop_clock_init(struct loop_clock *clock, uv_loop_t *loop);
void loop_clock_close(struct loop_clock *clock); /* the loop has to run once more */

/* Starts with the monotonic clock's milliseconds and falls behind it. Never goes back. */
int64_t loop_clock_now(const struct loop_clock *clock);
/* How far behind it is: milliseconds that did not count. */
int64_t loop_clock_lost(const struct loop_clock *clock);

#endif
