/*
 * Many deadlines on one libuv timer. Setting and clearing one takes effect at once and leaves nothing to
 * close, so that any object can embed as many as it needs. Equal times fire in the order in which they were
 * set. Time is the loop's clock: a deadline does not run while this process is busy, stopped or frozen.
 */
#ifndef MTLAUNCH_TRANSPORT_DEADLINE_INTERNAL_H
#define MTLAUNCH_TRANSPORT_DEADLINE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "transport/loop_clock_internal.h"

/* Embedded in its owner; zero is "not set". fire and ctx are filled by the owner. */
struct deadline {
    void (*fire)(void *ctx);
    void *ctx;
    int64_t at_ms; /* of the loop's clock */
    uint64_t order;
    size_t place; /* in the heap, from 1; 0: not set */
};

struct deadlines {
    uv_timer_t timer;
    struct loop_clock clock;
    struct deadline **heap; /* heap[1] is the next one */
    size_t len, cap;
    uint64_t next_order;
};

void deadlines_init(struct deadlines *all, uv_loop_t *loop);
/*
 * Clears all deadlines and closes the timer; call deadlines_release after the loop has run the close
 * callback.
 */
void deadlines_close(struct deadlines *all);
void deadlines_release(struct deadlines *all);

/*
 * Fire once, ms from now (0: in the loop's next turn). A deadline that is set is moved. Never fires inside
 * this call.
 */
void deadline_set(struct deadlines *all, struct deadline *deadline, uint64_t ms);
void deadline_clear(struct deadlines *all, struct deadline *deadline);
bool deadline_is_set(const struct deadline *deadline);
/* Milliseconds until it fires; 0 when it is due or not set. */
uint64_t deadline_left(const struct deadlines *all, const struct deadline *deadline);
/* The loop's clock, in milliseconds. */
int64_t deadlines_now(const struct deadlines *all);

#endif
