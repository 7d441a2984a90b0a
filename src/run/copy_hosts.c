/* Works through the hosts of a copy, as many at a time as the fan-out allows. */
#include <signal.h>

#include "ask_internal.h"
#include "copy_hosts_internal.h"
#include "model/kind.h"

#define TICK_MS 200

int copy_hosts_set_signalled(const struct copy_hosts *hosts, const char *more, struct error *err)
{
    if (hosts->signal_number == SIGTERM) {
        return error_set(err, &kind_terminated, "terminated by SIGTERM%s", more);
    }
    return error_set(err, &kind_interrupted, "interrupted%s", more);
}

/* The first signal ends the work in progress and waits for its end; the second returns at once. */
static void on_signal(void *ctx, int signal_number)
{
    struct copy_hosts *hosts = ctx;
    struct error error = ERROR_INIT;

    hosts->signal_number = signal_number;
    if (hosts->signals++ == 0) {
        copy_hosts_set_signalled(hosts, "", &error);
        hosts->stop(hosts->ctx, &error);
    } else {
        fleet_stop(hosts->fleet);
    }
}

static void begin_more(struct copy_hosts *hosts)
{
    while (hosts->signals == 0 && hosts->next < hosts->request->count &&
           hosts->open < hosts->request->fanout) {
        hosts->open++;
        hosts->begin(hosts->ctx, hosts->next++);
    }
    if (hosts->open == 0) {
        fleet_timer_cancel(hosts->fleet, hosts->timer);
        hosts->timer = 0;
    }
}

static void on_tick(void *ctx)
{
    struct copy_hosts *hosts = ctx;

    hosts->timer = fleet_timer(hosts->fleet, TICK_MS, on_tick, hosts);
    hosts->tick(hosts->ctx);
}

void copy_hosts_done(struct copy_hosts *hosts, size_t host)
{
    fleet_close_idle(hosts->fleet, host);
    hosts->open--;
    begin_more(hosts);
}

int copy_hosts_open(struct copy_hosts *hosts, struct error *err)
{
    const struct run_copy_request *request = hosts->request;
    const struct fleet_options options = {.fanout = request->fanout,
                                          .hosts = request->count < request->fanout ? request->count
                                                                                    : request->fanout,
                                          .connect_timeout_ms = request->connect_timeout_ms};

    hosts->fleet = fleet_new(&options, err);
    if (!hosts->fleet) {
        return -1;
    }
    ask_make_nonce(hosts->mark);
    for (size_t i = 0; i < request->count; i++) {
        fleet_add_host(hosts->fleet, &request->endpoints[i]);
    }
    return 0;
}

void copy_hosts_release(struct copy_hosts *hosts)
{
    fleet_free(hosts->fleet);
    hosts->fleet = NULL;
}

int copy_hosts_run(struct copy_hosts *hosts, struct error *err)
{
    fleet_on_signal(hosts->fleet, on_signal, hosts);
    hosts->timer = fleet_timer(hosts->fleet, TICK_MS, on_tick, hosts);
    begin_more(hosts);
    fleet_run(hosts->fleet);
    fleet_on_signal(hosts->fleet, NULL, NULL);
    return hosts->signals > 0 ? copy_hosts_set_signalled(hosts, "", err) : 0;
}

struct copy_call_place copy_hosts_place(const struct copy_hosts *hosts, size_t host)
{
    const struct run_copy_request *request = hosts->request;

    return (struct copy_call_place){.base = request->bases ? request->bases[host] : NULL,
                                    .container = request->container,
                                    .mark = hosts->mark,
                                    .relay = request->relay,
                                    .connect_timeout_ms = request->connect_timeout_ms};
}
