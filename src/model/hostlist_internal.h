/*
 * The parts of the host list parser, from the smallest up:
 *   hostlist_reader.c   positions in the text, and errors that show them
 *   hostlist_range.c    [ranges] in a name: parse, count, the i-th name
 *   hostlist_name.c     [user@]name[:port], addresses
 *   hostlist_keys.c     the table of key=value settings
 *   hostlist_entry.c    one entry of the text
 *   hostlist.c          the list: duplicates, limits, groups in place
 *   hostlist_group.c    "@name": replaced by a host file
 *   hostlist_remove.c   '^', --exclude, --nodes
 *   hostlist_fold.c     names back to ranges
 * Parts that do not know the position set only text and hint; callers that know the offset add the place.
 */
#ifndef MTLAUNCH_MODEL_HOSTLIST_INTERNAL_H
#define MTLAUNCH_MODEL_HOSTLIST_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/texts.h"
#include "model/host.h"
#include "model/hostlist.h"

#define HOSTLIST_NAME_MAX   255          /* bytes of one name; DNS allows 253 */
#define HOSTLIST_DIGITS_MAX 18           /* digits of a bound: any such number fits 64 bits */
#define HOSTLIST_WORK_MAX   (1u << 20)   /* names one text may expand to before duplicates are dropped */
#define HOSTLIST_BYTES_MAX  (256u << 20) /* bytes that the values of all hosts of one text may take */

/* --- a piece of the text for a message: clipped, never cut inside a character --- */

struct hostlist_token {
    char text[128];
};
struct hostlist_token hostlist_token(const char *text, size_t len);

/* --- reader: the text and places in it --- */

struct hostlist_reader {
    const char *text; /* without BOM; not NUL-terminated */
    size_t len;
    enum hostlist_form form;
    const char *name;    /* file or option, for messages */
    unsigned first_line; /* 0: no lines, places are columns only */
    /* the last place that was asked for; the next one is counted from there */
    size_t seen_offset;
    unsigned seen_line, seen_column;
    /* how the last entry that was read ended */
    bool after_comma; /* another entry must follow */
    size_t comment;   /* 1 + offset of a comment that contains a comma; 0: there is none */
    bool after_gpus;  /* the comma came directly after an unquoted gpus= */
};

void hostlist_reader_init(struct hostlist_reader *reader, const char *text, size_t len,
                          enum hostlist_form form, const char *name, unsigned first_line);

/* Line (from first_line, or from 1 where that is 0) and column (in characters, from 1) of an offset. */
void hostlist_reader_place(struct hostlist_reader *reader, size_t offset, unsigned *line, unsigned *column);

/* Does the default of secret_env match this name? */
bool hostlist_is_secret(const char *name);

/*
 * Add place and source line to an error that has its text. Returns -1. Values of secrets are replaced by
 * stars.
 */
int hostlist_reader_locate(struct hostlist_reader *reader, size_t offset, struct error *err);

/* kind_host_list with a text at a place; the caller adds a hint. Returns -1. */
int hostlist_reader_fail(struct hostlist_reader *reader, size_t offset, struct error *err, const char *format,
                         ...) __attribute__((format(printf, 4, 5)));

/* "line 3", or "column 7" when both are on one line or there are no lines. Caller frees. */
char *hostlist_reader_where(const struct hostlist_reader *reader, unsigned line, unsigned column,
                            unsigned other_line);

/* --- ranges: a name with any number of [groups] --- */

struct hostlist_range {
    uint64_t low, step;
    uint64_t before; /* names of the group that come before those of this range */
    int width;       /* digits to pad to; 0: no padding */
};

struct hostlist_group {
    struct hostlist_range *items;
    size_t len, cap;
    uint64_t count; /* names of the group */
};

struct hostlist_piece {
    char *text;                  /* the text before the group */
    struct hostlist_group group; /* count 0: none, the last piece */
};

struct hostlist_pattern {
    struct hostlist_piece *pieces;
    size_t len, cap;
    uint64_t count; /* names; for more than HOSTLIST_MAX it is at least HOSTLIST_MAX + 1 and never wraps */
};

void hostlist_pattern_release(struct hostlist_pattern *pattern);
/* Exactly this one name. */
void hostlist_pattern_set(struct hostlist_pattern *pattern, const char *name, size_t len);
/* Parse; on error *bad is the offset of the offending token in text. */
int hostlist_pattern_parse(struct hostlist_pattern *pattern, const char *text, size_t len, size_t *bad,
                           struct error *err);
/* Name i of count, rightmost group fastest. Caller frees. */
char *hostlist_pattern_name(const struct hostlist_pattern *pattern, uint64_t i);

