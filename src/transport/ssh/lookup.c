/* Resolves names, each in its own thread, so that a dead name server blocks nothing. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/list.h"
#include "model/kind.h"
#include "transport/ssh/lookup_internal.h"

#define MAX_RUNNING 32
#define STACK_BYTES ((size_t)512 << 10) /* for name service modules */

struct resolver {
    uv_async_t async;
    struct list lookups; /* waiting, running and done, in order */
    unsigned running;
};

/* Shared by the loop and its thread; whichever is last frees it. */
struct lookup {
    pthread_mutex_t mutex;
    struct resolver *resolver; /* NULL once abandoned; guarded by mutex */
    struct list_link link;     /* used by the loop only, like the fields below */
    bool started, cancelled;
    lookup_callback callback;
    void *ctx;
    bool done; /* guarded by mutex */
    int code;
    struct addrinfo *list;
    char *host;
    char port[8];
};

static void free_lookup(struct lookup *lookup)
{
    pthread_mutex_destroy(&lookup->mutex);
    if (lookup->list) {
        freeaddrinfo(lookup->list);
    }
    free(lookup->host);
    free(lookup);
}

static int resolve(const char *host, const char *port, int flags, struct addrinfo **list)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};

    *list = NULL;
    return getaddrinfo(host, port, &hints, list);
}

struct addrinfo *lookup_numeric(const char *host, unsigned port)
{
    struct addrinfo *list;
    char text[8];

    snprintf(text, sizeof(text), "%u", port & 0xffff);
    return resolve(host, text, AI_NUMERICHOST, &list) == 0 ? list : NULL;
}

static void *run_lookup(void *arg)
{
    struct lookup *lookup = arg;
    struct addrinfo *list;
    int code = resolve(lookup->host, lookup->port, AI_ADDRCONFIG, &list);
    bool abandoned;

    pthread_mutex_lock(&lookup->mutex);
    lookup->code = code;
    lookup->list = list;
    lookup->done = true;
    abandoned = !lookup->resolver;
    if (!abandoned) {
        uv_async_send(&lookup->resolver->async);
    }
    pthread_mutex_unlock(&lookup->mutex);
    if (abandoned) {
        free_lookup(lookup);
    }
    return NULL;
}

/* The thread blocks all signals, because the loop handles them. */
static bool start_thread(struct lookup *lookup)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    int failed;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&thread, &attributes, run_lookup, lookup);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed == 0;
}

static void start_waiting(struct resolver *resolver)
{
    LIST_EACH(&resolver->lookups, struct lookup, link, at) {
        if (at->started || resolver->running >= MAX_RUNNING) {
            continue;
        }
        at->started = true;
        resolver->running++;
        if (!start_thread(at)) {
            at->code = EAI_AGAIN;
            at->done = true;
            uv_async_send(&resolver->async);
        }
    }
}

static bool is_done(struct lookup *lookup)
{
    bool done;

    pthread_mutex_lock(&lookup->mutex);
    done = lookup->done;
    pthread_mutex_unlock(&lookup->mutex);
    return done;
}

/* A callback may cancel other look-ups, so those that are done leave the list before any callback. */
static void on_async(uv_async_t *async)
{
    struct resolver *resolver = async->data;
    struct list done = {0};

    LIST_EACH(&resolver->lookups, struct lookup, link, lookup) {
        if (is_done(lookup)) {
            list_remove(&lookup->link);
            list_append(&done, &lookup->link);
        }
    }
    LIST_EACH(&done, struct lookup, link, lookup) {
        list_remove(&lookup->link);
        resolver->running--;
        if (!lookup->cancelled) {
            struct addrinfo *list = lookup->list;
            lookup->list = NULL;
            lookup->callback(lookup->ctx, lookup->code, list);
        }
        free_lookup(lookup);
    }
    start_waiting(resolver);
}

struct resolver *resolver_new(uv_loop_t *loop, struct error *err)
{
    struct resolver *resolver = xcalloc(1, sizeof(*resolver));
    int failed = uv_async_init(loop, &resolver->async, on_async);

    if (failed != 0) {
        free(resolver);
        error_set(err, &kind_local, "cannot create the event loop: %s", uv_strerror(failed));
        return NULL;
    }
    resolver->async.data = resolver;
    return resolver;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void resolver_close(struct resolver *resolver)
{
    if (!resolver) {
        return;
    }
    LIST_EACH(&resolver->lookups, struct lookup, link, lookup) {
        bool ours;
        list_remove(&lookup->link);
        pthread_mutex_lock(&lookup->mutex);
        lookup->resolver = NULL;
        ours = !lookup->started || lookup->done;
        pthread_mutex_unlock(&lookup->mutex);
        if (ours) {
            free_lookup(lookup);
        }
    }
    uv_close((uv_handle_t *)&resolver->async, on_closed);
}

struct lookup *lookup_start(struct resolver *resolver, const char *host, unsigned port,
                            lookup_callback callback, void *ctx)
{
    struct lookup *lookup = xcalloc(1, sizeof(*lookup));

    pthread_mutex_init(&lookup->mutex, NULL);
    lookup->resolver = resolver;
    lookup->callback = callback;
    lookup->ctx = ctx;
    lookup->host = xstrdup(host);
    snprintf(lookup->port, sizeof(lookup->port), "%u", port & 0xffff);
    list_append(&resolver->lookups, &lookup->link);
    start_waiting(resolver);
    return lookup;
}

void lookup_cancel(struct lookup *lookup)
{
    lookup->cancelled = true;
    if (!lookup->started) { /* there is no thread yet */
        list_remove(&lookup->link);
        free_lookup(lookup);
    }
}
