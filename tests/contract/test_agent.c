/* Logins by an ssh agent: what is offered and how often, and agents that misbehave. */
#include <sys/un.h>

#include "agent_fixture.h"

/* The agent has the right key, of each type, and no file is there. */
static void test_types(void **state)
{
    static const char *const types[] = {"ed25519", "rsa", "ecdsa"};
    struct world *world = *state;

    FOR_ROWS(i, types, types[i]) {
        AUTO_FREE char *name = xasprintf("type_%s", types[i]);
        AUTO_FREE char *agent = xasprintf("agent_%s", types[i]);
        struct outcome outcome = {0};
        pid_t pid = start_agent(world, agent);
        struct endpoint endpoint = make_agent_endpoint(world, agent, NULL);
        make_key(world, types[i], name, "");
        allow(world, name);
        add_to_agent(world, agent, name);
        run_command(&endpoint, "echo ran", &outcome);
        assert_ended(&outcome, 0);
        assert_string_equal(str_text(&outcome.out), "ran\n");
        end_agent(pid);
        endpoint_release(&endpoint);
        outcome_release(&outcome);
    }
}

/* Eight wrong keys in the agent: the identity comes first; without it six are offered and the limit is said.
 */
static void test_many_keys(void **state)
{
    struct world *world = *state;
    pid_t pid = start_agent(world, "many");
    struct endpoint right = make_agent_endpoint(world, "many", "id");
    struct endpoint wrong = make_agent_endpoint(world, "many", NULL);
    struct outcome outcomes[2] = {{0}};

    fill_agent(world, "many", 8);
    run_command(&right, "true", &outcomes[0]);
    assert_ended(&outcomes[0], 0);
    run_command(&wrong, "true", &outcomes[1]);
    assert_failed(&outcomes[1], &kind_auth_failed);
    assert_non_null(strstr(outcomes[1].result.error.text, "'many_wrong0' of the agent"));
    assert_null(strstr(outcomes[1].result.error.text, "many_wrong6"));
    assert_non_null(strstr(outcomes[1].result.error.text, "MaxAuthTries"));
    assert_non_null(strstr(outcomes[1].result.error.text, "2 more"));
    assert_non_null(strstr(outcomes[1].result.error.hint, "IdentitiesOnly"));
    end_agent(pid);
    endpoint_release(&right);
    endpoint_release(&wrong);
    outcome_release(&outcomes[0]);
    outcome_release(&outcomes[1]);
}

/* An encrypted identity: the agent has it, among others; then IdentitiesOnly; then it has not. */
static void test_encrypted(void **state)
{
    struct world *world = *state;
    pid_t pid = start_agent(world, "locked_agent");
    struct endpoint endpoint = make_agent_endpoint(world, "locked_agent", "locked");
    struct endpoint other = make_agent_endpoint(world, "locked_agent", "locked_too");
    struct outcome outcomes[3] = {{0}};

    make_key(world, "ed25519", "locked", "secret");
    make_key(world, "ed25519", "locked_too", "secret");
    allow(world, "locked");
    fill_agent(world, "locked_agent", 6);
    add_to_agent(world, "locked_agent", "locked");
    run_command(&endpoint, "true", &outcomes[0]);
    assert_ended(&outcomes[0], 0);
    endpoint.identities_only = other.identities_only = true;
    run_command(&endpoint, "true", &outcomes[1]);
    assert_ended(&outcomes[1], 0);
    run_command(&other, "true", &outcomes[2]);
    assert_failed(&outcomes[2], &kind_key_encrypted);
    assert_non_null(strstr(outcomes[2].result.error.hint, "ssh-add"));
    end_agent(pid);
    endpoint_release(&endpoint);
    endpoint_release(&other);
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        outcome_release(&outcomes[i]);
    }
}

/* A public key file as the identity: the agent has the other half. */
static void test_public_half(void **state)
{
    struct world *world = *state;
    pid_t pid = start_agent(world, "half_agent");
    struct endpoint endpoint = make_agent_endpoint(world, "half_agent", "half.pub");
    struct outcome outcomes[2] = {{0}};

    make_key(world, "ed25519", "half", "");
    allow(world, "half");
    endpoint.identities_only = true;
    run_command(&endpoint, "true", &outcomes[0]);
    assert_failed(&outcomes[0], &kind_key_unusable);
    assert_non_null(strstr(outcomes[0].result.error.text, "half.pub' is a public key"));
    fill_agent(world, "half_agent", 2);
    add_to_agent(world, "half_agent", "half");
    run_command(&endpoint, "true", &outcomes[1]);
    assert_ended(&outcomes[1], 0);
    end_agent(pid);
    endpoint_release(&endpoint);
    outcome_release(&outcomes[0]);
    outcome_release(&outcomes[1]);
}

