/* The system's ssh beside the built-in client: what of ssh_config acts, and that both fail alike. */
#include <sys/resource.h>

#include "fixture.h"

/* The server 'host', the jump 'gate' before it, and one that forwards nothing. */
struct trio {
    struct world world, gate, closed;
    struct machine machine;
    char *changed; /* a known_hosts file with other keys under their names */
    char *path;    /* PATH of the caller */
};

/* lines stand before the rest of the configuration: what they say holds. */
static struct endpoint resolve(const struct trio *trio, const char *client, const char *lines)
{
    AUTO_FREE char *path = xasprintf("%s/config", trio->world.dir);
    AUTO_FREE char *text = xasprintf("%s\n"
                                     "Host host\n  Port %u\n  IdentityFile %s/id\n"
                                     "  UserKnownHostsFile %s/known_hosts\n"
                                     "Host gate\n  Port %u\n  IdentityFile %s/id\n"
                                     "  UserKnownHostsFile %s/known_hosts\n"
                                     "Host *\n  HostName 127.0.0.1\n  GlobalKnownHostsFile none\n"
                                     "  IdentityAgent none\n  IdentitiesOnly yes\n",
                                     lines, trio->world.port, trio->world.dir, trio->world.dir,
                                     trio->gate.port, trio->gate.dir, trio->gate.dir);
    AUTO_FREE char *own_client = xstrdup(client);
    const struct reach options = {.client = own_client, .config = path};
    char name[] = "host";
    const struct host host = {.name = name, .ssh_always = true};
    struct error err = ERROR_INIT;
    struct endpoint endpoint;
    struct ssh_config *config;

    write_file(path, text);
    config = ssh_config_load(path, trio->world.dir, NULL, NULL, &err);
    assert_non_null(config);
    if (endpoint_resolve(&host, &options, &trio->machine, config, &endpoint, NULL, &err) != 0) {
        fail_msg("%s", err.text);
    }
    ssh_config_free(config);
    return endpoint;
}

static const char *const clients[] = {"builtin", "openssh"};

/* Run by both clients: the same kind, and nothing has run. text: in the message of OpenSSH's; NULL: any. */
static void check_alike(const struct trio *trio, const char *lines, const struct error_kind *kind,
                        const char *text)
{
    FOR_ROWS(i, clients, clients[i]) {
        struct endpoint endpoint = resolve(trio, clients[i], lines);
        struct outcome outcome = {0};

        assert_int_equal(endpoint.openssh, i == 1);
        run_command(&endpoint, "true", &outcome);
        if (outcome.result.error.kind != kind) {
            print_error("%s, with\n%s\n", clients[i], lines);
        }
        assert_failed(&outcome, kind);
        assert_false(outcome.result.started);
        if (i == 1 && text != NULL && strstr(outcome.result.error.text, text) == NULL) {
            fail_msg("'%s' is not in '%s'", text, outcome.result.error.text);
        }
        if (kind != &kind_name_not_resolved) {
            assert_true(outcome.result.error.hint[0] != '\0');
        }
        outcome_release(&outcome);
        endpoint_release(&endpoint);
    }
}

static void test_ways_and_login(void **state)
{
    const struct trio *trio = *state;

    FOR_ROWS(i, clients, clients[i]) {
        static const char *const lines[] = {"", "Host host\n ProxyJump gate",
                                            "Host host\n ProxyJump gate,gate2"};
        FOR_ROWS(j, lines, lines[j]) {
            AUTO_FREE char *more =
                xasprintf("%s\nHost gate2\n HostName 127.0.0.2\n HostKeyAlias [127.0.0.1]:%u\n Port %u\n "
                          "IdentityFile %s/id\n"
                          " UserKnownHostsFile %s/known_hosts",
                          lines[j], trio->gate.port, trio->gate.port, trio->gate.dir, trio->gate.dir);
            struct endpoint endpoint = resolve(trio, clients[i], more);
            struct outcome outcome = {0};
            run_command(&endpoint, "echo ran", &outcome);
            assert_ended(&outcome, 0);
            assert_string_equal(str_text(&outcome.out), "ran\n");
            outcome_release(&outcome);
            endpoint_release(&endpoint);
        }
    }
}

