/* A tail's answer in whatever pieces it comes gives the same header, the same body and the same error. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "node/answer.h"
#include "pieces.h"

struct outcome {
    struct str body;
    struct error err, end;
    bool header;
};

static bool take_piece(struct node_tail *tail, const char *from, size_t len, struct outcome *out)
{
    AUTO_FREE char *piece = piece_copy(from, len);
    const char *body = NULL;
    size_t body_len = 0;

    int result = node_tail_feed(tail, piece, len, &body, &body_len, &out->err);
    CHECK((result < 0) == (out->err.kind != NULL));
    CHECK(result < 0 || body_len == 0 || tail->filtered || body + body_len == piece + len);
    if (result == 0) {
        str_add_mem(&out->body, body, body_len);
    }
    return result == 0;
}

static void run(const struct str *in, struct pieces *pieces, struct outcome *out)
{
    struct node_tail tail;
    bool goes_on = true;

    *out = (struct outcome){.err = ERROR_INIT, .end = ERROR_INIT};
    node_tail_init(&tail, NONCE);
    for (size_t at = 0, len; goes_on && at < in->len; at += len) {
        len = pieces_next(pieces, in->len - at);
        goes_on = take_piece(&tail, in->data + at, len, out);
    }
    CHECK(!goes_on || tail.body_len == out->body.len);
    CHECK(!goes_on || !tail.header || tail.missing || (tail.log != NULL && tail.offset <= tail.size));
    out->header = tail.header;
    if (goes_on) {
        node_tail_end(&tail, false, &out->end);
    }
    node_tail_release(&tail);
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
    CHECK(whole.header == pieced.header && same_bytes(&whole.body, &pieced.body));
    CHECK(same_error(&whole.err, &pieced.err) && same_error(&whole.end, &pieced.end));
    str_release(&whole.body);
    str_release(&pieced.body);
    return 0;
}
