/*
 * What the transports' tests share: a temporary folder with keys, sshd on 127.0.0.1 as the caller, and
 * commands run to their end with all they said. Everything is ended by pid and removed again.
 */
#ifndef MTLAUNCH_TESTS_CONTRACT_FIXTURE_H
#define MTLAUNCH_TESTS_CONTRACT_FIXTURE_H

#include <arpa/inet.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "test.h"
#include "transport/fleet.h"

#define PATIENCE_MS 20000 /* for a condition to come true */

struct world {
    char *dir;
    char *user, *home;
    pid_t sshd;
    unsigned port;
};

/* All that came of one command. */
struct outcome {
    struct fleet *fleet;
    uint64_t id;
    struct str out, err;
    struct exec_result result;
    unsigned ends;        /* how often done came */
    bool cancel_on_data;  /* cancel when the first byte comes */
    bool dirty_after_end; /* data came after done */
};

static inline void outcome_release(struct outcome *outcome)
{
    str_release(&outcome->out);
    str_release(&outcome->err);
}

static inline void outcome_data(void *ctx, size_t host, int stream, const char *bytes, size_t len)
{
    struct outcome *outcome = ctx;

    (void)host;
    outcome->dirty_after_end |= outcome->ends > 0;
    str_add_mem(stream == 1 ? &outcome->out : &outcome->err, bytes, len);
    if (outcome->cancel_on_data)
        fleet_cancel(outcome->fleet, outcome->id);
}

static inline void outcome_done(void *ctx, size_t host, const struct exec_result *result)
{
    struct outcome *outcome = ctx;

    (void)host;
    outcome->ends++;
    outcome->result = *result;
}

static const struct exec_handler outcome_handler = {.data = outcome_data, .done = outcome_done};

static inline void outcome_ask(struct outcome *outcome, struct fleet *fleet, size_t host,
                               const struct exec_request *request)
{
    outcome->fleet = fleet;
    outcome->id = fleet_exec(fleet, host, request, &outcome_handler, outcome);
}

/* The command ran to its end, exactly once, and nothing came behind it. */
static inline void assert_ended(const struct outcome *outcome, int status)
{
    if (outcome->result.error.kind != NULL)
        print_error("error: %s: %s\n", outcome->result.error.kind->name, outcome->result.error.text);
    assert_null(outcome->result.error.kind);
    assert_int_equal(outcome->ends, 1);
    assert_false(outcome->dirty_after_end);
    assert_int_equal(outcome->result.exit_status, status);
}

static inline void assert_failed(const struct outcome *outcome, const struct error_kind *kind)
{
    assert_int_equal(outcome->ends, 1);
    assert_non_null(outcome->result.error.kind);
    if (outcome->result.error.kind != kind)
        print_error("text: %s\n", outcome->result.error.text);
    assert_string_equal(outcome->result.error.kind->name, kind->name);
    assert_int_equal(outcome->result.exit_status, -1);
    assert_true(outcome->result.error.text[0] != '\0');
}

static inline struct fleet *make_fleet(unsigned fanout, unsigned connect_ms)
{
    struct fleet_options options = {.fanout = fanout, .connect_timeout_ms = connect_ms};
    struct error err = ERROR_INIT;
    struct fleet *fleet = fleet_new(&options, &err);

    assert_non_null(fleet);
    return fleet;
}

/* One request on one host in a fleet of its own. */
static inline void run_request(const struct endpoint *endpoint, const struct exec_request *request,
                               struct outcome *outcome)
{
    struct fleet *fleet = make_fleet(0, 0);

    outcome_ask(outcome, fleet, fleet_add_host(fleet, endpoint), request);
    assert_int_equal(fleet_run(fleet), 0);
    fleet_free(fleet);
}

static inline void run_command(const struct endpoint *endpoint, const char *command, struct outcome *outcome)
{
    struct exec_request request = {.command = command};

    run_request(endpoint, &request, outcome);
}

/* Wait for a condition, with a limit. */
#define WAIT_FOR(condition)                                                                                  \
    do {                                                                                                     \
        int64_t until = clock_mono_ms() + PATIENCE_MS;                                                       \
        while (!(condition) && clock_mono_ms() < until)                                                      \
            usleep(10000);                                                                                   \
        assert_true(condition);                                                                              \
    } while (0)

