/* One entry of the text: its words, its quotes, its comments. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/hostlist_internal.h"

/* The part of the text that an entry may extend over. */
struct cursor {
    struct hostlist_reader *reader;
    size_t pos;
    size_t end;
};

void hostlist_entry_release(struct hostlist_entry *entry)
{
    hostlist_pattern_release(&entry->pattern);
    host_release(&entry->host);
    free(entry->group);
    *entry = (struct hostlist_entry){0};
}

/* A CR is a blank only before a line end or the end of the text. In a list, a line end is a blank too. */
static bool is_blank(const struct hostlist_reader *reader, size_t at)
{
    char c = reader->text[at];

    if (c == '\r') {
        return at + 1 == reader->len || reader->text[at + 1] == '\n';
    }
    return c == ' ' || c == '\t' || (c == '\n' && reader->form == HOSTLIST_COMMAS);
}

static bool starts_comment(const struct hostlist_reader *reader, size_t at)
{
    return reader->text[at] == '#' && (at == 0 || reader->text[at - 1] == '\n' || is_blank(reader, at - 1));
}

/* Skip blanks and comments, and also line ends if lines is true. */
static void skip_blanks(struct cursor *cursor, bool lines)
{
    struct hostlist_reader *reader = cursor->reader;

    while (cursor->pos < cursor->end) {
        if (starts_comment(reader, cursor->pos)) {
            size_t begin = cursor->pos;
            while (cursor->pos < cursor->end && reader->text[cursor->pos] != '\n') {
                cursor->pos++;
            }
            if (memchr(reader->text + begin, ',', cursor->pos - begin)) {
                reader->comment = begin + 1;
            }
        } else if (is_blank(reader, cursor->pos) || (lines && reader->text[cursor->pos] == '\n')) {
            cursor->pos++;
        } else {
            return;
        }
    }
}

/* Where the word at pos ends: at a blank, or at a comma outside brackets. *open: a bracket is not closed. */
static size_t word_end(const struct cursor *cursor, bool commas_inside, bool *open)
{
    const struct hostlist_reader *reader = cursor->reader;
    size_t depth = 0;
    size_t at = cursor->pos;

    for (; at < cursor->end && !is_blank(reader, at); at++) {
        char c = reader->text[at];
        if (c == '[') {
            depth++;
        } else if (c == ']' && depth > 0) {
            depth--;
        } else if (c == ',' && depth == 0 && !commas_inside) {
            break;
        }
    }
    *open = depth > 0;
    return at;
}

static bool at_char(const struct cursor *cursor, char c)
{
    return cursor->pos < cursor->end && cursor->reader->text[cursor->pos] == c;
}

static struct hostlist_token shown(const struct cursor *cursor, size_t from, size_t to)
{
    return hostlist_token(cursor->reader->text + from, to - from);
}

/* A value for a message: stars if its key is secret. */
static struct hostlist_token shown_value(const struct cursor *cursor, const char *key, size_t from, size_t to)
{
    return hostlist_is_secret(key) ? hostlist_token("***", 3) : shown(cursor, from, to);
}

static int refuse_comma(const struct cursor *cursor, struct error *err)
{
    hostlist_reader_fail(cursor->reader, cursor->pos, err, "',' on a line of a host list");
    return error_hint(err, "write one entry per line");
}

/* A word without '=' where key=value is expected. */
static int refuse_word(struct cursor *cursor, struct error *err)
{
    bool open;
    size_t start = cursor->pos;
    size_t end = word_end(cursor, false, &open);
    struct hostlist_token word = shown(cursor, start, end);

    cursor->pos = end;
    skip_blanks(cursor, false);
    if (at_char(cursor, '=')) {
        cursor->pos++;
        skip_blanks(cursor, false);
        size_t value = cursor->pos;
        struct hostlist_token text = shown_value(cursor, word.text, value, word_end(cursor, false, &open));
        hostlist_reader_fail(cursor->reader, start, err, "blanks around '=' in '%s = %s'", word.text,
                             text.text);
        return error_hint(err, "write '%s=%s'", word.text, text.text);
    }
    hostlist_reader_fail(cursor->reader, start, err, "'%s' is not of the form key=value", word.text);
    if (strspn(word.text, "0123456789") == strlen(word.text)) {
        return error_hint(err, "write 'slots=%s' if this is the number of GPUs", word.text);
    }
    const char *nearest = hostlist_key_nearest(word.text);
    if (nearest) {
        return error_hint(err, "did you mean '%s='?", nearest);
    }
    return error_hint(err,
                      cursor->reader->form == HOSTLIST_LINES
                          ? "write one entry per line, settings as key=value: 'host slots=8'"
                          : "separate entries by commas, write settings as key=value: 'a slots=8,b slots=8'");
}

