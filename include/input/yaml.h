/*
 * Parses YAML text into a small tree. Every scalar is kept as the text that was written; its key decides what
 * it means. Refused: duplicate keys, keys that are not strings, anchors, aliases, `<<`, tags, several
 * documents, tabs in the indentation, NUL bytes, text that is not valid UTF-8, and more than the limits
 * below. libyaml (YAML 1.1 events) is used only in src/input/yaml.c.
 *
 * A tree may be put together from several texts (a file, options), so each node knows the text it came from
 * and errors point into that one. Documents are owned by the caller and must live as long as the nodes made
 * from them.
 */
#ifndef MTLAUNCH_INPUT_YAML_H
#define MTLAUNCH_INPUT_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"

#define YAML_MAX_BYTES   (1024U * 1024U)
#define YAML_MAX_DEPTH   32
#define YAML_MAX_ENTRIES 2048 /* keys of one mapping */

/* The text that nodes were read from. */
struct yaml_doc {
    char *name; /* for messages: a path, or an option ("--set args.lr=1") */
    char *text;
    size_t len;
    bool is_option;         /* errors name it without line and column */
    struct strlist secrets; /* shell patterns of keys whose values are masked in a shown line */
};

enum yaml_type { YAML_TEXT, YAML_LIST, YAML_MAP };

/* How a document is read. */
enum yaml_form {
    YAML_FORM_FILE, /* a file: block or flow */
    YAML_FORM_VALUE /* one value of an option: a text, [..] or {..}; no comment */
};

struct yaml_node;

struct yaml_entry {
    struct yaml_node *key; /* YAML_TEXT, not empty */
    struct yaml_node *value;
};

struct yaml_node {
    enum yaml_type type;
    const struct yaml_doc *doc; /* borrowed */
    const char *origin;         /* who set it, for people ("spec", "profile smoke", "--set"); borrowed */
    unsigned line, column;      /* from 1, the column in characters */
    char *text;                 /* YAML_TEXT: never NULL */
    bool plain;                 /* YAML_TEXT: written without quotes and not as a block */
    bool quoted;                /* YAML_TEXT: written in ' or " */
    struct yaml_node **items;   /* YAML_LIST */
    struct yaml_entry *entries; /* YAML_MAP, in file order */
    size_t len, cap;
};

/* A document with copies of text (without a BOM) and name. */
struct yaml_doc *yaml_doc_new(const char *name, const char *text, size_t len);
void yaml_doc_free(struct yaml_doc *doc);

/*
 * Read doc. The caller owns the tree (yaml_node_free). An empty document is an empty plain text, which is
 * null. NULL after an error of kind, with file, line, column and the line.
 */
struct yaml_node *yaml_parse(const struct yaml_doc *doc, enum yaml_form form, const char *origin,
                             const struct error_kind *kind, struct error *err);
void yaml_node_free(struct yaml_node *node); /* (yaml_free is a symbol of libyaml) */

/* A deep copy, every node of it with that origin. */
struct yaml_node *yaml_copy(const struct yaml_node *node, const char *origin);
/* A text that is not plain, at the beginning of doc. */
struct yaml_node *yaml_new_text(const struct yaml_doc *doc, const char *origin, const char *text);
struct yaml_node *yaml_new_map(const struct yaml_doc *doc, const char *origin);

/* The value of key, or NULL; map may be NULL or not a mapping. */
struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);
/* Set key (a text node) to value; an entry that is already there keeps its place. Takes key and value. */
void yaml_put(struct yaml_node *map, struct yaml_node *key, struct yaml_node *value);
/* Add copies of the entries of `from`, with origin. Mappings are merged, anything else is replaced. */
void yaml_merge(struct yaml_node *into, const struct yaml_node *from, const char *origin);

/* Is it the plain word `null`, or no value at all? */
bool yaml_is_null(const struct yaml_node *node);
/* Is it this plain word? yaml_is_word(node, "true"). */
bool yaml_is_word(const struct yaml_node *node, const char *word);
/* Does a text of the document (a line, a value) set a name whose value may not be shown? */
bool yaml_has_secret(const struct yaml_doc *doc, const char *text);
/* The text as it may be shown: "***" in place of what follows such a name. Caller frees. */
char *yaml_shown_text(const struct yaml_doc *doc, const char *text);
/* "a mapping", "a list", "null", "a string". */
const char *yaml_type_name(const struct yaml_node *node);

/* Set err with the node's place and line (secret values masked). Returns -1. */
int yaml_fail(const struct yaml_node *node, struct error *err, const struct error_kind *kind,
              const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Add the node's place and line to an error that is already set. Returns -1. */
int yaml_place(const struct yaml_node *node, struct error *err);
/* The same with a line and a column of the node's document. Returns -1. */
int yaml_place_at(const struct yaml_doc *doc, unsigned line, unsigned column, struct error *err);

#endif
