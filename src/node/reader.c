/* Finds frames in a stream of bytes that arrives in pieces of any size. */
#include "node/reader.h"

#include <string.h>

#include "node_internal.h"

void node_reader_release(struct node_reader *reader)
{
    str_release(&reader->line);
    str_release(&reader->last);
}

static size_t prefix_len(const struct node_reader *reader)
{
    return strlen(reader->nonce) + 3;
}

/* Whether line, as far as it has been received, is a prefix of "@@NONCE " or begins with it. */
static bool may_be_frame(const struct node_reader *reader)
{
    size_t nonce_len = strlen(reader->nonce), len = reader->line.len;
    const char *line = str_text(&reader->line);

    if (memcmp(line, "@@", len < 2 ? len : 2) != 0) {
        return false;
    }
    if (len <= 2) {
        return true;
    }
    size_t seen = len - 2 < nonce_len ? len - 2 : nonce_len;
    return memcmp(line + 2, reader->nonce, seen) == 0 && (len < nonce_len + 3 || line[nonce_len + 2] == ' ');
}

/* Add bytes without a newline to the current line. */
static void add_to_line(struct node_reader *reader, const char *bytes, size_t len)
{
    size_t prefix = prefix_len(reader);

    if (reader->is_noise) {
        return;
    }
    if (reader->line.len < prefix) {
        size_t head = prefix - reader->line.len < len ? prefix - reader->line.len : len;
        str_add_mem(&reader->line, bytes, head);
        bytes += head;
        len -= head;
        reader->is_noise = !may_be_frame(reader);
    }
    if (len > reader->limit || reader->line.len > reader->limit - len) {
        reader->is_noise = true;
    }
    if (reader->is_noise) {
        str_reset(&reader->line);
    } else {
        str_add_mem(&reader->line, bytes, len);
    }
}

static void keep_last(struct node_reader *reader, const char *bytes, size_t len)
{
    if (len >= NODE_READER_LAST_MAX) {
        str_reset(&reader->last);
        bytes += len - NODE_READER_LAST_MAX;
        len = NODE_READER_LAST_MAX;
    }
    str_add_mem(&reader->last, bytes, len);
    if (reader->last.len >= 2 * NODE_READER_LAST_MAX) {
        str_consume(&reader->last, reader->last.len - NODE_READER_LAST_MAX);
    }
}

bool node_reader_take(struct node_reader *reader, const char *bytes, size_t len, size_t *used)
{
    size_t at = 0;

    if (reader->ended) {
        str_reset(&reader->line);
    }
    reader->ended = false;
    while (at < len && !reader->ended) {
        const char *newline = memchr(bytes + at, '\n', len - at);
        size_t piece = newline ? (size_t)(newline - bytes) - at : len - at;
        add_to_line(reader, bytes + at, piece);
        at += piece;
        if (!newline) {
            break;
        }
        at++;
        reader->ended = !reader->is_noise && reader->line.len >= prefix_len(reader);
        reader->is_noise = false;
        if (!reader->ended) {
            str_reset(&reader->line);
        }
    }
    keep_last(reader, bytes, at);
    reader->taken += at;
    *used = at;
    return reader->ended;
}

const char *node_reader_frame(const struct node_reader *reader, size_t *len)
{
    *len = reader->line.len - prefix_len(reader);
    return reader->line.data + prefix_len(reader);
}

const char *node_last_line(const char *bytes, size_t len, size_t *line_len)
{
    size_t end = len, begin;

    while (end > 0 && (bytes[end - 1] == '\n' || bytes[end - 1] == '\r' || bytes[end - 1] == ' ')) {
        end--;
    }
    begin = end;
    while (begin > 0 && bytes[begin - 1] != '\n' && end - begin < 200) {
        begin--;
    }
    *line_len = end - begin;
    return bytes + begin;
}

const char *node_reader_last_line(const struct node_reader *reader, size_t *len)
{
    size_t kept = reader->last.len < NODE_READER_LAST_MAX ? reader->last.len : NODE_READER_LAST_MAX;

    return node_last_line(str_text(&reader->last) + reader->last.len - kept, kept, len);
}
