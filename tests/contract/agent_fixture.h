/* What the tests of logins by an ssh agent share: agents, keys in them, and a world whose sshd is OpenSSH's
 * default. */
#ifndef MTLAUNCH_TESTS_CONTRACT_AGENT_FIXTURE_H
#define MTLAUNCH_TESTS_CONTRACT_AGENT_FIXTURE_H

#include <sys/prctl.h>
#include <sys/un.h>

#include "fixture.h"

/* The socket's file is there before the agent listens. */
static inline bool listens(const char *socket_path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
    bool connected = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    close(fd);
    return connected;
}

static inline pid_t start_agent(const struct world *world, const char *name)
{
    AUTO_FREE char *socket_path = xasprintf("%s/%s", world->dir, name);
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves none behind */
        dup2(null, 1);
        dup2(null, 2);
        execl("/usr/bin/ssh-agent", "ssh-agent", "-D", "-a", socket_path, (char *)NULL);
        _exit(127);
    }
    WAIT_FOR(listens(socket_path));
    return pid;
}

static inline void end_agent(pid_t pid)
{
    kill(pid, SIGCONT);
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
}

static inline void add_to_agent(const struct world *world, const char *agent, const char *key)
{
    AUTO_FREE char *answer = xasprintf("%s/askpass", world->dir);

    write_file(answer, "#!/bin/sh\necho secret\n");
    assert_int_equal(chmod(answer, 0700), 0);
    run_shell("SSH_AUTH_SOCK=%s/%s SSH_ASKPASS=%s SSH_ASKPASS_REQUIRE=force ssh-add -q %s/%s </dev/null "
              "2>/dev/null",
              world->dir, agent, answer, world->dir, key);
}

static inline void make_key(const struct world *world, const char *type, const char *name,
                            const char *passphrase)
{
    run_shell("ssh-keygen -q -t %s -N '%s' -f %s/%s -C %s", type, passphrase, world->dir, name, name);
}

/* An endpoint with that agent and that identity (NULL: none). */
static inline struct endpoint make_agent_endpoint(const struct world *world, const char *agent,
                                                  const char *identity)
{
    struct endpoint endpoint = make_endpoint(world, "127.0.0.1", false);

    strlist_release(&endpoint.identities);
    if (identity != NULL)
        strlist_addf(&endpoint.identities, "%s/%s", world->dir, identity);
    endpoint.agent = xasprintf("%s/%s", world->dir, agent);
    return endpoint;
}

static inline void allow(const struct world *world, const char *name)
{
    run_shell("cat %s/%s.pub >>%s/authorized_keys", world->dir, name, world->dir);
}

static inline void fill_agent(const struct world *world, const char *agent, int keys)
{
    for (int i = 0; i < keys; i++) {
        AUTO_FREE char *name = xasprintf("%s_wrong%d", agent, i);
        make_key(world, "ed25519", name, "");
        add_to_agent(world, agent, name);
    }
}

static inline int set_up(void **state)
{
    struct world *world = xcalloc(1, sizeof(*world));
    AUTO_FREE char *name = NULL;

    world_init(world);
    world_start_sshd(world, "MaxAuthTries 6\n");
    name = xasprintf("[127.0.0.1]:%u", world->port);
    world_trust(world, name);
    *state = world;
    return 0;
}

static inline int tear_down(void **state)
{
    world_release(*state);
    free(*state);
    return 0;
}

#endif
