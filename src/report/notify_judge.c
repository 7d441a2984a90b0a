/* Decides from a receiver's answer whether a notification was delivered, and when to retry. */
#include "base/text.h"
#include "report/notify_internal.h"

/* Too many requests, a time-out or an error on the server's side: a later try may succeed. */
static bool is_passing(int status)
{
    return status == 429 || status == 408 || (status >= 500 && status <= 599);
}

static unsigned next_wait_ms(const struct http_answer *answer, const struct notify_limits *limits,
                             unsigned tries)
{
    uint64_t wait = limits->backoff_ms;
    for (unsigned i = 1; i < tries && wait < NOTIFY_BACKOFF_MAX_MS; i++) {
        wait *= 2;
    }
    if (wait > NOTIFY_BACKOFF_MAX_MS) {
        wait = NOTIFY_BACKOFF_MAX_MS;
    }
    uint64_t asked_max = limits->retry_after_max_ms;
    if (answer->retry_after_s > 0) {
        uint64_t seconds = (uint64_t)answer->retry_after_s;
        uint64_t asked = seconds > asked_max / 1000 ? asked_max : seconds * 1000;
        wait = asked > wait ? asked : wait;
    }
    return (unsigned)wait;
}

static bool was_delivered(const struct http_answer *answer, const struct notify_format *format,
                          bool *retryable, struct str *why)
{
    *retryable = answer->retryable;
    if (answer->status == 0) {
        str_add(why, answer->problem);
        return false;
    }
    if (answer->status >= 200 && answer->status <= 299) {
        return !format->accepted || format->accepted(answer->body, answer->body_len, retryable, why);
    }
    *retryable = is_passing(answer->status);
    str_addf(why, "answered with status %d", answer->status);
    if (answer->redirected) {
        str_add(why, ", a redirect to another place, which is not followed");
    }
    return false;
}

struct notify_verdict notify_judge(const struct http_answer *answer, const struct notify_format *format,
                                   const struct notify_limits *limits, unsigned tries, int64_t age_ms,
                                   struct str *why)
{
    bool retryable = false;
    if (was_delivered(answer, format, &retryable, why)) {
        return (struct notify_verdict){.what = NOTIFY_DELIVERED};
    }
    unsigned wait_ms = next_wait_ms(answer, limits, tries);
    if (!retryable || age_ms + wait_ms > (int64_t)limits->total_ms) {
        return (struct notify_verdict){.what = NOTIFY_GIVE_UP};
    }
    return (struct notify_verdict){.what = NOTIFY_RETRY, .wait_ms = wait_ms};
}
