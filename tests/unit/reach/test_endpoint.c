/* How a host is reached: what is local, whose word counts, which keys and known_hosts files are used. */
#include <sys/socket.h>
#include <sys/un.h>

#include "reach/endpoint.h"
#include "test.h"

/* A machine that the tests make up, with a home folder that is there. */
static int set_up(void **state)
{
    struct machine *machine = xcalloc(1, sizeof(*machine));
    char template[] = "/tmp/mtlaunch-endpoint-XXXXXX";
    AUTO_FREE char *folder = NULL;

    assert_non_null(mkdtemp(template));
    folder = xasprintf("%s/.ssh", template);
    assert_int_equal(mkdir(folder, 0700), 0);
    machine->name = xstrdup("head.cluster.example");
    machine->user = xstrdup("yi");
    machine->home = xstrdup(template);
    strlist_add(&machine->addresses, "10.1.2.3");
    strlist_add(&machine->addresses, "2001:db8::3");
    strlist_add(&machine->addresses, "fe80::1");
    *state = machine;
    return 0;
}

static int tear_down(void **state)
{
    struct machine *machine = *state;
    AUTO_FREE char *line = xasprintf("rm -rf %s", machine->home);

    assert_int_equal(system(line), 0);
    machine_release(machine);
    free(machine);
    return 0;
}

static void write_in(const struct machine *machine, const char *name, const char *text)
{
    AUTO_FREE char *path = xasprintf("%s/.ssh/%s", machine->home, name);
    struct error err = ERROR_INIT;

    assert_int_equal(file_write_atomic(path, text, strlen(text), 0600, &err), 0);
}

/* A socket that somebody serves. */
static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 4), 0);
    return fd;
}

static struct ssh_config *load(const struct machine *machine, const char *text)
{
    struct error err = ERROR_INIT;
    struct ssh_config *config;

    write_in(machine, "config", text);
    config = ssh_config_load("~/.ssh/config", machine->home, NULL, NULL, &err);
    assert_non_null(config);
    return config;
}

static struct endpoint resolve(struct host host, const struct reach *options, const struct machine *machine,
                               const struct ssh_config *config)
{
    struct endpoint endpoint;
    struct error err = ERROR_INIT;

    if (endpoint_resolve(&host, options, machine, config, &endpoint, NULL, &err) != 0) {
        print_error("%s\n", err.text);
    }
    assert_null(err.kind);
    return endpoint;
}

/* A host entry with borrowed texts: nobody releases or changes it. */
static struct host entry(const char *name, const char *user, unsigned port)
{
    return (struct host){.name = (char *)(uintptr_t)name, .user = (char *)(uintptr_t)user, .port = port};
}

static void test_what_is_local(void **state)
{
    static const struct {
        const char *name, *user;
        unsigned port;
        bool local;
    } cases[] = {
        {"localhost", NULL, 0, true},
        {"LocalHost", NULL, 22, true},
        {"127.0.0.1", NULL, 0, true},
        {"::1", NULL, 0, true},
        {"0:0:0:0:0:0:0:1", NULL, 0, true},
        {"127.0.0.2", NULL, 0, false},
        {"127.0.1.1", NULL, 0, false},
        {"head", NULL, 0, true},
        {"head.cluster.example", "yi", 22, true},
        {"HEAD", NULL, 0, true},
        {"head.cluster", NULL, 0, false},
        {"head2", NULL, 0, false},
        {"hea", NULL, 0, false},
        {"10.1.2.3", NULL, 0, true},
        {"10.1.2.30", NULL, 0, false},
        {"2001:db8:0:0::3", NULL, 0, true},
        {"fe80::1%eth0", NULL, 0, true},
        {"localhost", "root", 0, false},
        {"localhost", NULL, 2222, false},
        {"10.1.2.3", "root", 0, false},
    };

    FOR_ROWS(i, cases, cases[i].name) {
        struct endpoint endpoint =
            resolve(entry(cases[i].name, cases[i].user, cases[i].port), NULL, *state, NULL);
        if (endpoint.local != cases[i].local) {
            print_error("case %zu: %s\n", i, cases[i].name);
        }
        assert_int_equal(endpoint.local, cases[i].local);
        assert_int_equal(endpoint.why_local != NULL, cases[i].local);
        endpoint_release(&endpoint);
    }
}

