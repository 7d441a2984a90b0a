/* What only ssh can do and suffer: keys, ways to a host, sessions, limits of sshd. */
#include "base/text.h"
#include "fake_server.h"

static void set_identity(struct endpoint *endpoint, const char *folder, const char *name)
{
    strlist_release(&endpoint->identities);
    strlist_addf(&endpoint->identities, "%s/%s", folder, name);
}

static void change_nothing(struct world *world, struct endpoint *endpoint)
{
    (void)world;
    (void)endpoint;
}

static void use_stranger(struct world *world, struct endpoint *endpoint)
{
    endpoint->gssapi = true;
    run_shell("rm -f %s/stranger*; ssh-keygen -q -t ed25519 -N '' -f %s/stranger", world->dir, world->dir);
    set_identity(endpoint, world->dir, "stranger");
}

static void test_wrong_key(void **state)
{
    struct world *world = *state;
    struct outcome outcome = {0};

    run_case(world, use_stranger, &outcome);
    assert_failed(&outcome, &kind_auth_failed);
    assert_non_null(strstr(outcome.result.error.text, "/stranger'"));
    assert_non_null(strstr(outcome.result.error.text, world->user));
    assert_non_null(strstr(outcome.result.error.hint, "check the user"));
    assert_non_null(strstr(outcome.result.error.hint, "Kerberos"));
    outcome_release(&outcome);
}

/* How often the server was connected to under that address: its log says so before it says anything else. */
static size_t count_connections(const struct world *world, const char *address)
{
    AUTO_FREE char *path = xasprintf("%s/sshd.log", world->dir);
    AUTO_FREE char *text = xasprintf(" on %s port ", address);
    AUTO_STR struct str said = STR_INIT;
    size_t count = 0;

    assert_int_equal(file_read(path, 1 << 20, &said, NULL), 0);
    for (const char *at = str_text(&said); (at = strstr(at, text)) != NULL; at++) {
        count++;
    }
    return count;
}

/* Only connections that are dropped early are made again: not those whose login is refused, whichever client
 * it is and whether or not the host was taken at its word just before. */
static void test_refused_once(void **state)
{
    static const char address[] = "127.0.0.2"; /* those that looked whether sshd is up came to another one */
    struct world *world = *state;
    AUTO_FREE char *name = NULL;

    world_serve(world, "LogLevel VERBOSE\n");
    name = port_name(world, address);
    world_trust(world, name);
    for (unsigned i = 0; i < 4; i++) {
        struct endpoint endpoint = make_endpoint(world, address, false);
        struct outcome outcome = {0};
        use_stranger(world, &endpoint);
        if (i % 2 == 1) {
            strlist_release(&endpoint.known_hosts);
            strlist_addf(&endpoint.known_hosts, "%s/fresh%u", world->dir, i);
            endpoint.trust_file = xasprintf("%s/fresh%u", world->dir, i);
            endpoint.accept_new = true;
        }
        if (i / 2 == 1) {
            endpoint_use_openssh(&endpoint);
        }
        run_command(&endpoint, "true", &outcome);
        assert_failed(&outcome, &kind_auth_failed);
        assert_int_equal(count_connections(world, address), i + 1);
        if (i % 2 == 1) {
            run_shell("test $(grep -c . %s/fresh%u) -ge 1", world->dir, i);
        }
        outcome_release(&outcome);
        endpoint_release(&endpoint);
    }
}

/* Several identities: those that are refused or of no use are passed over. */
static void use_many(struct world *world, struct endpoint *endpoint)
{
    use_stranger(world, endpoint);
    run_shell("rm -f %s/locked*; ssh-keygen -q -t ed25519 -N secret -f %s/locked", world->dir, world->dir);
    strlist_addf(&endpoint->identities, "%s/locked", world->dir);
    strlist_addf(&endpoint->identities, "%s/id", world->dir);
}

static void test_many_keys(void **state)
{
    struct outcome outcome = {0};

    run_case(*state, use_many, &outcome);
    assert_ended(&outcome, 0);
    outcome_release(&outcome);
}

static void use_rsa(struct world *world, struct endpoint *endpoint)
{
    run_shell(
        "rm -f %s/rsa*; ssh-keygen -q -t rsa -b 2048 -N '' -f %s/rsa && cat %s/rsa.pub >>%s/authorized_keys",
        world->dir, world->dir, world->dir, world->dir);
    set_identity(endpoint, world->dir, "rsa");
}

