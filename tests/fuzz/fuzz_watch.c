/* A watch's stream in whatever pieces it comes says the same, and what it says is within its bounds. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "node/answer.h"
#include "pieces.h"

static void write_observation(struct str *out, const struct node_observation *seen)
{
    str_addf(out, "life=%d pid=%" PRId64 " status=%d log=%" PRIu64 " ended=%" PRId64, (int)seen->life,
             seen->pid, seen->status, seen->log_size, seen->ended_s);
    str_addf(out, " host=%s signal=%s left=%zu\n", seen->host != NULL ? seen->host : "",
             seen->signal != NULL ? seen->signal : "", seen->leftovers.len);
    CHECK(seen->status >= -1 && seen->status <= 255 && seen->pid >= 0 && seen->ended_s >= 0);
    CHECK(seen->leftovers.len <= 64 && seen->gpus.len <= 64);
}

/* One piece's messages; false after an error. */
static bool take_piece(struct node_watch *watch, const char *from, size_t len, struct str *out)
{
    AUTO_FREE char *piece = piece_copy(from, len);
    const char *bytes = piece;
    struct node_observation seen;
    struct error err = ERROR_INIT;
    bool is_beat = false;
    int result;

    while ((result = node_watch_take(watch, &bytes, &len, &seen, &is_beat, &err)) == 1) {
        if (is_beat) {
            str_addf(out, "beat=%" PRIu64 "\n", seen.log_size);
        } else {
            write_observation(out, &seen);
        }
        node_observation_release(&seen);
    }
    CHECK((result < 0) == (err.kind != NULL));
    CHECK(result < 0 || len == 0);
    CHECK(watch->reader.line.len <= 256 << 10 && watch->facts.bytes <= 256 << 10);
    if (result < 0) {
        str_addf(out, "%s: %s\n", err.kind->name, err.text);
    }
    return result == 0;
}

static void run(const struct str *in, struct pieces *pieces, struct str *out)
{
    struct node_watch watch;
    bool goes_on = true;

    node_watch_init(&watch, NONCE);
    for (size_t at = 0, len; goes_on && at < in->len; at += len) {
        len = pieces_next(pieces, in->len - at);
        goes_on = take_piece(&watch, in->data + at, len, out);
    }
    node_watch_release(&watch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_STR struct str in = STR_INIT, whole = STR_INIT, pieced = STR_INIT;

    if (!stream_make(data, size, &in)) {
        return 0;
    }
    struct pieces pieces = pieces_begin(data[0], in.len);
    run(&in, NULL, &whole);
    run(&in, &pieces, &pieced);
    CHECK(strcmp(str_text(&whole), str_text(&pieced)) == 0);
    return 0;
}
