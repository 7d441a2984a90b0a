/* Peers that misbehave, each in its way: each fails alone, with its reason and in its time; the rest goes on.
 */
#include "fake_server.h"

#define CONNECT_MS   5000
#define KEEPALIVE_MS 1000
#define GOOD_HOSTS   4

static const struct {
    enum fake_manner manner;
    const struct error_kind *kind; /* NULL: it does well in the end */
    const char *text;
    bool started;
} cases[] = {
    {FAKE_WELL, NULL, NULL, true},
    {FAKE_SLOW, NULL, NULL, true},
    {FAKE_SILENT, &kind_timed_out, "accepts connections and says nothing within 5 s", false},
    {FAKE_CLOSE, &kind_connection_lost, "closed the connection before the login, repeatedly", false},
    {FAKE_HTTP, &kind_connection_lost, "closed the connection before the login, repeatedly", false},
    {FAKE_GARBAGE, &kind_timed_out, "it does not speak ssh within 5 s", false},
    {FAKE_FLOOD, &kind_connection_lost, "no ssh handshake in the first", false},
    {FAKE_BANNER, &kind_timed_out, "the key exchange was not finished within 5 s", false},
    {FAKE_BAD_PACKETS, &kind_connection_lost, "no ssh handshake", false},
    {FAKE_CLOSE_AT_LOGIN, &kind_connection_lost, "connection lost during the login", false},
    {FAKE_NO_LOGIN, &kind_timed_out, "the login was not answered within 5 s", false},
    {FAKE_NO_CHANNEL, &kind_timed_out, "the ssh server opened no channel within 5 s", false},
    {FAKE_NO_COMMAND, &kind_node_unsupported, "refuses to run a command", true},
    {FAKE_NO_ANSWER, &kind_connection_lost, "no sign of life for 3 s", true},
    {FAKE_NO_STATUS, &kind_connection_lost, "without an exit status", true},
    {FAKE_CLOSE_IN_COMMAND, &kind_connection_lost, "connection lost", true},
};

static void ask_true(struct fleet *fleet, const struct world *world, unsigned port, struct outcome *outcome)
{
    struct exec_request request = {.command = "true"};
    struct endpoint endpoint = make_endpoint(world, "127.0.0.1", false);

    endpoint.port = port;
    outcome_ask(outcome, fleet, fleet_add_host(fleet, &endpoint), &request);
    endpoint_release(&endpoint);
}

static void check(size_t index, const struct outcome *outcome)
{
    if (cases[index].kind == NULL) {
        assert_ended(outcome, 0);
        return;
    }
    assert_failed(outcome, cases[index].kind);
    if (strstr(outcome->result.error.text, cases[index].text) == NULL) {
        fail_msg("case %zu: '%s'", index, outcome->result.error.text);
    }
    assert_int_equal(outcome->result.started, cases[index].started);
}

static void test_each_fails_alone(void **state)
{
    struct world *world = *state;
    struct fleet_options options = {.connect_timeout_ms = CONNECT_MS, .keepalive_ms = KEEPALIVE_MS};
    struct fleet *fleet = fleet_new(&options, NULL);
    struct fake_server servers[ARRAY_LEN(cases)];
    struct outcome outcomes[ARRAY_LEN(cases)] = {0}, good[GOOD_HOSTS] = {0};
    int64_t begin;

    world_serve(world, "");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        servers[i] = fake_start(world, cases[i].manner);
        ask_true(fleet, world, servers[i].port, &outcomes[i]);
    }
    for (size_t i = 0; i < GOOD_HOSTS; i++) {
        ask_true(fleet, world, world->port, &good[i]);
    }
    begin = clock_mono_ms();
    fleet_run(fleet);
    assert_true(clock_mono_ms() - begin < 2 * CONNECT_MS);
    fleet_free(fleet);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        fake_stop(&servers[i]);
    }
    for (size_t i = 0; i < GOOD_HOSTS; i++) {
        assert_ended(&good[i], 0);
    }
    FOR_ROWS(i, cases, cases[i].text) {
        check(i, &outcomes[i]);
    }
}

