/* Positions in the text of a host list, and errors that show them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"
#include "model/hostlist_internal.h"
#include "model/job.h"
#include "model/kind.h"

/* Bytes of a line that are kept for an error; struct error holds fewer. */
#define SOURCE_MAX 1024

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

struct hostlist_token hostlist_token(const char *text, size_t len)
{
    static const char dots[] = "...";
    struct hostlist_token token;
    size_t keep = len;

    if (keep >= sizeof token.text) {
        keep = sizeof token.text - sizeof dots;
        while (keep > 0 && continues_character(text[keep])) {
            keep--;
        }
    }
    memcpy(token.text, text, keep);
    if (keep < len) {
        memcpy(token.text + keep, dots, sizeof dots);
    } else {
        token.text[keep] = '\0';
    }
    return token;
}

void hostlist_reader_init(struct hostlist_reader *reader, const char *text, size_t len,
                          enum hostlist_form form, const char *name, unsigned first_line)
{
    static const char bom[] = "\xEF\xBB\xBF";

    if (len >= 3 && memcmp(text, bom, 3) == 0) {
        text += 3;
        len -= 3;
    }
    *reader = (struct hostlist_reader){
        .text = text,
        .len = len,
        .form = form,
        .name = name,
        .first_line = first_line,
        .seen_line = first_line ? first_line : 1,
        .seen_column = 1,
    };
}

void hostlist_reader_place(struct hostlist_reader *reader, size_t offset, unsigned *line, unsigned *column)
{
    if (offset < reader->seen_offset) {
        reader->seen_offset = 0;
        reader->seen_line = reader->first_line ? reader->first_line : 1;
        reader->seen_column = 1;
    }
    for (; reader->seen_offset < offset; reader->seen_offset++) {
        if (reader->text[reader->seen_offset] == '\n') {
            reader->seen_line++;
            reader->seen_column = 1;
        } else if (reader->seen_offset + 1 >= reader->len ||
                   !continues_character(reader->text[reader->seen_offset + 1])) {
            reader->seen_column++;
        }
    }
    *line = reader->seen_line;
    *column = reader->seen_column;
}

bool hostlist_is_secret(const char *name)
{
    struct job job;

    job_init(&job);
    bool secret = text_matches_any(name, job.secret_env.items, job.secret_env.len);
    job_release(&job);
    return secret;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Where the value that begins at `from` ends: at its closing quote, or at a blank. */
static size_t value_end(const char *line, size_t len, size_t from)
{
    size_t at = from;

    if (at < len && (line[at] == '"' || line[at] == '\'')) {
        at++;
        while (at < len && line[at] != line[from]) {
            at++;
        }
        return at;
    }
    while (at < len && !is_blank(line[at])) {
        at++;
    }
    return at;
}

/* Length of a secret "NAME=" or "env.NAME =" that begins at `at`, blanks included; 0 when there is none. */
static size_t secret_name_len(const char *line, size_t len, size_t at)
{
    size_t end = at;

    while (end < len && !is_blank(line[end]) && line[end] != '=') {
        end++;
    }
    AUTO_FREE char *name = xstrndup(line + at, end - at);
    while (end < len && is_blank(line[end])) {
        end++;
    }
    if (end == len || line[end] != '=' || !hostlist_is_secret(name)) {
        return 0;
    }
    for (end++; end < len && is_blank(line[end]);) {
        end++;
    }
    return end - at;
}

/*
 * Copy the line with the value of every secret name as stars, one per character, so that columns stay
 * correct.
 */
static void add_starred(struct str *out, const char *line, size_t len)
{
    size_t at = 0;

    while (at < len) {
        bool word_starts = at == 0 || is_blank(line[at - 1]);
        size_t name_len = word_starts ? secret_name_len(line, len, at) : 0;
        if (name_len == 0) {
            str_add_char(out, line[at++]);
            continue;
        }
        str_add_mem(out, line + at, name_len);
        size_t end = value_end(line, len, at + name_len);
        for (at += name_len; at < end; at++) {
            if (!continues_character(line[at])) {
                str_add_char(out, '*');
            }
        }
    }
}

int hostlist_reader_locate(struct hostlist_reader *reader, size_t offset, struct error *err)
{
    unsigned line, column;
    size_t start = offset;
    size_t end = offset;

    if (!err) {
        return -1;
    }
    hostlist_reader_place(reader, offset, &line, &column);
    if (reader->first_line) {
        error_at(err, reader->name, line, column);
    } else {
        error_prefix(err, "%s", reader->name);
        error_at(err, NULL, 0, column);
    }
    while (start > 0 && reader->text[start - 1] != '\n') {
        start--;
    }
    while (end < reader->len && reader->text[end] != '\n' && end - start < SOURCE_MAX) {
        end++;
    }
    if (end - start > SOURCE_MAX) {
        end = start + SOURCE_MAX;
    }

    AUTO_STR struct str source = STR_INIT;
    add_starred(&source, reader->text + start, end - start);
    return error_source(err, str_text(&source), source.len);
}

int hostlist_reader_fail(struct hostlist_reader *reader, size_t offset, struct error *err, const char *format,
                         ...)
{
    va_list args;

    va_start(args, format);
    AUTO_FREE char *text = xvasprintf(format, args);
    va_end(args);
    error_set(err, &kind_host_list, "%s", text);
    return hostlist_reader_locate(reader, offset, err);
}

char *hostlist_reader_where(const struct hostlist_reader *reader, unsigned line, unsigned column,
                            unsigned other_line)
{
    if (reader->first_line && line != other_line) {
        return xasprintf("line %u", line);
    }
    return xasprintf("column %u", column);
}
