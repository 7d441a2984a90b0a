/* Check: there is room where logs and checkpoints are written (require.free_disk). */
#include "base/alloc.h"
#include "check/check_internal.h"
#include "model/kind.h"

#define LITTLE_BYTES  (UINT64_C(2) << 30)
#define LITTLE_INODES 1000

static bool ask(const struct check_subject *subject, struct env *values)
{
    (void)values;
    return !subject->starting || subject->require->free_disk_bytes > 0;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    uint64_t wanted = subject->require->free_disk_bytes;
    uint64_t bytes = facts_uint(facts, "disk.free_kb", 0) * 1024;
    const char *folder = check_shown(facts, "node.artifacts");
    AUTO_FREE char *free_text = check_shown_size(bytes);
    AUTO_FREE char *wanted_text = check_shown_size(wanted);
    struct finding *finding = NULL;
    if (!facts_text(facts, "disk.free_kb")) {
        if (wanted > 0) {
            findings_fail(out, "disk", &kind_too_little, "the free space of '%s' cannot be read", folder);
        }
        return;
    }
    if (wanted > 0 && bytes < wanted) {
        finding =
            findings_fail(out, "disk", &kind_too_little, "less than %s is free in '%s'", wanted_text, folder);
    } else if (bytes < LITTLE_BYTES) {
        finding = findings_add(out, "disk", FINDING_WARN, "little space is left in '%s'", folder);
    } else if (facts_text(facts, "disk.free_inodes") &&
               facts_uint(facts, "disk.free_inodes", 0) < LITTLE_INODES) {
        finding = findings_add(out, "disk", FINDING_WARN,
                               "few files can still be created in '%s': %s inodes are free", folder,
                               check_shown(facts, "disk.free_inodes"));
        finding_set_remedy(finding, "remove some files, or name another folder with 'artifacts'");
        return;
    }
    if (finding) {
        finding_set_evidence(finding, "%s free", free_text);
        finding_set_remedy(finding, "free some space, or name another folder with 'artifacts'");
    } else {
        findings_add(out, "disk", FINDING_OK, "enough space");
    }
}

static const struct check_fact forms[] = {
    {"free_kb", CHECK_NUMBER, UINT64_MAX / 1024},
    {"free_inodes", CHECK_NUMBER, UINT64_MAX},
    {NULL, CHECK_TEXT, 0},
};

const struct check check_disk = {
    .id = "disk",
    .title = "free space of the artifacts folder",
    .why = "a full disk loses the log and the checkpoint that filled it",
    .needs = "artifacts",
    .when = CHECK_BEFORE_START,
    .timeout_s = 20,
    .facts = forms,
    .ask = ask,
    .judge = judge,
};
