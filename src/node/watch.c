/* A watch's messages, taken apart as they come in. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "node/node_internal.h"

#define HELD_MAX (256u << 10)

void node_watch_init(struct node_watch *watch, const char *nonce)
{
    *watch = (struct node_watch){0};
    for (size_t i = 0; i < sizeof(watch->nonce) - 1 && nonce[i] != '\0'; i++)
        watch->nonce[i] = nonce[i];
}

void node_watch_release(struct node_watch *watch)
{
    str_release(&watch->held);
    *watch = (struct node_watch){0};
}

void node_watch_feed(struct node_watch *watch, const char *bytes, size_t len)
{
    str_add_mem(&watch->held, bytes, len);
}

static void drop(struct node_watch *watch, size_t len)
{
    str_consume(&watch->held, len);
    watch->seen = 0;
}

/* The text behind "beat=" up to the line's end, or NULL when the frame is another. */
static const char *beat_value(const char *body, size_t len)
{
    return len > 5 && memcmp(body, "beat=", 5) == 0 ? body + 5 : NULL;
}

static int take_beat(const char *value, const char *end, struct node_observation *out, struct error *err)
{
    AUTO_FREE char *text = xstrndup(value, (size_t)(end - value));
    uint64_t size = 0;
    if (!text_to_uint(text, 0, UINT64_MAX, &size))
        return error_set(err, &kind_node_answer, "the node's heartbeat says '%s'", text);
    *out = (struct node_observation){.status = -1, .log_size = size};
    return 1;
}

int node_watch_next(struct node_watch *watch, struct node_observation *out, bool *is_beat, struct error *err)
{
    const char *bytes = str_text(&watch->held);
    *is_beat = false;
    while (watch->seen < watch->held.len) {
        const char *line = bytes + watch->seen;
        const char *end = memchr(line, '\n', watch->held.len - watch->seen);
        size_t body_len = 0;
        if (end == NULL)
            break;
        const char *body = node_frame_body(line, (size_t)(end - line), watch->nonce, &body_len);
        size_t upto = (size_t)(end - bytes) + 1;
        const char *beat = body != NULL ? beat_value(body, body_len) : NULL;
        int result = 0;
        if (beat != NULL) {
            *is_beat = true;
            result = take_beat(beat, end, out, err);
        } else if (body != NULL && body_len == 6 && memcmp(body, "end=ok", 6) == 0) {
            result = node_answer_observe(bytes, upto, watch->nonce, out, err) == 0 ? 1 : -1;
            if (result < 0)
                node_observation_release(out);
        }
        if (result != 0) {
            drop(watch, upto);
            return result;
        }
        watch->seen = upto;
    }
    if (watch->held.len > HELD_MAX)
        return error_set(err, &kind_node_answer, "the node printed more than %u bytes without a message",
                         HELD_MAX);
    return 0;
}
