/*
 * Posts through libcurl's multi interface (libcurl-multi(3), "socket action"). Its sockets, its timer and the
 * descriptors that the caller adds are in one epoll, whose descriptor becomes readable when there is
 * something to do.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "report/notify_curl_internal.h"
#include "report/notify_internal.h"

#define HOPS_MAX      3 /* redirects per post, all within one origin */
#define EVENTS_A_TIME 16
#define NOT_CURLS     (-1)

struct exchange {
    struct exchange *next;
    struct http_client *client;
    CURL *easy;
    struct curl_slist *headers;
    struct http_post post;
    char *url;
    struct str body; /* of the answer */
    unsigned hops;
    bool redirected;
};

struct http_client {
    CURLM *multi;
    struct exchange *exchanges;
    char *ca_file;
    int epoll_fd, timer_fd;
};

/* --- what libcurl asks for ----------------------------------------------------------------------------- */

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *known)
{
    struct http_client *client = ctx;
    struct epoll_event event = {.data.fd = fd};
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(client->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN) {
        event.events |= EPOLLIN;
    }
    if (what & CURL_POLL_OUT) {
        event.events |= EPOLLOUT;
    }
    if (epoll_ctl(client->epoll_fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) != 0) {
        return -1;
    }
    libcurl.multi_assign(client->multi, fd, client);
    return 0;
}

static int on_timer(CURLM *multi, long ms, void *ctx)
{
    const struct http_client *client = ctx;
    struct itimerspec when = {0};
    (void)multi;
    if (ms >= 0) {
        when.it_value.tv_sec = ms / 1000;
        when.it_value.tv_nsec = ms % 1000 * 1000000 + (ms == 0); /* all zeros would disarm it */
    }
    return timerfd_settime(client->timer_fd, 0, &when, NULL) == 0 ? 0 : -1;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx)
{
    struct exchange *exchange = ctx;
    size_t len = size * count;
    size_t room = HTTP_BODY_MAX - exchange->body.len;
    str_add_mem(&exchange->body, bytes, len < room ? len : room);
    return len; /* the rest is dropped; the time limit stops an endless answer */
}

/* --- the client ------------------------------------------------------------------------------------- */

int http_client_add_fd(struct http_client *client, int fd, struct error *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = NOT_CURLS};
    return epoll_ctl(client->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0
               ? 0
               : error_set(err, &kind_local, "a descriptor for notifications cannot be watched");
}

struct http_client *http_client_new(const char *ca_file, struct error *err)
{
    if (curl_load(err) != 0) {
        return NULL;
    }
    if (libcurl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        error_set(err, &kind_local, "libcurl cannot be used");
        return NULL;
    }
    struct http_client *client = xcalloc(1, sizeof(*client));
    client->ca_file = xstrdup(ca_file);
    client->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    client->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    client->multi = libcurl.multi_init();
    if (client->epoll_fd < 0 || client->timer_fd < 0 || !client->multi) {
        error_set(err, &kind_local, "no file descriptors for notifications");
        http_client_free(client);
        return NULL;
    }
    libcurl.multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    libcurl.multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    libcurl.multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    libcurl.multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = client->timer_fd};
    if (epoll_ctl(client->epoll_fd, EPOLL_CTL_ADD, client->timer_fd, &event) != 0) {
        error_set(err, &kind_local, "a timer for notifications cannot be watched");
        http_client_free(client);
        return NULL;
    }
    return client;
}

static void free_exchange(struct exchange *exchange)
{
    struct exchange **at = &exchange->client->exchanges;
    while (*at != exchange) {
        at = &(*at)->next;
    }
    *at = exchange->next;
    if (exchange->easy) {
        libcurl.multi_remove_handle(exchange->client->multi, exchange->easy);
    }
    libcurl.easy_cleanup(exchange->easy);
    libcurl.slist_free_all(exchange->headers);
    str_release(&exchange->body);
    free(exchange->url);
    free(exchange);
}

void http_client_cancel(struct http_client *client)
{
    while (client->exchanges) {
        free_exchange(client->exchanges);
    }
}

