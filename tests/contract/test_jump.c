/* Jump hosts: several hops, many hosts behind one, and all the ways in which a jump fails its hosts. */
#include "fixture.h"

#define HOSTS 64

/* The server behind, and the jump before it. */
struct pair {
    struct world world, jump;
};

static struct endpoint make_target(const struct pair *pair)
{
    struct endpoint endpoint = make_endpoint(&pair->world, "127.0.0.1", false);

    endpoint_set_jump(&endpoint, &pair->jump);
    return endpoint;
}

static void test_two_hops(void **state)
{
    struct pair *pair = *state;
    struct world first;
    struct endpoint endpoint = make_target(pair);
    struct outcome outcome = {0};

    world_init_sshd(&first, "");
    endpoint_set_jump(endpoint.jump, &first);
    run_command(&endpoint, "echo ran", &outcome);
    assert_ended(&outcome, 0);
    assert_string_equal(str_text(&outcome.out), "ran\n");
    outcome_release(&outcome);
    endpoint_release(&endpoint);
    world_release(&first);
}

/* The host key is that of the inner host, under the name it has in the list's configuration. */
static void test_inner_host_key(void **state)
{
    struct pair *pair = *state;
    struct endpoint endpoint = make_target(pair);
    struct outcome outcome = {0};

    strlist_release(&endpoint.known_hosts);
    strlist_addf(&endpoint.known_hosts, "%s/known_hosts", pair->jump.dir); /* knows the jump alone */
    run_command(&endpoint, "true", &outcome);
    assert_failed(&outcome, &kind_hostkey_unknown);
    assert_null(strstr(outcome.result.error.text, "jump host"));
    outcome_release(&outcome);
    endpoint_release(&endpoint);
}

/* What becomes of three hosts behind the jump: one kind and the very same words. */
static void check_all(const struct endpoint *endpoint, const struct error_kind *kind, const char *text)
{
    struct fleet *fleet = make_fleet(0, 5000);
    struct exec_request request = {.command = "true"};
    struct outcome outcomes[3] = {{0}};

    for (int i = 0; i < 3; i++) {
        struct endpoint one;
        endpoint_copy(&one, endpoint);
        free(one.name);
        one.name = xasprintf("n%d", i);
        free(one.hostname);
        one.hostname = xasprintf("127.0.0.%d", i + 1);
        outcome_ask(&outcomes[i], fleet, fleet_add_host(fleet, &one), &request);
        endpoint_release(&one);
    }
    fleet_run(fleet);
    for (int i = 0; i < 3; i++) {
        assert_failed(&outcomes[i], kind);
        assert_false(outcomes[i].result.started);
        if (strstr(outcomes[i].result.error.text, text) == NULL) {
            print_error("text: %s\n", outcomes[i].result.error.text);
        }
        assert_non_null(strstr(outcomes[i].result.error.text, text));
        assert_string_equal(outcomes[i].result.error.text, outcomes[0].result.error.text);
        outcome_release(&outcomes[i]);
    }
    fleet_free(fleet);
}

static void test_jump_down(void **state)
{
    struct pair *pair = *state;
    struct endpoint endpoint = make_target(pair);

    endpoint.jump->port = free_port();
    check_all(&endpoint, &kind_jump_unreachable, "jump host '127.0.0.1': connection to port");
    free(endpoint.jump->hostname);
    endpoint.jump->hostname = xstrdup("no-such-host.invalid");
    check_all(&endpoint, &kind_jump_unreachable, "name 'no-such-host.invalid' cannot be resolved");
    endpoint_release(&endpoint);
}