/* The quoted value at pos; leaves pos after the closing quote. */
static char *read_quoted(struct cursor *cursor, size_t key, size_t key_len, struct error *err)
{
    const char *text = cursor->reader->text;
    size_t start = cursor->pos + 1;
    size_t at = start;

    while (at < cursor->end && text[at] != text[start - 1] && text[at] != '\n') {
        at++;
    }
    if (at == cursor->end || text[at] == '\n') {
        hostlist_reader_fail(cursor->reader, start - 1, err, "the quote of '%s=' is not closed",
                             shown(cursor, key, key + key_len).text);
        error_hint(err, "close it on the same line with %c", text[start - 1]);
        return NULL;
    }
    cursor->pos = at + 1;
    if (cursor->pos < cursor->end && !at_char(cursor, ',') && !is_blank(cursor->reader, cursor->pos)) {
        hostlist_reader_fail(cursor->reader, cursor->pos, err,
                             "text directly after the closing quote of '%s='",
                             shown(cursor, key, key + key_len).text);
        error_hint(err, "quote the whole value, with the kind of quote that it does not contain");
        return NULL;
    }
    return xstrndup(text + start, at - start);
}

static char *read_plain_value(struct cursor *cursor, size_t key, size_t key_len, bool commas_inside,
                              struct error *err)
{
    bool open;
    size_t start = cursor->pos;
    size_t end = word_end(cursor, commas_inside, &open);
    struct hostlist_token name = shown(cursor, key, key + key_len);

    for (size_t at = start; at < end; at++) {
        char c = cursor->reader->text[at];
        if (c != '"' && c != '\'') {
            continue;
        }
        hostlist_reader_fail(cursor->reader, at, err, "a quote inside the value of '%s='", name.text);
        error_hint(err, "quote the whole value, with the kind of quote that it does not contain");
        return NULL;
    }
    if (open) {
        hostlist_reader_fail(cursor->reader, key, err, "unclosed '[' in the value of '%s='", name.text);
        error_hint(err, "quote the value");
        return NULL;
    }
    cursor->pos = end;
    return xstrndup(cursor->reader->text + start, end - start);
}

static int refuse_empty(struct cursor *cursor, size_t start, const char *key, struct error *err)
{
    bool open;

    skip_blanks(cursor, false);
    struct hostlist_token value = shown_value(cursor, key, cursor->pos, word_end(cursor, false, &open));
    if (cursor->pos < cursor->end && value.text[0]) {
        hostlist_reader_fail(cursor->reader, start, err, "blanks around '=' in '%s= %s'", key, value.text);
        return error_hint(err, "write '%s=%s'", key, value.text);
    }
    hostlist_reader_fail(cursor->reader, start, err, "'%s=' has no value", key);
    return error_hint(err, "write the value directly after the '=', or leave the key out");
}

/* One key=value at pos. */
static int read_key(struct cursor *cursor, struct hostlist_entry *entry, struct error *err)
{
    struct hostlist_reader *reader = cursor->reader;
    size_t start = cursor->pos;
    size_t len = 0;

    while (start + len < cursor->end && reader->text[start + len] != '=' &&
           reader->text[start + len] != ',' && !is_blank(reader, start + len)) {
        len++;
    }
    if (start + len == cursor->end || reader->text[start + len] != '=') {
        return refuse_word(cursor, err);
    }
    if (len == 0) {
        hostlist_reader_fail(reader, start, err, "no key before '='");
        return error_hint(err, "write settings as key=value without blanks: slots=8");
    }
    cursor->pos = start + len + 1;

    AUTO_FREE char *key = xstrndup(reader->text + start, len);
    bool quoted = at_char(cursor, '"') || at_char(cursor, '\'');
    bool gpus = strcmp(key, "gpus") == 0 && !quoted;
    /* a line holds one entry, so a comma belongs to the value if the key takes commas */
    bool commas = reader->form == HOSTLIST_LINES && hostlist_key_takes_commas(key);
    AUTO_FREE char *value =
        quoted ? read_quoted(cursor, start, len, err) : read_plain_value(cursor, start, len, commas, err);
    if (!value) {
        return -1;
    }
    if (value[0] == '\0' && !quoted && strncmp(key, "env.", 4) != 0) {
        return refuse_empty(cursor, start, hostlist_token(key, len).text, err);
    }
    reader->after_gpus = gpus && at_char(cursor, ',');
    if (hostlist_key_apply(entry, key, value, err) < 0) {
        return hostlist_reader_locate(reader, start, err);
    }
    return 0;
}