static void test_ssh_always(void **state)
{
    struct host host = entry("localhost", NULL, 0);
    struct endpoint endpoint;

    host.ssh_always = true;
    endpoint = resolve(host, NULL, *state, NULL);
    assert_false(endpoint.local);
    endpoint_release(&endpoint);
}

/* The effective port, user and host name of ssh_config decide too. */
static void test_local_by_config(void **state)
{
    struct ssh_config *config = load(*state, "Host me\n  HostName 127.0.0.1\nHost localhost\n  Port 2200\n"
                                             "Host head\n  User root\nHost 10.1.2.3\n  HostName 10.9.9.9\n");
    static const struct {
        const char *name;
        bool local;
    } cases[] = {{"me", true}, {"localhost", false}, {"head", false}, {"10.1.2.3", false}};

    FOR_ROWS(i, cases, cases[i].name) {
        struct endpoint endpoint = resolve(entry(cases[i].name, NULL, 0), NULL, *state, config);
        assert_int_equal(endpoint.local, cases[i].local);
        endpoint_release(&endpoint);
    }
    ssh_config_free(config);
}

/* What ssh_config calls by an address of this machine stands behind the jump: another machine has it there.
 */
static void test_local_behind_a_jump(void **state)
{
    struct ssh_config *config = load(
        *state, "Host pod1\n  HostName localhost\n  ProxyCommand nc %h %p\nHost pod2\n  HostName 127.0.0.1\n"
                "  ProxyJump gate\nHost plain\n  HostName 127.0.0.1\n  ProxyJump none\nHost alias\n"
                "  HostName head\n  ProxyJump gate\nHost inner\n  HostName localhost\n  Port 2302\n"
                "  ProxyJump outer\nHost outer\n  HostName localhost\n  Port 2302\n");
    const struct reach jump = {.jump = (char[]){"gate"}};
    static const struct {
        const char *name;
        bool local;
    } cases[] = {{"pod1", false}, {"pod2", false},     {"plain", true},
                 {"alias", true}, {"localhost", true}, {"inner", false}};

    FOR_ROWS(i, cases, cases[i].name) {
        struct endpoint endpoint = resolve(entry(cases[i].name, NULL, 0), NULL, *state, config);
        assert_int_equal(endpoint.local, cases[i].local);
        endpoint_release(&endpoint);
        endpoint = resolve(entry(cases[i].name, NULL, 0), &jump, *state, config);
        assert_int_equal(endpoint.local, strcmp(cases[i].name, "plain") != 0 && cases[i].local);
        endpoint_release(&endpoint);
    }
    ssh_config_free(config);
}

static void test_precedence(void **state)
{
    struct ssh_config *config = load(*state, "Host g*\n  User config\n  Port 2201\n  HostName %h.real\n");
    struct reach options = {.user = (char[]){"spec"}, .port = 2202};
    struct endpoint endpoint = resolve(entry("g1", "entry", 2203), &options, *state, config);

    assert_string_equal(endpoint.name, "g1");
    assert_string_equal(endpoint.hostname, "g1.real");
    assert_string_equal(endpoint.user, "entry");
    assert_int_equal(endpoint.port, 2203);
    endpoint_release(&endpoint);
    endpoint = resolve(entry("g1", NULL, 0), &options, *state, config);
    assert_string_equal(endpoint.user, "spec");
    assert_int_equal(endpoint.port, 2202);
    endpoint_release(&endpoint);
    endpoint = resolve(entry("g1", NULL, 0), NULL, *state, config);
    assert_string_equal(endpoint.user, "config");
    assert_int_equal(endpoint.port, 2201);
    endpoint_release(&endpoint);
    endpoint = resolve(entry("h1", NULL, 0), NULL, *state, config);
    assert_string_equal(endpoint.hostname, "h1");
    assert_string_equal(endpoint.user, "yi");
    assert_int_equal(endpoint.port, 22);
    endpoint_release(&endpoint);
    ssh_config_free(config);
}

