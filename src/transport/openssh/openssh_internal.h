/* The openssh transport's parts: openssh.c runs ssh, words.c says with which words, and
 * explain.c what its messages mean. */
#ifndef MTLAUNCH_TRANSPORT_OPENSSH_OPENSSH_INTERNAL_H
#define MTLAUNCH_TRANSPORT_OPENSSH_OPENSSH_INTERNAL_H

#include "base/str.h"
#include "transport/child_internal.h"
#include "transport/login_limit_internal.h"

#define OPENSSH_MARK_LEN 24

struct openssh_command {
    struct child child;              /* first */
    char mark[OPENSSH_MARK_LEN + 1]; /* what stands before the status on stderr */
    struct login_turn turn;
    struct deadline login; /* until the server has opened the session */
    struct deadline again; /* until the next try */
    unsigned tries;        /* that failed before this one */
    bool started;
    bool status_came, signal_came; /* from the server */
    bool ended;                    /* the mark has come */
    int status;                    /* then */
    bool log_open;
    uv_poll_t log;
    int log_fd, log_write;
    struct str log_rest; /* of a line */
    struct str greeting; /* lines of the server in place of its version */
    struct str said;     /* ssh's own messages */
    struct str aside;    /* on its standard error before the session: of jumps, a ProxyCommand, the server */
    char *host_key;      /* that the server showed: type and fingerprint; NULL: none yet */
    struct str held;     /* of the command's stderr */
};

void openssh_make_mark(char mark[OPENSSH_MARK_LEN + 1]);
/* The command line of ssh. log: the descriptor, here, that its messages go to. */
void openssh_make_words(const struct endpoint *endpoint, const struct transport_setup *setup, int log,
                        const char *command, const char *mark, struct strlist *words);
/* The variables ssh may have: none that a SendEnv could carry to a host. */
void openssh_make_environment(struct strlist *variables);

/* Do the messages say no more than that a server dropped the connection before the key exchange? */
bool openssh_is_early(const struct openssh_command *command);
/* names.c: take the host's name out of the message, so that it is the same for all hosts. */
void openssh_drop_name(const struct endpoint *endpoint, struct error *err);
/* Why the command never ran. */
void openssh_explain(const struct openssh_command *command, struct error *err);
/* Why it was lost. */
void openssh_explain_loss(const struct openssh_command *command, struct error *err);

#endif
