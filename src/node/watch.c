/* Parses the messages of a watch as they arrive. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "node/node_internal.h"

#define MESSAGE_MAX (256u << 10)

void node_watch_init(struct node_watch *watch, const char *nonce)
{
    *watch = (struct node_watch){0};
    for (size_t i = 0; i < sizeof(watch->nonce) - 1 && nonce[i] != '\0'; i++) {
        watch->nonce[i] = nonce[i];
    }
}

void node_watch_release(struct node_watch *watch)
{
    node_reader_release(&watch->reader);
    facts_release(&watch->facts);
    *watch = (struct node_watch){0};
}

/* Make an observation from a heartbeat and the facts since the last message: the GPUs. */
static int take_beat(const char *value, size_t len, const struct facts *facts, struct node_observation *out,
                     struct error *err)
{
    AUTO_FREE char *text = xstrndup(value, len);
    uint64_t size = 0;

    if (strlen(text) != len || !text_to_uint(text, 0, UINT64_MAX, &size)) {
        return error_set(err, &kind_node_answer, "the node's heartbeat says '%s'", text);
    }
    *out = (struct node_observation){.status = -1, .log_size = size};
    node_observation_take_gpus(facts, out);
    return 1;
}

/* Handle a frame: 1 when it ends a message, 0 when it is part of one, -1 with err. */
static int take_frame(struct node_watch *watch, struct node_observation *out, bool *is_beat,
                      struct error *err)
{
    size_t len = 0;
    const char *frame = node_reader_frame(&watch->reader, &len);

    if (len > 5 && memcmp(frame, "beat=", 5) == 0) {
        *is_beat = true;
        int taken = take_beat(frame + 5, len - 5, &watch->facts, out, err);
        facts_release(&watch->facts);
        return taken;
    }
    int result = node_facts_add(&watch->facts, frame, len, "end", err);
    if (result == 1 && node_observation_from_facts(&watch->facts, out, err) != 0) {
        node_observation_release(out);
        result = -1;
    }
    if (result != 0) {
        facts_release(&watch->facts);
    }
    return result;
}

int node_watch_take(struct node_watch *watch, const char **bytes, size_t *len, struct node_observation *out,
                    bool *is_beat, struct error *err)
{
    int result = 0;

    *is_beat = false;
    watch->reader.nonce = watch->nonce;
    watch->reader.limit = MESSAGE_MAX;
    while (*len > 0 && result == 0) {
        size_t room = MESSAGE_MAX - watch->reader.taken, used = 0;
        if (room == 0) {
            return error_set(err, &kind_node_answer, "the node printed more than %u bytes without a message",
                             MESSAGE_MAX);
        }
        if (node_reader_take(&watch->reader, *bytes, *len < room ? *len : room, &used)) {
            result = take_frame(watch, out, is_beat, err);
        }
        *bytes += used;
        *len -= used;
    }
    if (result != 0) {
        watch->reader.taken = 0;
    }
    return result;
}
