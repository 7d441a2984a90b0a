/*
 * `hosts` of the job file. The job keeps a text for the host list's parser; that parser also runs here, so
 * that a mistake is shown at its place in the job file, in whatever way the list is written there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "input/hostfile.h"
#include "input/hostgroup.h"
#include "input/jobfile_internal.h"
#include "model/hostlist.h"

/* The column at which the text of a node begins. */
static unsigned text_column(const struct yaml_node *node)
{
    return node->column + (node->quoted ? 1 : 0);
}

static size_t count_chars(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++) {
        count += ((unsigned char)*text & 0xC0) != 0x80;
    }
    return count;
}

static int check_items(struct job_reader *reader, const struct yaml_node *list, const char *path)
{
    if (list->len == 0) {
        reader_fail(reader, list, "'%s' is an empty list", path);
        return error_hint(reader->err, "name at least one host, or leave it out");
    }
    for (size_t i = 0; i < list->len; i++) {
        AUTO_FREE char *item_path = xasprintf("%s[%zu]", path, i);
        const char *text = reader_text(reader, list->items[i], item_path);
        if (!text) {
            return -1;
        }
        if (strpbrk(text, "\r\n")) {
            reader_fail(reader, list->items[i], "'%s' has several lines, expected one entry", item_path);
            return error_hint(reader->err, "write one list item for each host");
        }
    }
    return 0;
}

/*
 * Entries that share a line can be kept as an expression, so that line and column stay what they are in the
 * file; but one with a comma, a quote or a comment would then mean something else.
 */
static bool is_expression(const struct yaml_node *list)
{
    bool shared = false;
    for (size_t i = 0; i < list->len; i++) {
        const struct yaml_node *item = list->items[i];
        if (item->doc->is_option || strpbrk(item->text, ",#'\"")) {
            return false;
        }
        shared = shared || (i > 0 && item->line == list->items[i - 1]->line);
    }
    return shared;
}

/* "g1, g2": each entry at its line and column; on the first line columns are counted from the first entry's.
 */
static void lay_out_expression(const struct yaml_node *list, struct str *out)
{
    unsigned line = list->items[0]->line;
    size_t column = text_column(list->items[0]);
    for (size_t i = 0; i < list->len; i++) {
        const struct yaml_node *item = list->items[i];
        if (i > 0) {
            str_add_char(out, ',');
            column++;
        }
        for (; line < item->line; line++) {
            str_add_char(out, '\n');
            column = 1;
        }
        for (; column < text_column(item); column++) {
            str_add_char(out, ' ');
        }
        str_add(out, item->text);
        column += count_chars(item->text);
    }
}

/* One entry per line, each on the line it has in the file where that is possible. */
static void lay_out_lines(const struct yaml_node *list, struct str *out)
{
    unsigned line = list->items[0]->line;
    for (size_t i = 0; i < list->len; i++) {
        for (bool first = i > 0; first || (i > 0 && line < list->items[i]->line); line++, first = false) {
            str_add_char(out, '\n');
        }
        str_add(out, list->items[i]->text);
    }
}

/* The entry that lay_out_lines put on a line. */
static const struct yaml_node *item_of_line(const struct yaml_node *list, unsigned wanted)
{
    unsigned line = list->items[0]->line;
    for (size_t i = 1; i < list->len; i++) {
        line = line + 1 > list->items[i]->line ? line + 1 : list->items[i]->line;
        if (line > wanted) {
            return list->items[i - 1];
        }
    }
    return list->items[list->len - 1];
}

/* Run the parser of host lists, and give its error the place in the job file. */
static int check_list(struct job_reader *reader, const struct yaml_node *node)
{
    const struct job *job = reader->job;
    const struct yaml_node *first = node->type == YAML_LIST ? node->items[0] : node;
    struct hostlist list = HOSTLIST_INIT;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT; /* they are given when the list is used */
    const struct hostlist_groups groups = hostgroup_files(reader->request->home);
    const struct hostlist_context context = {.warnings = &warnings, .groups = &groups};
    int result = hostlist_read(&list, job->hosts, strlen(job->hosts),
                               job->hosts_is_list ? HOSTLIST_LINES : HOSTLIST_COMMAS, node->doc->name,
                               first->line, &context, reader->err);
    hostlist_release(&list);
    if (result == 0) {
        return 0;
    }
    if (strcmp(reader->err->file, node->doc->name) != 0) {
        return -1; /* a mistake in the file of a group has its place there */
    }
    unsigned column = reader->err->column > 0 ? reader->err->column : 1;
    if (node->type == YAML_LIST && !job->hosts_is_list && reader->err->line > first->line) {
        return yaml_place_at(first->doc, reader->err->line, column, reader->err);
    }
    const struct yaml_node *at = job->hosts_is_list ? item_of_line(node, reader->err->line) : first;
    bool in_line = at->plain || at->quoted; /* the text of a block begins on another line */
    return yaml_place_at(at->doc, at->line, in_line ? text_column(at) + column - 1 : at->column, reader->err);
}

int read_hosts(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    struct job *job = reader->job;
    reader->hosts = node;
    AUTO_STR struct str text = STR_INIT;
    if (node->type == YAML_MAP) {
        return reader_fail_type(reader, node, path, "an expression or a list of entries");
    }
    if (node->type == YAML_TEXT) {
        if (!reader_text(reader, node, path)) {
            return -1;
        }
        if (hostfile_is_meant(node->text)) {
            reader_fail(reader, node, "'%s' is '%.100s': that is a file", path, node->text);
            return error_hint(reader->err, "write 'hostfile: %.100s'", node->text);
        }
        str_add(&text, node->text);
        while (text.len > 0 && strchr("\r\n", text.data[text.len - 1])) {
            str_truncate(&text, text.len - 1); /* the line end of a block text */
        }
    } else if (check_items(reader, node, path) < 0) {
        return -1;
    } else if (is_expression(node)) {
        lay_out_expression(node, &text);
    } else {
        lay_out_lines(node, &text);
        job->hosts_is_list = true;
    }
    const struct yaml_node *first = node->type == YAML_LIST ? node->items[0] : node;
    free(job->hosts);
    job->hosts = str_detach(&text);
    job->hosts_line = node->doc->is_option ? 0 : first->line;
    return check_list(reader, node);
}
