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
    OPTION_UNBUILT   /* of the contract, refused: "'--comm' is not supported by this version" */
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
    unsigned long min, max;     /* OPTION_UINT */
};

struct option_group {
    const char *title; /* heading in help: "Host options" */
    const struct option *options;
    size_t count;
};

/*
 * Parse argv[0..argc) against groups (NULL-terminated array). Forms: --name VALUE, --name=VALUE,
 * -nVALUE, -n VALUE, joined flags -fv. Options and operands may mix; after "--" all words go to rest
 * (saw_rest tells that "--" stood there). A text, number or choice given twice: the last one wins.
 * Errors: kind_usage with the nearest name as hint.
 */
int options_parse(const struct option_group *const *groups, int argc, char *const *argv, void *values,
                  struct strlist *operands, struct strlist *rest, bool *saw_rest, struct error *err);

/* Append the help text of the groups, wrapped to columns. */
void options_help(const struct option_group *const *groups, size_t columns, struct str *out);

#endif
