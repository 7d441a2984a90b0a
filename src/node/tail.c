/* A tail's answer as it comes in. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "node/node_internal.h"

#define NOISE_MAX (64u << 10)

void node_tail_init(struct node_tail *tail, const char *nonce)
{
    *tail = (struct node_tail){0};
    for (size_t i = 0; i < sizeof(tail->nonce) - 1 && nonce[i] != '\0'; i++)
        tail->nonce[i] = nonce[i];
}

void node_tail_release(struct node_tail *tail)
{
    free(tail->log);
    str_release(&tail->held);
    *tail = (struct node_tail){0};
}

static int take_header(struct node_tail *tail, const struct node_fields *fields, struct error *err)
{
    tail->header = true;
    tail->missing = node_field_is_set(fields, "missing");
    tail->log = node_field_copy(fields, "log");
    if (node_fields_check(fields, err) != 0 ||
        node_field_number(fields, "offset", UINT64_MAX, &tail->offset, err) != 0 ||
        node_field_number(fields, "size", UINT64_MAX, &tail->size, err) != 0)
        return -1;
    if (!tail->missing && (tail->log == NULL || tail->offset > tail->size))
        return error_set(err, &kind_node_answer, "the node's answer names no log");
    return 0;
}

int node_tail_feed(struct node_tail *tail, const char *bytes, size_t len, const char **body, size_t *body_len,
                   struct error *err)
{
    struct node_fields fields = {0};
    size_t used = 0;

    *body = bytes;
    *body_len = 0;
    if (tail->header) {
        *body_len = tail->missing ? 0 : len;
        tail->body_len += *body_len;
        return 0;
    }
    str_add_mem(&tail->held, bytes, len);
    int found =
        node_fields_parse(&fields, str_text(&tail->held), tail->held.len, tail->nonce, "body", &used, err);
    if (found == 1)
        found = take_header(tail, &fields, err);
    else if (found == 0 && tail->held.len > NOISE_MAX)
        found = error_set(err, &kind_node_answer, "the node printed more than %u bytes before its answer",
                          NOISE_MAX);
    node_fields_release(&fields);
    if (found != 0 || !tail->header || tail->missing)
        return found;
    *body = tail->held.data + used;
    *body_len = tail->held.len - used;
    tail->body_len = *body_len;
    return 0;
}

int node_tail_end(const struct node_tail *tail, bool follow, struct error *err)
{
    if (!tail->header)
        return error_set(err, &kind_node_answer, "the node gave no answer that can be understood");
    if (!follow && !tail->missing && tail->body_len < tail->size - tail->offset)
        return error_set(err, &kind_node_answer, "the log was cut off after %llu of %llu bytes",
                         (unsigned long long)tail->body_len, (unsigned long long)(tail->size - tail->offset));
    return 0;
}