/* A jump that nobody can log in to has its own remedy: the kind says which. */
static void test_jump_login(void **state)
{
    struct pair *pair = *state;
    struct endpoint endpoint = make_target(pair);

    strlist_release(&endpoint.jump->identities);
    strlist_addf(&endpoint.jump->identities, "%s/id", pair->world.dir); /* the inner host's */
    check_all(&endpoint, &kind_auth_failed, "jump host '127.0.0.1': login as");
    strlist_release(&endpoint.jump->known_hosts);
    check_all(&endpoint, &kind_hostkey_unknown, "jump host '127.0.0.1': the host key is not known");
    endpoint_release(&endpoint);
}

/* The same jump twice, known and unknown under its name: what one may, the other may not, whoever comes
 * first. */
static void test_jump_trust_is_not_shared(void **state)
{
    struct pair *pair = *state;
    const struct exec_request request = {.command = "true"};

    for (int first = 0; first < 2; first++) {
        struct fleet *fleet = make_fleet(0, 5000);
        struct outcome outcomes[2] = {{0}};
        for (int i = 0; i < 2; i++) {
            struct endpoint endpoint = make_target(pair);
            if (i == first) {
                endpoint.jump->key_name = xstrdup("another-name");
            }
            outcome_ask(&outcomes[i], fleet, fleet_add_host(fleet, &endpoint), &request);
            fleet_run(fleet);
            endpoint_release(&endpoint);
        }
        assert_failed(&outcomes[first], &kind_hostkey_unknown);
        assert_ended(&outcomes[1 - first], 0);
        outcome_release(&outcomes[0]);
        outcome_release(&outcomes[1]);
        fleet_free(fleet);
    }
}

static void test_no_forwarding(void **state)
{
    struct pair *pair = *state;
    struct world closed;
    struct endpoint endpoint = make_endpoint(&pair->world, "127.0.0.1", false);

    world_init_sshd(&closed, "AllowTcpForwarding no\n");
    endpoint_set_jump(&endpoint, &closed);
    check_all(&endpoint, &kind_jump_unreachable, "jump host '127.0.0.1' does not forward");
    endpoint_release(&endpoint);
    world_release(&closed);
}

/* A jump host that forwards to one port alone: who may not pass is told so, and who may is not held up. */
static void test_some_forwarding(void **state)
{
    struct pair *pair = *state;
    struct world picky;
    AUTO_FREE char *config = xasprintf("PermitOpen 127.0.0.1:%u\n", pair->world.port);
    struct fleet *fleet = make_fleet(0, 10000);
    const struct exec_request request = {.command = "echo ran"};
    struct outcome outcomes[5] = {{0}};

    world_init_sshd(&picky, config);
    for (int i = 0; i < 5; i++) {
        struct endpoint endpoint = make_endpoint(&pair->world, "127.0.0.1", false);
        endpoint_set_jump(&endpoint, &picky);
        endpoint.port = i == 2 ? pair->world.port : pair->jump.port;
        outcome_ask(&outcomes[i], fleet, fleet_add_host(fleet, &endpoint), &request);
        endpoint_release(&endpoint);
    }
    fleet_run(fleet);
    for (int i = 0; i < 5; i++) {
        if (i == 2) {
            assert_ended(&outcomes[i], 0);
        } else {
            assert_failed(&outcomes[i], &kind_jump_unreachable);
            assert_non_null(strstr(outcomes[i].result.error.text, "does not forward"));
        }
        outcome_release(&outcomes[i]);
    }
    fleet_free(fleet);
    world_release(&picky);
}

static void stop_fleet(void *ctx)
{
    fleet_stop(ctx);
}

