/* What comparisons and judges share: minorities among nodes, sizes, lists of values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check/check_internal.h"
#include "model/hostlist.h"

void check_set_list(struct env *values, const char *name, const struct strlist *list)
{
    AUTO_FREE char *text = strlist_join(list, "\n");
    check_set_text(values, name, text);
}

char *check_shown_size(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes;
    size_t unit = 0;
    while (size >= 1024 && unit + 1 < ARRAY_LEN(units)) {
        size /= 1024;
        unit++;
    }
    return xasprintf(unit == 0 || size >= 100 ? "%.0f %s" : "%.1f %s", size, units[unit]);
}

const char *check_env(const struct check_subject *subject, const char *name)
{
    const struct env_var *var = subject->env ? env_get(subject->env, name) : NULL;
    return var && var->value && var->value[0] != '\0' ? var->value : NULL;
}

static bool is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static size_t count_same(const char *const *value_of, size_t count, const char *value)
{
    size_t same = 0;
    for (size_t i = 0; i < count; i++) {
        same += is_same(value_of[i], value);
    }
    return same;
}

/* The value of most nodes; if several are equally common, the first one. NULL: none is known. */
static const char *find_majority(const char *const *value_of, size_t count)
{
    const char *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t same = value_of[i] ? count_same(value_of, count, value_of[i]) : 0;
        if (same > most) {
            most = same;
            best = value_of[i];
        }
    }
    return best;
}

bool check_find_minority(const struct check_node *nodes, size_t count, const char *const *value_of,
                         char **majority, struct str *minority, struct strlist *odd)
{
    const char *common = find_majority(value_of, count);
    *majority = xstrdup(common);
    for (size_t i = 0; i < count; i++) {
        bool told = !value_of[i] || is_same(value_of[i], common);
        for (size_t before = 0; before < i && !told; before++) {
            told = is_same(value_of[before], value_of[i]);
        }
        if (told) {
            continue;
        }
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        AUTO_STR struct str folded = STR_INIT;
        for (size_t other = i; other < count; other++) {
            if (is_same(value_of[other], value_of[i])) {
                strlist_add(&hosts, nodes[other].label);
                strlist_add(odd, nodes[other].label);
            }
        }
        hostlist_fold_names(hosts.items, hosts.len, &folded);
        str_addf(minority, "%s%s on %s", minority->len > 0 ? ", " : "", value_of[i], str_text(&folded));
    }
    return odd->len > 0;
}

void check_compare_described(const struct check_node *nodes, size_t count, const char *id,
                             char *(*describe)(const struct facts *facts), const char *text,
                             const char *remedy, struct findings *out)
{
    AUTO_FREE char **values = xcalloc(count, sizeof(*values));
    AUTO_FREE char *majority = NULL;
    AUTO_STR struct str minority = STR_INIT;
    AUTO_STRLIST struct strlist odd = STRLIST_INIT;
    for (size_t i = 0; i < count; i++) {
        values[i] = describe(nodes[i].facts);
    }
    if (check_find_minority(nodes, count, (const char *const *)values, &majority, &minority, &odd)) {
        struct finding *finding = findings_add(out, id, FINDING_WARN, "%s", text);
        finding_set_evidence(finding, "%s; %s on the others", str_text(&minority), majority);
        finding_set_remedy(finding, "%s", remedy);
        strlist_copy(&finding->hosts, &odd);
    }
    for (size_t i = 0; i < count; i++) {
        free(values[i]);
    }
}
