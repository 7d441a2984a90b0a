/* Servers that break off half-way (a small one of libssh's), and a machine that has no more to give. */
#include <libssh/libssh.h>
#include <libssh/server.h>
#include <sys/resource.h>

#include "fixture.h"

enum manner { MANNER_NO_LOGIN, MANNER_NO_COMMAND, MANNER_NO_STATUS, MANNER_SIGNAL };

static void answer_request(ssh_message message, ssh_channel channel, enum manner manner)
{
    if (manner == MANNER_NO_COMMAND) {
        ssh_message_reply_default(message);
        return;
    }
    ssh_message_channel_request_reply_success(message);
    if (manner == MANNER_SIGNAL)
        ssh_channel_request_send_exit_signal(channel, "SIG@example.org", 0, "", "");
    ssh_channel_close(channel);
}

static void answer_login(ssh_message message, enum manner manner)
{
    if (manner == MANNER_NO_LOGIN)
        _exit(0);
    if (ssh_message_subtype(message) == SSH_AUTH_METHOD_PUBLICKEY)
        ssh_message_auth_reply_success(message, 0);
    else
        ssh_message_reply_default(message);
}

/* One client, in a process of its own. */
static void serve(const struct world *world, unsigned port, enum manner manner)
{
    AUTO_FREE char *key = xasprintf("%s/host_ed25519", world->dir);
    ssh_bind server = ssh_bind_new();
    ssh_session session = ssh_new();
    ssh_channel channel = NULL;

    ssh_bind_options_set(server, SSH_BIND_OPTIONS_BINDADDR, "127.0.0.1");
    ssh_bind_options_set(server, SSH_BIND_OPTIONS_BINDPORT, &port);
    ssh_bind_options_set(server, SSH_BIND_OPTIONS_HOSTKEY, key);
    if (ssh_bind_listen(server) != SSH_OK)
        _exit(2);
    /* The test looks whether the port answers: that is the first client. */
    while (ssh_bind_accept(server, session) != SSH_OK || ssh_handle_key_exchange(session) != SSH_OK) {
        ssh_free(session);
        session = ssh_new();
    }
    for (ssh_message message; (message = ssh_message_get(session)) != NULL; ssh_message_free(message)) {
        if (ssh_message_type(message) == SSH_REQUEST_AUTH)
            answer_login(message, manner);
        else if (ssh_message_type(message) == SSH_REQUEST_CHANNEL_OPEN)
            channel = ssh_message_channel_request_open_reply_accept(message);
        else if (ssh_message_type(message) == SSH_REQUEST_CHANNEL)
            answer_request(message, channel, manner);
        else
            ssh_message_reply_default(message);
    }
    _exit(0);
}

static void run_against(struct world *world, enum manner manner, struct outcome *outcome)
{
    struct endpoint endpoint;
    AUTO_FREE char *name = NULL;
    pid_t server;

    world->port = free_port();
    server = fork();
    assert_true(server >= 0);
    if (server == 0)
        serve(world, world->port, manner);
    WAIT_FOR(can_connect(world->port));
    name = xasprintf("[127.0.0.1]:%u", world->port);
    world_trust(world, name);
    endpoint = make_endpoint(world, "127.0.0.1", false);
    run_command(&endpoint, "true", outcome);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    endpoint_release(&endpoint);
}

static void test_half_way(void **state)
{
    static const struct {
        enum manner manner;
        const struct error_kind *kind;
        const char *text;
        bool started;
    } cases[] = {
        {MANNER_NO_LOGIN, &kind_connection_lost, "connection lost during the login", false},
        {MANNER_NO_COMMAND, &kind_node_unsupported, "refuses to run a command", true},
        {MANNER_NO_STATUS, &kind_connection_lost, "without an exit status", true},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct outcome outcome = {0};
        run_against(*state, cases[i].manner, &outcome);
        assert_failed(&outcome, cases[i].kind);
        assert_non_null(strstr(outcome.result.error.text, cases[i].text));
        assert_int_equal(outcome.result.started, cases[i].started);
        outcome_release(&outcome);
    }
}

/* A signal that this system does not know is no success. */
static void test_foreign_signal(void **state)
{
    struct outcome outcome = {0};

    run_against(*state, MANNER_SIGNAL, &outcome);
    assert_ended(&outcome, 255);
    assert_string_equal(outcome.result.signal, "SIG@example.org");
    outcome_release(&outcome);
}

/* sshd with further lines in its configuration. */
static void run_with_sshd(struct world *world, const char *extra, struct endpoint *endpoint)
{
    AUTO_FREE char *name = NULL;

    world_start_sshd(world, extra);
    name = xasprintf("[127.0.0.1]:%u", world->port);
    world_trust(world, name);
    *endpoint = make_endpoint(world, "127.0.0.1", false);
}

static void test_second_factor(void **state)
{
    struct outcome outcome = {0};
    struct endpoint endpoint;

    run_with_sshd(*state, "AuthenticationMethods publickey,publickey\n", &endpoint);
    run_command(&endpoint, "true", &outcome);
    assert_failed(&outcome, &kind_auth_failed);
    assert_non_null(strstr(outcome.result.error.text, "needs more than a key"));
    endpoint_release(&endpoint);
    outcome_release(&outcome);
}

