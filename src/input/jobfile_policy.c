/* The settings of the job file for failures, silence and stalls, and whether they fit together. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/hostgroup.h"
#include "input/jobfile_internal.h"
#include "model/hostlist.h"
#include "model/progress.h"

/* Check one entry alone, so that an error has its place. An entry that only removes hosts names none. */
static int check_spare(struct job_reader *reader, const struct yaml_node *at, const char *entry,
                       const struct hostlist_context *context)
{
    struct hostlist list = HOSTLIST_INIT;
    const char *begin = entry + strspn(entry, " \t");
    if (*begin == '^') {
        return 0;
    }
    int result = hostlist_read(&list, entry, strlen(entry), HOSTLIST_COMMAS, at->doc->name, at->line, context,
                               reader->err);
    hostlist_release(&list);
    return result < 0 ? reader_place(reader, at) : 0;
}

/* Replace spares with one entry per host, whatever ranges, groups and removals they are written with. */
static int expand_spares(struct job_reader *reader, const struct yaml_node *node, struct strlist *spares,
                         const struct hostlist_context *context)
{
    AUTO_STR struct str text = STR_INIT;
    struct hostlist list = HOSTLIST_INIT;
    for (size_t i = 0; i < spares->len; i++) {
        if (i > 0) { /* a comment ends with its item */
            str_add(&text, strchr(spares->items[i - 1], '#') ? "\n, " : ", ");
        }
        str_add(&text, spares->items[i]);
    }
    if (hostlist_read(&list, str_text(&text), text.len, HOSTLIST_COMMAS, "restart.spares", node->line,
                      context, reader->err) < 0) {
        return reader_place(reader, node);
    }
    strlist_release(spares);
    for (size_t i = 0; i < list.len; i++) {
        AUTO_STR struct str entry = STR_INIT;
        hostlist_write_entry(&list.items[i], &entry);
        strlist_add(spares, str_text(&entry));
    }
    hostlist_release(&list);
    return 0;
}

int read_spares(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    struct strlist *spares = &reader->job->policy.spares;
    AUTO_STRLIST struct strlist unsaid = STRLIST_INIT;
    const struct hostlist_groups groups = hostgroup_files(reader->request->home);
    const struct hostlist_context alone = {.warnings = &unsaid, .groups = &groups};
    const struct hostlist_context whole = {
        .warnings = reader->warnings, .notes = reader->warnings, .groups = &groups};
    strlist_release(spares);
    if (reader_list(reader, node, path, spares) < 0) {
        return -1;
    }
    for (size_t i = 0; i < spares->len; i++) {
        const struct yaml_node *at = node->type == YAML_LIST ? node->items[i] : node;
        if (check_spare(reader, at, spares->items[i], &alone) < 0) {
            return -1;
        }
    }
    return spares->len == 0 ? 0 : expand_spares(reader, node, spares, &whole);
}

/* `off`, or a duration of at least one second. */
static int read_off_or_duration(struct job_reader *reader, const struct yaml_node *node, const char *path,
                                unsigned long *out)
{
    uint64_t seconds = 0;
    if (node->type != YAML_TEXT) {
        return reader_fail_type(reader, node, path, "off, or a duration");
    }
    if (strcmp(node->text, "off") != 0 &&
        (!text_to_duration(node->text, &seconds) || seconds == 0 || seconds > STALL_MAX_S)) {
        reader_fail_value(reader, node, path, "off, or 1s to 365d");
        return reader_hint_duration(reader, node, path, "30m");
    }
    *out = (unsigned long)seconds;
    return 0;
}

int read_stall(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    return read_off_or_duration(reader, node, path, &reader->job->policy.stall_s);
}

int read_progress_pattern(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    struct error why = ERROR_INIT;
    struct progress_pattern pattern;
    if (node->type != YAML_TEXT) {
        return reader_fail_type(reader, node, path, "a regular expression");
    }
    if (progress_pattern_parse(node->text, &pattern, &why) != 0) {
        reader_fail(reader, node, "%s", why.text);
        return error_hint(reader->err, "%s", why.hint);
    }
    progress_pattern_release(&pattern);
    free(reader->job->policy.progress_pattern);
    reader->job->policy.progress_pattern = xstrdup(node->text);
    return 0;
}

int read_time_limit(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    return read_off_or_duration(reader, node, path, &reader->job->policy.time_limit_s);
}

/* A restart that can never happen is a mistake. */
static int check_restart_max(struct job_reader *reader, const char *key, enum policy_act act)
{
    if (act != POLICY_RESTART || reader->job->policy.restart_max > 0) {
        return 0;
    }
    reader_fail(reader, yaml_get(reader->root, key), "'%s: restart' needs 'restart.max' above 0", key);
    return error_hint(reader->err, "set the maximum number of restarts: 'restart: {max: 3}'");
}

int check_policy(struct job_reader *reader)
{
    const struct policy *policy = &reader->job->policy;
    if (check_restart_max(reader, "on_failure", policy->on_failure) < 0 ||
        check_restart_max(reader, "on_lost", policy->on_lost) < 0) {
        return -1;
    }
    const struct yaml_node *on_failure = yaml_get(reader->root, "on_failure");
    reader->job->policy.on_failure_given = on_failure && !yaml_is_null(on_failure);
    const struct yaml_node *restart = yaml_get(reader->root, "restart");
    bool restarts = policy->on_failure == POLICY_RESTART || policy->on_lost == POLICY_RESTART;
    if (restart && restart->type == YAML_MAP && !restarts && reader->warnings) {
        for (size_t i = 0; i < restart->len; i++) {
            const struct yaml_entry *entry = &restart->entries[i];
            bool max = strcmp(entry->key->text, "max") == 0;
            bool spares = strcmp(entry->key->text, "spares") == 0; /* they are used at a start, too */
            if (!spares && !yaml_is_null(entry->value) && !(max && policy->restart_max == 0)) {
                strlist_addf(reader->warnings,
                             "'restart.%s' has no effect while neither on_failure nor on_lost is 'restart'",
                             entry->key->text);
            }
        }
    }
    if (policy->on_stall != POLICY_KEEP && policy->stall_s == 0 && reader->warnings) {
        strlist_add(reader->warnings, "'on_stall' has no effect while 'stall' is off");
    }
    return 0;
}
