/* Parses YAML text into a tree. The only user of libyaml, whose marks count lines and characters from 0. */
#include "input/yaml.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/alloc.h"
#include "base/str.h"
#include "input/yaml_internal.h"

/* Lines of a literal or folded text. A tab at the start of such a line belongs to the text. */
struct line_range {
    size_t first, last;
};

struct builder {
    yaml_parser_t parser;
    const struct yaml_doc *doc;
    enum yaml_form form;
    const char *origin;
    const struct error_kind *kind;
    struct error *err;
    yaml_mark_t end; /* of the last node read */
    struct line_range *blocks;
    size_t blocks_len, blocks_cap;
};

/* Errors of libyaml with a hint for each. The first row that matches counts. */
static const struct {
    const char *problem, *context, *hint;
} syntax_hints[] = {
    {"mapping values are not allowed", "", "put quotes around text that contains ': '"},
    {"found unexpected ':'", "", "write a blank after the colon"},
    {"", "alias", "put quotes around text that begins with '*'"},
    {"", "anchor", "put quotes around text that begins with '&'"},
    {"cannot start any token", "", "put quotes around text that begins with this character"},
    {"", "flow", "inside [ ] and { } put quotes around text that contains , [ ] { } or ${{ }}"},
    {"", "quoted scalar", "close the quotes"},
    {"could not find expected ':'", "", "write 'key: value', with a blank after the colon"},
    {"did not find expected", "block", "give keys of one mapping the same indentation"},
};

static int fail_at(struct builder *b, const yaml_mark_t *mark, const char *text, const char *hint)
{
    error_set(b->err, b->kind, "%s", text);
    if (hint) {
        error_hint(b->err, "%s", hint);
    }
    return yaml_place_at(b->doc, (unsigned)mark->line + 1, (unsigned)mark->column + 1, b->err);
}

static int fail_tab(struct builder *b, size_t line, size_t column)
{
    yaml_mark_t mark = {.line = line, .column = column};
    return fail_at(b, &mark, "a tab in the indentation", "indent with blanks");
}

/* The column of a tab among the blanks that begin the line, or -1. */
static long find_leading_tab(const char *line, size_t len)
{
    for (size_t i = 0; i < len && (line[i] == ' ' || line[i] == '\t'); i++) {
        if (line[i] == '\t') {
            return (long)i;
        }
    }
    return -1;
}

/* Errors of libyaml's reader have an offset in bytes instead of a mark. */
static yaml_mark_t mark_of_offset(const struct yaml_doc *doc, size_t offset)
{
    yaml_mark_t mark = {0};
    const char *at = doc->text;
    const char *stop = doc->text + (offset < doc->len ? offset : doc->len);
    for (;;) {
        const char *next = yaml_line_next(doc, at, NULL);
        if (!next || next > stop) {
            break;
        }
        at = next;
        mark.line++;
    }
    for (; at < stop; at++) {
        mark.column += ((unsigned char)*at & 0xC0) != 0x80;
    }
    return mark;
}

static bool is_past_end(const struct yaml_doc *doc, size_t line)
{
    for (const char *at = yaml_line_find(doc, line); at && at < doc->text + doc->len; at++) {
        if (!strchr(" \t\r\n", *at)) {
            return false;
        }
    }
    return true;
}

static const char *find_syntax_hint(const char *problem, const char *context)
{
    for (size_t i = 0; i < ARRAY_LEN(syntax_hints); i++) {
        if (strstr(problem, syntax_hints[i].problem) && strstr(context, syntax_hints[i].context)) {
            return syntax_hints[i].hint;
        }
    }
    return NULL;
}

/* The last line before `number` that has more than blanks and a comment; SIZE_MAX: there is none. */
static size_t line_before(const struct yaml_doc *doc, size_t number, size_t *indent)
{
    for (size_t at = number; at-- > 0;) {
        size_t len = 0;
        const char *line = yaml_line_find(doc, at);
        if (!line) {
            continue;
        }
        yaml_line_next(doc, line, &len);
        size_t blanks = strspn(line, " ");
        if (blanks < len && line[blanks] != '#' && line[blanks] != '\r') {
            *indent = blanks;
            return at;
        }
    }
    return SIZE_MAX;
}