static void test_rsa_key(void **state)
{
    struct outcome outcome = {0};

    run_case(*state, use_rsa, &outcome);
    assert_ended(&outcome, 0);
    outcome_release(&outcome);
}

static void use_locked(struct world *world, struct endpoint *endpoint)
{
    run_shell("rm -f %s/locked*; ssh-keygen -q -t ed25519 -N secret -f %s/locked", world->dir, world->dir);
    set_identity(endpoint, world->dir, "locked");
}

static void use_open_key(struct world *world, struct endpoint *endpoint)
{
    run_shell("cp %s/id %s/open && chmod 644 %s/open", world->dir, world->dir, world->dir);
    set_identity(endpoint, world->dir, "open");
}

static void use_broken_key(struct world *world, struct endpoint *endpoint)
{
    run_shell("echo nonsense >%s/broken && chmod 600 %s/broken", world->dir, world->dir);
    set_identity(endpoint, world->dir, "broken");
}

static void use_no_key(struct world *world, struct endpoint *endpoint)
{
    (void)world;
    strlist_release(&endpoint->identities);
}

static void use_vanished_key(struct world *world, struct endpoint *endpoint)
{
    set_identity(endpoint, world->dir, "vanished");
}

static void use_closed_port(struct world *world, struct endpoint *endpoint)
{
    (void)world;
    endpoint->port = free_port();
}

static void use_no_route(struct world *world, struct endpoint *endpoint)
{
    (void)world;
    free(endpoint->hostname);
    endpoint->hostname = xstrdup("255.255.255.255");
}

static void use_no_name(struct world *world, struct endpoint *endpoint)
{
    (void)world;
    free(endpoint->hostname);
    endpoint->hostname = xstrdup("no-such-host.invalid");
}

/* Each of these ends alone, soon, with its own kind and a hint. */
static void test_refusals(void **state)
{
    static const struct {
        void (*change)(struct world *world, struct endpoint *endpoint);
        const struct error_kind *kind;
        const char *text;
    } cases[] = {
        {use_locked, &kind_key_encrypted, "/locked' is encrypted"},
        {use_open_key, &kind_key_mode, "mode 0644"},
        {use_broken_key, &kind_key_unusable, "/broken'"},
        {use_no_key, &kind_auth_failed, "no private key"},
        {use_vanished_key, &kind_identity_missing, "/vanished'"},
        {use_closed_port, &kind_refused, "port "},
        {use_no_route, &kind_unreachable, "no connection to '255.255.255.255' port"},
        {use_no_name, &kind_name_not_resolved, "'no-such-host.invalid'"},
    };

    FOR_ROWS(i, cases, cases[i].text) {
        struct outcome outcome = {0};
        run_case(*state, cases[i].change, &outcome);
        assert_failed(&outcome, cases[i].kind);
        assert_false(outcome.result.started);
        assert_non_null(strstr(outcome.result.error.text, cases[i].text));
        assert_true(cases[i].change == use_vanished_key || outcome.result.error.hint[0] != '\0');
        outcome_release(&outcome);
    }
}

/* --- ways to a host --- */

/* A server that has only what libssh lacks: said what is not shared, and the client that may have it. */
static void test_nothing_in_common(void **state)
{
    static const struct {
        const char *extra, *text, *hint;
    } cases[] = {
        {"KexAlgorithms sntrup761x25519-sha512@openssh.com\n",
         "no key exchange algorithm in common; the server has sntrup761x25519-sha512@openssh.com",
         "'KexAlgorithms +NAME'"},
        {"MACs umac-128-etm@openssh.com\nCiphers aes128-ctr\n",
         "no MAC in common; the server has umac-128-etm@openssh.com", "'MACs +NAME'"},
    };

    FOR_ROWS(i, cases, cases[i].extra) {
        struct outcome outcome = {0};
        world_serve(*state, cases[i].extra);
        run_case(*state, change_nothing, &outcome);
        assert_failed(&outcome, &kind_connection_lost);
        assert_true(text_ends(outcome.result.error.text, cases[i].text));
        assert_non_null(strstr(outcome.result.error.hint, "ssh: {client: openssh}"));
        assert_non_null(strstr(outcome.result.error.hint, cases[i].hint));
        outcome_release(&outcome);
    }
}

