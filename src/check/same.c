/* Check: the files and folders of require.same have the same content on all nodes. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check/check_internal.h"
#include "model/kind.h"

static bool ask(const struct check_subject *subject, struct env *values)
{
    check_set_list(values, "same", &subject->require->same);
    return subject->require->same.len > 0 && !subject->starting;
}

/* A fact is "INDEX WHAT"; WHAT is "missing", "commit …", "content …" or "hash …". */
static const char *what_of(const struct check_node *node, size_t index)
{
    AUTO_FREE char *prefix = xasprintf("%zu ", index);
    const char *value = NULL;
    size_t at = 0;
    while ((value = facts_next(node->facts, "same.is", &at))) {
        if (strncmp(value, prefix, strlen(prefix)) == 0) {
            return value + strlen(prefix);
        }
    }
    return NULL;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    const struct check_node node = {.facts = facts};
    if (!check_is_set_up(facts)) {
        return;
    }
    size_t missing = 0;
    for (size_t i = 0; i < subject->require->same.len; i++) {
        const char *what = what_of(&node, i);
        if (!what || strcmp(what, "missing") == 0) {
            struct finding *finding =
                findings_fail(out, "same", &kind_path_missing, "'%s' is not there, or cannot be read",
                              subject->require->same.items[i]);
            finding_set_remedy(finding, "copy it there from a node that has it");
            missing++;
        }
    }
    if (missing == 0) {
        findings_add(out, "same", FINDING_OK, "all exist");
    }
}

static void compare_one(const struct check_node *nodes, size_t count, size_t index, const char *path,
                        struct findings *out)
{
    AUTO_FREE const char **values = xcalloc(count, sizeof(*values));
    AUTO_FREE char *majority = NULL;
    AUTO_STR struct str minority = STR_INIT;
    AUTO_STRLIST struct strlist odd = STRLIST_INIT;
    for (size_t i = 0; i < count; i++) {
        const char *what = what_of(&nodes[i], index);
        values[i] = what && strcmp(what, "missing") != 0 ? what : NULL;
    }
    if (!check_find_minority(nodes, count, values, &majority, &minority, &odd)) {
        return;
    }
    struct finding *finding =
        findings_fail(out, "same", &kind_nodes_differ, "'%s' is not the same as on the other nodes", path);
    finding_set_evidence(finding, "%s; %s on the others", str_text(&minority), majority);
    finding_set_remedy(finding, "copy it from a node whose content is right");
    strlist_copy(&finding->hosts, &odd);
}

static void compare(const struct check_node *nodes, size_t count, struct findings *out)
{
    const struct strlist *paths = &nodes[0].subject->require->same;
    for (size_t i = 0; i < paths->len; i++) {
        compare_one(nodes, count, i, paths->items[i], out);
    }
}

const struct check check_same = {
    .id = "same",
    .title = "the same content on all nodes",
    .why = "nodes whose code or last checkpoint differs compute different things, or wait",
    .needs = "setup",
    .when = CHECK_ON_REQUEST,
    .timeout_s = 40,
    .apart = true,
    .late = &kind_nodes_differ,
    .ask = ask,
    .judge = judge,
    .compare = compare,
};