void http_client_free(struct http_client *client)
{
    if (!client) {
        return;
    }
    http_client_cancel(client);
    libcurl.multi_cleanup(client->multi);
    libcurl.global_cleanup();
    if (client->epoll_fd >= 0) {
        close(client->epoll_fd);
    }
    if (client->timer_fd >= 0) {
        close(client->timer_fd);
    }
    free(client->ca_file);
    free(client);
}

int http_client_fd(const struct http_client *client)
{
    return client->epoll_fd;
}

/* --- one post ------------------------------------------------------------------------------------------ */

static void allow_protocols(CURL *easy, bool http)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    libcurl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, http ? "http,https" : "https");
#else
    libcurl.easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTPS | (http ? CURLPROTO_HTTP : 0L));
#endif
}

static void set_request(struct exchange *exchange)
{
    CURL *easy = exchange->easy;
    const struct http_post *post = &exchange->post;
    exchange->headers = libcurl.slist_append(NULL, "Content-Type: application/json; charset=utf-8");
    exchange->headers = libcurl.slist_append(exchange->headers, "Expect:"); /* no wait for a 100 */
    libcurl.easy_setopt(easy, CURLOPT_URL, exchange->url);
    libcurl.easy_setopt(easy, CURLOPT_POSTFIELDS, post->body);
    libcurl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->len);
    libcurl.easy_setopt(easy, CURLOPT_HTTPHEADER, exchange->headers);
    libcurl.easy_setopt(easy, CURLOPT_USERAGENT, "mtlaunch/" MTLAUNCH_VERSION);
    libcurl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    libcurl.easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    libcurl.easy_setopt(easy, CURLOPT_PRIVATE, exchange);
}

/*
 * Restrict the protocols, the certificates and the time of a post. next_hop follows redirects, not libcurl.
 */
static void set_limits(struct exchange *exchange)
{
    CURL *easy = exchange->easy;
    allow_protocols(easy, exchange->post.allow_http);
    libcurl.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    libcurl.easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    libcurl.easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    libcurl.easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (exchange->client->ca_file) {
        libcurl.easy_setopt(easy, CURLOPT_CAINFO, exchange->client->ca_file);
    }
    libcurl.easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    libcurl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)exchange->post.timeout_ms);
    libcurl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    libcurl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* do not wait for a name look-up */
#endif
}

void http_client_post(struct http_client *client, const struct http_post *post)
{
    struct exchange *exchange = xcalloc(1, sizeof(*exchange));
    exchange->client = client;
    exchange->post = *post;
    exchange->url = xstrdup(post->url);
    exchange->next = client->exchanges;
    client->exchanges = exchange;
    exchange->easy = libcurl.easy_init();
    if (!exchange->easy) {
        abort(); /* out of memory, as everywhere else */
    }
    set_request(exchange);
    set_limits(exchange);
    libcurl.multi_add_handle(client->multi, exchange->easy);
}

