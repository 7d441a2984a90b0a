/*
 * Sessions to N addresses of 127/8, and several rounds of one command on them; run by tests/bench/scale.py.
 *
 *   bench_fleet HOSTS PORT USER IDENTITY KNOWN_HOSTS ROUNDS [COMMAND]
 *
 * The host key is looked up as "bench". Prints one JSON object a round: wall seconds, CPU milliseconds a
 * host, how many failed, and the resident memory after it in KiB (now and at its peak).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "transport/fleet.h"

#define PER_NET 250

struct round {
    size_t failed;
    struct error first;
};

static void on_done(void *ctx, size_t host, const struct exec_result *result)
{
    struct round *round = ctx;

    (void)host;
    if (result->error.kind == NULL && result->exit_status == 0) {
        return;
    }
    if (round->failed++ == 0) {
        round->first = result->error;
    }
}

static double cpu_ms(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return 1000.0 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000.0;
}

/* A line of /proc/self/status, KiB. */
static unsigned long memory_kib(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[200];
    unsigned long value = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            value = strtoul(line + strlen(name) + 1, NULL, 10);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return value;
}

static void add_hosts(struct fleet *fleet, size_t count, char **argv)
{
    for (size_t i = 0; i < count; i++) {
        struct endpoint endpoint = {
            .name = xasprintf("127.1.%zu.%zu", i / PER_NET, i % PER_NET + 1),
            .user = xstrdup(argv[3]),
            .port = (unsigned)strtoul(argv[2], NULL, 10),
            .home = xstrdup("/"),
            .key_name = xstrdup("bench"),
        };
        endpoint.hostname = xstrdup(endpoint.name);
        strlist_add(&endpoint.identities, argv[4]);
        strlist_add(&endpoint.known_hosts, argv[5]);
        fleet_add_host(fleet, &endpoint);
        endpoint_release(&endpoint);
    }
}

static int run_round(struct fleet *fleet, size_t count, const char *command)
{
    static const struct exec_handler handler = {.done = on_done};
    const struct exec_request request = {.command = command};
    struct round round = {0};
    int64_t begin = clock_mono_ms();
    double before = cpu_ms();

    for (size_t i = 0; i < count; i++) {
        fleet_exec(fleet, i, &request, &handler, &round);
    }
    fleet_run(fleet);
    printf("{\"wall_s\": %.3f, \"cpu_ms\": %.3f, \"failed\": %zu, \"rss_kib\": %lu, \"peak_kib\": %lu}\n",
           (double)(clock_mono_ms() - begin) / 1000.0, (cpu_ms() - before) / (double)count, round.failed,
           memory_kib("VmRSS"), memory_kib("VmHWM"));
    fflush(stdout);
    if (round.failed > 0) {
        fprintf(stderr, "bench_fleet: %zu failed: %s\n", round.failed, round.first.text);
    }
    return round.failed > 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct fleet *fleet;
    size_t count;
    int result = 0;

    if (argc < 7) {
        fprintf(stderr, "usage: bench_fleet HOSTS PORT USER IDENTITY KNOWN_HOSTS ROUNDS [COMMAND]\n");
        return 2;
    }
    fleet = fleet_new(NULL, &err);
    if (fleet == NULL) {
        fprintf(stderr, "bench_fleet: %s\n", err.text);
        return 1;
    }
    count = strtoul(argv[1], NULL, 10);
    add_hosts(fleet, count, argv);
    for (unsigned long i = strtoul(argv[6], NULL, 10); i > 0; i--) {
        result |= run_round(fleet, count, argc > 7 ? argv[7] : "true");
    }
    fleet_free(fleet);
    return result;
}
