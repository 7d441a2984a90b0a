/* Shows the plan of a start, as text and as JSON. */
#include "report/dryrun.h"

#include <string.h>

#include "base/alloc.h"
#include "base/quote.h"
#include "base/text.h"
#include "report/dryrun_internal.h"
#include "report/json_internal.h"
#include "report/table.h"
#include "run/plan.h"

#define SECRET_SHOWN "***"
#define FLUSH_BYTES  (64u << 10)
#define FOLD_FROM    17 /* with this many nodes or more, equal ones are shown once */

static void add_safe(struct str *out, const char *text)
{
    text_add_safe(out, text, strlen(text));
}

static void add_argv(struct str *out, const struct strlist *argv)
{
    AUTO_STR struct str line = STR_INIT;
    quote_argv_pretty(&line, argv->items, argv->len);
    add_safe(out, str_text(&line));
}

static void add_variable(struct str *out, const struct env_var *var, bool color)
{
    AUTO_STR struct str source = STR_INIT;
    str_addf(out, "    %s", var->name);
    if (var->value) {
        AUTO_STR struct str value = STR_INIT;
        if (var->secret) {
            str_add(&value, SECRET_SHOWN);
        } else {
            quote_sh_pretty(&value, var->value);
        }
        str_add_char(out, '=');
        add_safe(out, str_text(&value));
    }
    str_add(&source, "  # ");
    add_safe(&source, var->source ? var->source : "");
    tone_add(out, str_text(&source), TONE_FAINT, color);
    str_add_char(out, '\n');
}

static void add_node(struct str *out, const struct plan *plan, size_t index, bool color)
{
    const struct plan_node *node = &plan->nodes[index];
    AUTO_STR struct str heading = STR_INIT;
    AUTO_STR struct str shell = STR_INIT;
    str_addf(&heading, "node %u: ", node->rank);
    add_safe(&heading, node->label);
    str_add_char(out, '\n');
    tone_add(out, str_text(&heading), TONE_STRONG, color);
    if (node->addr && strcmp(node->addr, node->label) != 0) {
        str_add(out, " (");
        add_safe(out, node->addr);
        str_add(out, ")");
    }
    str_add(out, node->local ? ", here without ssh" : ", by ssh");
    if (plan->place.container) {
        str_addf(out, ", in %s container %s", plan->place.engine, plan->place.container);
    }
    str_add(out, "\n  workdir: ");
    add_safe(out, node->workdir           ? node->workdir
                  : plan->place.container ? "the container's own"
                                          : "the login folder");
    str_add(out, "\n  log:     ");
    add_safe(out, node->log ? node->log : "");
    str_add(out, "\n  environment:\n");
    for (size_t i = 0; i < plan_node_env_len(node); i++) {
        add_variable(out, plan_node_var(node, i), color);
    }
    for (size_t i = 0; i < node->steps_len; i++) {
        const struct plan_step *step = &node->steps[i];
        if (step->argv.len) {
            str_addf(out, "  prepare: %s: ", step->name);
            add_argv(out, &step->argv);
            if (step->creates) {
                str_add(out, " (skipped where this exists: ");
                add_safe(out, step->creates);
                str_add_char(out, ')');
            }
            str_add_char(out, '\n');
        }
    }
    if (node->ready_about) {
        str_add(out, "  before:  ");
        add_safe(out, node->ready_about);
        str_add_char(out, '\n');
    }
    str_add(out, "  command: ");
    add_argv(out, &node->argv);
    str_add(out, "\n  by hand: ");
    plan_shell_line(plan, index, &shell);
    add_safe(out, str_text(&shell));
    str_add_char(out, '\n');
}

#define ON_START "known on start"

static void add_processes(struct str *out, const struct plan *plan)
{
    str_addf(out, "%u node%s", plan->nnodes, plan->nnodes == 1 ? "" : "s");
    if (plan->nproc_per_node) {
        str_addf(out, " x %u process%s = world size %u", plan->nproc_per_node,
                 plan->nproc_per_node == 1 ? "" : "es", plan->world_size);
    } else {
        str_add(out, ", processes per node known on start");
    }
}

/* Append name and size; open is the text for a size that is not known yet. */
static void add_size(struct str *out, const char *name, unsigned size, const char *open)
{
    str_addf(out, "%s ", name);
    if (size) {
        str_addf(out, "%u", size);
    } else {
        str_add(out, open);
    }
}

static void add_batch_sizes(struct str *out, const struct topology_batch *batch)
{
    static const char unknown[] = "not known";
    const char *open = batch->data_parallel ? unknown : ON_START;
    add_size(out, "\nbatch: micro", batch->micro, unknown);
    add_size(out, ", global", batch->global, batch->micro ? open : unknown);
    add_size(out, ", accumulation", batch->accumulation, batch->micro ? open : unknown);
    str_add_char(out, '\n');
}

static void add_batch(struct str *out, const struct topology_batch *batch)
{
    const struct topology_split *split = &batch->split;
    if (split->tensor == 1 && split->pipeline == 1 && split->context == 1 && split->expert == 0) {
        add_size(out, "parallel: data", batch->data_parallel, ON_START);
        add_batch_sizes(out, batch);
        return;
    }
    add_size(out, "parallel: tensor", split->tensor, ON_START);
    add_size(out, " x pipeline", split->pipeline, ON_START);
    add_size(out, " x context", split->context, ON_START);
    add_size(out, " x data", batch->data_parallel, ON_START);
    if (split->expert != 1 || split->expert_tensor != split->tensor) {
        add_size(out, "; experts: tensor", split->expert_tensor, ON_START);
        add_size(out, " x expert", split->expert, ON_START);
    }
    add_batch_sizes(out, batch);
}

