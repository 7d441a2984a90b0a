/* The table of checks, and what is done with all of them: choose, ask, verify, judge, compare. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check/check_internal.h"
#include "model/kind.h"

#define CHECK_ROW(id) &check_##id,
const struct check *const checks_all[] = {CHECK_TABLE(CHECK_ROW)};
const size_t checks_count = ARRAY_LEN(checks_all);

static size_t find_index(const char *id)
{
    size_t i = 0;
    while (i < checks_count && strcmp(checks_all[i]->id, id) != 0) {
        i++;
    }
    return i;
}

const struct check *check_find(const char *id)
{
    size_t i = find_index(id);
    return i < checks_count ? checks_all[i] : NULL;
}

void check_choose_start(struct check_choice *choice, bool no_check)
{
    *choice = (struct check_choice){0};
    for (size_t i = 0; i < checks_count; i++) {
        enum check_when when = checks_all[i]->when;
        choice->wanted[i] = when == CHECK_ALWAYS || (when == CHECK_BEFORE_START && !no_check);
    }
}

void check_add_needed(struct check_choice *choice)
{
    for (size_t i = 0; i < checks_count; i++) {
        const char *needs = choice->wanted[i] ? checks_all[i]->needs : NULL;
        while (needs) {
            size_t needed = find_index(needs);
            choice->wanted[needed] = true;
            needs = checks_all[needed]->needs;
        }
    }
}

int check_choose_skip(const struct strlist *ids, struct check_choice *choice, struct error *err)
{
    for (size_t i = 0; i < ids->len; i++) {
        size_t index = find_index(ids->items[i]);
        if (index == checks_count) {
            const char *names[CHECKS_MAX];
            for (size_t n = 0; n < checks_count; n++) {
                names[n] = checks_all[n]->id;
            }
            const char *near = text_nearest(ids->items[i], names, checks_count);
            error_set(err, &kind_job_file, "'checks.skip': unknown check '%s'", ids->items[i]);
            return near ? error_hint(err, "did you mean '%s'?", near)
                        : error_hint(err, "`mtlaunch check --list` prints the checks");
        }
        choice->wanted[index] = false;
    }
    return 0;
}

/* --- asking ------------------------------------------------------------------------------------- */

void check_request_release(struct check_request *request)
{
    str_release(&request->lanes);
    str_release(&request->own);
    strlist_release(&request->parts);
    env_release(&request->values);
}

/* Checks that run one after the other in a shell of their own, side by side with other lanes. */
struct lane {
    const char *after; /* the check that must have ended first; NULL: none */
    struct str rows;   /* "ID:SECONDS", separated by commas */
};

struct lanes {
    struct lane items[CHECKS_MAX + 1]; /* the first: quick checks that need nothing */
    size_t len;
    size_t lane_of[CHECKS_MAX]; /* of each check that was placed */
    bool placed[CHECKS_MAX];
};

/* How long it may take on a node, in seconds; 0: as long as the node's answer. */
static unsigned long limit_s(const struct check *check, const struct check_subject *subject)
{
    return check->timeout_s + (check->has_setup ? subject->start_timeout_s : 0);
}

static void place(struct lanes *lanes, size_t index, const struct check_subject *subject, const char *needs)
{
    const struct check *check = checks_all[index];
    size_t at = 0;
    if (check->apart) {
        at = lanes->len++;
        lanes->items[at] = (struct lane){.after = needs};
    } else if (needs) {
        at = lanes->lane_of[find_index(needs)];
    }
    struct str *rows = &lanes->items[at].rows;
    str_addf(rows, "%s%s:%lu", rows->len > 0 ? "," : "", check->id, limit_s(check, subject));
    lanes->lane_of[index] = at;
    lanes->placed[index] = true;
}

/*
 * Index of the wanted check that a check has to wait for; checks_count: none. Only a check with a lane of its
 * own can wait for a check that runs in no lane.
 */