static void test_default_files(void **state)
{
    struct machine *machine = *state;
    AUTO_FREE char *ed25519 = xasprintf("%s/.ssh/id_ed25519", machine->home);
    AUTO_FREE char *rsa = xasprintf("%s/.ssh/id_rsa", machine->home);
    AUTO_FREE char *known = xasprintf("%s/.ssh/known_hosts", machine->home);
    struct endpoint endpoint;

    write_in(machine, "id_rsa", "x");
    write_in(machine, "id_ed25519", "x");
    endpoint = resolve(entry("g1", NULL, 0), NULL, machine, NULL);
    assert_int_equal(endpoint.identities.len, 2);
    assert_string_equal(endpoint.identities.items[0], ed25519);
    assert_string_equal(endpoint.identities.items[1], rsa);
    assert_string_equal(endpoint.known_hosts.items[0], known);
    assert_true(strlist_has(&endpoint.known_hosts, "/etc/ssh/ssh_known_hosts"));
    endpoint_release(&endpoint);
}

static void test_files_of_config(void **state)
{
    struct machine *machine = *state;
    struct ssh_config *config = load(
        machine, "Host *\n  IdentityFile %d/.ssh/%h-%n-%r-%p-%u-%L-%l-%%\n  IdentityFile ~/.ssh/missing\n"
                 "  IdentityFile none\n  UserKnownHostsFile ~/.ssh/kh_%k\n  GlobalKnownHostsFile none\n"
                 "  HostKeyAlias alias\n  HostName real\n");
    AUTO_STRLIST struct strlist notes = STRLIST_INIT;
    AUTO_FREE char *key = xasprintf("%s/.ssh/real-g1-yi-22-yi-head-head.cluster.example-%%", machine->home);
    AUTO_FREE char *known = xasprintf("%s/.ssh/kh_alias", machine->home);
    struct host host = entry("g1", NULL, 0);
    struct endpoint endpoint;
    struct error err = ERROR_INIT;

    write_in(machine, "real-g1-yi-22-yi-head-head.cluster.example-%", "x");
    assert_int_equal(endpoint_resolve(&host, NULL, machine, config, &endpoint, &notes, &err), 0);
    assert_int_equal(endpoint.identities.len, 1);
    assert_string_equal(endpoint.identities.items[0], key);
    assert_int_equal(endpoint.known_hosts.len, 1);
    assert_string_equal(endpoint.known_hosts.items[0], known);
    assert_string_equal(endpoint.key_name, "alias");
    assert_int_equal(notes.len, 1);
    assert_non_null(strstr(notes.items[0], "/.ssh/missing' is skipped"));
    endpoint_release(&endpoint);
    ssh_config_free(config);
}

/* Without an alias %k is the name as given, letters and all, whatever HostName makes of it. */
static void test_key_name_of_config(void **state)
{
    static const struct {
        const char *name, *wanted;
    } cases[] = {{"G1", "kh_G1_10.0.0.7_G1"}, {"b", "kh_al_real.example_b"}};
    struct machine *machine = *state;
    struct ssh_config *config = load(machine, "Host G1\n  HostName 10.7\nHost b\n  HostKeyAlias AL\n"
                                              "Host *\n  HostName Real.Example\n"
                                              "  UserKnownHostsFile ~/.ssh/kh_%k_%h_%n\n");

    FOR_ROWS(i, cases, cases[i].name) {
        struct endpoint endpoint = resolve(entry(cases[i].name, NULL, 0), NULL, machine, config);
        AUTO_FREE char *wanted = xasprintf("%s/.ssh/%s", machine->home, cases[i].wanted);
        assert_string_equal(endpoint.known_hosts.items[0], wanted);
        endpoint_release(&endpoint);
    }
    ssh_config_free(config);
}

/* A HostName that cannot be is the matter of the hosts that have it. */
static void test_bad_hostname(void **state)
{
    struct machine *machine = *state;
    struct ssh_config *config = load(machine, "Port ssh\nHost b\n  HostName %z\n");
    struct host host = entry("b", NULL, 0);
    struct endpoint endpoint = resolve(entry("a", NULL, 0), NULL, machine, config);
    struct error err = ERROR_INIT;

    assert_int_equal(endpoint.port, 22);
    endpoint_release(&endpoint);
    assert_int_equal(endpoint_resolve(&host, NULL, machine, config, &endpoint, NULL, &err), -1);
    assert_true(error_is(&err, &kind_ssh_config));
    assert_string_equal(err.text, "host name '%z' contains a token other than %h and %%");
    assert_int_equal(err.line, 3);
    ssh_config_free(config);
}