/* "@name" at pos. The name of a group is the name of a file, without a folder. */
static int read_group(struct cursor *cursor, size_t end, struct hostlist_entry *entry, struct error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    struct hostlist_token name = shown(cursor, cursor->pos + 1, end);
    size_t len = end - cursor->pos - 1;

    if (len > 0 && len < sizeof name.text && name.text[0] != '-' && name.text[0] != '.' &&
        strspn(name.text, letters) == len) {
        entry->name_offset = cursor->pos;
        entry->group = xstrndup(name.text, len);
        return 0;
    }
    hostlist_reader_fail(cursor->reader, entry->offset, err,
                         len > 0 ? "'@%s' is not a valid group name" : "no name after '@%s'", name.text);
    return error_hint(err,
                      "write @NAME for the host file NAME or NAME.txt: letters, digits, '.', '_' and '-'; a "
                      "user is written before the '@': user@host");
}

/* The first word, [^][user@]name[:port] or [^]@group, at pos. */
static int read_name(struct cursor *cursor, struct hostlist_entry *entry, struct error *err)
{
    struct hostlist_reader *reader = cursor->reader;
    bool after_gpus = reader->after_gpus;
    bool open;
    size_t end = word_end(cursor, false, &open);

    reader->after_gpus = false;
    entry->offset = cursor->pos;
    entry->word_len = end - cursor->pos;
    if (after_gpus && strspn(shown(cursor, cursor->pos, end).text, "0123456789-") == entry->word_len) {
        hostlist_reader_fail(reader, cursor->pos, err, "'%s' after the comma of an unquoted 'gpus='",
                             shown(cursor, cursor->pos, end).text);
        return error_hint(err, "in a list of hosts quote the numbers: gpus=\"0,2\"");
    }
    if (at_char(cursor, '^')) {
        entry->removal = true;
        cursor->pos++;
    }
    if (cursor->pos == end) {
        hostlist_reader_fail(reader, entry->offset, err, "no host name in '%s'",
                             shown(cursor, entry->offset, end).text);
        return error_hint(err, "write '^' directly before the name of the host to remove: ^g0033");
    }
    int result = at_char(cursor, '@')
                     ? read_group(cursor, end, entry, err)
                     : hostlist_name_parse(reader, cursor->pos, end - cursor->pos, entry, err);
    cursor->pos = end;
    return result;
}

/* Move to the next entry; 0 when there is none. */
static int find_entry(struct cursor *cursor, struct error *err)
{
    struct hostlist_reader *reader = cursor->reader;

    skip_blanks(cursor, true);
    if (at_char(cursor, ',') || (cursor->pos == cursor->end && reader->after_comma)) {
        if (reader->form == HOSTLIST_LINES) {
            return refuse_comma(cursor, err);
        }
        hostlist_reader_fail(reader, cursor->pos, err, "an entry between commas is empty");
        return error_hint(err, "remove the extra ','");
    }
    if (cursor->pos == cursor->end) {
        return 0;
    }
    if (reader->form == HOSTLIST_LINES) {
        const char *line_end = memchr(reader->text + cursor->pos, '\n', reader->len - cursor->pos);
        cursor->end = line_end ? (size_t)(line_end - reader->text) : reader->len;
    }
    return 1;
}

int hostlist_entry_read(struct hostlist_reader *reader, size_t *pos, struct hostlist_entry *entry,
                        struct error *err)
{
    struct cursor cursor = {.reader = reader, .pos = *pos, .end = reader->len};
    int found = find_entry(&cursor, err);

    if (found != 1) {
        return found;
    }
    reader->after_comma = false;
    if (read_name(&cursor, entry, err) < 0) {
        return -1;
    }
    for (;;) {
        skip_blanks(&cursor, false);
        if (cursor.pos == cursor.end) {
            break;
        }
        if (at_char(&cursor, ',')) {
            if (reader->form == HOSTLIST_LINES) {
                return refuse_comma(&cursor, err);
            }
            reader->after_comma = true;
            break;
        }
        if (read_key(&cursor, entry, err) < 0) {
            return -1;
        }
    }
    entry->len = cursor.pos - entry->offset;
    *pos = cursor.pos + (reader->after_comma ? 1 : 0);
    return 1;
}