/* ssh_config's ConnectTimeout, where no other time was asked for. */
static void test_connect_timeout(void **state)
{
    struct endpoint endpoint = make_endpoint(*state, "127.0.0.1", false);
    struct exec_request request = {.command = "true"};
    struct outcome outcome = {0};
    struct fake_server server = fake_start(*state, FAKE_SILENT);
    int64_t began = clock_mono_ms();

    endpoint.port = server.port;
    endpoint.connect_timeout_ms = 1000;
    run_request(&endpoint, &request, &outcome);
    assert_failed(&outcome, &kind_timed_out);
    assert_non_null(strstr(outcome.result.error.text, "within 1 s"));
    assert_true(clock_mono_ms() - began < 8000);
    fake_stop(&server);
    endpoint_release(&endpoint);
}

/* AddressFamily: of localhost's addresses only those are tried, and none may be left. */
static void use_family(struct world *world, struct endpoint *endpoint)
{
    (void)world;
    free(endpoint->hostname);
    endpoint->hostname = xstrdup("localhost");
    endpoint->key_name = port_name(world, "127.0.0.1");
    endpoint->address_family = AF_INET;
}

static void use_no_family(struct world *world, struct endpoint *endpoint)
{
    use_family(world, endpoint);
    endpoint->address_family = AF_UNIX;
}

static void test_address_family(void **state)
{
    struct outcome outcomes[2] = {{0}};

    run_case(*state, use_family, &outcomes[0]);
    assert_ended(&outcomes[0], 0);
    run_case(*state, use_no_family, &outcomes[1]);
    assert_failed(&outcomes[1], &kind_name_not_resolved);
    outcome_release(&outcomes[0]);
    outcome_release(&outcomes[1]);
}

/* Compression of ssh_config, in both directions and over new keys; half of the bytes cannot be compressed. */
static void test_compression(void **state)
{
    struct world *world = *state;
    const size_t size = 4 << 20;
    AUTO_FREE char *bytes = xcalloc(1, size);
    AUTO_FREE char *log = xasprintf("%s/sshd.log", world->dir);
    AUTO_STR struct str said = STR_INIT;
    struct exec_request request = {.command = "cat", .input = bytes, .input_len = size};
    struct outcome outcome = {0};

    world_serve(world, "LogLevel DEBUG1\nRekeyLimit 1M\n");
    struct endpoint endpoint = make_endpoint(world, "127.0.0.1", false);
    endpoint.compression = true;
    uint32_t noise = 1;
    for (size_t i = 0; i < size / 2; i++) {
        noise = noise * 1664525 + 1013904223;
        bytes[i] = (char)(noise >> 24);
    }
    run_request(&endpoint, &request, &outcome);
    assert_ended(&outcome, 0);
    assert_int_equal(outcome.out.len, size);
    assert_memory_equal(outcome.out.data, bytes, size);
    assert_int_equal(file_read(log, 1 << 20, &said, NULL), 0);
    assert_non_null(strstr(str_text(&said), "compression: zlib@openssh.com"));
    outcome_release(&outcome);
    endpoint_release(&endpoint);
    world_serve(world, "");
}

/* --- sessions --- */

static void test_session_is_reused(void **state)
{
    struct world *world = *state;
    struct endpoint endpoint = make_endpoint(world, "127.0.0.1", false);
    struct fleet *fleet = make_fleet(0, 0);
    size_t host = fleet_add_host(fleet, &endpoint);
    struct exec_request request = {.command = "echo $SSH_CONNECTION"};
    struct outcome outcomes[3] = {{0}};

    for (int i = 0; i < 3; i++) {
        outcome_ask(&outcomes[i], fleet, host, &request);
        fleet_run(fleet);
        assert_ended(&outcomes[i], 0);
        assert_string_equal(str_text(&outcomes[i].out), str_text(&outcomes[0].out));
    }
    for (int i = 0; i < 3; i++) {
        outcome_release(&outcomes[i]);
    }
    fleet_free(fleet);
    endpoint_release(&endpoint);
}

/* The server's end of the session is killed while it stands idle: the next command opens a new one. */
static void test_lost_idle_session(void **state)
{
    struct world *world = *state;
    struct endpoint endpoint = make_endpoint(world, "127.0.0.1", false);
    struct fleet *fleet = make_fleet(0, 0);
    size_t host = fleet_add_host(fleet, &endpoint);
    struct exec_request request = {.command = "echo $PPID"};
    struct outcome first = {0}, second = {0};
    pid_t peer;

    outcome_ask(&first, fleet, host, &request);
    fleet_run(fleet);
    assert_ended(&first, 0);
    peer = (pid_t)strtol(str_text(&first.out), NULL, 10);
    assert_true(peer > 1 && peer != world->sshd);
    kill(peer, SIGKILL);
    WAIT_FOR(is_gone(peer));
    outcome_ask(&second, fleet, host, &request);
    fleet_run(fleet);
    assert_ended(&second, 0);
    outcome_release(&first);
    outcome_release(&second);
    fleet_free(fleet);
    endpoint_release(&endpoint);
}