/* Certificates: beside the key, named by CertificateFile, in the agent; one of another key is passed over. */
static void test_certificates(void **state)
{
    struct world *world = *state;
    pid_t pid = start_agent(world, "cert_agent");
    struct endpoint beside = make_agent_endpoint(world, "cert_agent", "signed"),
                    named = make_agent_endpoint(world, "cert_agent", "signed2"),
                    held = make_agent_endpoint(world, "cert_agent", NULL);
    struct outcome outcomes[4] = {{0}};

    make_key(world, "ed25519", "authority", "");
    make_key(world, "ed25519", "signed", "");
    make_key(world, "rsa", "signed2", "");
    make_key(world, "ed25519", "signed3", "");
    for (int i = 0; i < 3; i++) {
        run_shell("ssh-keygen -q -s %s/authority -I test -n %s %s/signed%s.pub 2>/dev/null", world->dir,
                  world->user, world->dir,
                  i == 0   ? ""
                  : i == 1 ? "2"
                           : "3");
    }
    run_shell("mv %s/signed2-cert.pub %s/elsewhere.pub", world->dir, world->dir);
    run_shell("printf 'cert-authority ' >>%s/authorized_keys; cat %s/authority.pub >>%s/authorized_keys",
              world->dir, world->dir, world->dir);
    run_command(&beside, "true", &outcomes[0]);
    assert_ended(&outcomes[0], 0);
    run_command(&named, "true", &outcomes[1]);
    assert_failed(&outcomes[1], &kind_auth_failed);
    strlist_addf(&named.certificates, "%s/signed-cert.pub", world->dir);
    strlist_addf(&named.certificates, "%s/elsewhere.pub", world->dir);
    run_command(&named, "true", &outcomes[2]);
    assert_ended(&outcomes[2], 0);
    add_to_agent(world, "cert_agent", "signed3");
    run_command(&held, "true", &outcomes[3]);
    assert_ended(&outcomes[3], 0);
    end_agent(pid);
    endpoint_release(&beside);
    endpoint_release(&named);
    endpoint_release(&held);
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        outcome_release(&outcomes[i]);
    }
}

/* A stopped agent: its host fails in time and says why; another one beside it is not held up. */
static void test_stopped_agent(void **state)
{
    struct world *world = *state;
    pid_t pid = start_agent(world, "stopped");
    struct endpoint stuck = make_agent_endpoint(world, "stopped", NULL),
                    good = make_endpoint(world, "127.0.0.1", false);
    struct fleet *fleet = make_fleet(0, 2000);
    struct exec_request request = {.command = "true"};
    struct outcome outcomes[2] = {{0}};
    int64_t began = clock_mono_ms();

    kill(pid, SIGSTOP);
    outcome_ask(&outcomes[0], fleet, fleet_add_host(fleet, &stuck), &request);
    outcome_ask(&outcomes[1], fleet, fleet_add_host(fleet, &good), &request);
    fleet_run(fleet);
    assert_failed(&outcomes[0], &kind_auth_failed);
    assert_non_null(strstr(outcomes[0].result.error.text, "has not answered within"));
    assert_true(clock_mono_ms() - began < PATIENCE_MS);
    assert_ended(&outcomes[1], 0);
    fleet_free(fleet);
    end_agent(pid);
    endpoint_release(&stuck);
    endpoint_release(&good);
    outcome_release(&outcomes[0]);
    outcome_release(&outcomes[1]);
}

/* What a false agent does once it is asked. */
enum manner {
    AGENT_CLOSES,
    AGENT_GARBAGE,
    AGENT_NO_LIST,
    AGENT_BROKEN_LIST,
    AGENT_LIST_THEN_SILENT,
    AGENT_NO_SIGN
};

static void write_all(int fd, const void *bytes, size_t len)
{
    if (write(fd, bytes, len) != (ssize_t)len) {
        _exit(1);
    }
}