/*
 * Is the indentation of the line its only mistake? libyaml then reports that a mapping, a key or an item is
 * not allowed there. A second colon on a line is another mistake.
 */
static bool is_indentation(const struct builder *b, const char *problem, const char *context, size_t number,
                           size_t *other)
{
    size_t indent = 0, len = 0;
    const char *line = yaml_line_find(b->doc, number);
    *other = line ? line_before(b->doc, number, &indent) : SIZE_MAX;
    if (*other == SIZE_MAX || b->form != YAML_FORM_FILE) {
        return false;
    }
    yaml_line_next(b->doc, line, &len);
    size_t blanks = strspn(line, " "), column = b->parser.problem_mark.column;
    bool differs = blanks != indent && blanks < len;
    /* further right, the mistake is text after a complete value: 'lr: "1" x' */
    bool block = column == blanks && strstr(context, "block") && strstr(problem, "did not find expected");
    bool nested = strstr(problem, "values are not allowed") || strstr(problem, "entries are not allowed");
    const char *colon = memchr(line, ':', len);
    bool first = !colon || yaml_line_column(line, (size_t)(colon - line)) >= column;
    return differs && (block || (nested && first));
}

static int fail_indentation(struct builder *b, size_t number, size_t other)
{
    yaml_mark_t mark = {.line = number};
    const char *line = yaml_line_find(b->doc, number);
    mark.column = strspn(line, " ");
    AUTO_FREE char *text = xasprintf("not valid YAML: indented differently from line %zu", other + 1);
    AUTO_FREE char *hint = xasprintf("give this line as many blanks as line %zu has: entries of one list or "
                                     "mapping begin in one column",
                                     other + 1);
    return fail_at(b, &mark, text, hint);
}

static int fail_syntax(struct builder *b)
{
    const yaml_parser_t *parser = &b->parser;
    const char *what = b->form == YAML_FORM_FILE ? "not valid YAML" : "the value is not valid YAML";
    const char *problem = parser->problem ? parser->problem : "out of memory";
    const char *context = parser->context ? parser->context : "";
    yaml_mark_t mark = parser->problem_mark;
    if (parser->error == YAML_READER_ERROR) {
        mark = mark_of_offset(b->doc, parser->problem_offset);
    }
    size_t len = 0;
    const char *line = yaml_line_find(b->doc, mark.line);
    if (line) {
        yaml_line_next(b->doc, line, &len);
        long tab = find_leading_tab(line, len);
        if (tab >= 0) {
            return fail_tab(b, mark.line, (size_t)tab);
        }
    }
    size_t other = 0;
    if (is_indentation(b, problem, context, mark.line, &other)) {
        return fail_indentation(b, mark.line, other);
    }
    char text[300];
    snprintf(text, sizeof(text), "%s: %s%s%s", what, problem, context[0] != '\0' ? " " : "", context);
    const char *hint = find_syntax_hint(problem, context);
    bool entry = strstr(problem, "expected key") || strstr(problem, "expected '-' indicator");
    if (line && entry && mark.column > strspn(line, " ")) {
        hint = "put quotes around the whole value, or remove what follows it";
    }
    bool open = strstr(context, "flow") || strstr(context, "quoted");
    if (open && is_past_end(b->doc, mark.line)) {
        mark =
            parser->context_mark; /* the end of the text explains nothing: show where the open part begins */
        hint = "close what begins here";
    }
    return fail_at(b, &mark, text, b->doc->is_option && hint ? "put quotes around the value" : hint);
}

static int next_event(struct builder *b, yaml_event_t *event)
{
    return yaml_parser_parse(&b->parser, event) ? 0 : fail_syntax(b);
}

