/*
 * Mixed failures for as long as is asked: fleets whose hosts do well, misbehave, are cut off or cancelled, by
 * chance from a seed. Each command ends exactly once, in time, and no descriptor stays; memory is printed.
 *
 *   SOAK_SECONDS=60 SOAK_SEED=1 test_soak
 */
#include <dirent.h>

#include "fake_server.h"

#define HOSTS       24
#define ROUND_MAX_S 60   /* a round that takes longer hangs: SIGALRM ends the program */
#define LEAK_KIB    8192 /* more than this over the tenth round is a leak */
#define SETTLED     10

static const enum fake_manner manners[] = {
    FAKE_WELL,           FAKE_SILENT,    FAKE_CLOSE,          FAKE_HTTP,
    FAKE_GARBAGE,        FAKE_FLOOD,     FAKE_BANNER,         FAKE_BAD_PACKETS,
    FAKE_CLOSE_AT_LOGIN, FAKE_NO_LOGIN,  FAKE_NO_CHANNEL,     FAKE_NO_COMMAND,
    FAKE_NO_ANSWER,      FAKE_NO_STATUS, FAKE_FOREIGN_SIGNAL, FAKE_CLOSE_IN_COMMAND,
};

static const char *const commands[] = {
    "true",       "exit 3",        "head -c 300000 /dev/zero", "cat >/dev/null; echo end", "sleep 60",
    "kill -9 $$", "kill -9 $PPID",
};
#define LOCAL_COMMANDS (ARRAY_LEN(commands) - 1) /* the parent of a local command is this program */

static size_t count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

static unsigned long resident_kib(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file != NULL && fscanf(file, "%*u %lu", &pages) != 1) {
        pages = 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return pages * (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
}

static unsigned pick(unsigned *seed, unsigned below)
{
    return (unsigned)rand_r(seed) % below;
}

static void on_cut(void *ctx)
{
    struct outcome *outcome = ctx;

    if (outcome->ends == 0) {
        fleet_cancel(outcome->fleet, outcome->id);
    }
}

static void on_done(void *ctx, size_t host, const struct exec_result *result)
{
    outcome_done(ctx, host, result);
    str_release(&((struct outcome *)ctx)->out);
}

static void run_round(const struct world *world, const struct fake_server *fakes, unsigned *seed)
{
    static const struct exec_handler handler = {.data = outcome_data, .done = on_done};
    const struct fleet_options options = {.fanout = 1 + pick(seed, HOSTS),
                                          .connect_timeout_ms = 500 + pick(seed, 1500),
                                          .keepalive_ms = 150 + pick(seed, 200),
                                          .hosts = HOSTS};
    struct outcome outcomes[2 * HOSTS] = {0};
    bool local[HOSTS];
    struct fleet *fleet = fleet_new(&options, NULL);

    assert_non_null(fleet);
    for (size_t i = 0; i < HOSTS; i++) {
        local[i] = pick(seed, 12) == 0;
        struct endpoint endpoint = make_endpoint(world, "127.0.0.1", local[i]);
        unsigned which = pick(seed, 2 * ARRAY_LEN(manners));
        if (which < ARRAY_LEN(manners)) {
            endpoint.port = fakes[which].port;
        }
        fleet_add_host(fleet, &endpoint);
        endpoint_release(&endpoint);
    }
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        struct exec_request request = {
            .command = commands[pick(seed, local[i % HOSTS] ? LOCAL_COMMANDS : ARRAY_LEN(commands))],
            .input = "some input\n",
            .input_len = 11,
            .timeout_ms = 300 + pick(seed, 2000)};
        outcomes[i].fleet = fleet;
        outcomes[i].id = fleet_exec(fleet, i % HOSTS, &request, &handler, &outcomes[i]);
        if (pick(seed, 6) == 0) {
            fleet_timer(fleet, pick(seed, 800), on_cut, &outcomes[i]);
        }
    }
    bool runs = pick(seed, 8) > 0;
    if (runs) {
        fleet_run(fleet);
    } else {
        fleet_timer(fleet, 0, on_cut, &outcomes[0]); /* freed with all of it under way */
    }
    for (size_t i = 0; runs && i < ARRAY_LEN(outcomes); i++) {
        assert_int_equal(outcomes[i].ends, 1);
        assert_false(outcomes[i].dirty_after_end);
    }
    fleet_free(fleet);
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        outcome_release(&outcomes[i]);
    }
}

struct soak {
    long seconds;
    unsigned seed;
};

static struct soak wanted(void)
{
    const char *seconds = getenv("SOAK_SECONDS"), *seed = getenv("SOAK_SEED");

    return (struct soak){.seconds = seconds != NULL ? strtol(seconds, NULL, 10) : 10,
                         .seed = seed != NULL ? (unsigned)strtoul(seed, NULL, 10) : 1};
}

static void test_soak(void **state)
{
    struct subject *subject = *state;
    struct soak soak = wanted();
    struct fake_server fakes[ARRAY_LEN(manners)];
    int64_t until = clock_mono_ms() + soak.seconds * 1000;
    unsigned long settled = 0, rounds = 0;
    size_t files;

    for (size_t i = 0; i < ARRAY_LEN(manners); i++) {
        fakes[i] = fake_start(&subject->world, manners[i]);
    }
    print_message("soak: %ld s, seed %u\n", soak.seconds, soak.seed);
    run_round(&subject->world, fakes, &soak.seed); /* libuv opens two for good */
    files = count_files();
    while (clock_mono_ms() < until) {
        alarm(ROUND_MAX_S);
        run_round(&subject->world, fakes, &soak.seed);
        alarm(0);
        assert_int_equal(count_files(), files);
        if (++rounds == SETTLED) {
            settled = resident_kib();
        }
    }
    print_message("soak: %lu rounds, %lu commands, %zu files, %lu KiB after %d rounds, %lu KiB at the end\n",
                  rounds, rounds * 2 * HOSTS, files, settled, SETTLED, resident_kib());
    for (size_t i = 0; i < ARRAY_LEN(manners); i++) {
        fake_stop(&fakes[i]);
    }
    if (settled != 0) {
        assert_true(resident_kib() < settled + LEAK_KIB);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_soak)};

    return cmocka_run_group_tests(tests, subject_set_up_ssh, subject_tear_down);
}
