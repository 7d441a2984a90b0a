/* Shows what the workers of a run are doing, outliers first. */
#include "report/stacks.h"

#include <string.h>

#include "base/text.h"
#include "model/hostlist.h"
#include "report/json_internal.h"

/* The hosts of a group, each once, in the order of ranks. */
static void list_hosts(const struct stack_group *group, struct strlist *hosts)
{
    for (size_t i = 0; i < group->len; i++) {
        if (!strlist_has(hosts, group->stacks[i]->host)) {
            strlist_add(hosts, group->stacks[i]->host);
        }
    }
}

/* Append the CPU use of its processes: one figure, or the lowest and the highest. */
static void add_cpu(const struct stack_group *group, struct str *out)
{
    int low = group->stacks[0]->cpu, high = low;
    for (size_t i = 1; i < group->len; i++) {
        low = group->stacks[i]->cpu < low ? group->stacks[i]->cpu : low;
        high = group->stacks[i]->cpu > high ? group->stacks[i]->cpu : high;
    }
    if (low == high) {
        str_addf(out, ", %d%% CPU", low);
    } else {
        str_addf(out, ", %d%% to %d%% CPU", low, high);
    }
}

/* Append a line. Its text comes from nodes, so nothing in it may start a new line. */
static void add_line(struct str *out, const struct str *line)
{
    text_add_line(out, str_text(line), line->len);
    str_add(out, "\n");
}

static void add_frames(const struct stack *stack, bool full, struct str *out)
{
    bool has_own = false;
    for (size_t i = 0; i < stack->frames_len; i++) {
        has_own = has_own || stack->frames[i].own;
    }
    for (size_t i = 0; i < stack->frames_len; i++) {
        const struct stack_frame *frame = &stack->frames[i];
        AUTO_STR struct str line = STR_INIT;
        if (!full && i > 0 && has_own && !frame->own) {
            continue;
        }
        const char *slash = strrchr(frame->file, '/');
        str_addf(&line, "    %s (%s:%u)", frame->function, slash && !full ? slash + 1 : frame->file,
                 frame->line);
        add_line(out, &line);
    }
}

static void add_group(const struct stack_group *group, bool full, struct str *out)
{
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    AUTO_STR struct str line = STR_INIT;
    list_hosts(group, &hosts);
    stack_group_add_ranks(group, &line);
    str_add(&line, " on ");
    hostlist_fold_names(hosts.items, hosts.len, &line);
    str_add(&line, ": ");
    stack_add_state(group->stacks[0], &line);
    add_cpu(group, &line);
    str_add(&line, group->stacks[0]->frames_len > 0 ? "" : ", no Python stack");
    str_add(out, "\n");
    add_line(out, &line);
    add_frames(group->stacks[0], full, out);
}

void report_stacks_text(const struct run_stacks_result *result, bool full, struct str *out)
{
    AUTO_STR struct str summary = STR_INIT;
    if (result->groups.len > 0) {
        stack_groups_add_summary(&result->groups, &summary);
        add_line(out, &summary);
    }
    for (size_t i = 0; i < result->groups.len; i++) {
        add_group(&result->groups.items[i], full, out);
    }
}

static json_t *json_frames(const struct stack *stack)
{
    json_t *frames = json_array();
    for (size_t i = 0; i < stack->frames_len; i++) {
        const struct stack_frame *frame = &stack->frames[i];
        json_t *object = json_object();
        json_object_set_new(object, "function", js_text(frame->function));
        json_object_set_new(object, "file", js_text(frame->file));
        json_object_set_new(object, "line", js_integer(frame->line, 0));
        json_array_append_new(frames, object);
    }
    return frames;
}

static json_t *json_group(const struct stack_group *group, json_t *odd)
{
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    AUTO_STR struct str state = STR_INIT;
    json_t *object = json_object();
    json_t *ranks = json_array();
    list_hosts(group, &hosts);
    stack_add_state(group->stacks[0], &state);
    for (size_t i = 0; i < group->len; i++) {
        json_array_append_new(ranks, json_integer(group->stacks[i]->rank));
        if (group->odd) {
            json_array_append_new(odd, json_integer(group->stacks[i]->rank));
        }
    }
    json_object_set_new(object, "source", js_text(group->stacks[0]->frames_len > 0 ? "py-spy" : "proc"));
    json_object_set_new(object, "ranks", ranks);
    json_object_set_new(object, "hosts", js_list(&hosts));
    json_object_set_new(object, "state", js_text(str_text(&state)));
    json_object_set_new(object, "frames", json_frames(group->stacks[0]));
    return object;
}

void report_stacks_json(const struct run_stacks_result *result, const struct error *failure, struct str *out)
{
    AUTO_STRLIST struct strlist failed = STRLIST_INIT;
    json_t *answer = js_answer();
    json_t *groups = json_array(), *odd = json_array(), *errors = json_array();
    for (size_t i = 0; i < result->groups.len; i++) {
        json_array_append_new(groups, json_group(&result->groups.items[i], odd));
    }
    for (size_t i = 0; i < result->problems_len; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "host", js_text(result->problems[i].host));
        json_object_set_new(object, "text", js_text(result->problems[i].text));
        json_array_append_new(errors, object);
        if (!strlist_has(&failed, result->problems[i].host)) {
            strlist_add(&failed, result->problems[i].host);
        }
    }
    json_object_set_new(answer, "groups", groups);
    json_object_set_new(answer, "odd", odd);
    json_object_set_new(answer, "errors", errors);
    if (failure && failure->kind) {
        json_object_set_new(answer, "error", js_error(failure, &failed));
    }
    js_add_line(out, answer);
}