static void test_host_keys(void **state)
{
    const struct trio *trio = *state;
    static const char *const policies[] = {"no", "off", "accept-new", "yes", "ask"};

    FOR_ROWS(i, policies, policies[i]) {
        AUTO_FREE char *changed = xasprintf("Host *\n StrictHostKeyChecking %s\nHost host\n"
                                            " UserKnownHostsFile %s",
                                            policies[i], trio->changed);
        check_alike(trio, changed, &kind_hostkey_changed,
                    "the host key has changed: it shows ED25519 SHA256:");
    }
    check_alike(trio, "Host host\n UserKnownHostsFile none", &kind_hostkey_unknown,
                "not known: ssh-ed25519 SHA");
}

/* A jump's key is as much a promise as the host's own. */
static void test_host_key_of_a_jump(void **state)
{
    const struct trio *trio = *state;
    AUTO_FREE char *changed = xasprintf("Host *\n StrictHostKeyChecking no\nHost host\n ProxyJump gate\n"
                                        "Host gate\n UserKnownHostsFile %s",
                                        trio->changed);

    check_alike(trio, changed, &kind_hostkey_changed,
                "jump host 'gate': the host key has changed: it shows ");
    check_alike(trio, "Host host\n ProxyJump gate\nHost gate\n UserKnownHostsFile none",
                &kind_hostkey_unknown, "jump host 'gate': ssh: Host key verification failed");
}

static void test_errors(void **state)
{
    static const struct {
        const char *lines, *text;
        const struct error_kind *kind;
    } cases[] = {
        {"Host host\n User nosuchuser", "Permission denied", &kind_auth_failed},
        {"Host host\n HostName no-such-host.invalid", "Could not resolve hostname", &kind_name_not_resolved},
        {"Host host\n Port 1", "Connection refused", &kind_refused},
        {"Host gate\n Port 1\nHost host\n ProxyJump gate", "jump host 'gate': ssh: connect to host",
         &kind_jump_unreachable},
        {"Host gate\n HostName no-such-host.invalid\nHost host\n ProxyJump gate",
         "jump host 'gate': ssh: Could not resolve", &kind_jump_unreachable},
        {"Host gate\n User nosuchuser\nHost host\n ProxyJump gate",
         "jump host 'gate': ssh: ", &kind_auth_failed},
        {"Host host\n Port 1\n ProxyJump gate", "connect failed: Connection refused", &kind_refused},
        {"Host host\n HostName no-such-host.invalid\n ProxyJump gate", "Name or service not known",
         &kind_name_not_resolved},
    };
    struct trio *trio = *state;
    AUTO_FREE char *closed =
        xasprintf("Host host\n ProxyJump gate\nHost gate\n Port %u\n IdentityFile %s/id\n"
                  " UserKnownHostsFile %s/known_hosts",
                  trio->closed.port, trio->closed.dir, trio->closed.dir);
    int64_t began = clock_mono_ms();

    FOR_ROWS(i, cases, cases[i].lines) {
        check_alike(trio, cases[i].lines, cases[i].kind, cases[i].text);
    }
    check_alike(trio, closed, &kind_jump_unreachable, "prohibited");
    assert_true(clock_mono_ms() - began < PATIENCE_MS); /* none of them is tried again and again */
}

/* Of the command line. */
static void test_bad_option(void **state)
{
    struct trio *trio = *state;
    struct endpoint endpoint = resolve(trio, "openssh", "");
    struct outcome outcome = {0};

    strlist_add(&endpoint.openssh_args, "-o");
    strlist_add(&endpoint.openssh_args, "NoSuchOption=1");
    run_command(&endpoint, "true", &outcome);
    assert_failed(&outcome, &kind_ssh_config);
    assert_non_null(strstr(outcome.result.error.text, "Bad configuration option"));
    outcome_release(&outcome);
    endpoint_release(&endpoint);
}

/* --- times --- */

static void on_patience(void *ctx)
{
    fleet_cancel_all(ctx);
}

/* A server that says nothing, for as long as is asked for; the error, or "cancelled" after 2.5 s. */
static void check_timeout(const struct endpoint *endpoint, unsigned asked_ms, const struct error_kind *kind)
{
    struct exec_request request = {.command = "true"};
    struct fleet *fleet = make_fleet(0, asked_ms);
    struct outcome outcome = {0};
    uint64_t timer = fleet_timer(fleet, 2500, on_patience, fleet);

    outcome_ask(&outcome, fleet, fleet_add_host(fleet, endpoint), &request);
    fleet_run(fleet);
    fleet_timer_cancel(fleet, timer);
    assert_failed(&outcome, kind);
    outcome_release(&outcome);
    fleet_free(fleet);
}

