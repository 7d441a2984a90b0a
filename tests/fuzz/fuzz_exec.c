/*
 * A stream of exec in whatever pieces it comes: the command's own bytes begin behind the first line "@@NONCE
 * runs", and only what came of it is in the error when it never began.
 */
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "node/exec.h"
#include "pieces.h"

struct outcome {
    bool begun;
    struct str own;
    struct error err;
};

static void take_piece(struct node_exec_stream *stream, const char *from, size_t len, struct outcome *out)
{
    AUTO_FREE char *piece = piece_copy(from, len);
    const char *bytes = piece;
    size_t own = len;

    node_exec_stream_take(stream, &bytes, &own);
    CHECK(own <= len);
    CHECK(own == 0 || bytes + own == piece + len);
    CHECK(own == 0 || stream->begun);
    CHECK(stream->reader.line.len <= 65536 && stream->reader.last.len <= 2 * NODE_READER_LAST_MAX);
    str_add_mem(&out->own, bytes, own);
}

static void run(const struct str *in, struct pieces *pieces, struct outcome *out)
{
    struct node_exec_stream stream = {.nonce = NONCE};

    *out = (struct outcome){.err = ERROR_INIT};
    for (size_t at = 0, len; at < in->len; at += len) {
        len = pieces_next(pieces, in->len - at);
        take_piece(&stream, in->data + at, len, out);
    }
    out->begun = stream.begun;
    if (!stream.begun) {
        CHECK(node_exec_error(&stream, 1, &out->err) == -1 && out->err.kind != NULL);
    }
    node_exec_stream_release(&stream);
}

/* Where the command's own bytes begin, found in the simplest way; SIZE_MAX: they do not. */
static size_t own_begins(const struct str *in)
{
    static const char mark[] = "\n@@" NONCE " runs\n";
    const size_t len = sizeof(mark) - 1;

    if (in->len >= len - 1 && memcmp(in->data, mark + 1, len - 1) == 0) {
        return len - 1;
    }
    const char *found = memmem(str_text(in), in->len, mark, len);
    return found != NULL ? (size_t)(found - in->data) + len : SIZE_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_STR struct str in = STR_INIT;
    struct outcome whole, pieced;

    if (!stream_make(data, size, &in)) {
        return 0;
    }
    struct pieces pieces = pieces_begin(data[0], in.len);
    run(&in, NULL, &whole);
    run(&in, &pieces, &pieced);
    size_t begin = own_begins(&in);
    CHECK(whole.begun == (begin != SIZE_MAX) && pieced.begun == whole.begun);
    CHECK(whole.own.len == (whole.begun ? in.len - begin : 0) && same_bytes(&whole.own, &pieced.own));
    CHECK(whole.own.len == 0 || memcmp(whole.own.data, in.data + begin, whole.own.len) == 0);
    CHECK(same_error(&whole.err, &pieced.err));
    str_release(&whole.own);
    str_release(&pieced.own);
    return 0;
}
