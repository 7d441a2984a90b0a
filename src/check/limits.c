/* Check: the limits that the job's processes get: locked memory, open files, processes. */
#include <string.h>

#include "base/text.h"
#include "check/check_internal.h"

#define FEW_FILES     4096
#define FEW_PROCESSES 4096
#define FEW_LOCKED_KB (1024u * 1024)

/* Is the limit known, and below this? */
static bool is_below(const struct facts *facts, const char *key, uint64_t least)
{
    const char *value = facts_text(facts, key);
    uint64_t number = 0;
    return value && text_to_uint(value, 0, UINT64_MAX, &number) && number < least;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    (void)subject;
    struct finding *finding = NULL;
    if (facts_is_set(facts, "limits.rdma") &&
        is_below(facts, "limits.locked", (uint64_t)FEW_LOCKED_KB * 1024)) {
        finding = findings_add(out, "limits", FINDING_WARN,
                               "a process may lock only %s bytes of memory, RDMA needs more",
                               facts_text(facts, "limits.locked"));
        finding_set_remedy(
            finding, "set memlock to unlimited for logins (limits.conf, LimitMEMLOCK= of sshd), or for the "
                     "container (container.run.ulimit: [memlock=-1])");
    }
    if (is_below(facts, "limits.files", FEW_FILES)) {
        finding = findings_add(out, "limits", FINDING_WARN, "a process may open only %s files",
                               facts_text(facts, "limits.files"));
        finding_set_remedy(finding,
                           "raise it in 'setup' (ulimit -n), in limits.conf, or LimitNOFILE= of sshd");
    }
    if (is_below(facts, "limits.processes", FEW_PROCESSES)) {
        finding = findings_add(out, "limits", FINDING_WARN, "the user may have only %s processes and threads",
                               facts_text(facts, "limits.processes"));
        finding_set_remedy(finding, "raise nproc in limits.conf, or TasksMax= of the user's slice");
    }
    if (!finding) {
        findings_add(out, "limits", FINDING_OK, "high enough");
    }
}

const struct check check_limits = {
    .id = "limits",
    .title = "limits of a process",
    .why = "limits of a login over ssh are often lower than those of a terminal: RDMA and data loaders fail",
    .needs = "setup",
    .when = CHECK_ON_REQUEST,
    .timeout_s = 20,
    .ask = check_ask_nothing,
    .judge = judge,
};