static void test_files_of_spec(void **state)
{
    struct machine *machine = *state;
    struct ssh_config *config = load(machine, "IdentityFile ~/.ssh/config\n");
    struct reach options = {.identity = (char[]){"~/.ssh/mine"}, .known_hosts = (char[]){"~/known"}};
    AUTO_FREE char *key = xasprintf("%s/.ssh/mine", machine->home);
    AUTO_FREE char *known = xasprintf("%s/known", machine->home);
    struct endpoint endpoint, copy;

    write_in(machine, "mine", "x");
    endpoint = resolve(entry("g1", NULL, 0), &options, machine, config);
    endpoint_copy(&copy, &endpoint);
    endpoint_release(&endpoint);
    assert_int_equal(copy.identities.len, 1);
    assert_string_equal(copy.identities.items[0], key);
    assert_int_equal(copy.known_hosts.len, 1);
    assert_string_equal(copy.known_hosts.items[0], known);
    endpoint_release(&copy);
    ssh_config_free(config);
}

static void test_missing_identity(void **state)
{
    struct machine *machine = *state;
    struct reach options = {.identity = (char[]){"~/.ssh/nope"}};
    AUTO_FREE char *wanted = xasprintf("identity '%s/.ssh/nope' cannot be found", machine->home);
    struct host host = entry("g1", NULL, 0);
    struct endpoint endpoint;
    struct error err = ERROR_INIT;

    assert_int_equal(endpoint_resolve(&host, &options, machine, NULL, &endpoint, NULL, &err), -1);
    assert_true(error_is(&err, &kind_identity_missing));
    assert_non_null(strstr(err.text, wanted));
    assert_true(err.hint[0] != '\0');
}

/* "user@host:port" of every hop, the nearest to the host first; what needs OpenSSH's client is marked. */
static char *route_of(const struct endpoint *endpoint)
{
    struct str out = STR_INIT;

    if (endpoint->openssh && (endpoint->jump == NULL || endpoint->jump->openssh)) {
        str_add(&out, "ssh ");
    }
    for (const struct endpoint *at = endpoint->jump; at != NULL; at = at->jump) {
        str_addf(&out, "%s@%s:%u ", at->user, at->hostname, at->port);
    }
    return str_detach(&out);
}

static const char jumps[] = "Host far\n  ProxyJump gate\n"
                            "Host gate\n  HostName 10.0.0.1\n  User op\n  Port 2222\n"
                            "Host localhost\n  ProxyJump gate\n"
                            "Host deep\n  ProxyJump gate,eve@middle:23\n"
                            "Host chained\n  ProxyJump far\n"
                            "Host uri\n  ProxyJump ssh://ann@[2001:db8::9]:2200\n"
                            "Host plain\n  ProxyJump none\n"
                            "Host command\n  ProxyCommand nc %h %p\n"
                            "Host behind\n  ProxyJump command\n"
                            "Host loop\n  ProxyJump loop\n"
                            "Host round\n  ProxyJump trip\nHost trip\n  ProxyJump round\n"
                            "Host card\n  PKCS11Provider /usr/lib/card.so\n";