/* A signal that this system does not know is no success. */
static void test_foreign_signal(void **state)
{
    struct fake_server server = fake_start(*state, FAKE_FOREIGN_SIGNAL);
    struct fleet *fleet = make_fleet(0, 0);
    struct outcome outcome = {0};

    ask_true(fleet, *state, server.port, &outcome);
    fleet_run(fleet);
    fleet_free(fleet);
    fake_stop(&server);
    assert_ended(&outcome, 255);
    assert_string_equal(outcome.result.signal, "SIG@example.org");
}

/* ServerAliveInterval and ServerAliveCountMax of the host come before the fleet's own. */
static void test_dead_in_the_hosts_own_time(void **state)
{
    struct fake_server server = fake_start(*state, FAKE_NO_ANSWER);
    struct fleet *fleet = make_fleet(0, 0);
    struct exec_request request = {.command = "true"};
    struct endpoint endpoint = make_endpoint(*state, "127.0.0.1", false);
    struct outcome outcome = {0};

    endpoint.port = server.port;
    endpoint.alive_interval_ms = 200;
    endpoint.alive_count_max = 2;
    outcome_ask(&outcome, fleet, fleet_add_host(fleet, &endpoint), &request);
    fleet_run(fleet);
    fleet_free(fleet);
    fake_stop(&server);
    endpoint_release(&endpoint);
    assert_failed(&outcome, &kind_connection_lost);
    assert_non_null(strstr(outcome.result.error.text, "no sign of life for 0.4 s"));
}

/* A listener whose queue is full drops what comes: to us a host that does not answer. */
static void test_no_answer(void **state)
{
    struct endpoint endpoint = make_endpoint(*state, "127.0.0.1", false);
    struct fleet *fleet = make_fleet(0, 500);
    struct exec_request request = {.command = "true"};
    struct outcome outcome = {0};
    int fd = listen_somewhere(&endpoint.port), fillers[4];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)endpoint.port)};

    assert_int_equal(listen(fd, 0), 0);
    for (size_t i = 0; i < ARRAY_LEN(fillers); i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)!connect(fillers[i], (struct sockaddr *)&address, sizeof(address));
    }
    outcome_ask(&outcome, fleet, fleet_add_host(fleet, &endpoint), &request);
    fleet_run(fleet);
    assert_failed(&outcome, &kind_timed_out);
    assert_non_null(strstr(outcome.result.error.text, "no answer within 0.5 s"));
    fleet_free(fleet);
    for (size_t i = 0; i < ARRAY_LEN(fillers); i++) {
        close(fillers[i]);
    }
    close(fd);
    endpoint_release(&endpoint);
    outcome_release(&outcome);
}

/* One address with a server that says nothing: those who wait for their turn there do not wait for ever. */
static void test_many_on_a_silent_one(void **state)
{
    struct world *world = *state;
    struct fake_server server = fake_start(world, FAKE_SILENT);
    struct fleet *fleet = make_fleet(0, 1000);
    struct outcome outcomes[20] = {0};
    int64_t begin = clock_mono_ms(), took;

    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        ask_true(fleet, world, server.port, &outcomes[i]);
    }
    fleet_run(fleet);
    took = clock_mono_ms() - begin;
    assert_in_range(took, 2900, 6000); /* eight at a time, a second each */
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        assert_failed(&outcomes[i], &kind_timed_out);
    }
    fleet_free(fleet);
    fake_stop(&server);
}

/* A server that drops whoever comes while three are logging in: nobody is lost. */
static void test_dropped_beyond_a_few(void **state)
{
    struct world *world = *state;
    struct fleet *fleet = make_fleet(0, 20000);
    struct outcome outcomes[16] = {0};

    world_serve(world, "MaxStartups 3:100:3\n");
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        ask_true(fleet, world, world->port, &outcomes[i]);
    }
    fleet_run(fleet);
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        assert_ended(&outcomes[i], 0);
    }
    fleet_free(fleet);
}

/* What came of a host that was turned away, and when. */
struct turned_away {
    struct outcome outcome; /* first: the handlers know it as one */
    int64_t ended_ms;
};

static void on_turned_away(void *ctx, size_t host, const struct exec_result *result)
{
    outcome_done(ctx, host, result);
    ((struct turned_away *)ctx)->ended_ms = clock_mono_ms();
}

