/* Check: shared memory is large enough for data loaders and NCCL (require.shm). */
#include "base/alloc.h"
#include "check/check_internal.h"
#include "model/kind.h"

#define LITTLE_BYTES (UINT64_C(1) << 30)

static bool ask(const struct check_subject *subject, struct env *values)
{
    (void)values;
    return !subject->starting || subject->require->shm_bytes > 0;
}

static const char *remedy(const struct check_subject *subject)
{
    return subject->container
               ? "create the container with more: container.run.shm_size, docker's --shm-size, or ipc: host"
               : "mount -o remount,size=16G /dev/shm";
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    uint64_t wanted = subject->require->shm_bytes;
    uint64_t bytes = facts_uint(facts, "shm.total_kb", 0) * 1024;
    AUTO_FREE char *has = check_shown_size(bytes);
    AUTO_FREE char *wants = check_shown_size(wanted);
    struct finding *finding = NULL;
    if (!facts_text(facts, "shm.total_kb")) {
        finding = wanted > 0 ? findings_fail(out, "shm", &kind_too_little,
                                             "there is no /dev/shm, %s are required", wants)
                             : findings_add(out, "shm", FINDING_WARN, "there is no /dev/shm");
    } else if (wanted > 0 && bytes < wanted) {
        finding = findings_fail(out, "shm", &kind_too_little, "/dev/shm has %s, %s are required", has, wants);
    } else if (bytes < LITTLE_BYTES) {
        finding = findings_add(out, "shm", FINDING_WARN, "/dev/shm has only %s", has);
    } else {
        findings_add(out, "shm", FINDING_OK, "/dev/shm is large enough");
        return;
    }
    finding_set_remedy(finding, "%s", remedy(subject));
}

static const struct check_fact forms[] = {
    {"total_kb", CHECK_NUMBER, UINT64_MAX / 1024},
    {NULL, CHECK_TEXT, 0},
};

const struct check check_shm = {
    .id = "shm",
    .title = "shared memory",
    .why = "data loaders and NCCL die of a bus error or hang where /dev/shm is small, as docker's default of "
           "64 MiB",
    .when = CHECK_BEFORE_START,
    .timeout_s = 20,
    .facts = forms,
    .ask = ask,
    .judge = judge,
};
