/*
 * Parses GPU facts: the output of `nvidia-smi --query-gpu=index,utilization.gpu,memory.used,memory.total
 * --format=csv,noheader,nounits`.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "node/answer.h"

#define GPUS_MAX  64
#define MIB       ((int64_t)1 << 20)
#define MEM_MAX   (UINT64_C(1) << 32) /* MiB */
#define INDEX_MAX 65535

/* The next value of a line, up to a comma; -1 for "[N/A]" and other text. */
static int64_t next_value(const char **at, const char *end, uint64_t max)
{
    const char *from = *at;
    const char *comma = memchr(from, ',', (size_t)(end - from));
    const char *to = comma ? comma : end;
    uint64_t value = 0;

    *at = comma ? comma + 1 : end;
    while (from < to && *from == ' ') {
        from++;
    }
    while (to > from && (to[-1] == ' ' || to[-1] == '\r')) {
        to--;
    }
    AUTO_FREE char *text = xstrndup(from, (size_t)(to - from));
    return text_to_uint(text, 0, max, &value) ? (int64_t)value : -1;
}

void node_gpus_parse(const char *text, struct node_gpus *out)
{
    *out = (struct node_gpus){.known = text};
    while (text && *text != '\0' && out->len < GPUS_MAX) {
        size_t len = strcspn(text, "\n");
        const char *at = text;
        const char *end = text + len;
        int64_t index = next_value(&at, end, INDEX_MAX);
        if (index >= 0) {
            int64_t utilization = next_value(&at, end, 100);
            int64_t used = next_value(&at, end, MEM_MAX);
            int64_t total = next_value(&at, end, MEM_MAX);
            out->items = xgrow(out->items, out->len, &out->cap, sizeof(*out->items));
            out->items[out->len++] = (struct node_gpu){
                .index = (unsigned)index,
                .utilization = (int)utilization,
                .memory_used = used < 0 ? -1 : used * MIB,
                .memory_total = total < 0 ? -1 : total * MIB,
                .own = true,
            };
        }
        text += len + (text[len] == '\n');
    }
    out->known = out->len > 0;
}

static bool has_number(const char *list, unsigned number)
{
    for (const char *at = list; *at != '\0';) {
        size_t len = strcspn(at, ", ");
        AUTO_FREE char *word = xstrndup(at, len);
        uint64_t value = 0;
        if (text_to_uint(word, 0, INDEX_MAX, &value) && value == number) {
            return true;
        }
        at += len + (at[len] != '\0');
    }
    return false;
}

void node_gpus_set_own(struct node_gpus *gpus, const char *own)
{
    for (size_t i = 0; own && i < gpus->len; i++) {
        gpus->items[i].own = has_number(own, gpus->items[i].index);
    }
}
