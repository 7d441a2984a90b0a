/* What only ssh can do and suffer: keys, host keys, servers that misbehave, limits of sshd. */
#include "base/text.h"
#include "fixture.h"

static char *port_name(const struct world *world, const char *host)
{
    return xasprintf("[%s]:%u", host, world->port);
}

/* One command on a fresh endpoint that the case has changed. */
static void run_case(struct world *world, void (*change)(struct world *, struct endpoint *),
                     struct outcome *outcome)
{
    struct endpoint endpoint = make_endpoint(world, "127.0.0.1", false);

    change(world, &endpoint);
    run_command(&endpoint, "echo ran", outcome);
    endpoint_release(&endpoint);
}

static void set_identity(struct endpoint *endpoint, const char *folder, const char *name)
{
    strlist_release(&endpoint->identities);
    strlist_addf(&endpoint->identities, "%s/%s", folder, name);
}

static void set_known_hosts(struct endpoint *endpoint, const char *folder, const char *name)
{
    strlist_release(&endpoint->known_hosts);
    strlist_addf(&endpoint->known_hosts, "%s/%s", folder, name);
}

static void change_nothing(struct world *world, struct endpoint *endpoint)
{
    (void)world;
    (void)endpoint;
}

static void know_nobody(struct world *world, struct endpoint *endpoint)
{
    set_known_hosts(endpoint, world->dir, "no_such_file");
}

static void test_hostkey_unknown(void **state)
{
    struct world *world = *state;
    struct outcome outcome = {0};
    AUTO_STR struct str fingerprint = STR_INIT;
    AUTO_FREE char *path = xasprintf("%s/fingerprint", world->dir);

    run_shell("ssh-keygen -lf %s/host_ed25519.pub | cut -d' ' -f2 | tr -d '\\n' >%s", world->dir, path);
    assert_int_equal(file_read(path, 1000, &fingerprint, NULL), 0);
    run_case(world, know_nobody, &outcome);
    assert_failed(&outcome, &kind_hostkey_unknown);
    assert_false(outcome.result.started);
    assert_non_null(strstr(outcome.result.error.text, str_text(&fingerprint)));
    assert_non_null(strstr(outcome.result.error.text, "no_such_file"));
    assert_non_null(strstr(outcome.result.error.hint, "ssh-keyscan"));
    outcome_release(&outcome);
}

/* accept-new: sixteen addresses of one unknown server at once; each is written down once, and known after it.
 */
static void test_accept_new(void **state)
{
    struct world *world = *state;
    AUTO_FREE char *path = xasprintf("%s/fresh/known_hosts", world->dir);

    run_shell("mkdir %s/fresh", world->dir);
    for (int round = 0; round < 2; round++) {
        struct fleet *fleet = make_fleet(0, 0);
        struct exec_request request = {.command = "true"};
        struct outcome outcomes[16] = {{0}};
        for (unsigned i = 0; i < 16; i++) {
            AUTO_FREE char *address = xasprintf("127.0.1.%u", i / 2 + 1);
            struct endpoint endpoint = make_endpoint(world, address, false);
            set_known_hosts(&endpoint, world->dir, "fresh/known_hosts");
            endpoint.accept_new = round == 0;
            endpoint.trust_file = xstrdup(path);
            outcome_ask(&outcomes[i], fleet, fleet_add_host(fleet, &endpoint), &request);
            endpoint_release(&endpoint);
        }
        fleet_run(fleet);
        fleet_free(fleet);
        for (int i = 0; i < 16; i++) {
            assert_ended(&outcomes[i], 0);
            outcome_release(&outcomes[i]);
        }
        run_shell("test $(grep -c . %s) -eq 8 && test $(stat -c %%a %s) = 600", path, path);
    }
}

