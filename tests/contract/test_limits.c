/* A machine that has no more to give: what cannot be opened or started here is said to be so, and whose it
 * is. */
#include "fixture.h"

static void test_no_more_files(void **state)
{
    const struct rlimit before = file_limits();

    for (int local = 0; local <= 1; local++) {
        struct endpoint endpoint = make_endpoint(*state, "127.0.0.1", local == 1);
        struct fleet *fleet = make_fleet(0, 0);
        struct exec_request request = {.command = "true"};
        struct outcome outcome = {0};
        outcome_ask(&outcome, fleet, fleet_add_host(fleet, &endpoint), &request);
        limit_files(lowest_free_file(), before.rlim_max);
        fleet_run(fleet);
        limit_files(before.rlim_cur, before.rlim_max);
        assert_failed(&outcome, &kind_local);
        assert_non_null(strstr(outcome.result.error.text,
                               local == 1 ? "/bin/sh cannot be started" : "no more files can be opened"));
        fleet_free(fleet);
        endpoint_release(&endpoint);
        outcome_release(&outcome);
    }
}

static void test_no_loop(void **state)
{
    struct error err = ERROR_INIT;
    const struct rlimit before = file_limits();
    struct fleet *fleet;

    (void)state;
    limit_files(lowest_free_file(), before.rlim_max);
    fleet = fleet_new(NULL, &err);
    limit_files(before.rlim_cur, before.rlim_max);
    assert_null(fleet);
    assert_true(error_is(&err, &kind_local));
    assert_non_null(strstr(err.text, "cannot create the event loop"));
    fleet_free(NULL);
}

#define STOPPED_HOSTS    24
#define STOPPED_LIMIT_MS 1500

/* S13: stopped in the middle of logins for longer than their limit, and then of a command for longer than
 * its own: every host has its time again, by any client. */
static void stop_for_a_while(struct world *world, bool openssh)
{
    struct endpoint endpoint = make_endpoint(world, "127.0.0.1", false);
    struct exec_request request = {.command = "sleep 1", .timeout_ms = 3000};
    struct fleet *fleet = make_fleet(0, STOPPED_LIMIT_MS * (openssh ? 4 : 1));
    struct outcome outcomes[STOPPED_HOSTS] = {{0}};
    const size_t hosts = openssh ? 4 : STOPPED_HOSTS;
    pid_t parent = getpid(), child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        for (int i = 0; i < 2; i++) { /* in the logins, then in the commands */
            usleep(150 * 1000);
            kill(parent, SIGSTOP);
            usleep((openssh ? 3000 : STOPPED_LIMIT_MS + 2000) * 1000);
            kill(parent, SIGCONT);
        }
        _exit(0);
    }
    if (openssh) {
        endpoint_use_openssh(&endpoint);
    }
    for (size_t i = 0; i < hosts; i++) {
        outcome_ask(&outcomes[i], fleet, fleet_add_host(fleet, &endpoint), &request);
    }
    fleet_run(fleet);
    waitpid(child, NULL, 0);
    for (size_t i = 0; i < hosts; i++) {
        assert_ended(&outcomes[i], 0);
        outcome_release(&outcomes[i]);
    }
    fleet_free(fleet);
    endpoint_release(&endpoint);
}

static void test_stopped(void **state)
{
    world_serve(*state, "");
    stop_for_a_while(*state, false);
    stop_for_a_while(*state, true);
}

/* S13: a server that ends slow logins may do so while this process is stopped: that is tried again. */
static void test_stopped_beyond_grace(void **state)
{
    struct world *world = *state;
    struct outcome outcome = {0};
    struct endpoint endpoint;
    pid_t parent = getpid(), child;

    world_serve(world, "LoginGraceTime 2");
    endpoint = make_endpoint(world, "127.0.0.1", false);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        usleep(30 * 1000);
        kill(parent, SIGSTOP);
        usleep(5000 * 1000);
        kill(parent, SIGCONT);
        _exit(0);
    }
    run_command(&endpoint, "true", &outcome);
    waitpid(child, NULL, 0);
    assert_ended(&outcome, 0);
    outcome_release(&outcome);
    endpoint_release(&endpoint);
}

#define HASHED_LINES 4000
#define HASHED_HOSTS 24

/* S13: known_hosts of cloned machines: thousands of hashed lines with one key. To look through them takes
 * longer than the limit of the logins; no host pays for it, and the unknown one is told that it is unknown.
 */
static void test_many_hashed_lines(void **state)
{
    struct world *world = *state;
    AUTO_FREE char *known = xasprintf("%s/hashed", world->dir);
    struct fleet *fleet = make_fleet(0, 500);
    struct outcome outcomes[HASHED_HOSTS] = {{0}};
    struct exec_request request = {.command = "true"};

    world_serve(world, "");
    run_shell("key=$(cut -d' ' -f1,2 %s/host_ed25519.pub); seq -f 'clone%%g' %d | sed \"s|$| $key|\" >%s",
              world->dir, HASHED_LINES, known);
    run_shell("key=$(cut -d' ' -f1,2 %s/host_ed25519.pub); for n in $(seq 2 %d); do echo \"[127.0.0.$n]:%u "
              "$key\"; done"
              " >>%s; ssh-keygen -q -H -f %s >/dev/null 2>&1",
              world->dir, HASHED_HOSTS, world->port, known, known);
    for (size_t i = 0; i < HASHED_HOSTS; i++) { /* the first is not known */
        AUTO_FREE char *address = xasprintf("127.0.0.%zu", i + 1);
        struct endpoint endpoint = make_endpoint(world, address, false);
        strlist_release(&endpoint.known_hosts);
        strlist_add(&endpoint.known_hosts, known);
        outcome_ask(&outcomes[i], fleet, fleet_add_host(fleet, &endpoint), &request);
        endpoint_release(&endpoint);
    }
    fleet_run(fleet);
    fleet_free(fleet);
    assert_failed(&outcomes[0], &kind_hostkey_unknown);
    for (size_t i = 1; i < HASHED_HOSTS; i++) {
        assert_ended(&outcomes[i], 0);
    }
    for (size_t i = 0; i < HASHED_HOSTS; i++) {
        outcome_release(&outcomes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_more_files),
        cmocka_unit_test(test_no_loop),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_many_hashed_lines),
        cmocka_unit_test(test_stopped_beyond_grace),
    };

    return cmocka_run_group_tests(tests, world_set_up, world_tear_down);
}
