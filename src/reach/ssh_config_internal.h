/* The configuration in memory: ssh_config.c reads it, ssh_config_lookup.c searches it. */
#ifndef MTLAUNCH_REACH_SSH_CONFIG_INTERNAL_H
#define MTLAUNCH_REACH_SSH_CONFIG_INTERNAL_H

#include "reach/ssh_config_keyword_internal.h"

/* What a criterion of Host or Match is compared with. */
enum ssh_subject {
    SSH_SUBJECT_HOST,     /* Host: the name as given; case matters */
    SSH_SUBJECT_ALL,      /* Match all */
    SSH_SUBJECT_FINAL,    /* Match final, canonical: is this the second walk? */
    SSH_SUBJECT_HOSTNAME, /* Match host: HostName so far */
    SSH_SUBJECT_ORIGINAL, /* Match originalhost */
    SSH_SUBJECT_USER,
    SSH_SUBJECT_LOCAL_USER,
    SSH_SUBJECT_OPENSSH /* exec, and criteria newer than OpenSSH 9.2: not evaluated here */
};

struct ssh_criterion {
    enum ssh_subject subject;
    const char *keyword; /* "Match exec", for SSH_SUBJECT_OPENSSH */
    bool negated;
    struct strlist patterns;
};

/* Lines under one condition. The lines of an included file apply only where its Include does. */
struct ssh_block {
    size_t parent;                  /* block of the Include; SSH_NO_BLOCK at the top */
    struct ssh_criterion *criteria; /* all of them have to match */
    size_t len, cap;
};

#define SSH_NO_BLOCK ((size_t)-1)

struct ssh_config {
    struct ssh_block *blocks;
    size_t blocks_len, blocks_cap;
    struct ssh_directive *directives;
    size_t directives_len, directives_cap;
    struct strlist files; /* paths, borrowed by the directives */
    bool wants_final;     /* a Match asks for a second walk */
};

/* ssh_config_line.c: words[0] is the keyword, the others are its arguments; rest is the text after the
 * keyword. */
int ssh_config_split(const char *line, struct strlist *words, const char **rest, struct error *err);

/* ssh_config_match.c: add the criteria of a Match line to the block. rest: the text after the keyword. */
int ssh_match_parse(const char *rest, struct ssh_block *block, bool *wants_final, struct error *err);
void ssh_block_release(struct ssh_block *block);
struct ssh_criterion *ssh_block_add(struct ssh_block *block, enum ssh_subject subject);

#endif