/* Append the lines about the run as a whole. */
static void add_head(struct str *out, const struct plan *plan)
{
    str_add(out, "job ");
    add_safe(out, plan->job);
    str_addf(out, ", run %s, launcher %s: ", plan->run, plan->launcher);
    add_processes(out, plan);
    str_add(out, "\nmaster: ");
    add_safe(out, plan->master_addr);
    str_addf(out, " port %u, rendezvous id: ", plan->master_port);
    add_safe(out, plan->rendezvous_id ? plan->rendezvous_id : "known on start");
    str_add_char(out, '\n');
    if (plan->has_batch) {
        add_batch(out, &plan->batch);
    }
    for (size_t i = 0; i < plan->setup.len; i++) {
        str_add(out, "setup:  ");
        add_safe(out, plan->setup.items[i]);
        str_add_char(out, '\n');
    }
}

static int flush(report_plan_flush *full, struct str *out, struct error *err)
{
    return full && out->len >= FLUSH_BYTES ? full(out, err) : 0;
}

int report_plan_text(const struct plan *plan, const struct report_style *style, report_plan_flush *full,
                     struct str *out, struct error *err)
{
    int result = 0;
    struct fold fold;
    add_head(out, plan);
    if (plan->nnodes >= FOLD_FROM && !style->full) {
        dryrun_fold(plan, &fold);
    } else {
        fold_make(&fold, plan->nnodes, NULL, NULL);
    }
    for (size_t i = 0; i < fold.len && result == 0; i++) {
        add_node(out, plan, fold.groups[i].items[0], style->color);
        dryrun_add_others(plan, &fold.groups[i], out);
        result = flush(full, out, err);
    }
    fold_release(&fold);
    return result;
}

static json_t *env_array(const struct plan_node *node)
{
    json_t *array = json_array();
    for (size_t i = 0; i < plan_node_env_len(node); i++) {
        const struct env_var *var = plan_node_var(node, i);
        json_t *object = json_object();
        json_object_set_new(object, "name", js_text(var->name));
        json_object_set_new(object, "value", js_text(var->secret && var->value ? SECRET_SHOWN : var->value));
        json_object_set_new(object, "source", js_text(var->source));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *node_object(const struct plan *plan, size_t index)
{
    const struct plan_node *node = &plan->nodes[index];
    AUTO_STR struct str shell = STR_INIT;
    json_t *object = json_object();
    plan_shell_line(plan, index, &shell);
    json_object_set_new(object, "rank", json_integer(node->rank));
    json_object_set_new(object, "host", js_text(node->label));
    json_object_set_new(object, "command", js_list(&node->argv));
    json_object_set_new(object, "shell", js_text(str_text(&shell)));
    json_object_set_new(object, "env", env_array(node));
    json_object_set_new(object, "workdir", js_text(node->workdir));
    json_object_set_new(object, "log", js_text(node->log));
    json_object_set_new(object, "container", js_text(plan->place.container));
    return object;
}

static json_t *batch_object(const struct plan *plan)
{
    if (!plan->has_batch) {
        return json_null();
    }
    json_t *object = json_object();
    json_object_set_new(object, "micro", js_integer(plan->batch.micro, 0));
    json_object_set_new(object, "global", js_integer(plan->batch.global, 0));
    json_object_set_new(object, "data_parallel", js_integer(plan->batch.data_parallel, 0));
    json_object_set_new(object, "accumulation", js_integer(plan->batch.accumulation, 0));
    return object;
}

/* Append the members of an object: its line without the braces. */
static void add_members(struct str *out, json_t *object)
{
    AUTO_STR struct str line = STR_INIT;
    js_add_line(&line, object);
    str_add_mem(out, line.data + 1, line.len - strlen("{}\n"));
}

static json_t *head_object(const struct plan *plan)
{
    json_t *head = js_answer();
    json_object_set_new(head, "job", js_text(plan->job));
    json_object_set_new(head, "run", js_text(plan->run));
    json_object_set_new(head, "launcher", js_text(plan->launcher));
    json_object_set_new(head, "nnodes", json_integer(plan->nnodes));
    json_object_set_new(head, "nproc_per_node", js_integer(plan->nproc_per_node, 0));
    json_object_set_new(head, "world_size", js_integer(plan->world_size, 0));
    json_object_set_new(head, "master_addr", js_text(plan->master_addr));
    json_object_set_new(head, "master_port", js_integer(plan->master_port, 0));
    json_object_set_new(head, "rendezvous_id", js_text(plan->rendezvous_id));
    return head;
}

/* Writes one object, but node by node, as all nodes together may not fit into memory. */
int report_plan_json(const struct plan *plan, report_plan_flush *full, struct str *out, struct error *err)
{
    json_t *tail = json_object();
    int result = 0;
    json_object_set_new(tail, "batch", batch_object(plan));
    json_object_set_new(tail, "warnings", js_list(&plan->warnings));
    str_add_char(out, '{');
    add_members(out, head_object(plan));
    str_add(out, ",\"nodes\":[");
    for (size_t i = 0; i < plan->nnodes && result == 0; i++) {
        str_add(out, i > 0 ? ",{" : "{");
        add_members(out, node_object(plan, i));
        str_add_char(out, '}');
        result = flush(full, out, err);
    }
    str_add(out, "],");
    add_members(out, tail);
    str_add(out, "}\n");
    return result;
}