static void kill_peer(void *ctx, size_t host, int stream, const char *bytes, size_t len)
{
    struct outcome *outcome = ctx;

    outcome_data(ctx, host, stream, bytes, len);
    kill((pid_t)strtol(str_text(&outcome->out), NULL, 10), SIGKILL);
}

static void test_lost_in_mid_run(void **state)
{
    static const struct exec_handler handler = {.data = kill_peer, .done = outcome_done};
    struct endpoint endpoint = make_endpoint(*state, "127.0.0.1", false);
    struct fleet *fleet = make_fleet(0, 0);
    struct exec_request request = {.command = "echo $PPID; exec cat", .hold_input = true};
    struct outcome outcome = {0};

    fleet_exec(fleet, fleet_add_host(fleet, &endpoint), &request, &handler, &outcome);
    fleet_run(fleet);
    assert_failed(&outcome, &kind_connection_lost);
    assert_true(outcome.result.started);
    outcome_release(&outcome);
    fleet_free(fleet);
    endpoint_release(&endpoint);
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
    struct endpoint endpoint = make_endpoint(*state, "127.0.0.1", false);
    pid_t peer;

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
    struct endpoint endpoint = make_endpoint(*state, "127.0.0.1", false);

    outcome_ask(&outcome, fleet, fleet_add_host(fleet, &endpoint), &request);
    fleet_run(fleet);
    assert_ended(&outcome, 0);
    assert_string_equal(str_text(&outcome.out), "end\n");
    fleet_free(fleet);
    endpoint_release(&endpoint);
    outcome_release(&outcome);
}

/* --- limits of sshd --- */

static void test_second_factor(void **state)
{
    struct outcome outcome = {0};

    world_serve(*state, "AuthenticationMethods publickey,publickey\n");
    run_case(*state, change_nothing, &outcome);
    assert_failed(&outcome, &kind_auth_failed);
    assert_non_null(strstr(outcome.result.error.text, "needs more than a key"));
    outcome_release(&outcome);
}

static void use_two_strangers(struct world *world, struct endpoint *endpoint)
{
    run_shell("rm -f %s/one* %s/two*; ssh-keygen -q -t ed25519 -N '' -f %s/one; cp %s/one %s/two", world->dir,
              world->dir, world->dir, world->dir, world->dir);
    set_identity(endpoint, world->dir, "one");
    strlist_addf(&endpoint->identities, "%s/two", world->dir);
}

static void test_too_many_keys(void **state)
{
    struct outcome outcome = {0};

    world_serve(*state, "MaxAuthTries 1\n");
    run_case(*state, use_two_strangers, &outcome);
    assert_failed(&outcome, &kind_auth_failed);
    assert_non_null(strstr(outcome.result.error.text, "/one'"));
    assert_non_null(strstr(outcome.result.error.text, "MaxAuthTries"));
    outcome_release(&outcome);
}

/* A server with one session: commands queue, and a follower does not lock the others out. */
static void test_max_sessions_one(void **state)
{
    struct world *world = *state;
    struct endpoint endpoint;
    struct fleet *fleet = make_fleet(0, 0);
    AUTO_FREE char *reads = xasprintf("cat %s/fifo", world->dir);
    AUTO_FREE char *writes = xasprintf("echo hello >%s/fifo", world->dir);
    struct exec_request follow = {.command = reads, .follow = true, .timeout_ms = PATIENCE_MS};
    struct exec_request request = {.command = "true", .timeout_ms = PATIENCE_MS};
    struct outcome outcomes[7] = {{0}};
    size_t host;

    world_serve(world, "MaxSessions 1\n");
    run_shell("rm -f %s/fifo && mkfifo %s/fifo", world->dir, world->dir);
    endpoint = make_endpoint(world, "127.0.0.1", false);
    host = fleet_add_host(fleet, &endpoint);
    /* The follower holds the only session for ever, unless another connection lets the last one through. */
    outcome_ask(&outcomes[0], fleet, host, &follow);
    for (int i = 1; i < 6; i++) {
        outcome_ask(&outcomes[i], fleet, host, &request);
    }
    request.command = writes;
    outcome_ask(&outcomes[6], fleet, host, &request);
    fleet_run(fleet);
    for (int i = 0; i < 7; i++) {
        assert_ended(&outcomes[i], 0);
        outcome_release(&outcomes[i]);
    }
    fleet_free(fleet);
    endpoint_release(&endpoint);
}