/* Do two URLs have the same part of an origin? */
static bool same_part(CURLU *a, CURLU *b, CURLUPart part)
{
    char *of_a = NULL, *of_b = NULL;
    bool same = libcurl.url_get(a, part, &of_a, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                libcurl.url_get(b, part, &of_b, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                strcasecmp(of_a, of_b) == 0;
    libcurl.free(of_a);
    libcurl.free(of_b);
    return same;
}

static bool same_origin(const char *from, const char *to)
{
    CURLU *a = libcurl.url(), *b = libcurl.url();
    bool same = a && b && libcurl.url_set(a, CURLUPART_URL, from, 0) == CURLUE_OK &&
                libcurl.url_set(b, CURLUPART_URL, to, 0) == CURLUE_OK && same_part(a, b, CURLUPART_SCHEME) &&
                same_part(a, b, CURLUPART_HOST) && same_part(a, b, CURLUPART_PORT);
    libcurl.url_cleanup(a);
    libcurl.url_cleanup(b);
    return same;
}

static long left_ms(const struct exchange *exchange)
{
    curl_off_t used_us = 0;
    libcurl.easy_getinfo(exchange->easy, CURLINFO_TOTAL_TIME_T, &used_us);
    return (long)exchange->post.timeout_ms - (long)(used_us / 1000);
}

/* Follow a redirect within the origin, but not a 303, which asks for a GET. True: the post goes on. */
static bool next_hop(struct exchange *exchange, long status)
{
    char *to = NULL;
    if (status < 300 || status > 399 || status == 304) {
        return false;
    }
    libcurl.easy_getinfo(exchange->easy, CURLINFO_REDIRECT_URL, &to);
    exchange->redirected = true;
    long left = left_ms(exchange);
    if (!to || status == 303 || exchange->hops >= HOPS_MAX || left <= 0 || !same_origin(exchange->url, to)) {
        return false;
    }
    exchange->hops++;
    exchange->redirected = false;
    exchange->post.timeout_ms = (unsigned)left;
    free(exchange->url);
    exchange->url = xstrdup(to);
    str_reset(&exchange->body);
    libcurl.multi_remove_handle(exchange->client->multi, exchange->easy);
    libcurl.easy_setopt(exchange->easy, CURLOPT_URL, exchange->url);
    libcurl.easy_setopt(exchange->easy, CURLOPT_TIMEOUT_MS, left);
    libcurl.multi_add_handle(exchange->client->multi, exchange->easy);
    return true;
}

/* Own words for common problems; libcurl's for the rest, which never quote the URL. */
static const struct {
    CURLcode code;
    const char *words;
    bool retryable;
} problems[] = {
    {CURLE_COULDNT_RESOLVE_HOST, "its name cannot be resolved", true},
    {CURLE_COULDNT_CONNECT, "it cannot be connected to", true},
    {CURLE_OPERATION_TIMEDOUT, "it did not answer in time", true},
    {CURLE_GOT_NOTHING, "it closed the connection without an answer", true},
    {CURLE_PEER_FAILED_VERIFICATION, "its certificate is not trusted", false},
    {CURLE_UNSUPPORTED_PROTOCOL, "its protocol is not allowed", false},
    {CURLE_URL_MALFORMAT, "its URL cannot be read", false},
    {CURLE_SSL_CACERT_BADFILE, "the file of certificates cannot be read", false},
};

static void explain(CURLcode code, struct http_answer *answer)
{
    answer->problem = libcurl.easy_strerror(code);
    answer->retryable = true;
    for (size_t i = 0; i < ARRAY_LEN(problems); i++) {
        if (problems[i].code == code) {
            answer->problem = problems[i].words;
            answer->retryable = problems[i].retryable;
        }
    }
}

static void finish(struct exchange *exchange, CURLcode code)
{
    struct http_answer answer = {.body = str_text(&exchange->body), .body_len = exchange->body.len};
    long status = 0;
    curl_off_t retry_after = 0;
    if (code == CURLE_OK) {
        libcurl.easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
        libcurl.easy_getinfo(exchange->easy, CURLINFO_RETRY_AFTER, &retry_after);
        if (next_hop(exchange, status)) {
            return;
        }
        answer.status = (int)status;
        answer.retry_after_s = retry_after;
        answer.redirected = exchange->redirected;
    } else {
        explain(code, &answer);
    }
    exchange->post.done(exchange->post.ctx, &answer);
    free_exchange(exchange);
}

static void collect(struct http_client *client)
{
    const CURLMsg *message;
    int left;
    while ((message = libcurl.multi_info_read(client->multi, &left))) {
        char *exchange = NULL;
        CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE) {
            continue;
        }
        libcurl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &exchange);
        finish((struct exchange *)(void *)exchange, code);
    }
}

void http_client_work(struct http_client *client)
{
    struct epoll_event events[EVENTS_A_TIME];
    uint64_t expirations;
    int running;
    int count = epoll_wait(client->epoll_fd, events, EVENTS_A_TIME, 0);
    for (int i = 0; i < count; i++) {
        int fd = events[i].data.fd, what = 0;
        if (fd == NOT_CURLS) {
            continue;
        }
        if (fd == client->timer_fd) {
            if (read(fd, &expirations, sizeof(expirations)) > 0) {
                libcurl.multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
            }
            continue;
        }
        if (events[i].events & EPOLLIN) {
            what |= CURL_CSELECT_IN;
        }
        if (events[i].events & EPOLLOUT) {
            what |= CURL_CSELECT_OUT;
        }
        if (events[i].events & (EPOLLERR | EPOLLHUP)) {
            what |= CURL_CSELECT_ERR;
        }
        libcurl.multi_socket_action(client->multi, fd, what, &running);
    }
    collect(client);
}