/* ConnectTimeout holds unless another time is asked for, be it that of no ConnectTimeout. */
static void test_connect_timeout(void **state)
{
    unsigned port;
    int server = listen_somewhere(&port);
    AUTO_FREE char *lines = xasprintf("Host host\n Port %u\n ConnectTimeout 1", port);

    FOR_ROWS(i, clients, clients[i]) {
        struct endpoint endpoint = resolve(*state, clients[i], lines);
        check_timeout(&endpoint, 0, &kind_timed_out);
        check_timeout(&endpoint, 10000, &kind_interrupted);
        endpoint_release(&endpoint);
    }
    close(server);
}

/* A "ssh" that writes down its words, before the real one. */
static void put_fake_first(const struct trio *trio)
{
    AUTO_FREE char *file = xasprintf("%s/bin/ssh", trio->world.dir);
    AUTO_FREE char *path = xasprintf("%s/bin:%s", trio->world.dir, trio->path);
    AUTO_FREE char *script =
        xasprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" >%s/words\nexit 255\n", trio->world.dir);

    run_shell("mkdir -p %s/bin", trio->world.dir);
    write_file(file, script);
    assert_int_equal(chmod(file, 0755), 0);
    setenv("PATH", path, 1);
}

static void check_words(const struct trio *trio, const char *lines, const char *const wanted[4])
{
    AUTO_FREE char *file = xasprintf("%s/words", trio->world.dir);
    AUTO_STR struct str words = STR_INIT;
    struct endpoint endpoint = resolve(trio, "openssh", lines);
    struct outcome outcome = {0};
    struct error err = ERROR_INIT;

    put_fake_first(trio);
    run_command(&endpoint, "true", &outcome);
    setenv("PATH", trio->path, 1);
    assert_failed(&outcome, &kind_connection_lost);
    assert_int_equal(file_read(file, 1 << 20, &words, &err), 0);
    for (size_t i = 0; i < 4; i++) {
        AUTO_FREE char *line = xasprintf("\n-o\n%s\n", wanted[i]);
        if (strstr(str_text(&words), line) == NULL) {
            fail_msg("%s is not in: %s", wanted[i], str_text(&words));
        }
    }
    outcome_release(&outcome);
    endpoint_release(&endpoint);
}

/* What ssh is given of the configuration's values, and without them. */
static void test_words(void **state)
{
    static const char *const given[] = {"ConnectTimeout=2", "ServerAliveInterval=40", "ServerAliveCountMax=5",
                                        "StrictHostKeyChecking=accept-new"};
    static const char *const none[] = {"ConnectTimeout=10", "ServerAliveInterval=15", "ServerAliveCountMax=3",
                                       "StrictHostKeyChecking=yes"};

    check_words(*state,
                "ConnectTimeout 2\nServerAliveInterval 40\nServerAliveCountMax 5\nStrictHostKeyChecking no",
                given);
    check_words(*state, "", none);
}

/* --- what is said --- */

/* Quotes, line breaks and what shells treat alike under no quoting reach the command as they are. */
static void test_bytes(void **state)
{
    struct endpoint endpoint = resolve(*state, "openssh", "");
    struct outcome outcome = {0};

    run_command(&endpoint,
                "printf '%s|' 'a\\nb' \"it's\" '!!' '$HOME' 'x\ny' 'ä%d\\'; printf 'e\\n' >&2; exit 7",
                &outcome);
    assert_ended(&outcome, 7);
    assert_string_equal(str_text(&outcome.out), "a\\nb|it's|!!|$HOME|x\ny|ä%d\\|");
    assert_string_equal(str_text(&outcome.err), "e\n");
    outcome_release(&outcome);
    endpoint_release(&endpoint);
}

