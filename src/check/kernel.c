/* Check: the kernel's log shows no GPU fault, and no process that was killed for lack of memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check/check_internal.h"

#define RECENT_S 86400

/* The facts of a kind that are at most a day old, as evidence. *recent: how many. The caller frees. */
static char *list_recent(const struct facts *facts, const char *key, size_t *recent)
{
    AUTO_STR struct str text = STR_INIT;
    const char *value = NULL;
    size_t at = 0;
    *recent = 0;
    while ((value = facts_next(facts, key, &at))) {
        char *end = NULL;
        unsigned long long age_s = strtoull(value, &end, 10);
        if (end == value || age_s > RECENT_S) {
            continue;
        }
        (*recent)++;
        str_addf(&text, "%s%s (%llu min ago)", text.len > 0 ? "; " : "", end + (*end == ' '), age_s / 60);
    }
    return str_detach(&text);
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    (void)subject;
    size_t xids = 0, kills = 0;
    AUTO_FREE char *faults = list_recent(facts, "kernel.xid", &xids);
    AUTO_FREE char *killed = list_recent(facts, "kernel.oom", &kills);
    if (xids > 0) {
        struct finding *finding = findings_add(out, "kernel", FINDING_WARN,
                                               "the GPU driver has reported %zu fault%s within a day (Xid)",
                                               xids, xids == 1 ? "" : "s");
        finding_set_evidence(finding, "%s", faults);
        finding_set_remedy(finding, "look the number up in NVIDIA's list of Xid errors; 48, 63, 64, 74, 79, "
                                    "94, 95, 119 and 120 are of the "
                                    "hardware or its link: leave the host out with --exclude");
    }
    if (kills > 0) {
        struct finding *finding =
            findings_add(out, "kernel", FINDING_NOTE,
                         "the kernel has killed %zu process%s for lack of memory within a day", kills,
                         kills == 1 ? "" : "es");
        finding_set_evidence(finding, "%s", killed);
        finding_set_remedy(finding, "check what else runs there, or use fewer data loader workers");
    }
    if (xids == 0 && kills == 0) {
        findings_add(out, "kernel", FINDING_OK, "%s",
                     facts_is_set(facts, "kernel.readable") ? "nothing within a day"
                                                            : "this user may not read it");
    }
}

const struct check check_kernel = {
    .id = "kernel",
    .title = "kernel's log",
    .why =
        "a GPU that has had faults (Xid) fails again, and so does a job that was killed for lack of memory",
    .when = CHECK_ON_REQUEST,
    .timeout_s = 20,
    .apart = true,
    .ask = check_ask_nothing,
    .judge = judge,
};
