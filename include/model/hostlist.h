/*
 * The host grammar (`mtlaunch help hosts`), the same for files, --hosts and the spec: turns text into hosts
 * in rank order, and back into the folded form. Pure: no file is read, no name looked up.
 */
#ifndef MTLAUNCH_MODEL_HOSTLIST_H
#define MTLAUNCH_MODEL_HOSTLIST_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"
#include "model/host.h"

#define HOSTLIST_MAX      65536
#define HOSTLIST_TEXT_MAX (8u << 20) /* bytes of one text: 65,536 entries of 128 bytes */

struct hostlist {
    struct host *items;
    size_t len;
    size_t cap;
    char *source; /* where it came from, for people: "--hosts", "hosts.txt", "Slurm allocation", "this
                     machine" */
};

/* clang-format off */
#define HOSTLIST_INIT {0}
/* clang-format on */

enum hostlist_form {
    HOSTLIST_LINES, /* a file: one entry per line, comments */
    HOSTLIST_COMMAS /* a list: entries separated by commas outside brackets and quotes */
};

void hostlist_release(struct hostlist *list);

#define HOSTLIST_GROUP_DEPTH 8 /* groups within groups */

/* Where the file of a group ("@name") is found; the parser itself reads no files. */
struct hostlist_groups {
    /*
     * Find and read the group's file. *path (its name for messages) and text are the caller's. Errors:
     * kind_host_list with text and hint, without a place.
     */
    int (*read)(const struct hostlist_groups *groups, const char *name, char **path, struct str *text,
                struct error *err);
    const char *home; /* for read; may be NULL */
};

/* The context of a text. Everything is borrowed and may be NULL. */
struct hostlist_context {
    struct strlist *warnings;             /* dropped duplicates */
    struct strlist *notes;                /* '^' entries and exclusions that name no host of the list */
    const struct hostlist_groups *groups; /* NULL: groups are refused */
};

/*
 * Parse text (len bytes, may hold CRLF, a BOM) and append to list. Removals (^name) are applied at the
 * end, over all of this text. name is the file's name or the option ("--hosts") for messages; first_line
 * is the line number of the text's first line (1 for files, the spec's line for a spec; 0: no lines).
 * Warnings (dropped duplicates) are added to warnings. Errors: kind_host_list with file, line, column,
 * the line as source and a hint; list is then unchanged. An empty result is an error.
 */
int hostlist_parse(struct hostlist *list, const char *text, size_t len, enum hostlist_form form,
                   const char *name, unsigned first_line, struct strlist *warnings, struct error *err);

/* A setting of an entry, for the reference. */
struct hostlist_key_doc {
    const char *form;    /* "slots=N" */
    const char *about;   /* whole sentences */
    const char *example; /* "slots=8" */
};

/* Fill docs (NULL: only count) with the settings in the parser's order. Returns how many there are. */
size_t hostlist_key_docs(const struct hostlist_key_doc **docs);

/* hostlist_parse, with groups and notes. context may be NULL. */
int hostlist_read(struct hostlist *list, const char *text, size_t len, enum hostlist_form form,
                  const char *name, unsigned first_line, const struct hostlist_context *context,
                  struct error *err);

/*
 * Remove every host that an expression (HOSTLIST_COMMAS) names, regardless of user and port. An empty
 * expression removes nothing; a host that is not in the list is a note. context may be NULL.
 */
int hostlist_exclude(struct hostlist *list, const char *expression, const char *option,
                     const struct hostlist_context *context, struct error *err);

/* Keep the first count hosts. Errors: kind_host_list if count is 0 or above the length. */
int hostlist_keep_first(struct hostlist *list, size_t count, const char *option, struct error *err);

/* Append the names in folded form: "g[0033-0036],login1". hostlist_parse of the result gives the same names.
 */
void hostlist_fold(const struct hostlist *list, struct str *out);

/* The same for plain labels (kept in order, duplicates dropped), for messages about many hosts. */
void hostlist_fold_names(char *const *names, size_t count, struct str *out);

/*
 * Append a host as an entry of a list (HOSTLIST_COMMAS) that reads as the same host: user, name, port and all
 * settings.
 */
void hostlist_write_entry(const struct host *host, struct str *out);

/*
 * Append the label of each host, as people see it, in rank order: its name; name:port if the name repeats in
 * the list; user@ before that if both repeat.
 */
void hostlist_labels(const struct hostlist *list, struct strlist *labels);

#endif
