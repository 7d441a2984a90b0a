/* Delivers notifications: a queue per receiver, with retries. */
#include "report/notify.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "report/notify_internal.h"

#define TRY_MS             10000
#define TOTAL_MS           600000
#define BACKOFF_MS         1000
#define RETRY_AFTER_MAX_MS 120000
#define DRAIN_SLICE_MS     1000
#define PATH_SECRET_MIN    8 /* "/hook" is not a token */

/* An event that is queued for one target. */
struct letter {
    struct letter *next;
    enum notify_event_kind kind;
    struct str body;
    int64_t made_ms; /* monotonic */
    unsigned tries;
};

struct receiver {
    struct notifier *notifier;
    struct notify_target target;
    struct letter *first; /* the one being posted, or to be tried next */
    size_t waiting;       /* number of letters, including the first */
    size_t dropped;       /* since the last delivery */
    bool busy;            /* a post is in progress */
    int64_t next_try_ms;  /* monotonic; when not busy */
};

struct notifier {
    struct http_client *client;
    struct receiver *receivers;
    size_t len;
    struct strlist secrets;
    struct notify_limits limits;
    unsigned try_ms;
    int timer_fd;
    void (*problem)(void *ctx, const char *text);
    void *ctx;
};

static void free_letter(struct letter *letter)
{
    str_release(&letter->body);
    free(letter);
}

/* --- problems --------------------------------------------------------------------------------------- */

static void report_problem(const struct receiver *receiver, const char *event, const char *what)
{
    const struct notifier *notifier = receiver->notifier;
    AUTO_STR struct str text = STR_INIT;
    AUTO_STR struct str masked = STR_INIT;
    if (!notifier->problem) {
        return;
    }
    str_addf(&text, "notification '%s' to ", event);
    notify_url_shown(receiver->target.url, &text);
    str_addf(&text, ": %s", what);
    text_add_masked(&masked, str_text(&text), &notifier->secrets);
    notifier->problem(notifier->ctx, str_text(&masked));
}

/* --- posting ----------------------------------------------------------------------------------------- */

static void end_first(struct receiver *receiver)
{
    struct letter *letter = receiver->first;
    receiver->first = letter->next;
    receiver->waiting--;
    receiver->next_try_ms = 0;
    free_letter(letter);
}

static void on_answer(void *ctx, const struct http_answer *answer)
{
    struct receiver *receiver = ctx;
    struct letter *letter = receiver->first;
    const int64_t now = clock_mono_ms();
    AUTO_STR struct str why = STR_INIT;
    struct notify_verdict verdict =
        notify_judge(answer, notify_formats[receiver->target.format], &receiver->notifier->limits,
                     letter->tries, now - letter->made_ms, &why);
    receiver->busy = false;
    if (verdict.what == NOTIFY_RETRY) {
        if (letter->tries == 1) {
            report_problem(receiver, notify_event_names[letter->kind], str_text(&why));
        }
        receiver->next_try_ms = now + verdict.wait_ms;
        return;
    }
    if (verdict.what == NOTIFY_GIVE_UP) {
        str_addf(&why, "; given up after %u %s", letter->tries, letter->tries == 1 ? "try" : "tries");
        report_problem(receiver, notify_event_names[letter->kind], str_text(&why));
    } else {
        receiver->dropped = 0;
    }
    end_first(receiver);
}

static void post_first(struct receiver *receiver)
{
    struct letter *letter = receiver->first;
    const struct http_post post = {
        .url = receiver->target.url,
        .body = letter->body.data,
        .len = letter->body.len,
        .allow_http = receiver->target.allow_http,
        .timeout_ms = receiver->notifier->try_ms,
        .done = on_answer,
        .ctx = receiver,
    };
    letter->tries++;
    receiver->busy = true;
    http_client_post(receiver->notifier->client, &post);
}

/* Post what is due, and set the timer for what is due next. */
static void advance(struct notifier *notifier)
{
    const int64_t now = clock_mono_ms();
    int64_t next_ms = 0;
    for (size_t i = 0; i < notifier->len; i++) {
        struct receiver *receiver = &notifier->receivers[i];
        if (!receiver->first || receiver->busy) {
            continue;
        }
        if (receiver->next_try_ms <= now) {
            post_first(receiver);
        } else if (next_ms == 0 || receiver->next_try_ms < next_ms) {
            next_ms = receiver->next_try_ms;
        }
    }
    struct itimerspec when = {0};
    if (next_ms) {
        when.it_value.tv_sec = (next_ms - now) / 1000;
        when.it_value.tv_nsec = (next_ms - now) % 1000 * 1000000;
    }
    timerfd_settime(notifier->timer_fd, 0, &when, NULL);
}

void notifier_work(struct notifier *notifier)
{
    uint64_t expirations;
    (void)!read(notifier->timer_fd, &expirations, sizeof(expirations));
    http_client_work(notifier->client);
    advance(notifier);
}

void notifier_ready(void *notifier)
{
    notifier_work(notifier);
}

int notifier_fd(const struct notifier *notifier)
{
    return http_client_fd(notifier->client);
}

/* --- the queue ------------------------------------------------------------------------------------------ */

/* Drop the oldest letter that is not being sent: newer ones describe the run better. */
static void make_room(struct receiver *receiver)
{
    struct letter **oldest = receiver->busy ? &receiver->first->next : &receiver->first;
    struct letter *letter = *oldest;
    if (receiver->dropped++ == 0) {
        report_problem(receiver, notify_event_names[letter->kind],
                       "dropped, and others after it: too many wait for this receiver");
    }
    *oldest = letter->next;
    receiver->waiting--;
    free_letter(letter);
}

