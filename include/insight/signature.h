/*
 * Known messages of training programs: one row each, in tables by subject (src/insight/signatures_*.c).
 *
 * To add one: a row in the table of its subject, and in tests/data/logs/signatures.txt a line that matches,
 * the summary it gives, and a line that must not match. tests/unit/insight/test_signature.c fails for a row
 * without them.
 */
#ifndef MTLAUNCH_INSIGHT_SIGNATURE_H
#define MTLAUNCH_INSIGHT_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

#define SIGNATURE_LITERALS 8
#define SIGNATURE_REMEDIES 3
#define SIGNATURE_GROUPS   8    /* groups of a pattern, the whole match counted */
#define SIGNATURE_TEXT_MAX 2000 /* bytes of a line that a pattern is applied to */

enum signature_class {
    CLASS_ROOT,   /* the line is the cause, and the rank that prints it is the culprit */
    CLASS_NODE,   /* a resource or a device of the node that prints it */
    CLASS_CONF,   /* a mistake in the job; usually every rank prints it */
    CLASS_ABSENT, /* the printer waits for others: the culprits are those that are missing */
    CLASS_AMBIG,  /* needs other evidence */
    CLASS_VICTIM, /* follows from the end of another process */
    CLASS_NOISE,  /* harmless */
};

/* "ROOT" … as JSON shows it. */
const char *signature_class_name(enum signature_class class);

/* Who the culprit of a message is. */
enum signature_culprit {
    CULPRIT_PRINTER,  /* the node that prints it */
    CULPRIT_ABSENT,   /* the nodes that print nothing of the kind */
    CULPRIT_MASTER,   /* node 0, unless it prints it itself */
    CULPRIT_LAGGARD,  /* the ranks that enqueued the fewest collectives, else those that are silent */
    CULPRIT_NAMED,    /* the global rank in group 1 */
    CULPRIT_MINORITY, /* of ranks in groups 1 and 3 with versions in 2 and 4, those with the rarer version */
    CULPRIT_UNINIT,   /* the nodes whose ranks did not begin NCCL's init */
    CULPRIT_RECORDED, /* the ranks that did not join, by the flight recorders */
};

struct signature {
    const char *id;
    enum signature_class class;
    bool hardware; /* ROOT or NODE that takes precedence over all others of its class */
    /*
     * Also common in harmless lines: counts in full only as the message of an exception that ended the
     * program, or in the last lines before the end.
     */
    bool generic;
    bool rankless; /* about the node or the job as a whole: no rank is named */
    /* only says that something failed; others of its class, and the error it quotes, say what */
    bool wraps;
    bool local; /* on only some nodes: a fault of these nodes; on all nodes: a fault of the job */
    enum signature_culprit culprit;
    const char *literals[SIGNATURE_LITERALS + 1]; /* a line contains one of them; NULL at the end */
    const char *pattern; /* POSIX extended, must match too; NULL: the literal is enough */
    const char *summary; /* %0 is the match, %1 … its groups; NULL: the line */
    const char *remedies[SIGNATURE_REMEDIES + 1]; /* what to do, commands where possible; groups as above */
};

/* A table of rows, one for a subject. */
struct signature_table {
    const char *subject;
    const struct signature *rows;
    size_t len;
};

/* All tables. Where rows compete, the table listed first wins. */
extern const struct signature_table *const signature_tables[];
extern const size_t signature_tables_len;

/*
 * Find the row of an event that comes from no log line, but from the end of a process or from comparing
 * nodes.
 */
const struct signature *signature_find(const char *id); /* NULL: there is none */

#endif
