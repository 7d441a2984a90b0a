/* Parses the answer of a tail, as it arrives or as a whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "node/node_internal.h"

#define NOISE_MAX       (64u << 10)
#define LAST_FRAME_SIZE (sizeof(((struct node_tail *)0)->nonce) + 20)

void node_tail_init(struct node_tail *tail, const char *nonce)
{
    *tail = (struct node_tail){0};
    for (size_t i = 0; i < sizeof(tail->nonce) - 1 && nonce[i] != '\0'; i++) {
        tail->nonce[i] = nonce[i];
    }
}

void node_tail_release(struct node_tail *tail)
{
    free(tail->log);
    node_reader_release(&tail->reader);
    facts_release(&tail->facts);
    str_release(&tail->held);
    *tail = (struct node_tail){0};
}

static int take_header(struct node_tail *tail, struct error *err)
{
    const struct facts *facts = &tail->facts;

    tail->header = true;
    tail->missing = facts_is_set(facts, "missing");
    tail->filtered = facts_is_set(facts, "filtered");
    tail->log = facts_copy(facts, "log");
    if (node_facts_check(facts, err) != 0 ||
        facts_number(facts, "offset", INT64_MAX, &tail->offset, err) != 0 ||
        facts_number(facts, "size", INT64_MAX, &tail->size, err) != 0) {
        return -1;
    }
    if (!tail->missing && (!tail->log || tail->offset > tail->size)) {
        return error_set(err, &kind_node_answer, "the node's answer names no log");
    }
    return 0;
}

/* Consume bytes up to the end of the header, or all of them; *used is set to their number. */
static int read_header(struct node_tail *tail, const char *bytes, size_t len, size_t *used, struct error *err)
{
    tail->reader.nonce = tail->nonce;
    tail->reader.limit = NOISE_MAX;
    *used = 0;
    while (*used < len && !tail->header) {
        size_t room = NOISE_MAX - tail->reader.taken, left = len - *used, piece = 0, frame_len = 0;
        if (room == 0) {
            return error_set(err, &kind_node_answer, "the node printed more than %u bytes before its answer",
                             NOISE_MAX);
        }
        bool is_frame = node_reader_take(&tail->reader, bytes + *used, left < room ? left : room, &piece);
        *used += piece;
        if (!is_frame) {
            continue;
        }
        const char *frame = node_reader_frame(&tail->reader, &frame_len);
        int found = node_facts_add(&tail->facts, frame, frame_len, "body", err);
        if (found < 0 || (found == 1 && take_header(tail, err) != 0)) {
            return -1;
        }
    }
    return 0;
}

/* The frame after the lines that grep printed. A log cannot contain it, because nobody knows the nonce. */
static void last_frame(const struct node_tail *tail, char *frame, size_t size)
{
    snprintf(frame, size, "\n@@%s lines=all\n", tail->nonce);
}

/* Pass on the bytes that cannot belong to the last frame. */
static void take_filtered(struct node_tail *tail, const char *bytes, size_t len, const char **body,
                          size_t *body_len)
{
    char frame[LAST_FRAME_SIZE];
    last_frame(tail, frame, sizeof(frame));
    str_consume(&tail->held, tail->given);
    str_add_mem(&tail->held, bytes, len);
    tail->given = tail->held.len > strlen(frame) ? tail->held.len - strlen(frame) : 0;
    *body = tail->held.data;
    *body_len = tail->given;
}

int node_tail_feed(struct node_tail *tail, const char *bytes, size_t len, const char **body, size_t *body_len,
                   struct error *err)
{
    size_t used = 0;

    *body = bytes;
    *body_len = 0;
    if (!tail->header && read_header(tail, bytes, len, &used, err) != 0) {
        return -1;
    }
    if (!tail->header || tail->missing) {
        return 0;
    }
    if (tail->filtered) {
        take_filtered(tail, bytes + used, len - used, body, body_len);
    } else {
        *body = bytes + used;
        *body_len = len - used;
    }
    tail->body_len += *body_len;
    return 0;
}

bool node_tail_is_whole(const struct node_tail *tail)
{
    char frame[LAST_FRAME_SIZE];
    if (!tail->header || tail->missing) {
        return tail->header;
    }
    if (!tail->filtered) {
        return tail->body_len >= tail->size - tail->offset;
    }
    last_frame(tail, frame, sizeof(frame));
    return tail->held.len - tail->given == strlen(frame) && strcmp(tail->held.data + tail->given, frame) == 0;
}

int node_tail_end(const struct node_tail *tail, bool follow, struct error *err)
{
    if (!tail->header) {
        return error_set(err, &kind_node_answer, "the node's answer could not be understood");
    }
    if (tail->filtered && !node_tail_is_whole(tail)) {
        return error_set(err, &kind_node_answer, "the search of the log was cut off");
    }
    if (!follow && !node_tail_is_whole(tail)) {
        return error_set(err, &kind_node_answer, "the log was cut off after %llu of %llu bytes",
                         (unsigned long long)tail->body_len, (unsigned long long)(tail->size - tail->offset));
    }
    return 0;
}

void node_log_release(struct node_log *log)
{
    free(log->path);
    free(log->text);
    *log = (struct node_log){0};
}

int node_answer_log(const char *bytes, size_t len, const char *nonce, struct node_log *log, struct error *err)
{
    struct node_tail tail;
    const char *body = NULL;

    *log = (struct node_log){0};
    node_tail_init(&tail, nonce);
    int result = node_tail_feed(&tail, bytes, len, &body, &log->text_len, err);
    if (result == 0 && tail.header && !tail.missing) {
        log->path = xstrdup(tail.log);
        log->text = xcalloc(log->text_len + 1, 1);
        memcpy(log->text, body, log->text_len);
    }
    node_tail_release(&tail);
    return result;
}
