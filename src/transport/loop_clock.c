/* The clock for time limits: it counts only the time during which the event loop listens. */
#include "base/clock.h"
#include "transport/loop_clock_internal.h"

static int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

/* After a wait, uv_now is the time at which the loop woke up; the time since then is work. */
int64_t loop_clock_now(const struct loop_clock *clock)
{
    int64_t now = clock_mono_ms(), worked_from = clock->read_ms, waited = 0;

    if (clock->waiting) {
        worked_from = (int64_t)uv_now(clock->before_wait.loop);
        if (worked_from < clock->read_ms) {
            worked_from = clock->read_ms;
        }
        if (worked_from > now) {
            worked_from = now;
        }
        waited = at_most(worked_from - clock->read_ms, LOOP_CLOCK_BEAT_MS + LOOP_CLOCK_WORK_MS);
    }
    return clock->counted_ms + waited + at_most(now - worked_from, LOOP_CLOCK_WORK_MS);
}

static void look(struct loop_clock *clock, bool waiting)
{
    clock->counted_ms = loop_clock_now(clock);
    clock->read_ms = clock_mono_ms();
    clock->waiting = waiting;
}

static void on_before_wait(uv_prepare_t *handle)
{
    look(handle->data, true);
}

static void on_after_wait(uv_check_t *handle)
{
    look(handle->data, false);
}

int64_t loop_clock_lost(const struct loop_clock *clock)
{
    return clock_mono_ms() - loop_clock_now(clock);
}

void loop_clock_init(struct loop_clock *clock, uv_loop_t *loop)
{
    int64_t now = clock_mono_ms();

    *clock = (struct loop_clock){.counted_ms = now, .read_ms = now};
    uv_prepare_init(loop, &clock->before_wait);
    uv_check_init(loop, &clock->after_wait);
    clock->before_wait.data = clock;
    clock->after_wait.data = clock;
    uv_prepare_start(&clock->before_wait, on_before_wait);
    uv_check_start(&clock->after_wait, on_after_wait);
    uv_unref((uv_handle_t *)&clock->before_wait);
    uv_unref((uv_handle_t *)&clock->after_wait);
}

void loop_clock_close(struct loop_clock *clock)
{
    uv_close((uv_handle_t *)&clock->before_wait, NULL);
    uv_close((uv_handle_t *)&clock->after_wait, NULL);
}
