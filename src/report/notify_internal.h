/*
 * What the files of the notifier share: the cleaned event, the table of formats, the judge of answers, HTTP.
 */
#ifndef MTLAUNCH_REPORT_NOTIFY_INTERNAL_H
#define MTLAUNCH_REPORT_NOTIFY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"
#include "report/notify.h"

/* --- notice.c: an event that is safe to send ------------------------------------------------------ */

#define NOTICE_TEXT_MAX  2000 /* bytes of a reason */
#define NOTICE_LINE_MAX  400  /* bytes of a line of a log */
#define NOTICE_LINES_MAX 20
#define NOTICE_HOSTS_MAX 1024 /* enough for most runs; the rest is only counted */

/* Owned texts: valid UTF-8 without control characters other than newline and tab, secrets masked, bounded. */
struct notice {
    enum notify_event_kind kind;
    int64_t time_ms;
    unsigned attempt;
    int exit_status;
    char *run, *job, *run_id, *reason, *head; /* NULL: unknown */
    struct strlist hosts, lines;
    size_t hosts_left_out;
};

void notice_init(struct notice *notice, const struct notify_event *event, const struct strlist *secrets);
void notice_release(struct notice *notice);

/* Append "run 'r1' failed on g[0033-0034] (exit status 3)". */
void notice_add_title(const struct notice *notice, struct str *out);
/* Append the title, job and attempt, the reason, the last lines: a text for chats. */
void notice_add_text(const struct notice *notice, struct str *out);

/* --- notify_format.c: bodies by format -------------------------------------------------------------- */

struct notify_format {
    /* Append the body: one JSON value. */
    void (*build)(const struct notice *notice, struct str *out);
    /*
     * Reads the body of a 2xx answer. True: it was delivered. False: the body says that it was not; why gets
     * the reason, *retryable whether another try may succeed. NULL: the status alone counts.
     */
    bool (*accepted)(const char *body, size_t len, bool *retryable, struct str *why);
};

extern const struct notify_format notify_json, notify_slack, notify_feishu;
extern const struct notify_format *const notify_formats[NOTIFY_FORMATS];

/* --- notify_http.c: posts, the only file that uses libcurl ------------------------------------------- */

#define HTTP_BODY_MAX 4096 /* bytes kept of an answer */

struct http_answer {
    int status;            /* 0: no answer */
    int64_t retry_after_s; /* 0: not given */
    const char *body;      /* its first HTTP_BODY_MAX bytes */
    size_t body_len;
    const char *problem; /* status 0: why; a static text, never a part of the URL */
    bool retryable;      /* status 0: another try may succeed */
    bool redirected;     /* it was redirected to where it may not go */
};

struct http_post {
    const char *url;  /* copied */
    const char *body; /* borrowed until done is called */
    size_t len;
    bool allow_http;
    unsigned timeout_ms; /* including redirects */
    void (*done)(void *ctx, const struct http_answer *answer);
    void *ctx;
};

struct http_client;

struct http_client *http_client_new(const char *ca_file, struct error *err); /* kind_local */
void http_client_free(struct http_client *client); /* does not call done for posts in progress */
int http_client_fd(const struct http_client *client);
/* Make the client's descriptor readable when fd is. */
int http_client_add_fd(struct http_client *client, int fd, struct error *err);
/* http_client_work calls done once; this function never does. */
void http_client_post(struct http_client *client, const struct http_post *post);
void http_client_work(struct http_client *client);
void http_client_cancel(struct http_client *client); /* drop posts in progress without calling done */

/* --- notify_judge.c: what an answer means ------------------------------------------------------------ */

struct notify_limits {
    unsigned total_ms, backoff_ms, retry_after_max_ms;
};

struct notify_verdict {
    enum { NOTIFY_DELIVERED, NOTIFY_RETRY, NOTIFY_GIVE_UP } what;
    unsigned wait_ms; /* NOTIFY_RETRY */
};

#define NOTIFY_BACKOFF_MAX_MS 60000

/* tries: made so far, from 1; age_ms: of the event. why gets a text unless the event was delivered. */
struct notify_verdict notify_judge(const struct http_answer *answer, const struct notify_format *format,
                                   const struct notify_limits *limits, unsigned tries, int64_t age_ms,
                                   struct str *why);

#endif