static void enqueue(struct receiver *receiver, const struct notice *notice)
{
    struct letter **end = &receiver->first;
    struct letter *letter = xcalloc(1, sizeof(*letter));
    if (receiver->waiting >= NOTIFIER_QUEUE) {
        make_room(receiver);
    }
    letter->kind = notice->kind;
    letter->made_ms = clock_mono_ms();
    notify_formats[receiver->target.format]->build(notice, &letter->body);
    while (*end) {
        end = &(*end)->next;
    }
    *end = letter;
    receiver->waiting++;
}

void notifier_send(struct notifier *notifier, const struct notify_event *event)
{
    struct notice notice;
    notice_init(&notice, event, &notifier->secrets);
    for (size_t i = 0; i < notifier->len; i++) {
        if (notifier->receivers[i].target.on & NOTIFY_BIT(event->kind)) {
            enqueue(&notifier->receivers[i], &notice);
        }
    }
    notice_release(&notice);
    advance(notifier);
}

size_t notifier_waiting(const struct notifier *notifier)
{
    size_t waiting = 0;
    for (size_t i = 0; i < notifier->len; i++) {
        waiting += notifier->receivers[i].waiting;
    }
    return waiting;
}

static void drop_all(struct receiver *receiver)
{
    while (receiver->first) {
        end_first(receiver);
    }
}

size_t notifier_drain(struct notifier *notifier, unsigned ms)
{
    const int64_t until = clock_mono_ms() + ms;
    for (int64_t left = ms; left > 0 && notifier_waiting(notifier) > 0; left = until - clock_mono_ms()) {
        struct pollfd watched = {.fd = notifier_fd(notifier), .events = POLLIN};
        poll(&watched, 1, (int)(left < DRAIN_SLICE_MS ? left : DRAIN_SLICE_MS));
        notifier_work(notifier);
    }
    size_t waiting = notifier_waiting(notifier);
    for (size_t i = 0; i < notifier->len && waiting > 0; i++) {
        for (struct letter *letter = notifier->receivers[i].first; letter; letter = letter->next) {
            report_problem(&notifier->receivers[i], notify_event_names[letter->kind],
                           "not delivered before the command ended");
        }
    }
    if (waiting > 0) {
        http_client_cancel(notifier->client);
        for (size_t i = 0; i < notifier->len; i++) {
            notifier->receivers[i].busy = false;
            drop_all(&notifier->receivers[i]);
        }
    }
    return waiting;
}

/* --- making and freeing -----------------------------------------------------------------------------------
 */

static unsigned or_default(unsigned value, unsigned otherwise)
{
    return value ? value : otherwise;
}

static void take_options(struct notifier *notifier, const struct notifier_options *options)
{
    notifier->problem = options->problem;
    notifier->ctx = options->ctx;
    notifier->try_ms = or_default(options->try_ms, TRY_MS);
    notifier->limits = (struct notify_limits){
        .total_ms = or_default(options->total_ms, TOTAL_MS),
        .backoff_ms = or_default(options->backoff_ms, BACKOFF_MS),
        .retry_after_max_ms = or_default(options->retry_after_max_ms, RETRY_AFTER_MAX_MS),
    };
    if (options->secrets) {
        strlist_copy(&notifier->secrets, options->secrets);
    }
}

/* A job may print its own webhook, so the URL and its path are secrets like any other. */
static void add_receiver(struct notifier *notifier, const struct notify_target *target)
{
    struct receiver *receiver = &notifier->receivers[notifier->len++];
    *receiver = (struct receiver){.notifier = notifier, .target = *target};
    receiver->target.url = xstrdup(target->url);
    const char *host = strstr(target->url, "://");
    const char *path = host ? strchr(host + 3, '/') : NULL;
    strlist_add(&notifier->secrets, target->url);
    if (path && strlen(path) > PATH_SECRET_MIN) {
        strlist_add(&notifier->secrets, path + 1);
    }
}

struct notifier *notifier_new(const struct notify_targets *targets, const struct notifier_options *options,
                              struct error *err)
{
    static const struct notifier_options defaults = {0};
    struct notifier *notifier = xcalloc(1, sizeof(*notifier));
    if (!options) {
        options = &defaults;
    }
    take_options(notifier, options);
    notifier->receivers = xcalloc(targets->len + 1, sizeof(notifier->receivers[0]));
    for (size_t i = 0; i < targets->len; i++) {
        add_receiver(notifier, &targets->items[i]);
    }
    notifier->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    notifier->client = http_client_new(options->ca_file, err);
    if (notifier->timer_fd < 0 && notifier->client) {
        error_set(err, &kind_local, "no file descriptors for notifications");
    }
    if (notifier->timer_fd < 0 || !notifier->client ||
        http_client_add_fd(notifier->client, notifier->timer_fd, err) != 0) {
        notifier_free(notifier);
        return NULL;
    }
    return notifier;
}

void notifier_free(struct notifier *notifier)
{
    if (!notifier) {
        return;
    }
    http_client_free(notifier->client); /* first, because posts in progress borrow the letters' bodies */
    for (size_t i = 0; i < notifier->len; i++) {
        drop_all(&notifier->receivers[i]);
        free(notifier->receivers[i].target.url);
    }
    if (notifier->timer_fd >= 0) {
        close(notifier->timer_fd);
    }
    free(notifier->receivers);
    strlist_release(&notifier->secrets);
    free(notifier);
}
