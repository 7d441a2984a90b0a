/* Check: the GPUs are free and healthy: little memory in use, no uncorrected errors, the same model and
 * driver on all nodes. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check/check_internal.h"
#include "model/kind.h"

#define BUSY_MIB 1024
#define WORDS    6 /* of a GPU's line: index, used, total, errors, driver, name */

static bool ask(const struct check_subject *subject, struct env *values)
{
    (void)values;
    return !subject->starting || subject->require->gpus > 0 || subject->counts_gpus;
}

/* "INDEX|USED|TOTAL|ERRORS|DRIVER|NAME" of nvidia-smi, split in place; false: it is not such a line. */
static bool split_gpu(char *line, char *words[WORDS])
{
    for (size_t i = 0; i < WORDS; i++) {
        words[i] = line;
        line = i + 1 < WORDS ? strchr(line, '|') : NULL;
        if (i + 1 < WORDS && !line) {
            return false;
        }
        if (line) {
            *line++ = '\0';
        }
    }
    return true;
}

static bool is_above(const char *text, uint64_t most)
{
    uint64_t number = 0;
    return text_to_uint(text, 0, UINT64_MAX, &number) && number > most;
}

/* A start continues if GPUs are in use: they may be shared on purpose. */
static struct finding *add_busy(const struct check_subject *subject, char *const words[WORDS],
                                struct findings *out)
{
    static const char form[] = "GPU %s is in use: %s of %s MiB";
    return subject->starting
               ? findings_add(out, "memory", FINDING_WARN, form, words[0], words[1], words[2])
               : findings_fail(out, "memory", &kind_gpus_busy, form, words[0], words[1], words[2]);
}

static bool judge_gpu(const struct check_subject *subject, const struct facts *facts,
                      char *const words[WORDS], struct findings *out)
{
    if (is_above(words[1], BUSY_MIB)) {
        const char *user = NULL;
        AUTO_STR struct str users = STR_INIT;
        size_t at = 0;
        while ((user = facts_next(facts, "memory.process", &at))) {
            str_addf(&users, "%s%s", users.len > 0 ? "; " : "", user);
        }
        struct finding *finding = add_busy(subject, words, out);
        if (users.len > 0) {
            finding_set_evidence(finding, "%s", str_text(&users));
        }
        finding_set_remedy(
            finding, "end what runs there, leave the host out with --exclude, or choose other GPUs with "
                     "gpus= in the host list");
        return false;
    }
    if (is_above(words[3], 0)) {
        struct finding *finding = findings_add(
            out, "memory", FINDING_WARN,
            "GPU %s has had %s uncorrected memory errors since the driver was loaded", words[0], words[3]);
        finding_set_remedy(finding, "reset the GPU or have it replaced (nvidia-smi -q -d ECC)");
        return false;
    }
    return true;
}

/* A job that does not require GPUs may run without them, so its start continues. If it counts GPUs, the check
 * 'gpus' ends the start. */
static void add_problem(const struct check_subject *subject, const char *problem, struct findings *out)
{
    const char *what = subject->container ? "the GPUs are lost in the container" : "nvidia-smi fails";
    struct finding *finding = subject->starting && subject->require->gpus == 0
                                  ? findings_add(out, "memory", FINDING_WARN, "%s: %s", what, problem)
                                  : findings_fail(out, "memory", &kind_gpus_unknown, "%s: %s", what, problem);
    finding_set_remedy(
        finding, "%s",
        subject->container
            ? "restart the container (a reload of systemd takes its GPUs away), or recreate it "
              "with --gpus all"
            : "make `nvidia-smi` work there: reload the driver, or restart the host");
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    const char *value = NULL;
    const char *problem = facts_text(facts, "memory.problem");
    size_t at = 0, gpus = 0, well = 0;
    bool knows_memory = true;
    if (problem) {
        add_problem(subject, problem, out);
        return;
    }
    while ((value = facts_next(facts, "memory.gpu", &at))) {
        AUTO_FREE char *line = xstrdup(value);
        char *words[WORDS];
        if (split_gpu(line, words)) {
            gpus++;
            knows_memory = knows_memory && *words[1];
            well += judge_gpu(subject, facts, words, out);
        }
    }
    if (subject->require->gpus > gpus || (subject->nproc > 1 && gpus > 0 && subject->nproc > gpus)) {
        unsigned wanted = subject->require->gpus > gpus ? subject->require->gpus : subject->nproc;
        struct finding *finding = findings_fail(
            out, "memory", &kind_gpus_missing, "%zu GPU%s there, %u needed%s", gpus, gpus == 1 ? "" : "s",
            wanted, facts_is_set(facts, "memory.no_smi") ? " (there is no nvidia-smi to ask)" : "");
        finding_set_remedy(
            finding, "leave the host out with --exclude, or start fewer processes with --nproc-per-node");
    } else if (gpus == 0) {
        findings_add(out, "memory", FINDING_NOTE, "no GPU is there");
    } else if (!knows_memory) {
        findings_add(out, "memory", FINDING_NOTE,
                     "%zu GPU%s; nvidia-smi does not say how much memory is in use", gpus,
                     gpus == 1 ? "" : "s");
    } else if (well == gpus) {
        findings_add(out, "memory", FINDING_OK, "%zu GPU%s, free", gpus, gpus == 1 ? "" : "s");
    }
}

/* Names and driver of a node's GPUs: "8 x NVIDIA H200, driver 550.54". NULL: none, or not known. The caller
 * frees it. */
static char *describe(const struct facts *facts)
{
    const char *value = NULL;
    char *words[WORDS];
    size_t at = 0, count = 0;
    AUTO_FREE char *line = NULL;
    while ((value = facts_next(facts, "memory.gpu", &at))) {
        free(line);
        line = xstrdup(value);
        if (!split_gpu(line, words) || !*words[5]) {
            return NULL;
        }
        count++;
    }
    return count > 0 ? xasprintf("%zu x %s, driver %s", count, words[5], words[4]) : NULL;
}

static void compare(const struct check_node *nodes, size_t count, struct findings *out)
{
    check_compare_described(
        nodes, count, "memory", describe, "its GPUs or their driver differ from those of the other nodes",
        "install the same driver, or leave the host out: the slowest node sets the pace", out);
}

const struct check check_memory = {
    .id = "memory",
    .title = "state of the GPUs",
    .why = "memory in use, a lost GPU or another driver on one node ends or slows the whole job",
    CHECK_AFTER_SETUP(CHECK_BEFORE_START),
    .apart = true,
    .late = &kind_gpus_unknown,
    .ask = ask,
    .judge = judge,
    .compare = compare,
};
