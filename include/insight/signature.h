/*
 * Known messages of training programs: one row each, in tables by subject (src/insight/signatures_*.c).
 *
 * To add one: a row in the table of its subject, and in tests/data/logs/signatures.txt a line that matches,
 * the summary it gives, and a line that must not match. tests/unit/insight/test_signature.c fails for a row
 * without.
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
    CLASS_ABSENT, /* the printer waits for others: the culprits are those that did not come */
    CLASS_AMBIG,  /* needs other evidence */
    CLASS_VICTIM, /* follows from the end of another process */
    CLASS_NOISE,  /* harmless */
};

/* "ROOT" … as JSON shows it. */
const char *signature_class_name(enum signature_class class);

/* How the culprit is found for CLASS_ABSENT, where it is not who is silent. */
enum signature_culprit {
    CULPRIT_PRINTER,  /* the node that prints it */
    CULPRIT_ABSENT,   /* the nodes that print nothing of the kind */
    CULPRIT_MASTER,   /* node 0, unless it prints it itself */
    CULPRIT_LAGGARD,  /* the ranks that enqueued the fewest collectives, else those that are silent */
    CULPRIT_NAMED,    /* the global rank in group 1 */
    CULPRIT_MINORITY, /* of ranks in groups 1 and 3 with versions in 2 and 4, those with the rarer version */
    CULPRIT_UNINIT,   /* the nodes whose ranks did not begin NCCL's init */
    CULPRIT_RECORDED, /* the ranks that the flight recorders tell of */
};

struct signature {
    const char *id;
    enum signature_class class;
    bool hardware; /* ROOT or NODE that goes before all others of its class */
    bool generic;  /* common in harmless lines too: counts in full only as the message of an exception that
                      ended the program, or in the last lines before the end */
    bool rankless; /* of the node or the job as a whole: it names no rank */
    bool wraps;    /* only says that something failed: others of its class, and the last error it quotes, say
                      what */
    bool local; /* on some nodes only it is a fault of just these nodes, on all of them a fault of the job */
    enum signature_culprit culprit;
    const char *literals[SIGNATURE_LITERALS + 1]; /* a line holds one of them; ended by NULL */
    const char *pattern; /* POSIX extended, must match too; NULL: the literal is enough */
    const char *summary; /* %0 is the match, %1 … its groups; NULL: the line */
    const char
        *remedies[SIGNATURE_REMEDIES + 1]; /* things to do, commands where there are some; groups as above */
};

/* A table of rows, one for a subject. */
struct signature_table {
    const char *subject;
    const struct signature *rows;
    size_t len;
};

/* All tables, in the order in which rows of the same rank win. */
extern const struct signature_table *const signature_tables[];
extern const size_t signature_tables_len;

/* Rows that no line gives, but the end of a process or the comparison of nodes. */
const struct signature *signature_find(const char *id); /* NULL: there is none */

#endif