static void test_routes(void **state)
{
    static const struct {
        const char *name, *jump, *client, *route;
    } cases[] = {
        {"far", NULL, NULL, "op@10.0.0.1:2222 "},
        {"near", NULL, NULL, ""},
        {"localhost", NULL, NULL, ""}, /* local: nothing to jump over */
        {"deep", NULL, NULL, "eve@middle:23 op@10.0.0.1:2222 "},
        {"chained", NULL, NULL, "yi@far:22 op@10.0.0.1:2222 "},
        {"uri", NULL, NULL, "ann@2001:db8::9:2200 "},
        {"plain", NULL, NULL, ""},
        {"far", "none", NULL, ""},
        {"far", "other", NULL, "yi@other:22 "},
        {"near", "a,b,c", NULL, "yi@c:22 yi@b:22 yi@a:22 "},
        {"near", "far", NULL, "yi@far:22 op@10.0.0.1:2222 "},
        {"near", "a:ssh,b:", NULL, "yi@b:22 yi@a:22 "},
        {"command", NULL, NULL, "ssh "},
        {"command", NULL, "openssh", "ssh "},
        {"command", "other", NULL, "yi@other:22 "},
        {"behind", NULL, NULL, "ssh yi@command:22 "},
        {"card", NULL, NULL, "ssh "},
        {"card", NULL, "builtin", ""},
        {"near", NULL, "openssh", "ssh "},
        {"near", NULL, "auto", ""},
    };
    struct ssh_config *config = load(*state, jumps);

    FOR_ROWS(i, cases, cases[i].name) {
        struct reach options = {.jump = xstrdup(cases[i].jump), .client = xstrdup(cases[i].client)};
        struct endpoint endpoint = resolve(entry(cases[i].name, NULL, 0), &options, *state, config), copy;
        AUTO_FREE char *route = NULL;
        endpoint_copy(&copy, &endpoint);
        endpoint_release(&endpoint);
        route = route_of(&copy);
        if (strcmp(route, cases[i].route) != 0) {
            print_error("case %zu, %s\n", i, cases[i].name);
        }
        assert_string_equal(route, cases[i].route);
        endpoint_release(&copy);
        reach_release(&options);
    }
    ssh_config_free(config);
}

static void test_routes_refused(void **state)
{
    static const struct {
        const char *name, *jump, *client, *text;
        unsigned line;
    } cases[] = {
        {"loop", NULL, NULL, "jump 'loop' leads to itself", 22},
        {"round", NULL, NULL, "jump 'round' leads to itself", 26},
        {"near", "near", NULL, "jump 'near' leads to itself", 0},
        {"near", "other,near", NULL, "jump 'near' leads to itself", 0},
        {"command", NULL, "builtin",
         "the built-in client does not run ProxyCommand, which applies to 'command'", 18},
        {"near", "a,b,c,d,e,f,g,h,i", NULL, "more than 8 jumps", 0},
        {"near", "gate:0", NULL, "jump 'gate:0' is not [user@]host[:port]", 0},
        {"near", "@gate", NULL, "jump '@gate' is not", 0},
        {"near", "$(touch${IFS}x)@gate", NULL, "jump '$(touch${IFS}x)@gate' is not", 0}, /* S11 */
        {"near", "[::1", NULL, "jump '[::1' is not", 0},
        {"near", "a b", NULL, "jump 'a b' is not", 0},
    };
    struct ssh_config *config = load(*state, jumps);

    FOR_ROWS(i, cases, cases[i].name) {
        struct reach options = {.jump = xstrdup(cases[i].jump), .client = xstrdup(cases[i].client)};
        struct host host = entry(cases[i].name, NULL, 0);
        struct endpoint endpoint;
        struct error err = ERROR_INIT;
        assert_int_equal(endpoint_resolve(&host, &options, *state, config, &endpoint, NULL, &err), -1);
        assert_true(error_is(&err, &kind_ssh_config));
        if (strstr(err.text, cases[i].text) == NULL) {
            print_error("case %zu: %s\n", i, err.text);
        }
        assert_non_null(strstr(err.text, cases[i].text));
        assert_int_equal(err.line, cases[i].line);
        assert_true(err.hint[0] != '\0');
        reach_release(&options);
    }
    ssh_config_free(config);
}

/* What the jump's own configuration leaves open, the spec says; with ssh itself only what was said is passed.
 */
