/* What the parts of the reader of a log share. */
#ifndef MTLAUNCH_INSIGHT_READER_INTERNAL_H
#define MTLAUNCH_INSIGHT_READER_INTERNAL_H

#include <regex.h>
#include <stdint.h>

#include "clean_internal.h"
#include "insight/evidence.h"
#include "insight/lines.h"
#include "literals_internal.h"

#define TRACEBACK_KEYS 72   /* ranks of one node whose tracebacks are kept apart, and lines without a rank */
#define LINE_USES      2000 /* lines of a row or format that are read: the first ones count most */

#define LINE_LATER 64 /* of later lines, one in this many is read: the last known one is near the end */

enum line_use {
    LINE_FIRST_ONES, /* LINE_USES of them are taken */
    LINE_ALL,
    LINE_STEP, /* a step of the training: counted, not taken, and not searched for on nodes */
};
struct evidence_reader;

/* A line format whose lines are taken into the evidence. */
struct line_format {
    const char *id;
    const char *literal;
    void (*take)(struct evidence_reader *reader, unsigned long number, const struct clean_line *line);
    enum line_use use;
};
extern const struct line_format line_formats[];
extern const size_t line_formats_len;

struct scanner {
    struct literals *literals; /* number: index of a row, then of a format */
    const struct signature **rows;
    regex_t *patterns; /* one per row; those without a pattern unused */
    size_t rows_len;
};

/* A Python traceback that is being read. */
struct traceback {
    long rank, local_rank;    /* who prints it; -1: unknown */
    unsigned open;            /* tracebacks that began and whose exception has not come */
    bool ignored;             /* it ends nothing, such as one of a destructor */
    bool own;                 /* place is in the program's own files */
    bool distributed;         /* the innermost frame is torch.distributed's */
    bool announced;           /* the last line says that an exception is ignored */
    bool aside;               /* it ended at most a thread, by the line before its title */
    bool aside_next;          /* the last line says this of the next one */
    bool rich;                /* printed by rich: in a box, frames as "file:line in function" */
    bool chained;             /* the next one was raised while this one was handled */
    unsigned chain;           /* see struct event */
    unsigned idle;            /* lines since the last that belongs to it */
    unsigned long message_to; /* lines up to this one continue the message of the last exception */
    char place[120];
};

struct evidence_reader {
    struct scanner *scanner;
    struct evidence *evidence;
    struct lines lines;
    unsigned long number;
    struct traceback tracebacks[TRACEBACK_KEYS];
    size_t tracebacks_len;
    size_t tracebacks_open;
    struct child_end child; /* of the failure block that is being read, or was read last */
    bool in_child;
    bool in_error_file; /* the block shows what the child's error file holds, its traceback */
    unsigned *uses;     /* hits of each row, then of each format */
    char prefix[80];    /* what stands before each line, as the title of a traceback showed; empty: none */
    uint32_t *steps;    /* hash of the last step, for each format that shows steps */
    unsigned chains;    /* chains of exceptions so far */
    bool titled;        /* the line has the title of a traceback */
    struct clean_line line;
};

/* `  File "/a/train.py", line 17, in main`; name without folders. Borrowed from the text. */
struct traceback_frame {
    const char *name;
    size_t name_len;
    unsigned long line;
    const char *rest; /* after the number */
    bool own;         /* a file of the program */
    bool distributed; /* torch.distributed's */
};
bool traceback_read_frame(const char *text, struct traceback_frame *frame); /* false: not a frame */

/* fault.c: line formats */
typedef void take_line(struct evidence_reader *reader, unsigned long number, const struct clean_line *line);
take_line fault_take_fatal, fault_take_shell, fault_take_thread, fault_take_frame;

/* Is it a file of the program, not one of Python or of a package? */
bool traceback_is_own_file(const char *path, size_t len);

/* What a line is to a traceback. */
enum traceback_line { TRACEBACK_NOTHING, TRACEBACK_PART, TRACEBACK_MESSAGE, TRACEBACK_EXCEPTION };

/*
 * Follow the tracebacks. *traceback is the one that the line belongs to. Until the next call it stays as it
 * was at the exception.
 */
enum traceback_line traceback_feed(struct evidence_reader *reader, unsigned long number,
                                   const struct clean_line *line, const struct traceback **traceback);

/*
 * steps.c: count one step, however many formats match the line, and remove their hits. Returns how many are
 * left.
 */
size_t steps_count(struct evidence_reader *reader, unsigned long number, uint16_t *hits, size_t hits_len,
                   const char *bytes, size_t len);

/* Remember that a rank printed something. */
void evidence_note_rank(struct evidence *evidence, long rank);

#endif