/* --- names --- */

/* An expanded name: length, no leading '-', digits and dots only as an IPv4 address. */
int hostlist_name_check(const char *name, struct error *err);
/* An IPv6 address, with a %zone when zone is true. */
bool hostlist_ipv6_valid(const char *text, size_t len, bool zone);
/* addr=: a name, an IPv4 address or a bare IPv6 address without zone. */
int hostlist_addr_check(const char *addr, struct error *err);
int hostlist_user_check(const char *user, size_t len, struct error *err);

/* --- entries --- */

struct hostlist_entry {
    bool removal; /* ^name */
    char *group;  /* "@name": its name, without a pattern; NULL for a host */
    struct hostlist_pattern pattern;
    struct host host;   /* all fields except the name */
    unsigned keys_seen; /* bit i: key i of the table was given */
    size_t offset;      /* of its first word, '^' included, in the text */
    size_t word_len;    /* of its first word */
    size_t name_offset; /* of the name in the first word, in the text */
    size_t len;         /* of the whole entry */
};

void hostlist_entry_release(struct hostlist_entry *entry);

/* "[user@]name[:port]" at offset, len bytes. */
int hostlist_name_parse(struct hostlist_reader *reader, size_t offset, size_t len,
                        struct hostlist_entry *entry, struct error *err);

/*
 * Read the next entry from *pos (moved past it) into entry (zeroed). Returns 1, 0 at the end of the text,
 * -1 on error.
 */
int hostlist_entry_read(struct hostlist_reader *reader, size_t *pos, struct hostlist_entry *entry,
                        struct error *err);

/* --- keys --- */

/* Apply key=value (value unquoted). Errors have text and hint, no place; values of env. are never shown. */
int hostlist_key_apply(struct hostlist_entry *entry, const char *key, const char *value, struct error *err);
/* May a value of the key hold a comma (gpus, workdir, python, env.NAME)? */
bool hostlist_key_takes_commas(const char *key);
/* The key that a word without a proper '=' may have meant, or NULL. */
const char *hostlist_key_nearest(const char *word);
/* Do two hosts have the same settings? If not, *what_a and *what_b say what differs ("slots=4" and "slots=2";
 * caller frees). */
bool hostlist_keys_equal(const struct host *a, const struct host *b, char **what_a, char **what_b);

/*
 * Add the settings of a group's entry to one of its hosts. Returns -1 with text and hint when the host has
 * another value of its own.
 */
int hostlist_keys_merge(struct host *host, const struct host *extra, const char *group, struct error *err);

/* --- builder: one text on its way to a list --- */

/* Duplicates of one entry at one earlier place, for one warning. */
struct hostlist_repeats {
    struct strlist names;
    char *file, *first_file;           /* NULL: a list on the command line */
    unsigned line, column;             /* of this entry */
    unsigned first_line, first_column; /* of the earlier one */
};

/* The hosts that one '^' entry names. */
struct hostlist_removal {
    struct strlist names;
    size_t offset; /* in the text */
};

struct hostlist_builder {
    struct hostlist_reader reader;
    const struct hostlist_context *context; /* never NULL */
    struct hostlist_builder *parent;        /* the text that names this group; NULL: the outermost text */
    size_t group_offset;                    /* of the group that is being read, in this text */
    bool plain;                             /* no '^' entries */
    struct hostlist found;
    struct texts index; /* user, name, port → position in found */
    struct hostlist_removal *removals;
    size_t removals_len, removals_cap;
    uint64_t work, bytes; /* names and bytes so far, duplicates and groups included */
    struct hostlist_repeats repeats;
    size_t warned;
};

/* Read the builder's text into found, removals applied. Returns -1 with a complete error. */
int hostlist_build(struct hostlist_builder *builder, struct error *err);
void hostlist_builder_release(struct hostlist_builder *builder);
/* Add a host (its contents are taken over): an equal one is dropped, a different one refused. */
int hostlist_add_or_drop(struct hostlist_builder *builder, size_t offset, struct host *host,
                         struct error *err);

/* Read the group that entry names into list (empty before), and add the entry's settings to each host. */
int hostlist_group_read(struct hostlist_builder *builder, const struct hostlist_entry *entry,
                        struct hostlist *list, struct error *err);

/* Store the names of a '^' entry (names is taken over), and apply all stored ones. */
void hostlist_removal_add(struct hostlist_builder *builder, size_t offset, struct strlist *names);
int hostlist_removals_apply(struct hostlist_builder *builder, struct error *err);

#endif
