/* Check: which other runs are live on the node. */
#include <string.h>

#include "base/alloc.h"
#include "check/check_internal.h"
#include "model/job.h"

#define SUFFIX_LEN 9 /* a run_id is the run's name, "-" and 8 hexadecimal digits */
#define OTHERS_MAX 64
#define USER_MAX   64

static bool is_run_id(const char *text, size_t len)
{
    if (len <= SUFFIX_LEN || text[len - SUFFIX_LEN] != '-' ||
        strspn(text + len - SUFFIX_LEN + 1, "0123456789abcdef") != SUFFIX_LEN - 1) {
        return false;
    }
    AUTO_FREE char *name = xstrndup(text, len - SUFFIX_LEN);
    return job_check_run_name(name, NULL) == 0;
}

static bool is_user(const char *text)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        if (text[i] <= ' ' || text[i] > '~' || strchr("'\"`\\", text[i])) {
            return false;
        }
    }
    return len > 0 && len <= USER_MAX;
}

bool check_is_run_user(const char *value)
{
    size_t len = strcspn(value, " ");
    return value[len] == ' ' && is_run_id(value, len) && is_user(value + len + 1);
}

static void add_other(const char *value, struct findings *out)
{
    size_t len = strcspn(value, " ");
    const char *user = value + len + 1;
    bool is_uid = strspn(user, "0123456789") == strlen(user);
    const char *quote = is_uid ? "" : "'";
    findings_add(out, "others", FINDING_WARN, "run '%.*s' of %s %s%s%s is running there too",
                 (int)(len - SUFFIX_LEN), value, is_uid ? "uid" : "user", quote, user, quote);
}

static bool is_outer(const struct check_subject *subject, const char *value)
{
    size_t len = strcspn(value, " ");
    return subject->outer_run_id && strlen(subject->outer_run_id) == len &&
           strncmp(subject->outer_run_id, value, len) == 0;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    const char *value = NULL;
    size_t at = 0, count = 0, told = 0;
    while ((value = facts_next(facts, "others.run", &at)) && count++ < OTHERS_MAX) {
        if (!is_outer(subject, value)) {
            add_other(value, out);
            told++;
        }
    }
    if (told == 0 && facts_is_set(facts, "others.looked")) {
        findings_add(out, "others", FINDING_OK, "no other run is live there");
    }
}

static const struct check_fact forms[] = {
    {"run", CHECK_RUN_USER, 0},
    {NULL, CHECK_TEXT, 0},
};

const struct check check_others = {
    .id = "others",
    .title = "other runs",
    .why = "two runs on the same GPUs share their memory and slow each other down",
    .needs = "earlier",
    .when = CHECK_ALWAYS,
    .facts = forms,
    .ask = check_ask_nothing,
    .judge = judge,
};