/* Hashed names of several types: the server is asked again for the type that is known. */
static void know_hashed_ecdsa(struct world *world, struct endpoint *endpoint)
{
    AUTO_FREE char *name = port_name(world, "127.0.0.1");

    run_shell("{ printf '%%s ' '%s'; cut -d' ' -f1,2 %s/host_ecdsa.pub; printf 'other '; "
              "cut -d' ' -f1,2 %s/id.pub; } >%s/two && ssh-keygen -q -H -f %s/two 2>/dev/null",
              name, world->dir, world->dir, world->dir, world->dir);
    set_known_hosts(endpoint, world->dir, "two");
    endpoint->accept_new = true;
    endpoint->trust_file = xasprintf("%s/two", world->dir);
}

static void test_hashed_type(void **state)
{
    struct world *world = *state;
    struct outcome outcome = {0};

    run_case(world, know_hashed_ecdsa, &outcome);
    assert_ended(&outcome, 0);
    run_shell("test $(grep -c . %s/two) -eq 2", world->dir);
    outcome_release(&outcome);
}

static void know_another_and_accept(struct world *world, struct endpoint *endpoint);

/* A changed key is never accepted. */
static void test_accept_new_changed(void **state)
{
    struct outcome outcome = {0};

    run_case(*state, know_another_and_accept, &outcome);
    assert_failed(&outcome, &kind_hostkey_changed);
    outcome_release(&outcome);
}

static void know_another(struct world *world, struct endpoint *endpoint)
{
    AUTO_FREE char *name = port_name(world, "127.0.0.1");

    run_shell("rm -f %s/other*; ssh-keygen -q -t ed25519 -N '' -f %s/other", world->dir, world->dir);
    run_shell("{ echo '# a comment'; echo; printf '%%s ' '%s'; cut -d' ' -f1,2 %s/other.pub; } >%s/changed",
              name, world->dir, world->dir);
    set_known_hosts(endpoint, world->dir, "changed");
}

static void know_another_and_accept(struct world *world, struct endpoint *endpoint)
{
    know_another(world, endpoint);
    endpoint->accept_new = true;
    endpoint->trust_file = xasprintf("%s/changed", world->dir);
}

static void test_hostkey_changed(void **state)
{
    struct world *world = *state;
    struct outcome outcome = {0};
    AUTO_FREE char *path = xasprintf("%s/changed", world->dir);

    run_case(world, know_another, &outcome);
    assert_failed(&outcome, &kind_hostkey_changed);
    assert_string_equal(outcome.result.error.file, path);
    assert_int_equal(outcome.result.error.line, 3);
    assert_non_null(strstr(outcome.result.error.hint, "ssh-keygen -R"));
    outcome_release(&outcome);
}

static void know_hashed(struct world *world, struct endpoint *endpoint)
{
    run_shell("cp %s/known_hosts %s/hashed && ssh-keygen -q -H -f %s/hashed 2>/dev/null", world->dir,
              world->dir, world->dir);
    run_shell("grep -q '^|1|' %s/hashed", world->dir);
    set_known_hosts(endpoint, world->dir, "hashed");
}

static void test_hostkey_hashed(void **state)
{
    struct outcome outcome = {0};

    run_case(*state, know_hashed, &outcome);
    assert_ended(&outcome, 0);
    outcome_release(&outcome);
}

/* The server has an ECDSA key too, and that is the one known: it must be asked for. */
static void know_ecdsa(struct world *world, struct endpoint *endpoint)
{
    AUTO_FREE char *name = port_name(world, "127.0.0.1");

    run_shell("printf '%%s ' '%s' >%s/ecdsa_only && cut -d' ' -f1,2 %s/host_ecdsa.pub >>%s/ecdsa_only", name,
              world->dir, world->dir, world->dir);
    set_known_hosts(endpoint, world->dir, "ecdsa_only");
}

