/* Logins by an ssh agent in bad company: servers go away. */
#include "agent_fixture.h"
#include "fake_server.h"

static void stop_server(void *ctx, size_t host, const struct exec_result *result)
{
    (void)host;
    (void)result;
    fake_stop(ctx);
}

/* The server goes away while the agent is still to list its keys. */
static void test_lost_before_list(void **state)
{
    static const struct exec_handler handler = {.done = stop_server};
    static const struct exec_request request = {.command = "true"}, later = {.command = "sleep 0.5"};
    struct world *world = *state, here = *world;
    struct fake_server fake = fake_start(world, FAKE_WELL);
    pid_t pid = start_agent(world, "slow");
    struct fleet *fleet = make_fleet(0, 0);
    struct endpoint endpoint, local = make_endpoint(world, "127.0.0.1", true);
    struct outcome outcome = {0};

    here.port = fake.port;
    endpoint = make_agent_endpoint(&here, "slow", NULL);
    kill(pid, SIGSTOP);
    outcome_ask(&outcome, fleet, fleet_add_host(fleet, &endpoint), &request);
    fleet_exec(fleet, fleet_add_host(fleet, &local), &later, &handler, &fake);
    fleet_run(fleet);
    fleet_free(fleet);
    assert_failed(&outcome, &kind_connection_lost);
    end_agent(pid);
    endpoint_release(&endpoint);
    endpoint_release(&local);
    outcome_release(&outcome);
}

/* Hosts whose servers go away in an agent's login, and others that begin meanwhile. */
#define LOST_HOSTS 32
#define GOOD_HOSTS 64

struct crowd {
    struct fleet *fleet;
    uint64_t ticker;
    size_t begun;
    struct outcome lost[LOST_HOSTS], good[GOOD_HOSTS];
};

/* The loop is busy: connections are lost and new ones begin within one turn of it. */
static void begin_more(void *ctx, size_t host, int stream, const char *bytes, size_t len)
{
    static const struct exec_request request = {.command = "true"};
    struct crowd *crowd = ctx;

    (void)host;
    (void)stream;
    (void)bytes;
    (void)len;
    usleep(20000);
    if (crowd->begun == GOOD_HOSTS) {
        fleet_cancel(crowd->fleet, crowd->ticker);
        return;
    }
    outcome_ask(&crowd->good[crowd->begun], crowd->fleet, LOST_HOSTS + crowd->begun, &request);
    crowd->begun++;
}

static void end_ticker(void *ctx, size_t host, const struct exec_result *result)
{
    (void)ctx;
    (void)host;
    (void)result;
}

/* The number of a lost connection's descriptor is soon another one's: that one is not to suffer. */
static void test_lost_beside_good(void **state)
{
    static const struct exec_handler handler = {.data = begin_more, .done = end_ticker};
    static const struct exec_request request = {.command = "true"},
                                     ticks = {.command = "while echo; do sleep 0.01; done"};
    struct world *world = *state, here = *world;
    struct crowd crowd = {.fleet = make_fleet(0, 4000)};
    const struct fake_server fakes[] = {fake_start(world, FAKE_CLOSE_AT_LOGIN),
                                        fake_start(world, FAKE_CLOSE_BEFORE_SIGNATURE),
                                        fake_start(world, FAKE_WELL)};
    struct endpoint local = make_endpoint(world, "127.0.0.1", true), good;
    pid_t pid = start_agent(world, "crowd");

    add_to_agent(world, "crowd", "id");
    for (size_t i = 0; i < LOST_HOSTS; i++) {
        struct endpoint lost;
        here.port = fakes[i % 2].port;
        lost = make_agent_endpoint(&here, "crowd", NULL);
        outcome_ask(&crowd.lost[i], crowd.fleet, fleet_add_host(crowd.fleet, &lost), &request);
        endpoint_release(&lost);
    }
    here.port = fakes[2].port;
    good = make_endpoint(&here, "127.0.0.1", false);
    for (size_t i = 0; i < GOOD_HOSTS; i++)
        fleet_add_host(crowd.fleet, &good);
    crowd.ticker = fleet_exec(crowd.fleet, fleet_add_host(crowd.fleet, &local), &ticks, &handler, &crowd);
    fleet_run(crowd.fleet);
    fleet_free(crowd.fleet);
    for (size_t i = 0; i < LOST_HOSTS; i++) {
        assert_non_null(crowd.lost[i].result.error.kind);
        outcome_release(&crowd.lost[i]);
    }
    for (size_t i = 0; i < GOOD_HOSTS; i++) {
        assert_ended(&crowd.good[i], 0);
        outcome_release(&crowd.good[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(fakes); i++)
        fake_stop(&fakes[i]);
    end_agent(pid);
    endpoint_release(&local);
    endpoint_release(&good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_before_list),
        cmocka_unit_test(test_lost_beside_good),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
