/* Check: the interfaces and adapters that the job names are there. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check/check_internal.h"
#include "model/kind.h"

static bool ask(const struct check_subject *subject, struct env *values)
{
    (void)subject;
    (void)values;
    return true;
}

/* Is a name of the list (of a fact) meant by this pattern? exact: as a whole, else by its beginning. */
static bool is_there(const struct facts *facts, const char *key, const char *pattern, bool exact)
{
    const char *name = NULL;
    size_t at = 0;
    while ((name = facts_next(facts, key, &at))) {
        if (exact ? strcmp(name, pattern) == 0 : text_starts(name, pattern)) {
            return true;
        }
    }
    return false;
}

static char *list_of(const struct facts *facts, const char *key)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    const char *name = NULL;
    size_t at = 0;
    while ((name = facts_next(facts, key, &at))) {
        strlist_add(&names, name);
    }
    return names.len > 0 ? strlist_join(&names, ", ") : xstrdup("none");
}

/*
 * NCCL's filters: "^a,b" excludes, "=a,b" names exactly, "a,b" are beginnings; at least one must be there.
 * gloo's list is of exact names, all of which must be there.
 */
static bool judge_filter(const struct facts *facts, const char *variable, const char *value, const char *key,
                         bool all, struct findings *out)
{
    if (value[0] == '^' && !all) {
        return true;
    }
    bool exact = all || value[0] == '=';
    AUTO_FREE char *copy = xstrdup(value + (value[0] == '='));
    char *rest = NULL;
    bool any = false, every = true;
    for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        name[strcspn(name, ":")] = '\0'; /* mlx5_0:1 is a port of it */
        bool there = is_there(facts, key, name, exact);
        any = any || there;
        every = every && there;
    }
    if (all ? every : any) {
        return true;
    }
    AUTO_FREE char *names = list_of(facts, key);
    struct finding *finding = findings_fail(out, "nic", &kind_interface_missing,
                                            "%s=%s names nothing that is there", variable, value);
    finding_set_evidence(finding, "there: %s", names);
    finding_set_remedy(finding,
                       "correct it with ifname= in the host list, master.interface or env in the spec");
    return false;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    static const struct {
        const char *variable, *key;
        bool all;
    } filters[] = {
        {"NCCL_SOCKET_IFNAME", "nic.interface", false},
        {"GLOO_SOCKET_IFNAME", "nic.interface", true},
        {"NCCL_IB_HCA", "nic.adapter", false},
    };
    bool well = true;
    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        const char *value = check_env(subject, filters[i].variable);
        if (value) {
            well =
                judge_filter(facts, filters[i].variable, value, filters[i].key, filters[i].all, out) && well;
        }
    }
    if (well) {
        findings_add(out, "nic", FINDING_OK, "all that are named are there");
    }
}

const struct check check_nic = {
    .id = "nic",
    .title = "network interfaces",
    .why = "an interface or adapter that a variable names and one node lacks ends the job there",
    .when = CHECK_ON_REQUEST,
    .timeout_s = 20,
    .ask = ask,
    .judge = judge,
};