static struct yaml_node *new_node(struct builder *b, enum yaml_type type, const yaml_mark_t *mark)
{
    struct yaml_node *node = yaml_node_new(type, b->doc, b->origin);
    node->line = (unsigned)mark->line + 1;
    node->column = (unsigned)mark->column + 1;
    return node;
}

static struct yaml_node *read_node(struct builder *b, yaml_event_t *event, unsigned depth);

static struct yaml_node *read_text(struct builder *b, const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    yaml_scalar_style_t style = event->data.scalar.style;
    if (memchr(value, '\0', len)) {
        fail_at(b, &event->start_mark, "the value contains a NUL byte",
                "leave the \\0 out: no argument or variable can contain it");
        return NULL;
    }
    if (style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE) {
        if (b->form == YAML_FORM_VALUE) {
            fail_at(b, &event->start_mark, "the value is a block scalar", "put quotes around it");
            return NULL;
        }
        b->blocks = xgrow(b->blocks, b->blocks_len, &b->blocks_cap, sizeof(*b->blocks));
        size_t last = event->end_mark.line;
        b->blocks[b->blocks_len++] = (struct line_range){
            event->start_mark.line + 1, event->end_mark.column == 0 && last > 0 ? last - 1 : last};
    }
    /* YAML reads "- a" with a deeper "- b" below it as one text, which is never meant */
    for (size_t at = event->start_mark.line + 1;
         style == YAML_PLAIN_SCALAR_STYLE && b->form == YAML_FORM_FILE && at <= event->end_mark.line; at++) {
        const char *line = yaml_line_find(b->doc, at);
        if (line && strncmp(line + strspn(line, " "), "- ", 2) == 0 &&
            (at < event->end_mark.line || event->end_mark.column > 0)) {
            fail_indentation(b, at, event->start_mark.line);
            return NULL;
        }
    }
    b->end = event->end_mark;
    struct yaml_node *node = new_node(b, YAML_TEXT, &event->start_mark);
    node->text = xstrndup(value, len);
    node->plain = style == YAML_PLAIN_SCALAR_STYLE;
    node->quoted = style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    return node;
}

static struct yaml_node *read_list(struct builder *b, const yaml_event_t *start, unsigned depth)
{
    struct yaml_node *list = new_node(b, YAML_LIST, &start->start_mark);
    for (;;) {
        yaml_event_t event;
        if (next_event(b, &event) < 0) {
            break;
        }
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            b->end = event.end_mark;
            yaml_event_delete(&event);
            return list;
        }
        struct yaml_node *item = read_node(b, &event, depth + 1);
        yaml_event_delete(&event);
        if (!item) {
            break;
        }
        yaml_list_add(list, item);
    }
    yaml_node_free(list);
    return NULL;
}

/* Read the key of an entry: a text that is not empty, not `<<` and not in the mapping yet. */
static struct yaml_node *read_key(struct builder *b, const struct yaml_node *map, yaml_event_t *event,
                                  unsigned depth)
{
    struct yaml_node *key = read_node(b, event, depth);
    if (!key) {
        return NULL;
    }
    const struct yaml_node *first = key->type == YAML_TEXT ? yaml_get_key(map, key->text) : NULL;
    if (key->type != YAML_TEXT) {
        yaml_fail(key, b->err, b->kind, "a key is %s, expected a string", yaml_type_name(key));
    } else if (key->text[0] == '\0') {
        yaml_fail(key, b->err, b->kind, "a key is empty");
        error_hint(b->err, "write a name in front of the colon, or remove the entry");
    } else if (yaml_is_word(key, "<<")) {
        yaml_fail(key, b->err, b->kind, "a merge key '<<' is not allowed");
        error_hint(b->err, "write the keys out, or use profiles");
    } else if (first) {
        yaml_fail(key, b->err, b->kind, "'%.80s' is given twice, first on line %u", key->text, first->line);
        error_hint(b->err, "keep one of the two");
    } else if (map->len >= YAML_MAX_ENTRIES) {
        yaml_fail(key, b->err, b->kind, "a mapping of more than %d keys", YAML_MAX_ENTRIES);
    } else {
        return key;
    }
    yaml_node_free(key);
    return NULL;
}