static size_t find_needed(const struct check *check, const struct check_choice *choice)
{
    bool apart = check->apart;
    while (check->needs) {
        size_t needed = find_index(check->needs);
        check = checks_all[needed];
        if (choice->wanted[needed] && (check->timeout_s > 0 || apart)) {
            return needed;
        }
    }
    return checks_count;
}

/* One pass over the table; true if a check was placed (others may wait for it). */
static bool place_more(struct lanes *lanes, const struct check_choice *choice,
                       const struct check_subject *subject)
{
    bool any = false;
    for (size_t i = 0; i < checks_count; i++) {
        if (!choice->wanted[i] || checks_all[i]->timeout_s == 0 || lanes->placed[i]) {
            continue;
        }
        size_t needed = find_needed(checks_all[i], choice);
        if (needed == checks_count || lanes->placed[needed] || checks_all[needed]->timeout_s == 0) {
            place(lanes, i, subject, needed == checks_count ? NULL : checks_all[needed]->id);
            any = true;
        }
    }
    return any;
}

static void add_lanes(const struct check_choice *choice, const struct check_subject *subject, struct str *out)
{
    struct lanes lanes = {.len = 1};
    while (place_more(&lanes, choice, subject)) {
    }
    for (size_t i = 0; i < lanes.len; i++) {
        struct lane *lane = &lanes.items[i];
        if (lane->rows.len > 0) {
            str_addf(out, "%s%s/%s", out->len > 0 ? " " : "", lane->after ? lane->after : "",
                     str_text(&lane->rows));
        }
        str_release(&lane->rows);
    }
}

void check_ask(const struct check_subject *subject, struct check_choice *choice, struct check_request *out)
{
    *out = (struct check_request){0};
    for (size_t i = 0; i < checks_count; i++) {
        const struct check *check = checks_all[i];
        choice->wanted[i] = choice->wanted[i] && check->ask(subject, &out->values);
        if (!choice->wanted[i]) {
            continue;
        }
        strlist_addf(&out->parts, "check/%s", check->id);
        if (check->timeout_s == 0) {
            str_addf(&out->own, "%s%s", out->own.len > 0 ? " " : "", check->id);
        }
    }
    add_lanes(choice, subject, &out->lanes);
}

void check_set_text(struct env *values, const char *name, const char *value)
{
    env_set(values, name, value ? value : "", NULL);
}

void check_set_number(struct env *values, const char *name, unsigned long value)
{
    AUTO_FREE char *text = xasprintf("%lu", value);
    env_set(values, name, text, NULL);
}

void check_set_flag(struct env *values, const char *name, bool value)
{
    env_set(values, name, value ? "1" : "", NULL);
}

bool check_ask_nothing(const struct check_subject *subject, struct env *values)
{
    (void)subject;
    (void)values;
    return true;
}

/* --- verifying ---------------------------------------------------------------------------------- */

/* What every node reports about itself, as "node.KEY". */
static const struct check_fact node_facts[] = {
    {"uid", CHECK_NUMBER, UINT32_MAX},
    {"cores", CHECK_NUMBER, 65536},
    {"took", CHECK_NUMBER, 100000000},
    {NULL, CHECK_TEXT, 0},
};

static bool is_status(const char *value)
{
    uint64_t number = 0;
    return value[0] == '\0' || strcmp(value, "-1") == 0 || text_to_uint(value, 0, 255, &number);
}

static int verify_value(const struct fact *fact, const struct check_fact *form, struct error *err)
{
    uint64_t number = 0;
    struct fact_process process;
    const char *wanted = NULL;
    switch (form->type) {
    case CHECK_TEXT:
        return 0;
    case CHECK_NUMBER:
        if (fact->value[0] == '\0' || text_to_uint(fact->value, 0, form->max, &number)) {
            return 0;
        }
        return error_set(err, &kind_node_answer,
                         "the node's answer says '%s' for '%s', expected a number up to %llu", fact->value,
                         fact->key, (unsigned long long)form->max);
    case CHECK_STATUS:
        wanted = is_status(fact->value) ? NULL : "an exit status";
        break;
    case CHECK_PROCESS:
        wanted = fact_read_process(fact->value, &process) ? NULL : "a process";
        break;
    case CHECK_RUN_USER:
        wanted = check_is_run_user(fact->value) ? NULL : "another run";
        break;
    }
    return wanted
               ? error_set(err, &kind_node_answer, "the node's answer says '%s' for %s", fact->value, wanted)
               : 0;
}