/* A server that allows no session at all. */
static void test_max_sessions_none(void **state)
{
    struct world *world = *state;
    struct outcome outcome = {0};

    world_serve(world, "MaxSessions 0\n");
    run_case(world, change_nothing, &outcome);
    assert_failed(&outcome, &kind_node_unsupported);
    assert_false(outcome.result.started);
    assert_non_null(strstr(outcome.result.error.hint, "MaxSessions"));
    outcome_release(&outcome);
}

/* 32 addresses of one sshd that drops logins above ten: no more are under way, none is dropped. */
static void test_max_startups(void **state)
{
    struct world *world = *state;
    struct fleet *fleet = make_fleet(0, 60000);
    struct exec_request request = {.command = "true"};
    struct outcome outcomes[32] = {{0}};
    AUTO_FREE char *pattern = NULL;
    AUTO_FREE char *log = xasprintf("%s/sshd.log", world->dir);
    AUTO_STR struct str said = STR_INIT;

    world_start_sshd(world, "MaxStartups 10:30:100\n");
    pattern = port_name(world, "127.0.0.*");
    world_trust(world, pattern);
    for (unsigned i = 0; i < 32; i++) {
        AUTO_FREE char *address = xasprintf("127.0.0.%u", i + 1);
        struct endpoint endpoint = make_endpoint(world, address, false);
        outcome_ask(&outcomes[i], fleet, fleet_add_host(fleet, &endpoint), &request);
        endpoint_release(&endpoint);
    }
    fleet_run(fleet);
    for (int i = 0; i < 32; i++) {
        assert_ended(&outcomes[i], 0);
        outcome_release(&outcomes[i]);
    }
    fleet_free(fleet);
    assert_int_equal(file_read(log, 1 << 20, &said, NULL), 0);
    assert_null(strstr(str_text(&said), "MaxStartups"));
}

/* W8: the server's banner, which says why nobody is let in, is in the message of either client. */
static void test_refused_with_a_banner(void **state)
{
    struct world *world = *state;
    AUTO_FREE char *banner = xasprintf("%s/banner", world->dir);
    AUTO_FREE char *extra = xasprintf("Banner %s\nDenyUsers *\n", banner);

    write_file(banner, "hello\nYour account has expired; \033[2Jplease contact your administrator\n\n");
    world_serve(world, "");
    world_serve(world, extra);
    for (int openssh = 0; openssh <= 1; openssh++) {
        struct endpoint endpoint = make_endpoint(world, "127.0.0.1", false);
        struct outcome outcome = {0};
        if (openssh == 1) {
            endpoint_use_openssh(&endpoint);
        }
        run_command(&endpoint, "true", &outcome);
        assert_failed(&outcome, &kind_auth_failed);
        assert_non_null(strstr(outcome.result.error.text, "the server says: 'Your account has expired; "));
        assert_null(strchr(outcome.result.error.text, '\033'));
        assert_non_null(strstr(outcome.result.error.hint, "chage -E"));
        outcome_release(&outcome);
        endpoint_release(&endpoint);
    }
    world_serve(world, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_with_a_banner),
        cmocka_unit_test(test_connect_timeout),
        cmocka_unit_test(test_address_family),
        cmocka_unit_test(test_compression),

        cmocka_unit_test(test_wrong_key),
        cmocka_unit_test(test_refused_once),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_rsa_key),
        cmocka_unit_test(test_refusals),

        cmocka_unit_test(test_session_is_reused),
        cmocka_unit_test(test_lost_idle_session),
        cmocka_unit_test(test_lost_in_mid_run),
        cmocka_unit_test(test_stopped_server),
        cmocka_unit_test(test_idle_session_lives),
        cmocka_unit_test(test_second_factor),
        cmocka_unit_test(test_too_many_keys),
        cmocka_unit_test(test_max_sessions_one),
        cmocka_unit_test(test_max_sessions_none),
        cmocka_unit_test(test_max_startups),
        cmocka_unit_test(test_nothing_in_common),
    };

    return cmocka_run_group_tests(tests, world_set_up_sshd, world_tear_down);
}
