/*
 * Command lines from tables. A command names the groups of options it takes; parsing, help texts and
 * completion all come from these tables. Values are stored at an offset of one options struct.
 */
#ifndef MTLAUNCH_BASE_OPTIONS_H
#define MTLAUNCH_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"

enum option_type {
    OPTION_FLAG,     /* bool: set true */
    OPTION_TEXT,     /* const char *: borrowed from argv */
    OPTION_UINT,     /* struct option_uint, within min..max */
    OPTION_DURATION, /* struct option_uint, seconds */
    OPTION_CHOICE,   /* const char *: one of choices */
    OPTION_LIST,     /* struct strlist: one item each time it is given */
    OPTION_UNBUILT   /* known, but refused: "'--comm' is not supported by this version" */
};

struct option_uint {
    bool given;
    unsigned long value;
};

struct option {
    const char *name; /* long name without dashes */
    char letter;      /* short name, or 0 */
    enum option_type type;
    size_t offset;              /* in the options struct */
    const char *value;          /* name of the value in help, NULL for flags */
    const char *help;           /* one sentence, lower case, no full stop */
    const char *const *choices; /* OPTION_CHOICE: NULL-terminated */
    unsigned long min, max;     /* OPTION_UINT, OPTION_DURATION (seconds); a max of 0: no upper limit */
};

struct option_group {
    const char *title; /* heading in help: "Host options" */
    const struct option *options;
    size_t count;
};

/* The words that are not options, and how options_parse treats them. */
struct options_words {
    struct strlist *operands; /* borrowed */
    struct strlist *rest;     /* borrowed: the words after "--" */
    bool saw_rest;            /* out: there was a "--" */
    /* Options end at the first operand: it and all words after it go to rest, as with ssh(1) and env(1). */
    bool end_at_operand;
    const char *unknown_hint; /* hint for an unknown option with no similar name; NULL: see --help */
};

/*
 * Parse argv[0..argc) (without the command's own name) against groups (NULL-terminated array). Forms:
 * --name=VALUE, --name VALUE, -nVALUE, -n VALUE, joined flags -fv. Options and operands may mix; after "--"
 * all words go to rest. A text, number or choice given twice: the last one wins. A value may start with '-',
 * but neither "--" nor the long name of an option of these groups is taken as a value unless it is joined
 * with '='. The caller initialises values and releases its lists, also after an error. Errors: kind_usage,
 * for an unknown name or choice with the most similar one as hint; kind_not_supported for OPTION_UNBUILT.
 */
int options_parse(const struct option_group *const *groups, int argc, char *const *argv, void *values,
                  struct options_words *words, struct error *err);

/*
 * Append the help text of the groups: titles, and options with their texts aligned and wrapped to columns.
 * OPTION_UNBUILT is left out. An OPTION_CHOICE without a value name shows its choices.
 */
void options_help(const struct option_group *const *groups, size_t columns, struct str *out);

#endif
