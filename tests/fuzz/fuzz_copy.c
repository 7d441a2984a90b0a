/* What a node's copy program says gives the same entries, frames and error in whatever pieces it comes. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "model/tree.h"
#include "node/copy.h"
#include "pieces.h"

struct outcome {
    struct str events;
    struct error err;
};

static void add_event(const struct node_copy *copy, enum node_copy_event event, struct str *out)
{
    const struct tree_entry *entry = &copy->entry;

    if (event == NODE_COPY_ENTRY) {
        CHECK(tree_path_is_safe(entry->path));
        CHECK((entry->kind == TREE_LINK) == (entry->link != NULL));
        CHECK(entry->mode <= 07777);
        str_addf(out, "%d %o %llu %lld %s %s\n", entry->kind, entry->mode, (unsigned long long)entry->size,
                 (long long)entry->mtime, entry->path, entry->link ? entry->link : "");
    } else if (event == NODE_COPY_FRAME) {
        str_addf(out, "%s=%s\n", copy->key, copy->value);
    } else {
        str_add(out, "listed\n");
    }
}

static bool take_piece(struct node_copy *copy, const char *from, size_t len, struct outcome *out)
{
    AUTO_FREE char *piece = piece_copy(from, len);
    const char *at = piece;
    enum node_copy_event event = NODE_COPY_NOTHING;

    do {
        if (node_copy_take(copy, &at, &len, &event, &out->err) != 0) {
            return false;
        }
        if (event != NODE_COPY_NOTHING) {
            add_event(copy, event, &out->events);
        }
    } while (event != NODE_COPY_NOTHING);
    CHECK(len == 0);
    return true;
}

static void run(const struct str *in, struct pieces *pieces, struct outcome *out)
{
    struct node_copy copy = {.nonce = NONCE};
    bool goes_on = true;

    *out = (struct outcome){.err = ERROR_INIT};
    for (size_t at = 0, len; goes_on && at < in->len; at += len) {
        len = pieces_next(pieces, in->len - at);
        goes_on = take_piece(&copy, in->data + at, len, out);
    }
    node_copy_release(&copy);
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
    CHECK(same_bytes(&whole.events, &pieced.events));
    CHECK(same_error(&whole.err, &pieced.err));
    str_release(&whole.events);
    str_release(&pieced.events);
    return 0;
}
