/* Check: the folder in which the job saves and loads checkpoints is the same on all nodes. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check/check_internal.h"
#include "model/kind.h"

static const char *const save_options[] = {
    "--save",           "--load",          "--output_dir", "--output-dir", "--resume_from_checkpoint",
    "--checkpoint-dir", "--checkpoint_dir"};

/* The checkpoint folders that arguments name. */
static void find_folders(const struct strlist *argv, struct strlist *out)
{
    for (size_t i = 0; argv && i + 1 < argv->len; i++) {
        for (size_t o = 0; o < ARRAY_LEN(save_options); o++) {
            const char *value = argv->items[i + 1];
            if (strcmp(argv->items[i], save_options[o]) == 0 && !text_starts(value, "-") &&
                !strstr(value, "${{") && !strlist_has(out, value)) {
                strlist_add(out, value);
            }
        }
    }
}

/* Does the job load a checkpoint from this folder? */
static bool is_loaded(const struct strlist *argv, const char *folder)
{
    for (size_t i = 0; argv && i + 1 < argv->len; i++) {
        bool loads =
            strcmp(argv->items[i], "--load") == 0 || strcmp(argv->items[i], "--resume_from_checkpoint") == 0;
        if (loads && strcmp(argv->items[i + 1], folder) == 0) {
            return true;
        }
    }
    return false;
}

static bool ask(const struct check_subject *subject, struct env *values)
{
    AUTO_STRLIST struct strlist folders = STRLIST_INIT;
    find_folders(subject->argv, &folders);
    check_set_list(values, "shared_folders", &folders);
    check_set_text(values, "shared_token", subject->token);
    check_set_number(values, "shared_nodes", subject->nnodes);
    return subject->nnodes > 1 && folders.len > 0 && subject->token && !subject->starting;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    (void)subject;
    const char *folder = NULL;
    size_t at = 0;
    while ((folder = facts_next(facts, "shared.unwritable", &at))) {
        struct finding *finding = findings_fail(out, "shared", &kind_artifacts_unwritable,
                                                "checkpoints cannot be written in '%s'", folder);
        finding_set_remedy(finding, "make the folder writable there, or name another");
    }
}

/* A fact is "INDEX IDENTITY RANKS": the identity of the file system and folder, and the ranks whose tokens
 * were seen there. */
static bool read_folder(const struct facts *facts, size_t index, char **identity, char **ranks)
{
    AUTO_FREE char *prefix = xasprintf("%zu ", index);
    const char *value = NULL;
    size_t at = 0;
    while ((value = facts_next(facts, "shared.folder", &at))) {
        if (text_starts(value, prefix)) {
            const char *begin = value + strlen(prefix);
            size_t len = strcspn(begin, " ");
            *identity = xstrndup(begin, len);
            *ranks = xasprintf("%s ", begin[len] == ' ' ? begin + len : " ");
            return true;
        }
    }
    return false;
}

/* Does one node see the token of the other, or is it obviously the same folder? */
static bool sees(const struct check_node *a, const struct check_node *b, size_t index)
{
    AUTO_FREE char *own = NULL, *own_ranks = NULL, *other = NULL, *other_ranks = NULL;
    if (!read_folder(a->facts, index, &own, &own_ranks) ||
        !read_folder(b->facts, index, &other, &other_ranks)) {
        return true; /* not known: reported elsewhere */
    }
    AUTO_FREE char *a_rank = xasprintf(" %u ", a->subject->rank);
    AUTO_FREE char *b_rank = xasprintf(" %u ", b->subject->rank);
    return strstr(own_ranks, b_rank) || strstr(other_ranks, a_rank) ||
           (own[0] != '?' && strcmp(own, other) == 0);
}

/* The last checkpoint that a node has in the folder: "step N", or "nothing". The caller frees it. */
static char *step_of(const struct facts *facts, size_t index)
{
    AUTO_FREE char *prefix = xasprintf("%zu ", index);
    const char *value = NULL;
    size_t at = 0;
    while ((value = facts_next(facts, "shared.step", &at))) {
        if (text_starts(value, prefix)) {
            return xasprintf("step %s", value + strlen(prefix));
        }
    }
    return xstrdup("nothing");
}

/* Report nodes that would resume from different steps. False: they would not. */
static bool judge_steps(const struct check_node *nodes, size_t count, size_t index, const char *folder,
                        struct findings *out)
{
    AUTO_FREE char **steps = xcalloc(count + 1, sizeof(*steps));
    AUTO_FREE char *common = NULL;
    AUTO_STR struct str others = STR_INIT;
    AUTO_STRLIST struct strlist odd = STRLIST_INIT;
    for (size_t i = 0; i < count; i++) {
        steps[i] = step_of(nodes[i].facts, index);
    }
    bool differ = check_find_minority(nodes, count, (const char *const *)steps, &common, &others, &odd);
    if (differ) {
        struct finding *finding = findings_fail(
            out, "shared", &kind_nodes_differ,
            "nodes would resume from different steps: '%s' is not the same folder on all", folder);
        finding_set_evidence(finding, "%s; %s on the others", str_text(&others), common);
        finding_set_remedy(
            finding,
            "name a folder of a file system that all nodes share, or copy the checkpoint to each node");
        strlist_copy(&finding->hosts, &odd);
    }
    for (size_t i = 0; i < count; i++) {
        free(steps[i]);
    }
    return differ;
}

static bool is_known(const struct check_node *node, size_t index)
{
    AUTO_FREE char *identity = NULL, *ranks = NULL;
    return read_folder(node->facts, index, &identity, &ranks);
}

static void compare(const struct check_node *nodes, size_t count, struct findings *out)
{
    AUTO_STRLIST struct strlist folders = STRLIST_INIT;
    find_folders(nodes[0].subject->argv, &folders);
    bool all_shared = true;
    for (size_t index = 0; index < folders.len; index++) {
        AUTO_STRLIST struct strlist odd = STRLIST_INIT;
        size_t first = 0;
        while (first < count && !is_known(&nodes[first], index)) {
            all_shared = false; /* it cannot be written there, which judge() reports */
            first++;
        }
        for (size_t i = first + 1; i < count; i++) {
            all_shared = all_shared && is_known(&nodes[i], index);
            if (!sees(&nodes[first], &nodes[i], index)) {
                strlist_add(&odd, nodes[i].label);
            }
        }
        if (odd.len == 0) {
            continue;
        }
        all_shared = false;
        if (is_loaded(nodes[0].subject->argv, folders.items[index]) &&
            judge_steps(nodes, count, index, folders.items[index], out)) {
            continue;
        }
        struct finding *finding =
            findings_add(out, "shared", FINDING_WARN, "'%s' is not the folder that %s sees",
                         folders.items[index], nodes[first].label);
        finding_set_evidence(finding, "the job saves or loads checkpoints there");
        finding_set_remedy(
            finding, "name a folder of a file system that all nodes share, or copy the checkpoints to each "
                     "node before a resume: nodes that start from different steps wait forever");
        strlist_copy(&finding->hosts, &odd);
    }
    if (all_shared) {
        struct finding *finding = findings_add(out, "shared", FINDING_OK, "the same folder on all nodes");
        for (size_t i = 0; i < count; i++) {
            strlist_add(&finding->hosts, nodes[i].label);
        }
    }
}

const struct check check_shared = {
    .id = "shared",
    .title = "folder of checkpoints",
    .why = "a resume from local folders starts nodes at different steps, and they wait forever",
    CHECK_AFTER_SETUP(CHECK_ON_REQUEST),
    .apart = true,
    .ask = ask,
    .judge = judge,
    .compare = compare,
};
