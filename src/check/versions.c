/* Check: the packages of the job's interpreter have the same versions on all nodes, and torch loads. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check/check_internal.h"
#include "model/kind.h"

static const char *const names[] = {
    "python",    "torch",      "cuda",         "nccl",     "transformer_engine", "megatron_core",
    "deepspeed", "accelerate", "transformers", "ms_swift", "flash_attn",
};

static bool ask(const struct check_subject *subject, struct env *values)
{
    (void)values;
    return subject->interpreter && !subject->starting;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    const char *error = facts_text(facts, "versions.error");
    if (!check_is_set_up(facts)) {
        return;
    }
    if (error) {
        struct finding *finding =
            findings_fail(out, "versions", &kind_interpreter_missing, "torch cannot be imported: %s", error);
        finding_set_remedy(finding, "repair the environment there: %s -c 'import torch'",
                           subject->interpreter);
    } else if (!facts_text(facts, "versions.python")) {
        findings_add(out, "versions", FINDING_NOTE, "'%s' reports no versions", subject->interpreter);
    } else if (facts_text(facts, "versions.nogpu")) {
        struct finding *finding = findings_add(out, "versions", FINDING_WARN, "torch sees no GPU: %s",
                                               facts_text(facts, "versions.nogpu"));
        finding_set_remedy(finding,
                           "look at the driver's version, and at torch's build (torch.version.cuda)");
    } else {
        findings_add(out, "versions", FINDING_OK, "read");
    }
}

static void compare(const struct check_node *nodes, size_t count, struct findings *out)
{
    AUTO_FREE const char **values = xcalloc(count, sizeof(*values));
    for (size_t n = 0; n < ARRAY_LEN(names); n++) {
        AUTO_FREE char *key = xasprintf("versions.%s", names[n]);
        AUTO_FREE char *majority = NULL;
        AUTO_STR struct str minority = STR_INIT;
        AUTO_STRLIST struct strlist odd = STRLIST_INIT;
        bool any = false;
        for (size_t i = 0; i < count; i++) {
            values[i] = facts_text(nodes[i].facts, key);
            any = any || values[i];
        }
        for (size_t i = 0; any && i < count; i++) {
            bool told = facts_text(nodes[i].facts, "versions.python");
            values[i] = values[i] ? values[i] : told ? "none" : NULL;
        }
        if (!check_find_minority(nodes, count, values, &majority, &minority, &odd)) {
            continue;
        }
        struct finding *finding = findings_fail(out, "versions", &kind_nodes_differ,
                                                "its %s differs from that of the other nodes", names[n]);
        finding_set_evidence(finding, "%s; %s on the others", str_text(&minority), majority);
        finding_set_remedy(finding, "install the same version everywhere, or use one container image");
        strlist_copy(&finding->hosts, &odd);
    }
}

const struct check check_versions = {
    .id = "versions",
    .title = "versions of the Python stack",
    .why = "nodes with different versions of torch or NCCL hang, or end with errors that name no version",
    .needs = "setup",
    .when = CHECK_ON_REQUEST,
    .timeout_s = 60,
    .apart = true,
    .ask = ask,
    .judge = judge,
    .compare = compare,
};