/* U24: the server's own words before the close are quoted by either client; one that punishes is asked
 * again a few times, after pauses. */
static void test_turned_away(void **state)
{
    static const struct {
        enum fake_manner manner;
        bool openssh;
        const char *words, *hint;
        int64_t pauses_ms;
    } rows[] = {{FAKE_PENALTY, false, "'Not allowed at this time'", "PerSourcePenalties", 3000},
                {FAKE_PENALTY, true, "'Not allowed at this time'", "PerSourcePenalties", 3000},
                {FAKE_FULL, false, "'Exceeded MaxStartups'", "MaxStartups", 1000},
                {FAKE_FULL, true, "'Exceeded MaxStartups'", "MaxStartups", 1000}};
    static const struct exec_handler handler = {.data = outcome_data, .done = on_turned_away};
    static const struct exec_request request = {.command = "true"};
    struct fake_server servers[ARRAY_LEN(rows)];
    struct turned_away hosts[ARRAY_LEN(rows)] = {0};
    struct fleet *fleet = make_fleet(0, 0);
    const int64_t began = clock_mono_ms();

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        servers[i] = fake_start(*state, rows[i].manner);
        struct endpoint endpoint = make_endpoint(*state, "127.0.0.1", false);
        endpoint.port = servers[i].port;
        if (rows[i].openssh) {
            endpoint_use_openssh(&endpoint);
        }
        hosts[i].outcome.fleet = fleet;
        hosts[i].outcome.id =
            fleet_exec(fleet, fleet_add_host(fleet, &endpoint), &request, &handler, &hosts[i]);
        endpoint_release(&endpoint);
    }
    assert_int_equal(fleet_run(fleet), 0);
    fleet_free(fleet);
    FOR_ROWS(i, rows, rows[i].words) {
        const struct error *error = &hosts[i].outcome.result.error;
        fake_stop(&servers[i]);
        assert_failed(&hosts[i].outcome, &kind_connection_lost);
        assert_contains(error->text, rows[i].words);
        assert_contains(error->text, "before the login");
        assert_contains(error->hint, rows[i].hint);
        assert_contains(error->text, "repeatedly");
        assert_in_range(hosts[i].ended_ms - began, rows[i].pauses_ms, PATIENCE_MS);
        outcome_release(&hosts[i].outcome);
    }
}

/* U24: the same with a real server that punishes refused logins. */
static void test_real_penalty(void **state)
{
    struct world *world = *state;
    struct endpoint endpoint;
    struct outcome refused = {0}, punished = {0};
    int64_t began;

    if (!sshd_knows_penalties(world)) {
        print_message("skipped: this sshd is older than OpenSSH 9.8 and punishes nobody\n");
        skip();
    }
    world_serve(world, "PerSourcePenalties authfail:60 noauth:60 min:1\n");
    endpoint = make_endpoint(world, "127.0.0.1", false);
    strlist_release(&endpoint.identities);
    strlist_addf(&endpoint.identities, "%s/host_ed25519", world->dir); /* a key that it does not know */
    run_command(&endpoint, "true", &refused);
    assert_failed(&refused, &kind_auth_failed);
    began = clock_mono_ms();
    run_command(&endpoint, "true", &punished);
    assert_in_range(clock_mono_ms() - began, 3000, PATIENCE_MS);
    assert_failed(&punished, &kind_connection_lost);
    assert_non_null(strstr(punished.result.error.text, "'Not allowed at this time'"));
    assert_non_null(strstr(punished.result.error.hint, "PerSourcePenalties"));
    outcome_release(&refused);
    outcome_release(&punished);
    endpoint_release(&endpoint);
    world_stop_sshd(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turned_away),
        cmocka_unit_test(test_real_penalty),
        cmocka_unit_test(test_each_fails_alone),
        cmocka_unit_test(test_foreign_signal),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_dead_in_the_hosts_own_time),
        cmocka_unit_test(test_many_on_a_silent_one),
        cmocka_unit_test(test_dropped_beyond_a_few),
    };

    return cmocka_run_group_tests(tests, world_set_up, world_tear_down);
}