/* Of a server; -1: they cannot be counted. */
static int count_sessions(const struct world *world)
{
    AUTO_FREE char *command = xasprintf("exit $(pgrep -c -P %ld)", (long)world->sshd);
    int status = system(command); /* NOLINT(cert-env33-c) */

    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * One command through the jump host, then one on each of two hosts without it, where files are few. In a
 * process of its own, which asserts nothing. Returns how many ended well; -1: the session of the jump host
 * has not made room; -2: the limit cannot be set.
 */
static int use_few_files(struct pair *pair)
{
    const struct fleet_options options = {.hosts = 1};
    const struct exec_request request = {.command = "echo ran"};
    const rlim_t files = lowest_free_file() + 12 + 2; /* the spare ones, and two */
    const struct rlimit limit = {.rlim_cur = files, .rlim_max = files};
    struct error err = ERROR_INIT;
    struct fleet *fleet;
    int well = 0;

    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return -2;
    }
    fleet = fleet_new(&options, &err);
    for (int i = 0; i < 3; i++) {
        struct endpoint endpoint =
            i == 0 ? make_target(pair) : make_endpoint(&pair->world, "127.0.0.1", false);
        struct outcome outcome = {0};
        outcome_ask(&outcome, fleet, fleet_add_host(fleet, &endpoint), &request);
        fleet_run(fleet);
        well += !outcome.result.error.kind;
        if (i == 0 && count_sessions(&pair->jump) != 1) {
            return -1;
        }
    }
    for (int i = 0; i < 100 && count_sessions(&pair->jump) > 0; i++) {
        fleet_timer(fleet, 50, stop_fleet, fleet);
        fleet_run(fleet);
    }
    return count_sessions(&pair->jump) == 0 ? well : -1;
}

/* A jump host counts like any host where files are few: once nobody passes through, its session makes room.
 */
