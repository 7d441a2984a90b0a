/* A heap of deadlines on one timer of the loop. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "transport/deadline_internal.h"

static void on_timer(uv_timer_t *timer);

void deadlines_init(struct deadlines *all, uv_loop_t *loop)
{
    *all = (struct deadlines){0};
    uv_timer_init(loop, &all->timer);
    loop_clock_init(&all->clock, loop);
    all->timer.data = all;
}

void deadlines_close(struct deadlines *all)
{
    for (size_t i = 1; i <= all->len; i++) {
        all->heap[i]->place = 0;
    }
    all->len = 0;
    uv_close((uv_handle_t *)&all->timer, NULL);
    loop_clock_close(&all->clock);
}

void deadlines_release(struct deadlines *all)
{
    free(all->heap);
    all->heap = NULL;
    all->cap = 0;
}

static bool is_sooner(const struct deadline *a, const struct deadline *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

static void put(struct deadlines *all, size_t place, struct deadline *deadline)
{
    all->heap[place] = deadline;
    deadline->place = place;
}

static void sift(struct deadlines *all, size_t place, struct deadline *deadline)
{
    while (place > 1 && is_sooner(deadline, all->heap[place / 2])) {
        put(all, place, all->heap[place / 2]);
        place /= 2;
    }
    for (;;) {
        size_t child = 2 * place;
        if (child < all->len && is_sooner(all->heap[child + 1], all->heap[child])) {
            child++;
        }
        if (child > all->len || !is_sooner(all->heap[child], deadline)) {
            break;
        }
        put(all, place, all->heap[child]);
        place = child;
    }
    put(all, place, deadline);
}

static void arm(struct deadlines *all)
{
    uint64_t left, stale, now = (uint64_t)clock_mono_ms();

    if (all->len == 0) {
        uv_timer_stop(&all->timer);
        return;
    }
    left = deadline_left(all, all->heap[1]);
    if (left > LOOP_CLOCK_BEAT_MS) {
        left = LOOP_CLOCK_BEAT_MS;
    }
    /* libuv counts from the time at which the loop woke up, which may be long past. */
    stale = now > uv_now(all->timer.loop) ? now - uv_now(all->timer.loop) : 0;
    uv_timer_start(&all->timer, on_timer, stale + left, 0);
}

static void take_out(struct deadlines *all, struct deadline *deadline)
{
    size_t place = deadline->place;
    struct deadline *last = all->heap[all->len];

    deadline->place = 0;
    all->len--;
    if (last != deadline) {
        sift(all, place, last);
    }
}

/* Deadlines that are set by callbacks fire in the next turn, so that reads and writes get theirs. */
static void on_timer(uv_timer_t *timer)
{
    struct deadlines *all = timer->data;
    uint64_t before = all->next_order;
    int64_t now = deadlines_now(all);

    while (all->len > 0 && all->heap[1]->at_ms <= now && all->heap[1]->order < before) {
        struct deadline *deadline = all->heap[1];
        take_out(all, deadline);
        deadline->fire(deadline->ctx);
    }
    arm(all);
}

void deadline_set(struct deadlines *all, struct deadline *deadline, uint64_t ms)
{
    if (deadline->place != 0) {
        take_out(all, deadline);
    }
    deadline->at_ms = deadlines_now(all) + (int64_t)ms;
    deadline->order = all->next_order++;
    all->heap = xgrow(all->heap, all->len + 1, &all->cap, sizeof(*all->heap));
    all->len++;
    sift(all, all->len, deadline);
    arm(all);
}

void deadline_clear(struct deadlines *all, struct deadline *deadline)
{
    if (deadline->place == 0) {
        return;
    }
    take_out(all, deadline);
    arm(all);
}

bool deadline_is_set(const struct deadline *deadline)
{
    return deadline->place != 0;
}

int64_t deadlines_now(const struct deadlines *all)
{
    return loop_clock_now(&all->clock);
}

uint64_t deadline_left(const struct deadlines *all, const struct deadline *deadline)
{
    int64_t left = deadline->at_ms - deadlines_now(all);

    return deadline->place != 0 && left > 0 ? (uint64_t)left : 0;
}