static inline bool is_gone(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

/* The lowest number that is free now: a limit there leaves nothing to open. */
static inline rlim_t lowest_free_file(void)
{
    int fd = open("/dev/null", O_RDONLY);

    close(fd);
    return (rlim_t)fd;
}

static inline struct rlimit file_limits(void)
{
    struct rlimit files;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    return files;
}

static inline void limit_files(rlim_t soft, rlim_t hard)
{
    const struct rlimit files = {.rlim_cur = soft, .rlim_max = hard};

    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
}

static inline void run_shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void run_shell(const char *format, ...)
{
    va_list args;
    AUTO_FREE char *line = NULL;
    int status;

    va_start(args, format);
    line = xvasprintf(format, args);
    va_end(args);
    status = system(line);
    if (status != 0)
        print_error("failed: %s\n", line);
    assert_int_equal(status, 0);
}

/* A socket that listens on 127.0.0.1; its port in *port. */
static inline int listen_somewhere(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(fd, 64), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static inline unsigned free_port(void)
{
    unsigned port;

    close(listen_somewhere(&port));
    return port;
}

static inline bool can_connect(unsigned port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

    close(fd);
    return connected;
}

static inline void world_stop_sshd(struct world *world)
{
    if (world->sshd <= 0)
        return;
    kill(world->sshd, SIGTERM);
    waitpid(world->sshd, NULL, 0);
    world->sshd = 0;
}

/* Does this machine's sshd punish clients (OpenSSH from 9.8 on)? Tests that are refused on purpose must not
 * be. */
static inline bool sshd_knows_penalties(const struct world *world)
{
    AUTO_FREE char *line = xasprintf("/usr/sbin/sshd -t -f /dev/null -h %s/host_ed25519"
                                     " -o PerSourcePenalties=no >/dev/null 2>&1",
                                     world->dir);

    return system(line) == 0;
}

/* sshd on a free port of every IPv4 address; extra: further lines for its configuration. */
static inline void world_start_sshd(struct world *world, const char *extra)
{
    AUTO_FREE char *config = xasprintf("%s/sshd_config", world->dir);
    AUTO_FREE char *log = xasprintf("%s/sshd.log", world->dir);
    AUTO_FREE char *text = NULL;

    world_stop_sshd(world);
    world->port = free_port();
    text = xasprintf(
        "Port %u\nListenAddress 0.0.0.0\nHostKey %s/host_ed25519\nAuthorizedKeysFile %s/authorized_keys\n"
        "PidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\n"
        "KbdInteractiveAuthentication no\nSetEnv SHLVL=2\n%s\n%s", /* a nested shell reads no .bashrc */
        world->port, world->dir, world->dir, extra,                /* the first of a kind counts */
        sshd_knows_penalties(world) ? "PerSourcePenalties no\n" : "");
    write_file(config, text);
    world->sshd = fork();
    assert_true(world->sshd >= 0);
    if (world->sshd == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves nothing */
        execl("/usr/sbin/sshd", "/usr/sbin/sshd", "-D", "-f", config, "-E", log, (char *)NULL);
        _exit(127);
    }
    WAIT_FOR(can_connect(world->port));
}

/* known_hosts with the right key under that name. */
static inline void world_trust(const struct world *world, const char *name)
{
    run_shell("printf '%%s ' '%s' >>%s/known_hosts && cut -d' ' -f1,2 %s/host_ed25519.pub >>%s/known_hosts",
              name, world->dir, world->dir, world->dir);
}

/* How known_hosts calls the world's sshd under that address. Caller frees. */
static inline char *port_name(const struct world *world, const char *host)
{
    return xasprintf("[%s]:%u", host, world->port);
}

/* The same under 127.0.0.1 and that port. */
static inline void world_trust_port(const struct world *world, unsigned port)
{
    AUTO_FREE char *name = xasprintf("[127.0.0.1]:%u", port);

    world_trust(world, name);
}

/* sshd, known under 127.0.0.1. */
static inline void world_serve(struct world *world, const char *extra)
{
    world_start_sshd(world, extra);
    world_trust_port(world, world->port);
}

static inline void world_init(struct world *world)
{
    char template[] = "/tmp/mtlaunch-contract-XXXXXX";
    const struct passwd *entry = getpwuid(geteuid());

    assert_non_null(entry);
    assert_non_null(mkdtemp(template));
    *world = (struct world){
        .dir = xstrdup(template), .user = xstrdup(entry->pw_name), .home = xstrdup(entry->pw_dir)};
    if (geteuid() == 0)
        run_shell("mkdir -p /run/sshd");
    run_shell("ssh-keygen -q -t ed25519 -N '' -f %s/host_ed25519", world->dir);
    run_shell("ssh-keygen -q -t ed25519 -N '' -f %s/id", world->dir);
    run_shell("cp %s/id.pub %s/authorized_keys", world->dir, world->dir);
}

static inline void world_release(struct world *world)
{
    world_stop_sshd(world);
    /* A login that is just ending may still write there. */
    run_shell("rm -rf %s 2>/dev/null || { sleep 1; rm -rf %s; }", world->dir, world->dir);
    free(world->dir);
    free(world->user);
    free(world->home);
}

/* For groups whose tests share a world and nothing else. */
static inline int world_set_up(void **state)
{
    struct world *world = xcalloc(1, sizeof(*world));

    world_init(world);
    *state = world;
    return 0;
}

static inline int world_set_up_sshd(void **state)
{
    world_set_up(state);
    world_serve(*state, "");
    return 0;
}

static inline int world_tear_down(void **state)
{
    world_release(*state);
    free(*state);
    return 0;
}

/* An endpoint to the world's sshd under that address, or to this machine without ssh. */
static inline struct endpoint make_endpoint(const struct world *world, const char *address, bool local)
{
    struct endpoint endpoint = {.name = xstrdup(address),
                                .hostname = xstrdup(address),
                                .user = xstrdup(world->user),
                                .port = local ? 22 : world->port,
                                .local = local,
                                .home = xstrdup(world->home)};

    strlist_addf(&endpoint.identities, "%s/id", world->dir);
    strlist_addf(&endpoint.known_hosts, "%s/known_hosts", world->dir);
    return endpoint;
}

/* One command on an endpoint that the case has changed. */
static inline void run_case(struct world *world, void (*change)(struct world *, struct endpoint *),
                            struct outcome *outcome)
{
    struct endpoint endpoint = make_endpoint(world, "127.0.0.1", false);

    change(world, &endpoint);
    run_command(&endpoint, "echo ran", outcome);
    endpoint_release(&endpoint);
}

static inline void endpoint_use_openssh(struct endpoint *endpoint)
{
    static const char *const options[] = {
        "-F", "none", "-o", "GlobalKnownHostsFile=none", "-o", "IdentityAgent=none"};

    endpoint->openssh = true;
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        strlist_add(&endpoint->openssh_args, options[i]);
    strlist_add(&endpoint->openssh_args, "-p");
    strlist_addf(&endpoint->openssh_args, "%u", endpoint->port);
    strlist_add(&endpoint->openssh_args, "-o");
    strlist_addf(&endpoint->openssh_args, "UserKnownHostsFile=%s", endpoint->known_hosts.items[0]);
    for (size_t i = 0; i < endpoint->identities.len; i++) {
        strlist_add(&endpoint->openssh_args, "-i");
        strlist_add(&endpoint->openssh_args, endpoint->identities.items[i]);
    }
}

/* A transport under test: a host that it serves. */
struct subject {
    struct world world;
    struct world jump; /* dir NULL: none */
    struct endpoint endpoint;
};

static inline int subject_set_up(void **state, bool local)
{
    struct subject *subject = xcalloc(1, sizeof(*subject));

    world_init(&subject->world);
    if (!local)
        world_serve(&subject->world, "");
    subject->endpoint = make_endpoint(&subject->world, "127.0.0.1", local);
    *state = subject;
    return 0;
}

static inline int subject_set_up_local(void **state)
{
    return subject_set_up(state, true);
}

static inline int subject_set_up_ssh(void **state)
{
    return subject_set_up(state, false);
}

/* The same server through the system's ssh, which reads no configuration of this machine's. */
static inline int subject_set_up_openssh(void **state)
{
    struct subject *subject;

    subject_set_up(state, false);
    subject = *state;
    endpoint_use_openssh(&subject->endpoint);
    return 0;
}

/* Let the endpoint be reached through another sshd, which has keys of its own. */
static inline void endpoint_set_jump(struct endpoint *endpoint, const struct world *jump)
{
    endpoint->jump = xcalloc(1, sizeof(*endpoint->jump));
    *endpoint->jump = make_endpoint(jump, "127.0.0.1", false);
}

static inline void world_init_sshd(struct world *world, const char *extra)
{
    world_init(world);
    world_serve(world, extra);
}

/* The built-in client through a jump. */
static inline int subject_set_up_jump(void **state)
{
    struct subject *subject;

    subject_set_up(state, false);
    subject = *state;
    world_init_sshd(&subject->jump, "");
    endpoint_set_jump(&subject->endpoint, &subject->jump);
    return 0;
}

static inline int subject_tear_down(void **state)
{
    struct subject *subject = *state;

    endpoint_release(&subject->endpoint);
    world_release(&subject->world);
    if (subject->jump.dir != NULL)
        world_release(&subject->jump);
    free(subject);
    return 0;
}

#endif
