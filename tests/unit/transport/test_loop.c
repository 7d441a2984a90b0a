/* The small parts the transports share: deadlines on one timer, slots for logins, name look-ups, signal
 * names. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>

#include "base/clock.h"
#include "test.h"
#include "transport/deadline_internal.h"
#include "transport/login_limit_internal.h"
#include "transport/ssh/lookup_internal.h"
#include "transport/transport_internal.h"

#define MANY 200

/* --- deadlines --- */

struct mark {
    struct deadline deadline;
    struct deadlines *all;
    struct str *log;
    struct mark *sets; /* when it fires: set this one to 0 ms, and clear the one behind it */
    char name;
    int64_t wanted_ms;
    bool early;
};

static void on_fire(void *ctx)
{
    struct mark *mark = ctx;

    mark->early = clock_mono_ms() < mark->wanted_ms;
    str_add_char(mark->log, mark->name);
    if (mark->sets != NULL) {
        deadline_set(mark->all, &mark->sets[0].deadline, 0);
        deadline_clear(mark->all, &mark->sets[1].deadline);
    }
}

static void set_mark(struct mark *mark, struct deadlines *all, struct str *log, char name, unsigned ms)
{
    mark->deadline.fire = on_fire;
    mark->deadline.ctx = mark;
    mark->all = all;
    mark->log = log;
    mark->name = name;
    mark->wanted_ms = clock_mono_ms() + ms;
    deadline_set(all, &mark->deadline, ms);
}

static void end_loop(uv_loop_t *loop, struct deadlines *all)
{
    deadlines_close(all);
    uv_run(loop, UV_RUN_DEFAULT);
    deadlines_release(all);
    assert_int_equal(uv_loop_close(loop), 0);
}