/* A list with the one key of that .pub file's second word, decoded by the shell. */
static void write_list(int fd, const char *dir)
{
    AUTO_FREE char *command = xasprintf("cut -d' ' -f2 %s/id.pub | base64 -d", dir);
    FILE *pipe = popen(command, "r");
    unsigned char blob[256];
    size_t len = fread(blob, 1, sizeof(blob), pipe);
    const unsigned char head[] = {0, 0, 0, (unsigned char)(len + 13), 12, 0, 0, 0, 1,
                                  0, 0, 0, (unsigned char)len};

    pclose(pipe);
    write_all(fd, head, sizeof(head));
    write_all(fd, blob, len);
    write_all(fd, "\0\0\0\0", 4);
}

static void serve_badly(int fd, enum manner manner, const char *dir)
{
    char request[8192];
    int peer = accept(fd, NULL, NULL);

    if (read(peer, request, sizeof(request)) <= 0) {
        _exit(1);
    }
    switch (manner) {
    case AGENT_CLOSES:
        break;
    case AGENT_GARBAGE:
        write_all(peer, "\xff\xff\xff\xff\xff\xff", 6);
        break;
    case AGENT_NO_LIST:
        write_all(peer, "\0\0\0\1\5", 5);
        break;
    case AGENT_BROKEN_LIST:
        write_all(peer, "\0\0\0\6\14\0\0\0\1\1", 10);
        break;
    case AGENT_LIST_THEN_SILENT:
    case AGENT_NO_SIGN:
        write_list(peer, dir);
        close(peer);
        peer = accept(fd, NULL, NULL);
        if (read(peer, request, sizeof(request)) <= 0) {
            _exit(1);
        }
        if (manner == AGENT_LIST_THEN_SILENT) {
            pause();
        }
        write_all(peer, "\0\0\0\1\5", 5);
        break;
    }
    close(peer);
    _exit(0);
}

static pid_t start_bad_agent(const struct world *world, enum manner manner)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pid_t pid;

    snprintf(address.sun_path, sizeof(address.sun_path), "%s/bad", world->dir);
    unlink(address.sun_path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 8), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        serve_badly(fd, manner, world->dir);
    }
    close(fd);
    return pid;
}

static void test_bad_agents(void **state)
{
    static const struct {
        enum manner manner;
        const struct error_kind *kind;
        const char *text;
    } cases[] = {
        {AGENT_CLOSES, &kind_auth_failed, "has closed the connection"},
        {AGENT_GARBAGE, &kind_auth_failed, "does not speak the agent's protocol"},
        {AGENT_NO_LIST, &kind_auth_failed, "does not list its keys"},
        {AGENT_BROKEN_LIST, &kind_auth_failed, "sends a broken list"},
        {AGENT_LIST_THEN_SILENT, &kind_timed_out, "the ssh agent has not answered"},
        {AGENT_NO_SIGN, &kind_auth_failed, "refuses to sign"},
    };
    struct world *world = *state;

    FOR_ROWS(i, cases, cases[i].text) {
        struct endpoint endpoint = make_agent_endpoint(world, "bad", NULL);
        struct fleet *fleet = make_fleet(0, 2000);
        struct exec_request request = {.command = "true"};
        struct outcome outcome = {0};
        pid_t pid = start_bad_agent(world, cases[i].manner);
        outcome_ask(&outcome, fleet, fleet_add_host(fleet, &endpoint), &request);
        fleet_run(fleet);
        fleet_free(fleet);
        assert_failed(&outcome, cases[i].kind);
        if (strstr(outcome.result.error.text, cases[i].text) == NULL) {
            print_error("case %zu: %s\n", i, outcome.result.error.text);
        }
        assert_non_null(strstr(outcome.result.error.text, cases[i].text));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        endpoint_release(&endpoint);
        outcome_release(&outcome);
    }
}

/* No agent where one is named. */
static void test_no_agent(void **state)
{
    struct endpoint endpoint = make_agent_endpoint(*state, "nobody", NULL);
    struct outcome outcome = {0};

    run_command(&endpoint, "true", &outcome);
    assert_failed(&outcome, &kind_auth_failed);
    assert_non_null(strstr(outcome.result.error.text, "/nobody' is not running"));
    endpoint_release(&endpoint);
    outcome_release(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_encrypted),    cmocka_unit_test(test_public_half),
        cmocka_unit_test(test_certificates), cmocka_unit_test(test_stopped_agent),
        cmocka_unit_test(test_bad_agents),   cmocka_unit_test(test_no_agent),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
