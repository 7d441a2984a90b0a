/* The openssh transport: openssh.c runs ssh, words.c builds its command line, explain.c classifies its
 * messages. */
#ifndef MTLAUNCH_TRANSPORT_OPENSSH_OPENSSH_INTERNAL_H
#define MTLAUNCH_TRANSPORT_OPENSSH_OPENSSH_INTERNAL_H

#include "base/str.h"
#include "transport/child_internal.h"
#include "transport/login_limit_internal.h"

#define OPENSSH_MARK_LEN 24

struct openssh_command {
    struct child child;              /* first */
    char mark[OPENSSH_MARK_LEN + 1]; /* printed before the status on stderr */
    struct login_slot slot;
    struct deadline login; /* until the server has opened the session */
    struct deadline retry; /* until the next try */
    unsigned tries;        /* failed tries before this one */
    bool started;
    bool status_came, signal_came; /* from the server */
    bool ended;                    /* the mark was received */
    int status;                    /* valid once ended is set */
    bool log_open;
    uv_poll_t log;
    int log_fd, log_write;
    struct str log_rest; /* an unfinished line */
    struct str greeting; /* lines that the server sent instead of its version */
    struct str said;     /* ssh's own messages */
    struct str aside;    /* on stderr before the session: from jumps, a ProxyCommand, the server */
    char *host_key;      /* shown by the server: type and fingerprint; NULL: none yet */
    struct str held;     /* held back of the command's stderr */
};

void openssh_make_mark(char mark[OPENSSH_MARK_LEN + 1]);
/* Make the command line of ssh. log: the descriptor of this process that its messages go to. */
void openssh_make_words(const struct endpoint *endpoint, const struct transport_setup *setup, int log,
                        const char *command, const char *mark, struct strlist *words);
/* Make the environment of ssh, without variables that a SendEnv could send to a host. */
void openssh_make_environment(struct strlist *variables);

/* Do the messages only say that the server dropped the connection before the key exchange? */
bool openssh_is_early(const struct openssh_command *command);
/* names.c: remove the host's name from the message, so that it is the same for all hosts. */
void openssh_drop_name(const struct endpoint *endpoint, struct error *err);
/* Set the error of a command that has not run. */
void openssh_explain(const struct openssh_command *command, struct error *err);
/* Set the error of a command that was lost. */
void openssh_explain_loss(const struct openssh_command *command, struct error *err);

#endif