static struct yaml_node *read_map(struct builder *b, const yaml_event_t *start, unsigned depth)
{
    struct yaml_node *map = new_node(b, YAML_MAP, &start->start_mark);
    for (;;) {
        yaml_event_t event;
        if (next_event(b, &event) < 0) {
            break;
        }
        if (event.type == YAML_MAPPING_END_EVENT) {
            b->end = event.end_mark;
            yaml_event_delete(&event);
            return map;
        }
        struct yaml_node *key = read_key(b, map, &event, depth + 1);
        yaml_event_delete(&event);
        if (!key) {
            break;
        }
        if (next_event(b, &event) < 0) {
            yaml_node_free(key);
            break;
        }
        struct yaml_node *value = read_node(b, &event, depth + 1);
        yaml_event_delete(&event);
        if (!value) {
            yaml_node_free(key);
            break;
        }
        if (value->type == YAML_MAP && value->line > key->line) {
            value->line = key->line; /* a mistake of the mapping as a whole is shown at its key */
            value->column = key->column;
        }
        yaml_map_add(map, key, value);
    }
    yaml_node_free(map);
    return NULL;
}

/* The anchor of an event, and its tag; NULL: it has none. */
static const yaml_char_t *event_anchor(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT           ? event->data.scalar.anchor
           : event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.anchor
           : event->type == YAML_MAPPING_START_EVENT  ? event->data.mapping_start.anchor
                                                      : NULL;
}

static const yaml_char_t *event_tag(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT           ? event->data.scalar.tag
           : event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.tag
           : event->type == YAML_MAPPING_START_EVENT  ? event->data.mapping_start.tag
                                                      : NULL;
}

static bool event_is_block(const yaml_event_t *event)
{
    return (event->type == YAML_SEQUENCE_START_EVENT &&
            event->data.sequence_start.style == YAML_BLOCK_SEQUENCE_STYLE) ||
           (event->type == YAML_MAPPING_START_EVENT &&
            event->data.mapping_start.style == YAML_BLOCK_MAPPING_STYLE);
}

static struct yaml_node *read_node(struct builder *b, yaml_event_t *event, unsigned depth)
{
    const yaml_mark_t *mark = &event->start_mark;
    if (event->type == YAML_ALIAS_EVENT) {
        fail_at(b, mark, "an alias is not allowed", "put quotes around text that begins with '*'");
    } else if (event_anchor(event)) {
        fail_at(b, mark, "an anchor is not allowed", "put quotes around text that begins with '&'");
    } else if (event_tag(event)) {
        fail_at(b, mark, "a tag is not allowed", "put quotes around text that begins with '!'");
    } else if (depth > YAML_MAX_DEPTH) {
        char text[60];
        snprintf(text, sizeof(text), "nested more than %d deep", YAML_MAX_DEPTH);
        fail_at(b, mark, text, NULL);
    } else if (b->form == YAML_FORM_VALUE && event_is_block(event)) {
        fail_at(b, mark, "the value reads as a block mapping or list",
                "put quotes around text that contains ': ' or begins with '- ', or write { } or [ ]");
    } else if (event->type == YAML_SCALAR_EVENT) {
        return read_text(b, event);
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        return read_list(b, event, depth);
    } else {
        return read_map(b, event, depth);
    }
    return NULL;
}

/* Refuse a tab in the indentation of a line, except in empty lines and in the lines of a block text. */
static int check_tabs(struct builder *b)
{
    size_t block = 0;
    size_t number = 0;
    const char *line = b->doc->text;
    while (line) {
        size_t len = 0;
        const char *next = yaml_line_next(b->doc, line, &len);
        while (block < b->blocks_len && b->blocks[block].last < number) {
            block++;
        }
        bool in_block = block < b->blocks_len && b->blocks[block].first <= number;
        long tab = in_block ? -1 : find_leading_tab(line, len);
        if (tab >= 0 && strspn(line, " \t") < len) {
            return fail_tab(b, number, (size_t)tab);
        }
        line = next;
        number++;
    }
    return 0;
}

