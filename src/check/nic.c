/* Check: the interfaces and adapters that the job names are there, and the one for sockets is the fastest
 * that is up. */
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

/* Does the pattern match a name in the list of a fact? exact: the whole name, else its beginning. */
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
 * NCCL's filters: "^a,b" excludes, "=a,b" names exactly, "a,b" are prefixes; at least one interface must
 * exist. gloo's list has exact names, and all of them must exist.
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
                                            "%s=%s names nothing that exists there", variable, value);
    finding_set_evidence(finding, "there: %s", names);
    finding_set_remedy(finding,
                       "correct it with ifname= in the host list, master.interface or env in the spec");
    return false;
}

#define MUCH_FASTER 4 /* times */

/* The speed of an interface in Mb/s, from the facts speed="NAME|MBIT/S"; 0: not known. */
static uint64_t speed_of(const struct facts *facts, const char *name)
{
    const char *value = NULL;
    size_t at = 0, len = strlen(name);
    uint64_t speed = 0;
    while ((value = facts_next(facts, "nic.speed", &at))) {
        if (strncmp(value, name, len) == 0 && value[len] == '|' &&
            text_to_uint(value + len + 1, 0, UINT32_MAX, &speed)) {
            return speed;
        }
    }
    return 0;
}

/* The interface that sockets use: the one that is named, else the one that leads to the master. The caller
 * frees; NULL: not known. */
static char *used_interface(const struct check_subject *subject, const struct facts *facts)
{
    const char *named = check_env(subject, "NCCL_SOCKET_IFNAME");
    const char *name = NULL;
    size_t at = 0;
    if (!named || named[0] == '^') {
        const char *route = facts_some(facts, "route.interface");
        return xstrdup(route);
    }
    named += named[0] == '=';
    AUTO_FREE char *first = xstrndup(named, strcspn(named, ","));
    while ((name = facts_next(facts, "nic.interface", &at))) {
        if (text_starts(name, first)) {
            return xstrdup(name);
        }
    }
    return NULL;
}

/* NCCL uses sockets: it is configured to, or has nothing else. */
static bool uses_sockets(const struct check_subject *subject, const struct facts *facts)
{
    const char *off = check_env(subject, "NCCL_IB_DISABLE");
    const char *net = check_env(subject, "NCCL_NET");
    return (off && strcmp(off, "0") != 0) || (net && strcmp(net, "Socket") == 0) ||
           !facts_text(facts, "nic.adapter");
}

/* Warn if sockets use a slow interface while a much faster one is up. Returns false then. */
static bool judge_speed(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    AUTO_FREE char *used = used_interface(subject, facts);
    uint64_t speed = used ? speed_of(facts, used) : 0;
    const char *value = NULL;
    size_t at = 0;
    if (subject->nnodes < 2 || speed == 0 || !uses_sockets(subject, facts)) {
        return true;
    }
    while ((value = facts_next(facts, "nic.speed", &at))) {
        AUTO_FREE char *name = xstrndup(value, strcspn(value, "|"));
        uint64_t other = speed_of(facts, name);
        if (other < speed * MUCH_FASTER) {
            continue;
        }
        struct finding *finding =
            findings_add(out, "nic", FINDING_WARN,
                         "sockets use %s with %llu Mb/s while %s with %llu Mb/s is up and unused", used,
                         (unsigned long long)speed, name, (unsigned long long)other);
        finding_set_remedy(finding,
                           "name the fast one with ifname= in the host list, and its address with addr=");
        return false;
    }
    return true;
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
    well = judge_speed(subject, facts, out) && well;
    if (well) {
        findings_add(out, "nic", FINDING_OK, "all that are named exist");
    }
}

/* Speed of the interface that leads to the master. The caller frees; NULL: not known. */
static char *describe(const struct facts *facts)
{
    const char *interface = facts_some(facts, "route.interface");
    uint64_t speed = interface ? speed_of(facts, interface) : 0;
    return speed > 0 ? xasprintf("%llu Mb/s", (unsigned long long)speed) : NULL;
}

static void compare(const struct check_node *nodes, size_t count, struct findings *out)
{
    check_compare_described(nodes, count, "nic", describe,
                            "its interface has another speed than the other nodes'",
                            "look at its cable and switch: the slowest link sets the pace", out);
}

const struct check check_nic = {
    .id = "nic",
    .title = "network interfaces",
    .why = "a node without the interface or adapter that a variable names ends the job; a slow one next to a "
           "fast one slows it down",
    .needs = "route",
    .when = CHECK_ON_REQUEST,
    .timeout_s = 20,
    .ask = ask,
    .judge = judge,
    .compare = compare,
};