static void test_jump_makes_room(void **state)
{
    pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0) { /* the limit is the process's */
        _exit(use_few_files(*state) & 0xff);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == (-2 & 0xff)) {
        print_message("skipped: the limit of open files cannot be lowered here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 3);
}

static void test_inner_trouble(void **state)
{
    struct pair *pair = *state;
    struct endpoint endpoint = make_target(pair);
    struct outcome outcome = {0};

    endpoint.port = free_port();
    run_command(&endpoint, "true", &outcome);
    assert_failed(&outcome, &kind_refused);
    assert_non_null(strstr(outcome.result.error.text, "from the jump host to '127.0.0.1' port"));
    outcome_release(&outcome);
    free(endpoint.hostname);
    endpoint.hostname = xstrdup("no-such-host.invalid");
    outcome = (struct outcome){0};
    run_command(&endpoint, "true", &outcome);
    assert_failed(&outcome, &kind_name_not_resolved);
    endpoint_release(&endpoint);
}

/* As many as a fleet has, through one session, with limits as they are by default. */
static void test_many_through_one(void **state)
{
    struct pair *pair = *state;
    struct world narrow;
    struct fleet *fleet = make_fleet(0, 60000);
    struct exec_request request = {.command = "true"};
    struct outcome *outcomes = xcalloc(HOSTS, sizeof(*outcomes));
    AUTO_FREE char *pattern = xasprintf("[127.0.0.*]:%u", pair->world.port), *log = NULL;

    world_init_sshd(&narrow, "MaxStartups 10:30:100\nMaxSessions 10\n");
    world_trust(&pair->world, pattern);
    for (unsigned i = 0; i < HOSTS; i++) {
        AUTO_FREE char *address = xasprintf("127.0.0.%u", i + 1);
        struct endpoint endpoint = make_endpoint(&pair->world, address, false);
        endpoint_set_jump(&endpoint, &narrow);
        outcome_ask(&outcomes[i], fleet, fleet_add_host(fleet, &endpoint), &request);
        endpoint_release(&endpoint);
    }
    fleet_run(fleet);
    for (int i = 0; i < HOSTS; i++) {
        assert_ended(&outcomes[i], 0);
        outcome_release(&outcomes[i]);
    }
    fleet_free(fleet);
    free(outcomes);
    log = xasprintf("test $(grep -c 'Accepted publickey' %s/sshd.log) = 1", narrow.dir);
    run_shell("%s", log); /* one session served them all */
    world_release(&narrow);
}

static void end_jump(void *ctx, size_t host, int stream, const char *bytes, size_t len)
{
    struct outcome *outcome = ctx;

    outcome_data(ctx, host, stream, bytes, len);
    const char *at = str_text(&outcome->out);
    char *end = NULL;
    for (long pid = strtol(at, &end, 10); end != at; at = end, pid = strtol(at, &end, 10)) {
        kill((pid_t)pid, SIGKILL);
    }
}

/* The jump's session dies under a command; the next command makes a new one. */
static void test_jump_lost(void **state)
{
    static const struct exec_handler handler = {.data = end_jump, .done = outcome_done};
    struct pair *pair = *state;
    struct endpoint endpoint = make_target(pair);
    struct fleet *fleet = make_fleet(0, 0);
    size_t host = fleet_add_host(fleet, &endpoint);
    /* The sessions of the jump are its server's children, and from OpenSSH 10 on theirs, which live on
     * without them; one of an earlier test may still be on its way out. */
    AUTO_FREE char *command =
        xasprintf("for p in $(pgrep -P %ld); do pgrep -P $p; echo $p; done; exec cat", (long)pair->jump.sshd);
    struct exec_request request = {.command = command, .hold_input = true}, again = {.command = "echo ran"};
    struct outcome lost = {0}, second = {0};

    fleet_exec(fleet, host, &request, &handler, &lost);
    fleet_run(fleet);
    assert_failed(&lost, &kind_connection_lost);
    assert_true(lost.result.started);
    assert_non_null(strstr(lost.result.error.text, "jump host '127.0.0.1'"));
    outcome_ask(&second, fleet, host, &again);
    fleet_run(fleet);
    assert_ended(&second, 0);
    outcome_release(&lost);
    outcome_release(&second);
    fleet_free(fleet);
    endpoint_release(&endpoint);
}

/* A host that takes what it gets no more holds up neither the jump nor the host beside it. */
static void test_pause_beside(void **state)
{
    struct pair *pair = *state;
    struct endpoint endpoint = make_target(pair);
    struct fleet *fleet = make_fleet(0, 0);
    struct exec_request much = {.command = "head -c 6000000 /dev/zero"}, little = {.command = "echo ran"};
    struct outcome outcomes[2] = {{0}};

    outcome_ask(&outcomes[0], fleet, fleet_add_host(fleet, &endpoint), &much);
    outcome_ask(&outcomes[1], fleet, fleet_add_host(fleet, &endpoint), &little);
    fleet_pause_output(fleet, true);
    fleet_timer(fleet, 300, stop_fleet, fleet);
    fleet_run(fleet);
    fleet_pause_output(fleet, false);
    fleet_run(fleet);
    assert_ended(&outcomes[0], 0);
    assert_int_equal(outcomes[0].out.len, 6000000);
    assert_ended(&outcomes[1], 0);
    outcome_release(&outcomes[0]);
    outcome_release(&outcomes[1]);
    fleet_free(fleet);
    endpoint_release(&endpoint);
}

static int set_up(void **state)
{
    struct pair *pair = xcalloc(1, sizeof(*pair));

    world_init_sshd(&pair->world, "");
    world_init_sshd(&pair->jump, "");
    *state = pair;
    return 0;
}

static int tear_down(void **state)
{
    struct pair *pair = *state;

    world_release(&pair->world);
    world_release(&pair->jump);
    free(pair);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_hops),
        cmocka_unit_test(test_inner_host_key),
        cmocka_unit_test(test_jump_down),
        cmocka_unit_test(test_jump_login),
        cmocka_unit_test(test_jump_trust_is_not_shared),
        cmocka_unit_test(test_no_forwarding),
        cmocka_unit_test(test_some_forwarding),
        cmocka_unit_test(test_jump_makes_room),
        cmocka_unit_test(test_inner_trouble),
        cmocka_unit_test(test_many_through_one),
        cmocka_unit_test(test_jump_lost),
        cmocka_unit_test(test_pause_beside),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
