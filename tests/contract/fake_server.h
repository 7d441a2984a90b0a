/*
 * A server that misbehaves in one way, for each of its clients: libssh's server side, or a bare socket where
 * not even that much is spoken. It runs in processes of its own, one a client; all are ended together.
 */
#ifndef MTLAUNCH_TESTS_CONTRACT_FAKE_SERVER_H
#define MTLAUNCH_TESTS_CONTRACT_FAKE_SERVER_H

#include <libssh/libssh.h>
#include <libssh/server.h>
#include <sys/prctl.h>

#include "fixture.h"

#define FAKE_DELAY_MS 3200 /* of the slow one */

enum fake_manner {
    FAKE_WELL,        /* does what it should: any command ends with status 0 */
    FAKE_SLOW,        /* does so, but starts only after a while */
    FAKE_SILENT,      /* accepts and says nothing */
    FAKE_CLOSE,       /* closes at once */
    FAKE_HTTP,        /* is a web server: says so and closes */
    FAKE_PENALTY,     /* OpenSSH from 9.8 on, that punishes its client */
    FAKE_FULL,        /* the same, with no room */
    FAKE_GARBAGE,     /* is no ssh server */
    FAKE_FLOOD,       /* the same, without an end */
    FAKE_BANNER,      /* stops behind its version line */
    FAKE_BAD_PACKETS, /* garbage behind its version line */
    FAKE_CLOSE_AT_LOGIN,
    FAKE_CLOSE_BEFORE_SIGNATURE, /* takes a key, and is gone when it could be proved */
    FAKE_NO_LOGIN,               /* never answers a login */
    FAKE_NO_CHANNEL,             /* never opens a channel */
    FAKE_NO_COMMAND,             /* refuses the request for a command */
    FAKE_NO_ANSWER,              /* never answers it */
    FAKE_NO_STATUS,              /* does not say how the command ended */
    FAKE_FOREIGN_SIGNAL,         /* says that a signal did it which no system knows: SIG@example.org */
    FAKE_CLOSE_IN_COMMAND,
};

struct fake_server {
    pid_t pid; /* leads a process group */
    unsigned port;
};

static inline void fake_say(int fd, const char *text)
{
    (void)!write(fd, text, strlen(text));
}

/* Until the client goes away. */
static inline void fake_wait(int fd)
{
    char buffer[4096];

    while (read(fd, buffer, sizeof(buffer)) > 0) {
    }
    _exit(0);
}

static inline void fake_bare(int fd, enum fake_manner manner)
{
    static const char noise[] = "220 no ssh here\r\n\x01\x02\xff\xfe\r\n";

    if (manner == FAKE_BANNER || manner == FAKE_BAD_PACKETS)
        fake_say(fd, "SSH-2.0-Fake\r\n");
    if (manner == FAKE_HTTP)
        fake_say(fd, "HTTP/1.1 400 Bad Request\r\n\r\n");
    if (manner == FAKE_PENALTY)
        fake_say(fd, "Not allowed at this time\r\n");
    if (manner == FAKE_FULL)
        fake_say(fd, "Exceeded MaxStartups\r\n");
    if (manner == FAKE_GARBAGE || manner == FAKE_BAD_PACKETS)
        for (int i = 0; i < 100; i++)
            fake_say(fd, noise);
    while (manner == FAKE_FLOOD && write(fd, noise, sizeof(noise)) > 0) {
    }
    if (manner == FAKE_CLOSE || manner == FAKE_HTTP || manner == FAKE_PENALTY || manner == FAKE_FULL ||
        manner == FAKE_FLOOD)
        _exit(0);
    fake_wait(fd);
}

static inline void fake_hang(void)
{
    pause();
    _exit(0);
}