static void test_trust_on_the_way(void **state)
{
    struct machine *machine = *state;
    struct ssh_config *config = load(machine, "Host gate\n  IdentityFile ~/.ssh/gate\n");
    struct reach options = {
        .identity = (char[]){"~/.ssh/mine"}, .known_hosts = (char[]){"~/known"}, .jump = (char[]){"gate"}};
    AUTO_FREE char *mine = xasprintf("%s/.ssh/mine", machine->home);
    AUTO_FREE char *gate = xasprintf("%s/.ssh/gate", machine->home);
    AUTO_FREE char *known = xasprintf("%s/known", machine->home);
    AUTO_FREE char *joined = NULL, *wanted = NULL;
    struct endpoint endpoint;

    write_in(machine, "mine", "x");
    write_in(machine, "gate", "x");
    endpoint = resolve(entry("g1", "root", 0), &options, machine, config);
    assert_int_equal(endpoint.jump->identities.len, 1);
    assert_string_equal(endpoint.jump->identities.items[0], gate);
    assert_string_equal(endpoint.jump->known_hosts.items[0], known);
    assert_true(endpoint.jump->known_hosts.len > 1);
    endpoint_release(&endpoint);
    options.jump = (char[]){"other"};
    endpoint = resolve(entry("g1", "root", 0), &options, machine, config);
    assert_string_equal(endpoint.jump->identities.items[0], mine);
    endpoint_release(&endpoint);
    options.client = (char[]){"openssh"};
    options.config = (char[]){"~/.ssh/config"};
    endpoint = resolve(entry("g1", "root", 0), &options, machine, config);
    joined = strlist_join(&endpoint.openssh_args, " ");
    wanted = xasprintf("-F %s/.ssh/config -l root -i %s -o UserKnownHostsFile=\"%s\" -o"
                       " GlobalKnownHostsFile=\"none\"",
                       machine->home, mine, known);
    assert_string_equal(joined, wanted);
    endpoint_release(&endpoint);
    ssh_config_free(config);
}

/* What makes "auto" take OpenSSH's client, beside keywords: tokens, and masters that run. */
static void test_needs_of_openssh(void **state)
{
    struct machine *machine = *state;
    struct ssh_config *config =
        load(machine, "Host m\n  ControlPath ~/.ssh/%r@%h:%p\nHost c\n  ControlPath ~/.ssh/x%C\n");
    AUTO_FREE char *path = xasprintf("%s/.ssh/yi@m:22", machine->home);
    AUTO_FREE char *hashed = xasprintf("%s/.ssh/xabc", machine->home);
    AUTO_STRLIST struct strlist notes = STRLIST_INIT;
    const struct reach asked = {.client = (char[]){"openssh"}};
    struct host host = entry("m", NULL, 0);
    struct endpoint endpoint;
    int fd;

    endpoint = resolve(host, NULL, machine, config);
    assert_false(endpoint.openssh); /* no master runs */
    endpoint_release(&endpoint);
    fd = listen_at(path);
    assert_int_equal(endpoint_resolve(&host, NULL, machine, config, &endpoint, &notes, NULL), 0);
    assert_true(endpoint.openssh);
    assert_int_equal(notes.len, 1);
    assert_non_null(strstr(notes.items[0], "m: reached through the system's ssh, for a master connection"));
    endpoint_release(&endpoint);
    assert_int_equal(endpoint_resolve(&host, &asked, machine, config, &endpoint, &notes, NULL), 0);
    assert_non_null(strstr(notes.items[1], "m: reached through the system's ssh, as ssh.client says"));
    endpoint_release(&endpoint);
    close(fd);
    fd = listen_at(hashed);
    endpoint = resolve(entry("c", NULL, 0), NULL, machine, config);
    assert_true(endpoint.openssh);
    endpoint_release(&endpoint);
    close(fd);
    write_in(machine, "id_ed25519_sk", "x");
    endpoint = resolve(entry("g1", NULL, 0), NULL, machine, config);
    assert_true(endpoint.openssh); /* the only key is in a token */
    endpoint_release(&endpoint);
    write_in(machine, "id_ed25519", "x");
    endpoint = resolve(entry("g1", NULL, 0), NULL, machine, config);
    assert_false(endpoint.openssh);
    endpoint_release(&endpoint);
    write_in(machine, "id_ed25519.pub", "sk-ssh-ed25519@openssh.com AAAA");
    endpoint = resolve(entry("g1", NULL, 0), NULL, machine, config);
    assert_true(endpoint.openssh);
    endpoint_release(&endpoint);
    ssh_config_free(config);
}