static void test_order(void **state)
{
    uv_loop_t loop;
    struct deadlines all;
    struct mark marks[6] = {{.name = 0}};
    AUTO_STR struct str log = STR_INIT;

    (void)state;
    uv_loop_init(&loop);
    deadlines_init(&all, &loop);
    set_mark(&marks[0], &all, &log, 'c', 40);
    set_mark(&marks[1], &all, &log, 'a', 0);
    set_mark(&marks[2], &all, &log, 'b', 0);
    set_mark(&marks[3], &all, &log, 'x', 60000); /* cleared below */
    set_mark(&marks[4], &all, &log, 'd', 60000); /* moved forward by c */
    set_mark(&marks[5], &all, &log, 'y', 60000); /* cleared by c */
    deadline_clear(&all, &marks[3].deadline);
    deadline_clear(&all, &marks[3].deadline);
    marks[0].sets = &marks[4];
    assert_true(deadline_is_set(&marks[4].deadline));
    assert_true(deadline_left(&all, &marks[4].deadline) > 50000);
    assert_int_equal(deadline_left(&all, &marks[3].deadline), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_string_equal(str_text(&log), "abcd");
    assert_false(marks[0].early);
    assert_false(deadline_is_set(&marks[4].deadline));
    end_loop(&loop, &all);
}

/* Many, set in an order of no order and half of them cleared: the rest fires in the order of time. */
static void test_many(void **state)
{
    uv_loop_t loop;
    struct deadlines all;
    struct mark *marks = xcalloc(MANY, sizeof(*marks));
    AUTO_STR struct str log = STR_INIT;

    (void)state;
    uv_loop_init(&loop);
    deadlines_init(&all, &loop);
    for (unsigned i = 0; i < MANY; i++) {
        unsigned place = i * 77 % MANY;
        set_mark(&marks[i], &all, &log, (char)('a' + place / 20), place / 20 * 5);
    }
    for (unsigned i = 0; i < MANY; i += 2) {
        deadline_clear(&all, &marks[i].deadline);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(log.len, MANY / 2);
    for (size_t i = 1; i < log.len; i++) {
        assert_true(log.data[i - 1] <= log.data[i]);
    }
    for (unsigned i = 1; i < MANY; i += 2) {
        assert_false(marks[i].early);
    }
    end_loop(&loop, &all);
    free(marks);
}

/* --- the loop's clock --- */

#define AWAY_MS  1000
#define LIMIT_MS 300

struct absence {
    struct deadline deadline;
    int64_t back_ms; /* monotonic */
};

static void on_absence(void *ctx)
{
    struct absence *absence = ctx;

    usleep(AWAY_MS * 1000);
    absence->back_ms = clock_mono_ms();
}

struct limit {
    struct deadline deadline;
    int64_t fired_ms;
};

static void on_limit(void *ctx)
{
    ((struct limit *)ctx)->fired_ms = clock_mono_ms();
}

/* S13: while a callback is busy no deadline runs; what was left of it is left afterwards. */
static void test_busy(void **state)
{
    uv_loop_t loop;
    struct deadlines all;
    struct absence absence = {.deadline.fire = on_absence, .deadline.ctx = &absence};
    struct limit limit = {.deadline.fire = on_limit, .deadline.ctx = &limit};

    (void)state;
    uv_loop_init(&loop);
    deadlines_init(&all, &loop);
    deadline_set(&all, &limit.deadline, LIMIT_MS);
    deadline_set(&all, &absence.deadline, 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(limit.fired_ms >= absence.back_ms + LIMIT_MS - 2 * LOOP_CLOCK_WORK_MS);
    end_loop(&loop, &all);
}

/* S13: nor between two runs of the loop, and the first thing after them is not a deadline. */
static void test_between_runs(void **state)
{
    uv_loop_t loop;
    struct deadlines all;
    struct limit limit = {.deadline.fire = on_limit, .deadline.ctx = &limit};
    int64_t back;

    (void)state;
    uv_loop_init(&loop);
    deadlines_init(&all, &loop);
    deadline_set(&all, &limit.deadline, LIMIT_MS);
    uv_run(&loop, UV_RUN_NOWAIT);
    usleep(AWAY_MS * 1000);
    back = clock_mono_ms();
    while (limit.fired_ms == 0) {
        uv_run(&loop, UV_RUN_ONCE);
    }
    assert_true(limit.fired_ms >= back + LIMIT_MS - 2 * LOOP_CLOCK_WORK_MS);
    end_loop(&loop, &all);
}

/* S13: nor while the process is stopped. Its child stops it while the loop waits. */
static void test_stopped(void **state)
{
    uv_loop_t loop;
    struct deadlines all;
    struct limit limit = {.deadline.fire = on_limit, .deadline.ctx = &limit};
    const int64_t began = clock_mono_ms();
    int64_t lost;
    pid_t parent = getpid(), child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        usleep(500 * 1000);
        kill(parent, SIGSTOP);
        usleep(3000 * 1000);
        kill(parent, SIGCONT);
        _exit(0);
    }
    uv_loop_init(&loop);
    deadlines_init(&all, &loop);
    deadline_set(&all, &limit.deadline, 2000);
    uv_run(&loop, UV_RUN_DEFAULT);
    waitpid(child, NULL, 0);
    lost = loop_clock_lost(&all.clock);
    assert_true(limit.fired_ms >= began + 3000 + 2000 - LOOP_CLOCK_BEAT_MS - 4 * LOOP_CLOCK_WORK_MS);
    assert_in_range(lost, 3000 - LOOP_CLOCK_BEAT_MS - 4 * LOOP_CLOCK_WORK_MS, 6000);
    end_loop(&loop, &all);
}

/* Many short callbacks are no absence: a host that keeps the loop busy cannot stop its own clock. */
static void on_chatter(void *ctx)
{
    struct mark *mark = ctx;

    usleep(5000);
    deadline_set(mark->all, &mark->deadline, 0);
}

static void test_chatter(void **state)
{
    uv_loop_t loop;
    struct deadlines all;
    struct mark chatter = {.deadline.fire = on_chatter, .deadline.ctx = &chatter, .all = &all};
    struct limit limit = {.deadline.fire = on_limit, .deadline.ctx = &limit};
    const int64_t began = clock_mono_ms();

    (void)state;
    uv_loop_init(&loop);
    deadlines_init(&all, &loop);
    deadline_set(&all, &chatter.deadline, 0);
    deadline_set(&all, &limit.deadline, LIMIT_MS);
    while (limit.fired_ms == 0) {
        uv_run(&loop, UV_RUN_ONCE);
    }
    assert_in_range(limit.fired_ms - began, LIMIT_MS - 1, 4 * LIMIT_MS);
    end_loop(&loop, &all);
}

/* --- login slots --- */

static void on_granted(void *ctx)
{
    *(bool *)ctx = true;
}

static struct sockaddr_in make_address(const char *text, unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    assert_int_equal(inet_pton(AF_INET, text, &address.sin_addr), 1);
    return address;
}

static bool enter(struct login_limits *limits, const char *text, unsigned port, struct login_slot *slot,
                  bool *granted)
{
    struct sockaddr_in address = make_address(text, port);

    slot->granted = on_granted;
    slot->ctx = granted;
    return login_limit_enter(limits, (struct sockaddr *)&address, slot);
}

static void test_slots(void **state)
{
    struct login_limits limits = {0};
    struct login_slot slots[LOGIN_LIMIT + 3] = {{0}}, other = {0}, loopback = {0};
    bool granted[LOGIN_LIMIT + 3] = {false}, ignored = false;

    (void)state;
    for (int i = 0; i < LOGIN_LIMIT + 3; i++) {
        assert_int_equal(enter(&limits, "10.0.0.1", 22, &slots[i], &granted[i]), i < LOGIN_LIMIT);
    }
    assert_true(enter(&limits, "10.0.0.1", 2222, &other, &ignored));
    login_limit_leave(&slots[LOGIN_LIMIT]); /* from the queue */
    login_limit_leave(&slots[0]);
    assert_false(granted[LOGIN_LIMIT]);
    assert_true(granted[LOGIN_LIMIT + 1]);
    assert_false(granted[LOGIN_LIMIT + 2]);
    login_limit_leave(&slots[0]); /* nothing to give back */
    assert_false(granted[LOGIN_LIMIT + 2]);
    login_limit_leave(&slots[1]);
    assert_true(granted[LOGIN_LIMIT + 2]);
    for (int i = 2; i < LOGIN_LIMIT + 3; i++) {
        login_limit_leave(&slots[i]);
    }
    login_limit_leave(&other);
    assert_true(list_is_empty(&limits.limits));
    login_limit_leave(&loopback);
}

/* All of 127/8 is this machine. */
static void test_slots_of_loopback(void **state)
{
    struct login_limits limits = {0};
    struct login_slot slots[LOGIN_LIMIT + 1] = {{0}};
    bool granted = false;

    (void)state;
    for (int i = 0; i <= LOGIN_LIMIT; i++) {
        AUTO_FREE char *text = xasprintf("127.0.%d.1", i);
        assert_int_equal(enter(&limits, text, 22, &slots[i], &granted), i < LOGIN_LIMIT);
    }
    for (int i = LOGIN_LIMIT; i >= 0; i--) {
        login_limit_leave(&slots[i]);
    }
    assert_true(list_is_empty(&limits.limits));
}

/* --- look-ups --- */

struct answer {
    unsigned count;
    int code;
    bool has_list;
};

static void on_answer(void *ctx, int code, struct addrinfo *list)
{
    struct answer *answer = ctx;

    answer->count++;
    answer->code = code;
    answer->has_list = list != NULL;
    if (list != NULL) {
        freeaddrinfo(list);
    }
}

static void test_lookups(void **state)
{
    uv_loop_t loop;
    struct error err = ERROR_INIT;
    struct resolver *resolver;
    struct answer good[40] = {{0}}, cancelled = {0};

    (void)state;
    uv_loop_init(&loop);
    resolver = resolver_new(&loop, &err);
    assert_non_null(resolver);
    for (int i = 0; i < 40; i++) { /* more than run at once */
        lookup_start(resolver, "localhost", 22, on_answer, &good[i]);
    }
    lookup_cancel(lookup_start(resolver, "localhost", 22, on_answer, &cancelled));
    for (int i = 0; i < 40; i++) {
        while (good[i].count == 0) {
            uv_run(&loop, UV_RUN_ONCE);
        }
        assert_int_equal(good[i].code, 0);
        assert_true(good[i].has_list);
    }
    assert_int_equal(cancelled.count, 0);
    /* One that is under way when all is closed is abandoned, not waited for. */
    lookup_start(resolver, "localhost", 22, on_answer, &cancelled);
    resolver_close(resolver);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(cancelled.count, 0);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void test_numeric(void **state)
{
    static const struct {
        const char *text;
        bool numeric;
    } cases[] = {
        {"10.0.0.1", true}, {"2001:db8::1", true}, {"::1", true}, {"g0033", false}, {"10.0.0.x", false}};

    (void)state;
    FOR_ROWS(i, cases, cases[i].text) {
        struct addrinfo *list = lookup_numeric(cases[i].text, 2222);
        assert_int_equal(list != NULL, cases[i].numeric);
        if (list != NULL) {
            freeaddrinfo(list);
        }
    }
}

/* --- pauses between tries --- */

/* Longer each time up to a limit; half of it is chance, and all of that half comes up. */
static void test_pauses(void **state)
{
    static const uint64_t longest[] = {100, 200, 400, 800, 1600, 2000, 2000};

    (void)state;
    assert_int_equal(ARRAY_LEN(longest), LOGIN_MAX_TRIES);
    for (unsigned tries = 0; tries < LOGIN_MAX_TRIES; tries++) {
        uint64_t least = UINT64_MAX, most = 0, whole = longest[tries];
        for (int i = 0; i < 1000; i++) {
            uint64_t pause = login_pause_ms(tries);
            least = pause < least ? pause : least;
            most = pause > most ? pause : most;
        }
        assert_in_range(least, whole / 2, whole * 6 / 10);
        assert_in_range(most, whole * 9 / 10, whole);
    }
}

/* --- signals, the table --- */

static void test_signal_names(void **state)
{
    struct exec_result result = {0};

    (void)state;
    assert_string_equal(transport_signal_name(SIGTERM), "TERM");
    assert_int_equal(transport_signal_number("KILL"), SIGKILL);
    assert_null(transport_signal_name(0));
    assert_int_equal(transport_signal_number("SIGTERM"), 0);
    for (int number = 1; number < 32; number++) {
        const char *name = transport_signal_name(number);
        if (number == SIGSTKFLT) {
            continue; /* sent by nobody */
        }
        assert_non_null(name);
        assert_int_equal(transport_signal_number(name), number);
    }
    transport_set_signal(&result, "TERM");
    assert_string_equal(result.signal, "TERM");
    assert_int_equal(result.exit_status, 128 + SIGTERM);
    transport_set_signal(&result, "SIG@openssh.com");
    assert_string_equal(result.signal, "SIG@openssh.com");
    assert_int_equal(result.exit_status, 255);
}

/* Every endpoint is served, each by the one that says so. */
static void test_table(void **state)
{
    struct endpoint here = {.local = true}, there = {.local = false}, apart = {.openssh = true};

    (void)state;
    assert_ptr_equal(transport_find(&here), &transport_local);
    assert_ptr_equal(transport_find(&there), &transport_ssh);
    assert_ptr_equal(transport_find(&apart), &transport_openssh);
    assert_ptr_equal(transport_find_carrier(), &transport_ssh);
    for (size_t i = 0; i < transports_all_count; i++) {
        assert_true(transports_all[i]->serves(&here) || transports_all[i]->serves(&there) ||
                    transports_all[i]->serves(&apart));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),   cmocka_unit_test(test_many),
        cmocka_unit_test(test_busy),    cmocka_unit_test(test_between_runs),
        cmocka_unit_test(test_stopped), cmocka_unit_test(test_chatter),
        cmocka_unit_test(test_slots),   cmocka_unit_test(test_slots_of_loopback),
        cmocka_unit_test(test_pauses),  cmocka_unit_test(test_lookups),
        cmocka_unit_test(test_numeric), cmocka_unit_test(test_signal_names),
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