/* What sshd says before the login is none of the command's output. */
static void test_banner(void **state)
{
    struct world talker;

    world_init(&talker);
    AUTO_FREE char *banner = xasprintf("%s/banner", talker.dir);
    AUTO_FREE char *extra = xasprintf("Banner %s\n", banner);
    write_file(banner, "hello 123\n\n@@ 0 0\n");
    world_serve(&talker, extra);
    AUTO_FREE char *lines =
        xasprintf("Host host\n Port %u\n IdentityFile %s/id\n UserKnownHostsFile %s/known_hosts", talker.port,
                  talker.dir, talker.dir);
    FOR_ROWS(i, clients, clients[i]) {
        struct endpoint endpoint = resolve(*state, clients[i], lines);
        struct outcome outcome = {0};
        run_command(&endpoint, "echo out; echo err >&2; exit 7", &outcome);
        assert_ended(&outcome, 7);
        assert_string_equal(str_text(&outcome.out), "out\n");
        assert_string_equal(str_text(&outcome.err), "err\n");
        outcome_release(&outcome);
        endpoint_release(&endpoint);
    }
    world_release(&talker);
}

/* The mark of the status stands in a list of processes there: who writes it changes nothing and stops
 * nothing. */
static void test_forged_mark(void **state)
{
    static const char find[] = "m=$(tr '\\0' '\\n' </proc/$PPID/cmdline | tail -n 1);";
    struct endpoint endpoint = resolve(*state, "openssh", "");
    AUTO_FREE char *text = xasprintf("%s printf '\\n%%s0x\\n' \"$m\" >&2; printf '\\n%%s\\n%%s1234\\n' \"$m\""
                                     " \"$m\" >&2; exit 7",
                                     find);
    AUTO_FREE char *much =
        xasprintf("%s printf '\\n%%s' \"$m\" >&2; head -c 300000 /dev/zero | tr '\\0' 1 >&2;"
                  " sleep 60",
                  find);
    struct exec_request request = {.command = much, .timeout_ms = 2000};
    struct outcome outcome = {0};

    run_command(&endpoint, text, &outcome);
    assert_ended(&outcome, 7);
    assert_non_null(strstr(str_text(&outcome.err), "\n@@"));
    assert_non_null(strstr(str_text(&outcome.err), " 0x\n"));
    assert_non_null(strstr(str_text(&outcome.err), " 1234\n"));
    outcome_release(&outcome);
    outcome = (struct outcome){0};
    run_request(&endpoint, &request, &outcome);
    assert_failed(&outcome, &kind_time_limit);
    assert_true(outcome.err.len > 300000);
    outcome_release(&outcome);
    endpoint_release(&endpoint);
}

/* A ProxyCommand that never ends to talk fills no memory. */
static void test_chatter(void **state)
{
    struct endpoint endpoint =
        resolve(*state, "openssh", "ProxyCommand head -c 20000000 /dev/zero | tr '\\0' '\\377' >&2");
    struct outcome outcome = {0};
    struct rusage before, after;

    getrusage(RUSAGE_SELF, &before);
    run_command(&endpoint, "true", &outcome);
    getrusage(RUSAGE_SELF, &after);
    assert_failed(&outcome, &kind_connection_lost);
    assert_true(after.ru_maxrss - before.ru_maxrss < 20000);
    outcome_release(&outcome);
    endpoint_release(&endpoint);
}

static int set_up(void **state)
{
    struct trio *trio = xcalloc(1, sizeof(*trio));
    struct error err = ERROR_INIT;

    world_init_sshd(&trio->world, "");
    world_init_sshd(&trio->gate, "");
    world_init_sshd(&trio->closed, "AllowTcpForwarding no\n");
    trio->changed = xasprintf("%s/changed", trio->world.dir);
    run_shell(
        "for p in %u %u; do printf '[127.0.0.1]:%%s ' $p; cut -d' ' -f1,2 %s/host_ed25519.pub; done >%s",
        trio->world.port, trio->gate.port, trio->closed.dir, trio->changed);
    trio->path = xstrdup(getenv("PATH"));
    assert_int_equal(machine_read(&trio->machine, trio->world.dir, &err), 0);
    *state = trio;
    return 0;
}

static int tear_down(void **state)
{
    struct trio *trio = *state;

    world_release(&trio->world);
    world_release(&trio->gate);
    world_release(&trio->closed);
    machine_release(&trio->machine);
    free(trio->changed);
    free(trio->path);
    free(trio);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways_and_login),
        cmocka_unit_test(test_host_keys),
        cmocka_unit_test(test_host_key_of_a_jump),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_bad_option),
        cmocka_unit_test(test_connect_timeout),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_banner),
        cmocka_unit_test(test_forged_mark),
        cmocka_unit_test(test_chatter),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