static const struct check_fact *find_form(const struct check_fact *forms, const char *key)
{
    for (; forms && forms->key; forms++) {
        if (strcmp(forms->key, key) == 0) {
            return forms;
        }
    }
    return NULL;
}

int check_verify(const struct facts *facts, struct error *err)
{
    if (!facts_text(facts, "node.host") || !facts_text(facts, "node.artifacts")) {
        return error_set(err, &kind_node_answer, "the node's answer lacks its name or its artifacts folder");
    }
    for (size_t i = 0; i < facts->len; i++) {
        const struct fact *fact = &facts->items[i];
        const char *dot = strchr(fact->key, '.');
        if (!dot) {
            continue;
        }
        AUTO_FREE char *id = xstrndup(fact->key, (size_t)(dot - fact->key));
        const struct check *check = check_find(id);
        const struct check_fact *form = find_form(check                     ? check->facts
                                                  : strcmp(id, "node") == 0 ? node_facts
                                                                            : NULL,
                                                  dot + 1);
        if (form && verify_value(fact, form, err) != 0) {
            return -1;
        }
    }
    return 0;
}

/* --- judging ------------------------------------------------------------------------------------ */

static void judge_late(const struct check *check, const struct check_subject *subject, struct findings *out)
{
    const unsigned long limit = limit_s(check, subject);
    AUTO_FREE char *text = limit == 0 ? xasprintf("%s: no answer", check->title)
                                      : xasprintf("%s: no answer within %lu s", check->title, limit);
    struct finding *finding = check->late ? findings_fail(out, check->id, check->late, "%s", text)
                                          : findings_add(out, check->id, FINDING_WARN, "%s", text);
    finding_set_remedy(
        finding, "look there for a command or a file system that hangs (`ps -eo pid,stat,args | grep ' D'`)");
}

void check_judge(const struct check_subject *subject, const struct check_choice *choice,
                 const struct facts *facts, struct findings *out)
{
    for (size_t i = 0; i < checks_count; i++) {
        const struct check *check = checks_all[i];
        if (!choice->wanted[i]) {
            continue;
        }
        AUTO_FREE char *ran = xasprintf("%s.ran", check->id);
        if (facts_is_set(facts, ran)) {
            check->judge(subject, facts, out);
        } else {
            judge_late(check, subject, out);
        }
    }
}

/* Copy the nodes that ran this check to out. Returns how many there are. */
static size_t choose_ran(const struct check *check, const struct check_node *nodes, size_t count,
                         struct check_node *out)
{
    AUTO_FREE char *ran = xasprintf("%s.ran", check->id);
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        if (facts_is_set(nodes[i].facts, ran)) {
            out[len++] = nodes[i];
        }
    }
    return len;
}

void check_compare(const struct check_choice *choice, const struct check_node *nodes, size_t count,
                   struct findings *out)
{
    AUTO_FREE struct check_node *ran = xcalloc(count + 1, sizeof(*ran));
    for (size_t i = 0; i < checks_count; i++) {
        if (choice->wanted[i] && checks_all[i]->compare) {
            size_t len = choose_ran(checks_all[i], nodes, count, ran);
            if (len > 0) {
                checks_all[i]->compare(ran, len, out);
            }
        }
    }
}

const char *check_shown(const struct facts *facts, const char *key)
{
    const char *value = facts_text(facts, key);
    return value && value[0] != '\0' ? value : "?";
}
