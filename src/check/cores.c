/* Check: the cores of a node are enough for the threads and data loaders of its processes. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/check_internal.h"

#define QUOTA_MAX 100000000

/* Workers of the data loaders of one process, as an argument gives them. */
static uint64_t find_workers(const struct strlist *argv)
{
    static const char *const options[] = {"--num-workers", "--num_workers", "--dataloader-num-workers",
                                          "--dataloader_num_workers"};
    uint64_t number = 0;
    for (size_t i = 0; argv && i < argv->len; i++) {
        for (size_t o = 0; o < sizeof(options) / sizeof(options[0]); o++) {
            size_t len = strlen(options[o]);
            const char *word = argv->items[i];
            const char *value = strcmp(word, options[o]) == 0 && i + 1 < argv->len        ? argv->items[i + 1]
                                : strncmp(word, options[o], len) == 0 && word[len] == '=' ? word + len + 1
                                                                                          : NULL;
            if (value && text_to_uint(value, 0, 65536, &number)) {
                return number;
            }
        }
    }
    return 0;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    uint64_t cores = facts_uint(facts, "node.cores", 0);
    uint64_t quota = facts_uint(facts, "cores.quota", 0);
    uint64_t processes = subject->nproc > 0 ? subject->nproc : facts_uint(facts, "gpus.visible", 0);
    uint64_t usable = quota > 0 && quota / 100 < cores ? (quota + 99) / 100 : cores;
    uint64_t threads = 0;
    uint64_t workers = find_workers(subject->argv);
    const char *omp = check_env(subject, "OMP_NUM_THREADS");
    struct finding *finding = NULL;
    processes = processes > 0 ? processes : 1;
    if (omp && !text_to_uint(omp, 0, 65536, &threads)) {
        threads = 0; /* a list, or nonsense: not judged */
    }
    if (cores > 0 && usable < cores && usable < processes * 2) {
        finding = findings_add(out, "cores", FINDING_WARN,
                               "only %llu of %llu cores may be used there, for %llu process%s",
                               (unsigned long long)usable, (unsigned long long)cores,
                               (unsigned long long)processes, processes == 1 ? "" : "es");
        finding_set_remedy(
            finding, "raise the limit of the container or slice (docker's --cpus, CPUQuota= of systemd)");
    }
    if (cores > 0 && threads * processes > usable) {
        finding = findings_add(out, "cores", FINDING_WARN,
                               "%llu process%s with OMP_NUM_THREADS=%s need%s more than the %llu cores there",
                               (unsigned long long)processes, processes == 1 ? "" : "es", omp,
                               processes == 1 ? "s" : "", (unsigned long long)usable);
        finding_set_remedy(finding,
                           "leave OMP_NUM_THREADS out (mtlaunch sets cores / processes), or lower it");
    }
    if (cores > 0 && workers > 0 && (workers + 1) * processes > usable) {
        finding = findings_add(
            out, "cores", FINDING_WARN,
            "%llu process%s with %llu data loader workers each need%s more than the %llu cores there",
            (unsigned long long)processes, processes == 1 ? "" : "es", (unsigned long long)workers,
            processes == 1 ? "s" : "", (unsigned long long)usable);
        finding_set_remedy(finding,
                           "lower the number of workers: processes that share a core wait for one another");
    }
    if (!finding) {
        findings_add(out, "cores", FINDING_OK, "enough for %llu process%s", (unsigned long long)processes,
                     processes == 1 ? "" : "es");
    }
}

static const struct check_fact forms[] = {
    {"quota", CHECK_NUMBER, QUOTA_MAX},
    {NULL, CHECK_TEXT, 0},
};

const struct check check_cores = {
    .id = "cores",
    .title = "processor cores",
    .why = "more threads and data loaders than cores make every step wait for the processor",
    .when = CHECK_ON_REQUEST,
    .timeout_s = 20,
    .facts = forms,
    .ask = check_ask_nothing,
    .judge = judge,
};