/* Kerberos counts where there are tickets: Debian's own file asks for it on every machine. */
static void test_needs_of_kerberos(void **state)
{
    const struct machine *machine = *state;
    struct ssh_config *config = load(machine, "GSSAPIAuthentication yes\n");
    AUTO_FREE char *cache = xasprintf("FILE:%s/.ssh/config", machine->home);
    AUTO_FREE char *kept = xstrdup(getenv("KRB5CCNAME"));

    for (int ticket = 0; ticket < 2; ticket++) {
        struct endpoint endpoint;
        setenv("KRB5CCNAME", ticket == 1 ? cache : "FILE:/no/such/cache", 1);
        endpoint = resolve(entry("g1", NULL, 0), NULL, machine, config);
        assert_int_equal(endpoint.gssapi, ticket == 1);
        assert_int_equal(endpoint.openssh, ticket == 1);
        endpoint_release(&endpoint);
    }
    if (kept != NULL) {
        setenv("KRB5CCNAME", kept, 1);
    } else {
        unsetenv("KRB5CCNAME");
    }
    ssh_config_free(config);
}

static void test_machine(void **state)
{
    struct machine machine;
    struct error err = ERROR_INIT;
    char name[256];

    (void)state;
    assert_int_equal(gethostname(name, sizeof(name)), 0);
    assert_int_equal(machine_read(&machine, "/some/home", &err), 0);
    assert_string_equal(machine.name, name);
    assert_string_equal(machine.home, "/some/home");
    assert_true(machine.user[0] != '\0');
    for (size_t i = 0; i < machine.addresses.len; i++) {
        assert_true(strncmp(machine.addresses.items[i], "127.", 4) != 0);
        assert_string_not_equal(machine.addresses.items[i], "::1");
    }
    machine_release(&machine);
    assert_int_equal(machine_read(&machine, "not/absolute", &err), 0);
    assert_int_equal(machine.home[0], '/');
    machine_release(&machine);
}

/* Whatever a login depends on makes another key, a jump's trust included; what it does not depend on makes
 * none. */
static void test_login_key(void **state)
{
    struct endpoint first = {.user = xstrdup("me"), .hostname = xstrdup("gate"), .port = 22}, other;
    AUTO_FREE char *key = endpoint_login_key(&first);

    (void)state;
    strlist_add(&first.identities, "/k/a");
    for (int what = 0; what < 11; what++) {
        AUTO_FREE char *before = endpoint_login_key(&first), *after = NULL;
        endpoint_copy(&other, &first);
        switch (what) {
        case 0:
            other.port = 23;
            break;
        case 1:
            other.user[0] = 'x';
            break;
        case 2:
            other.hostname[0] = 'x';
            break;
        case 3:
            other.key_name = xstrdup("alias");
            break;
        case 4:
            strlist_add(&other.known_hosts, "/k/known");
            break;
        case 5:
            strlist_add(&other.identities, "/k/b");
            break;
        case 6:
            strlist_add(&other.certificates, "/k/c");
            break;
        case 7:
            other.agent = xstrdup("/agent");
            break;
        case 8:
            other.identities_only = true;
            break;
        case 9:
            other.accept_new = true;
            break;
        default:
            other.jump = xcalloc(1, sizeof(*other.jump));
            endpoint_copy(other.jump, &first);
            break;
        }
        after = endpoint_login_key(&other);
        if (strcmp(before, after) == 0) {
            print_error("change %d makes the same key: %s\n", what, after);
        }
        assert_string_not_equal(before, after);
        endpoint_release(&other);
    }
    endpoint_copy(&other, &first);
    other.connect_timeout_ms = 5;
    other.name = xstrdup("another name for it");
    free(key);
    key = endpoint_login_key(&first);
    AUTO_FREE char *same = endpoint_login_key(&other);
    assert_string_equal(key, same);
    endpoint_release(&other);
    endpoint_release(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_login_key),
        cmocka_unit_test_setup_teardown(test_what_is_local, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ssh_always, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_local_by_config, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_local_behind_a_jump, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_precedence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_default_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_of_config, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_key_name_of_config, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_hostname, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_of_spec, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_identity, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_routes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_routes_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trust_on_the_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_needs_of_openssh, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_needs_of_kerberos, set_up, tear_down),
        cmocka_unit_test(test_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