static void test_too_many_keys(void **state)
{
    struct world *world = *state;
    struct outcome outcome = {0};
    struct endpoint endpoint;

    run_with_sshd(world, "MaxAuthTries 1\n", &endpoint);
    run_shell("rm -f %s/one* %s/two*; ssh-keygen -q -t ed25519 -N '' -f %s/one; cp %s/one %s/two", world->dir,
              world->dir, world->dir, world->dir, world->dir);
    strlist_release(&endpoint.identities);
    strlist_addf(&endpoint.identities, "%s/one", world->dir);
    strlist_addf(&endpoint.identities, "%s/two", world->dir);
    run_command(&endpoint, "true", &outcome);
    assert_failed(&outcome, &kind_auth_failed);
    assert_non_null(strstr(outcome.result.error.text, "/one'"));
    assert_non_null(strstr(outcome.result.error.text, "MaxAuthTries"));
    endpoint_release(&endpoint);
    outcome_release(&outcome);
}

/* A stopped server answers nothing while its kernel keeps the connection: only keepalive tells. */
static void stop_peer(void *ctx, size_t host, int stream, const char *bytes, size_t len)
{
    struct outcome *outcome = ctx;

    outcome_data(ctx, host, stream, bytes, len);
    kill((pid_t)strtol(str_text(&outcome->out), NULL, 10), SIGSTOP);
}

static void test_stopped_server(void **state)
{
    static const struct exec_handler handler = {.data = stop_peer, .done = outcome_done};
    struct fleet_options options = {.keepalive_ms = 300};
    struct fleet *fleet = fleet_new(&options, NULL);
    struct exec_request request = {.command = "echo $PPID; exec cat", .hold_input = true};
    struct outcome outcome = {0};
    struct endpoint endpoint;
    pid_t peer;

    run_with_sshd(*state, "", &endpoint);
    fleet_exec(fleet, fleet_add_host(fleet, &endpoint), &request, &handler, &outcome);
    fleet_run(fleet);
    assert_failed(&outcome, &kind_connection_lost);
    assert_non_null(strstr(outcome.result.error.text, "no sign of life"));
    peer = (pid_t)strtol(str_text(&outcome.out), NULL, 10);
    kill(peer, SIGKILL);
    kill(peer, SIGCONT);
    fleet_free(fleet);
    endpoint_release(&endpoint);
    outcome_release(&outcome);
}

/* A session that stands idle and answers lives on over many keepalives. */
static void test_idle_session_lives(void **state)
{
    struct fleet_options options = {.keepalive_ms = 50};
    struct fleet *fleet = fleet_new(&options, NULL);
    struct exec_request request = {.command = "sleep 1; echo end"};
    struct outcome outcome = {0};
    struct endpoint endpoint;

    run_with_sshd(*state, "", &endpoint);
    outcome_ask(&outcome, fleet, fleet_add_host(fleet, &endpoint), &request);
    fleet_run(fleet);
    assert_ended(&outcome, 0);
    assert_string_equal(str_text(&outcome.out), "end\n");
    fleet_free(fleet);
    endpoint_release(&endpoint);
    outcome_release(&outcome);
}

static void test_unreachable(void **state)
{
    struct outcome outcome = {0};
    struct endpoint endpoint = make_endpoint(*state, "255.255.255.255", false);

    run_command(&endpoint, "true", &outcome);
    assert_failed(&outcome, &kind_unreachable);
    assert_non_null(strstr(outcome.result.error.text, "no connection to port"));
    endpoint_release(&endpoint);
    outcome_release(&outcome);
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
    for (size_t i = 0; i < ARRAY_LEN(fillers); i++)
        close(fillers[i]);
    close(fd);
    endpoint_release(&endpoint);
    outcome_release(&outcome);
}

/* The lowest number that is free now: a limit there leaves nothing to open. */
static rlim_t lowest_free(void)
{
    int fd = open("/dev/null", O_RDONLY);

    close(fd);
    return (rlim_t)fd;
}

static void limit_files(rlim_t limit)
{
    struct rlimit files;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = limit;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
}

static void test_no_more_files(void **state)
{
    struct rlimit before;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (int local = 0; local <= 1; local++) {
        struct endpoint endpoint = make_endpoint(*state, "127.0.0.1", local == 1);
        struct fleet *fleet = make_fleet(0, 0);
        struct exec_request request = {.command = "true"};
        struct outcome outcome = {0};
        outcome_ask(&outcome, fleet, fleet_add_host(fleet, &endpoint), &request);
        limit_files(lowest_free());
        fleet_run(fleet);
        limit_files(before.rlim_cur);
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
    struct rlimit before;
    struct fleet *fleet;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit_files(lowest_free());
    fleet = fleet_new(NULL, &err);
    limit_files(before.rlim_cur);
    assert_null(fleet);
    assert_true(error_is(&err, &kind_local));
    assert_non_null(strstr(err.text, "the event loop cannot be made"));
    fleet_free(NULL);
}

static int set_up(void **state)
{
    struct world *world = xcalloc(1, sizeof(*world));

    world_init(world);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    world_release(*state);
    free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_way),       cmocka_unit_test(test_foreign_signal),
        cmocka_unit_test(test_second_factor),  cmocka_unit_test(test_too_many_keys),
        cmocka_unit_test(test_stopped_server), cmocka_unit_test(test_idle_session_lives),
        cmocka_unit_test(test_unreachable),    cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_no_more_files),  cmocka_unit_test(test_no_loop),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