static void test_hostkey_type(void **state)
{
    struct world *world = *state;
    struct outcome outcome = {0};

    run_case(world, know_ecdsa, &outcome);
    assert_ended(&outcome, 0);
    outcome_release(&outcome);
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
    assert_non_null(strstr(outcome.result.error.hint, "is the user right"));
    assert_non_null(strstr(outcome.result.error.hint, "Kerberos"));
    outcome_release(&outcome);
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
        {use_no_name, &kind_name_not_resolved, "'no-such-host.invalid'"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct outcome outcome = {0};
        run_case(*state, cases[i].change, &outcome);
        assert_failed(&outcome, cases[i].kind);
        assert_false(outcome.result.started);
        assert_non_null(strstr(outcome.result.error.text, cases[i].text));
        assert_true(cases[i].change == use_vanished_key || outcome.result.error.hint[0] != '\0');
        outcome_release(&outcome);
    }
}

/* --- servers that misbehave --- */

/* What a bad server does with each connection; it lives in a process of its own. */
enum manner { MANNER_SILENT, MANNER_GARBAGE, MANNER_HTTP, MANNER_CLOSES, MANNER_BANNER_THEN_SILENT };

static void serve_badly(int fd, enum manner manner)
{
    for (;;) {
        int peer = accept(fd, NULL, NULL);
        if (manner == MANNER_GARBAGE) {
            char noise[4096];
            memset(noise, 0x81, sizeof(noise));
            (void)!write(peer, noise, sizeof(noise));
        } else if (manner == MANNER_HTTP) {
            (void)!write(peer, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
            close(peer);
        } else if (manner == MANNER_BANNER_THEN_SILENT) {
            (void)!write(peer, "SSH-2.0-OpenSSH_9.2\r\n", 21);
        } else if (manner == MANNER_CLOSES) {
            close(peer);
        }
    }
}

static pid_t start_bad_server(enum manner manner, unsigned *port)
{
    int fd = listen_somewhere(port);
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        serve_badly(fd, manner);
    close(fd);
    return pid;
}

/* A bad host and a good one together: each gets its own result, the good one's is not held up. */
static void check_bad_server(struct world *world, enum manner manner, const struct error_kind *kind,
                             const char *text)
{
    struct fleet *fleet = make_fleet(0, 1500);
    struct endpoint bad = make_endpoint(world, "127.0.0.1", false),
                    good = make_endpoint(world, "127.0.0.1", false);
    struct exec_request request = {.command = "echo ran"};
    struct outcome outcomes[2] = {{0}};
    pid_t server = start_bad_server(manner, &bad.port);
    int64_t began = clock_mono_ms();

    outcome_ask(&outcomes[0], fleet, fleet_add_host(fleet, &bad), &request);
    outcome_ask(&outcomes[1], fleet, fleet_add_host(fleet, &good), &request);
    fleet_run(fleet);
    assert_failed(&outcomes[0], kind);
    assert_non_null(strstr(outcomes[0].result.error.text, text));
    assert_true(clock_mono_ms() - began < PATIENCE_MS);
    assert_ended(&outcomes[1], 0);
    fleet_free(fleet);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    endpoint_release(&bad);
    endpoint_release(&good);
    outcome_release(&outcomes[1]);
}

static void test_silent_server(void **state)
{
    check_bad_server(*state, MANNER_SILENT, &kind_timed_out, "says nothing");
}

static void test_half_server(void **state)
{
    check_bad_server(*state, MANNER_BANNER_THEN_SILENT, &kind_timed_out, "key exchange");
}

static void test_garbage_server(void **state)
{
    check_bad_server(*state, MANNER_GARBAGE, &kind_connection_lost, "no ssh handshake");
}

static void test_http_server(void **state)
{
    check_bad_server(*state, MANNER_HTTP, &kind_connection_lost, "closes the connection");
}

static void test_closing_server(void **state)
{
    check_bad_server(*state, MANNER_CLOSES, &kind_connection_lost, "closes the connection before the login");
}

/* Another configuration of the server. */
static void restart_sshd(struct world *world, const char *extra)
{
    AUTO_FREE char *name = NULL;

    world_start_sshd(world, extra);
    name = port_name(world, "127.0.0.1");
    world_trust(world, name);
}

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

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct outcome outcome = {0};
        restart_sshd(*state, cases[i].extra);
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
    pid_t server = start_bad_server(MANNER_SILENT, &endpoint.port);
    int64_t began = clock_mono_ms();

    endpoint.connect_timeout_ms = 1000;
    run_request(&endpoint, &request, &outcome);
    assert_failed(&outcome, &kind_timed_out);
    assert_non_null(strstr(outcome.result.error.text, "within 1 s"));
    assert_true(clock_mono_ms() - began < 8000);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
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
    for (int i = 0; i < 3; i++)
        outcome_release(&outcomes[i]);
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

/* A server with one session: commands queue, and a follower does not lock the others out. */
static void test_max_sessions_one(void **state)
{
    struct world *world = *state;
    struct endpoint endpoint;
    struct fleet *fleet = make_fleet(0, 0);
    AUTO_FREE char *reads = xasprintf("cat %s/fifo", world->dir);
    AUTO_FREE char *writes = xasprintf("echo hello >%s/fifo", world->dir);
    AUTO_FREE char *name = NULL;
    struct exec_request follow = {.command = reads, .follow = true, .timeout_ms = PATIENCE_MS};
    struct exec_request request = {.command = "true", .timeout_ms = PATIENCE_MS};
    struct outcome outcomes[7] = {{0}};
    size_t host;

    world_start_sshd(world, "MaxSessions 1\n");
    name = port_name(world, "127.0.0.1");
    world_trust(world, name);
    run_shell("rm -f %s/fifo && mkfifo %s/fifo", world->dir, world->dir);
    endpoint = make_endpoint(world, "127.0.0.1", false);
    host = fleet_add_host(fleet, &endpoint);
    /* The follower holds the only session for ever, unless another connection lets the last one through. */
    outcome_ask(&outcomes[0], fleet, host, &follow);
    for (int i = 1; i < 6; i++)
        outcome_ask(&outcomes[i], fleet, host, &request);
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
    AUTO_FREE char *name = NULL;

    world_start_sshd(world, "MaxSessions 0\n");
    name = port_name(world, "127.0.0.1");
    world_trust(world, name);
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

static int set_up(void **state)
{
    struct world *world = xcalloc(1, sizeof(*world));
    AUTO_FREE char *name = NULL, *extra = NULL;

    world_init(world);
    run_shell("ssh-keygen -q -t ecdsa -N '' -f %s/host_ecdsa", world->dir);
    extra = xasprintf("HostKey %s/host_ecdsa\n", world->dir);
    world_start_sshd(world, extra);
    name = port_name(world, "127.0.0.1");
    world_trust(world, name);
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
        cmocka_unit_test(test_connect_timeout),   cmocka_unit_test(test_address_family),
        cmocka_unit_test(test_accept_new),        cmocka_unit_test(test_accept_new_changed),
        cmocka_unit_test(test_hashed_type),       cmocka_unit_test(test_hostkey_unknown),
        cmocka_unit_test(test_hostkey_changed),   cmocka_unit_test(test_hostkey_hashed),
        cmocka_unit_test(test_hostkey_type),      cmocka_unit_test(test_wrong_key),
        cmocka_unit_test(test_many_keys),         cmocka_unit_test(test_rsa_key),
        cmocka_unit_test(test_refusals),          cmocka_unit_test(test_silent_server),
        cmocka_unit_test(test_half_server),       cmocka_unit_test(test_garbage_server),
        cmocka_unit_test(test_http_server),       cmocka_unit_test(test_closing_server),
        cmocka_unit_test(test_session_is_reused), cmocka_unit_test(test_lost_idle_session),
        cmocka_unit_test(test_lost_in_mid_run),   cmocka_unit_test(test_max_sessions_one),
        cmocka_unit_test(test_max_sessions_none), cmocka_unit_test(test_max_startups),
        cmocka_unit_test(test_nothing_in_common),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