static inline void fake_request(ssh_message message, ssh_channel channel, enum fake_manner manner)
{
    if (manner == FAKE_CLOSE_IN_COMMAND)
        _exit(0);
    if (manner == FAKE_NO_ANSWER)
        fake_hang();
    if (manner == FAKE_NO_COMMAND) {
        ssh_message_reply_default(message);
        return;
    }
    ssh_message_channel_request_reply_success(message);
    if (manner == FAKE_FOREIGN_SIGNAL)
        ssh_channel_request_send_exit_signal(channel, "SIG@example.org", 0, "", "");
    else if (manner != FAKE_NO_STATUS)
        ssh_channel_request_send_exit_status(channel, 0);
    ssh_channel_send_eof(channel);
    ssh_channel_close(channel);
}

static inline void fake_login(ssh_session session, ssh_message message, enum fake_manner manner)
{
    if (manner == FAKE_CLOSE_BEFORE_SIGNATURE) {
        ssh_message_auth_reply_pk_ok_simple(message);
        ssh_blocking_flush(session, 1000);
    }
    if (manner == FAKE_CLOSE_AT_LOGIN || manner == FAKE_CLOSE_BEFORE_SIGNATURE)
        _exit(0);
    if (manner == FAKE_NO_LOGIN)
        fake_hang();
    if (ssh_message_subtype(message) == SSH_AUTH_METHOD_PUBLICKEY)
        ssh_message_auth_reply_success(message, 0);
    else
        ssh_message_reply_default(message);
}

static inline void fake_speak(int fd, const char *key, enum fake_manner manner)
{
    ssh_bind server = ssh_bind_new();
    ssh_session session = ssh_new();
    ssh_channel channel = NULL;

    ssh_bind_options_set(server, SSH_BIND_OPTIONS_HOSTKEY, key);
    if (manner == FAKE_SLOW)
        usleep(FAKE_DELAY_MS * 1000);
    if (ssh_bind_accept_fd(server, session, fd) != SSH_OK || ssh_handle_key_exchange(session) != SSH_OK)
        _exit(0);
    for (ssh_message message; (message = ssh_message_get(session)) != NULL; ssh_message_free(message)) {
        if (ssh_message_type(message) == SSH_REQUEST_AUTH)
            fake_login(session, message, manner);
        else if (ssh_message_type(message) == SSH_REQUEST_CHANNEL_OPEN && manner == FAKE_NO_CHANNEL)
            continue;
        else if (ssh_message_type(message) == SSH_REQUEST_CHANNEL_OPEN)
            channel = ssh_message_channel_request_open_reply_accept(message);
        else if (ssh_message_type(message) == SSH_REQUEST_CHANNEL)
            fake_request(message, channel, manner);
        else
            ssh_message_reply_default(message);
    }
    _exit(0);
}

static inline void fake_serve(int listener, const char *key, enum fake_manner manner)
{
    signal(SIGCHLD, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0; close(fd)) {
        if (fork() != 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(listener);
        if (manner >= FAKE_SILENT && manner <= FAKE_BAD_PACKETS)
            fake_bare(fd, manner);
        else
            fake_speak(fd, key, manner);
    }
    _exit(1);
}

/* On a free port of all addresses of 127/8; its host key is the world's. */
static inline struct fake_server fake_start(const struct world *world, enum fake_manner manner)
{
    struct fake_server fake = {0};
    AUTO_FREE char *key = xasprintf("%s/host_ed25519", world->dir);
    int listener = listen_somewhere(&fake.port);

    fake.pid = fork();
    assert_true(fake.pid >= 0);
    if (fake.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves nothing */
        setpgid(0, 0);
        fclose(stdout); /* nor does its reader wait */
        fclose(stderr);
        fake_serve(listener, key, manner);
    }
    setpgid(fake.pid, fake.pid);
    close(listener);
    world_trust_port(world, fake.port);
    return fake;
}

static inline void fake_stop(const struct fake_server *fake)
{
    kill(-fake->pid, SIGKILL);
    waitpid(fake->pid, NULL, 0);
}

#endif