/* Nothing may follow the value of an option. What libyaml skips there is a comment. */
static int check_rest(struct builder *b, const yaml_mark_t *end)
{
    const char *at = b->doc->text;
    const char *stop = b->doc->text + b->doc->len;
    for (size_t chars = 0; at < stop && chars < end->index; chars++) {
        at++;
        while (at < stop && ((unsigned char)*at & 0xC0) == 0x80) {
            at++;
        }
    }
    while (at < stop && strchr(" \t\r\n", *at)) {
        at++;
    }
    return at == stop
               ? 0
               : fail_at(b, end, "a '#' after a blank begins a comment", "put quotes around the value");
}

static struct yaml_node *new_null(struct builder *b, const yaml_mark_t *mark)
{
    struct yaml_node *node = new_node(b, YAML_TEXT, mark);
    node->text = xstrdup("");
    node->plain = true;
    return node;
}

/* Read the root of a document whose start has been read, and the document's end. */
static struct yaml_node *read_document(struct builder *b)
{
    yaml_event_t event;
    if (next_event(b, &event) < 0) {
        return NULL;
    }
    struct yaml_node *root = read_node(b, &event, 1);
    yaml_event_delete(&event);
    if (!root) {
        return NULL;
    }
    if (next_event(b, &event) == 0) {
        yaml_event_delete(&event); /* the document's end */
        if (b->form == YAML_FORM_FILE || check_rest(b, &b->end) == 0) {
            return root;
        }
    }
    yaml_node_free(root);
    return NULL;
}

static struct yaml_node *read_stream(struct builder *b)
{
    yaml_event_t event;
    if (next_event(b, &event) < 0) { /* the stream's start */
        return NULL;
    }
    yaml_event_delete(&event);
    struct yaml_node *root = NULL;
    while (next_event(b, &event) == 0) {
        yaml_mark_t mark = event.start_mark;
        bool ended = event.type == YAML_STREAM_END_EVENT;
        bool is_explicit = event.type == YAML_DOCUMENT_START_EVENT && !event.data.document_start.implicit;
        yaml_event_delete(&event);
        if (ended) {
            if (!root) {
                yaml_mark_t begin = {0};
                root = new_null(b, &begin);
                if (b->form == YAML_FORM_VALUE && check_rest(b, &begin) < 0) {
                    break;
                }
            }
            return root;
        }
        if (root) {
            fail_at(b, &mark, "a second document is not allowed", "keep one document per file");
            break;
        }
        if (is_explicit && b->form == YAML_FORM_VALUE) {
            fail_at(b, &mark, "the value begins with a YAML marker", "put quotes around it");
            break;
        }
        root = read_document(b);
        if (!root) {
            break;
        }
    }
    yaml_node_free(root);
    return NULL;
}

struct yaml_node *yaml_parse(const struct yaml_doc *doc, enum yaml_form form, const char *origin,
                             const struct error_kind *kind, struct error *err)
{
    if (doc->len > YAML_MAX_BYTES) {
        error_set(err, kind, "%zu bytes long, allowed: %u", doc->len, YAML_MAX_BYTES);
        error_at(err, doc->name, 0, 0);
        return NULL;
    }
    struct builder b = {.doc = doc, .form = form, .origin = origin, .kind = kind, .err = err};
    if (!yaml_parser_initialize(&b.parser)) {
        error_set(err, &kind_local, "out of memory");
        return NULL;
    }
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)doc->text, doc->len);
    struct yaml_node *root = read_stream(&b);
    if (root && form == YAML_FORM_FILE && check_tabs(&b) < 0) {
        yaml_node_free(root);
        root = NULL;
    }
    yaml_parser_delete(&b.parser);
    free(b.blocks);
    return root;
}
