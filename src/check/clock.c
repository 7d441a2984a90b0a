/* Check: the clocks of the nodes agree. Each is compared with this machine's when its answer arrives. */
#include <stdlib.h>

#include "base/alloc.h"
#include "check/check_internal.h"

#define OFF_MS 2000 /* `date` of busybox prints only whole seconds */

/* How far the node's clock is ahead of this machine's, in milliseconds. False: not known. */
static bool find_offset(const struct facts *facts, int64_t *offset)
{
    uint64_t there = facts_uint(facts, "clock.now_ms", 0);
    uint64_t here = facts_uint(facts, "head.now_ms", 0);
    *offset = (int64_t)there - (int64_t)here;
    return there > 0 && here > 0;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void tell(const struct check_node *node, int64_t offset, struct findings *out)
{
    bool ahead = offset > 0;
    struct finding *finding =
        findings_add(out, "clock", FINDING_WARN, "its clock is %s%.1f s off the other nodes'",
                     ahead ? "+" : "-", (double)(ahead ? offset : -offset) / 1000);
    finding_set_remedy(finding,
                       "synchronize it with a time server: timedatectl set-ntp true, or chronyc makestep");
    strlist_add(&finding->hosts, node->label);
}

static void compare(const struct check_node *nodes, size_t count, struct findings *out)
{
    AUTO_FREE int64_t *sorted = xcalloc(count, sizeof(*sorted));
    size_t known = 0;
    int64_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        if (find_offset(nodes[i].facts, &offset)) {
            sorted[known++] = offset;
        }
    }
    if (known == 0) {
        return;
    }
    qsort(sorted, known, sizeof(*sorted), by_size);
    int64_t middle = known == 2 ? 0 : sorted[known / 2]; /* of two, this machine's clock tells which is off */
    struct findings odd = FINDINGS_INIT;
    struct finding *well = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!find_offset(nodes[i].facts, &offset)) {
            continue;
        }
        if (llabs(offset - middle) > OFF_MS) {
            tell(&nodes[i], offset - middle, &odd);
            continue;
        }
        well = well ? &out->items[out->len - 1]
                    : findings_add(out, "clock", FINDING_OK, "agrees with the others");
        strlist_add(&well->hosts, nodes[i].label);
    }
    if (llabs(middle) > OFF_MS) {
        struct finding *finding =
            findings_add(&odd, "clock", FINDING_NOTE, "this machine's own clock differs from theirs");
        strlist_add(&finding->hosts, nodes[0].label);
    }
    findings_move(out, &odd, "clock");
    findings_release(&odd);
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    (void)subject;
    int64_t offset = 0;
    if (!find_offset(facts, &offset)) {
        findings_add(out, "clock", FINDING_NOTE, "its clock cannot be read");
    }
}

static const struct check_fact forms[] = {
    {"now_ms", CHECK_NUMBER, UINT64_C(4102444800000)},
    {NULL, CHECK_TEXT, 0},
};

const struct check check_clock = {
    .id = "clock",
    .title = "clocks",
    .why = "where clocks differ, times in logs cannot be compared, and certificates and file systems fail",
    .when = CHECK_ON_REQUEST,
    .timeout_s = 0,
    .facts = forms,
    .ask = check_ask_nothing,
    .judge = judge,
    .compare = compare,
};
