/* Logins by an ssh agent in bad company: it refuses keys, files run out, servers go away. */
#include <sys/resource.h>

#include "agent_fixture.h"
#include "fake_server.h"

/* libssh forgets an agent's list (agent->ident) when it asks for another one in the same session. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:ssh_buffer_new";
}

/* A key that has to be confirmed, where nobody can be asked: the agent refuses to sign with it. */
static void add_refused(const struct world *world, const char *agent, const char *name)
{
    make_key(world, "ed25519", name, "");
    run_shell("SSH_AUTH_SOCK=%s/%s ssh-add -q -c %s/%s 2>/dev/null", world->dir, agent, world->dir, name);
}

/* Behind a key that the agent does not sign with the next ones are tried; the end names it. */
static void test_refused_keys(void **state)
{
    struct world *world = *state;
    pid_t pid = start_agent(world, "refusing");
    struct endpoint endpoint = make_agent_endpoint(world, "refusing", NULL);
    struct outcome outcomes[3] = {{0}};

    fill_agent(world, "refusing", 1);
    for (int i = 0; i < 2; i++) {
        AUTO_FREE char *name = xasprintf("refused%d", i);
        add_refused(world, "refusing", name);
        allow(world, name);
    }
    run_command(&endpoint, "true", &outcomes[0]);
    assert_failed(&outcomes[0], &kind_auth_failed);
    assert_non_null(strstr(outcomes[0].result.error.text, "tried 'refusing_wrong0' of the agent; ssh agent"));
    assert_non_null(strstr(outcomes[0].result.error.text, "refuses to sign with 'refused0', 'refused1'"));
    add_to_agent(world, "refusing", "refusing_wrong0");
    make_key(world, "ed25519", "last_wrong", "");
    add_to_agent(world, "refusing", "last_wrong");
    run_command(&endpoint, "true", &outcomes[1]);
    assert_failed(&outcomes[1], &kind_auth_failed);
    assert_non_null(strstr(outcomes[1].result.error.text,
                           "tried 'refusing_wrong0' of the agent, 'last_wrong' of the agent; ssh agent"));
    assert_non_null(strstr(outcomes[1].result.error.text, "refuses to sign with 'refused0', 'refused1'"));
    make_key(world, "ed25519", "willing", "");
    allow(world, "willing");
    add_to_agent(world, "refusing", "willing");
    run_command(&endpoint, "true", &outcomes[2]);
    assert_ended(&outcomes[2], 0);
    end_agent(pid);
    endpoint_release(&endpoint);
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        outcome_release(&outcomes[i]);
    }
}

/* The hosts one after the other, all sessions staying, with that many files to open. */
static void ask_within(const struct endpoint *endpoint, size_t hosts, rlim_t files, struct outcome *outcomes)
{
    static const struct exec_request request = {.command = "true"};
    struct fleet *fleet = make_fleet(1, 2000);
    int lowest = open("/dev/null", O_RDONLY);
    struct rlimit before, few;

    close(lowest);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){.rlim_cur = (rlim_t)lowest + files, .rlim_max = before.rlim_max};
    for (size_t i = 0; i < hosts; i++) {
        outcome_ask(&outcomes[i], fleet, fleet_add_host(fleet, endpoint), &request);
    }
    setrlimit(RLIMIT_NOFILE, &few);
    fleet_run(fleet);
    setrlimit(RLIMIT_NOFILE, &before);
    fleet_free(fleet);
}

/* Wherever files run out in a login by the agent, this machine is to blame; a session then keeps only one. */
static void test_no_more_files(void **state)
{
    struct world *world = *state;
    pid_t pid = start_agent(world, "frugal");
    struct endpoint endpoint = make_agent_endpoint(world, "frugal", NULL);
    struct outcome outcomes[4] = {{0}};
    unsigned by_agent = 0;
    rlim_t files = 1;

    add_to_agent(world, "frugal", "id");
    for (;; files++) {
        struct outcome outcome = {0};
        ask_within(&endpoint, 1, files, &outcome);
        outcome_release(&outcome);
        if (outcome.result.error.kind == NULL) {
            break;
        }
        assert_failed(&outcome, &kind_local);
        by_agent += strstr(outcome.result.error.text, "the ssh agent cannot be asked: ") != NULL;
    }
    assert_true(by_agent >= 2); /* the pair, a signature; its list takes no more than known_hosts did */
    ask_within(&endpoint, ARRAY_LEN(outcomes), files + ARRAY_LEN(outcomes) - 1, outcomes);
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        assert_ended(&outcomes[i], 0);
        outcome_release(&outcomes[i]);
    }
    end_agent(pid);
    endpoint_release(&endpoint);
}

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
    for (size_t i = 0; i < GOOD_HOSTS; i++) {
        fleet_add_host(crowd.fleet, &good);
    }
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
    for (size_t i = 0; i < ARRAY_LEN(fakes); i++) {
        fake_stop(&fakes[i]);
    }
    end_agent(pid);
    endpoint_release(&local);
    endpoint_release(&good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_keys),
        cmocka_unit_test(test_no_more_files),
        cmocka_unit_test(test_lost_before_list),
        cmocka_unit_test(test_lost_beside_good),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
