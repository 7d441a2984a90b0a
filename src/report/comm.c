/* Shows what the all-reduce test measured: a summary, a row per node, and JSON with every pair. */
#include "base/alloc.h"
#include "base/text.h"
#include "report/comm_internal.h"
#include "report/table.h"

#define GB       1e9
#define ALL_ROWS 16 /* with more nodes, only those that are slow or failed are shown */

/* The node's slowest pair; NULL: it has none. */
static const struct comm_pair *find_slowest(const struct comm_result *result, size_t node)
{
    const struct comm_pair *slowest = NULL;
    for (size_t i = 0; i < result->pairs_len; i++) {
        const struct comm_pair *pair = &result->pairs[i];
        if ((pair->first == node || pair->second == node) && (!slowest || pair->rate < slowest->rate)) {
            slowest = pair;
        }
    }
    return slowest;
}

static void add_rate(struct table *table, double rate, double usual)
{
    if (rate > 0) {
        table_addf(table, comm_is_slow(rate, usual) ? TONE_WARN : TONE_PLAIN, "%.2f GB/s", rate / GB);
    } else {
        table_add(table, "failed", TONE_BAD);
    }
}

static void add_node(const struct comm_result *result, size_t node, double usual, struct table *table)
{
    const struct comm_pair *slowest = find_slowest(result, node);
    const struct comm_node *at = &result->nodes[node];
    table_add(table, at->label, TONE_STRONG);
    if (slowest) {
        add_rate(table, comm_best(result, node), usual);
        add_rate(table, slowest->rate, usual);
        table_add(table, result->nodes[slowest->first == node ? slowest->second : slowest->first].label,
                  TONE_PLAIN);
    } else {
        for (int i = 0; i < 3; i++) {
            table_add(table, "-", TONE_FAINT);
        }
    }
    table_addf(table, TONE_PLAIN, "%s%s%s", at->transport ? at->transport : result->backend,
               at->interface ? " " : "", at->interface ? at->interface : "");
}

static bool is_odd(const struct comm_result *result, size_t node, double usual)
{
    const struct comm_pair *slowest = find_slowest(result, node);
    return slowest && (slowest->rate <= 0 || comm_is_slow(slowest->rate, usual));
}

static void add_nodes(const struct comm_result *result, const struct report_style *style, struct str *out)
{
    static const struct table_column columns[] = {
        {.title = "NODE", .names = true},         {.title = "BEST", .right = true},
        {.title = "SLOWEST", .right = true},      {.title = "WITH", .names = true},
        {.title = "TRANSPORT", .flexible = true},
    };
    struct table table;
    double usual = comm_median(result);
    size_t rows = 0;
    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < result->count; i++) {
        if (result->count <= ALL_ROWS || style->full || is_odd(result, i, usual)) {
            add_node(result, i, usual, &table);
            rows++;
        }
    }
    if (rows > 0) {
        str_add_char(out, '\n');
        table_render(&table, style->columns, style->color, out);
    }
    table_release(&table);
}

void report_comm_text(const struct comm_result *result, const struct report_style *style, struct str *out)
{
    double median = comm_median(result);
    if (!result->backend || (result->pairs_len == 0 && result->whole_nodes == 0)) {
        return;
    }
    str_addf(out, "\nall-reduce with %s, %u process%s a node, %u s: ", result->backend, result->processes,
             result->processes == 1 ? "" : "es", (result->elapsed_ms + 500) / 1000);
    if (result->pairs_len > 0) {
        str_addf(out, "%zu pairs of nodes, median %.2f GB/s", result->pairs_len, median / GB);
    }
    if (result->whole_nodes > 0) {
        str_addf(out, "%s%zu node%s together ", result->pairs_len > 0 ? "; " : "", result->whole_nodes,
                 result->whole_nodes == 1 ? "" : "s");
        if (result->whole_rate > 0) {
            str_addf(out, "%.2f GB/s", result->whole_rate / GB);
        } else {
            str_add(out, "failed");
        }
    }
    str_add_char(out, '\n');
    if (result->rounds < result->rounds_all) {
        str_addf(out, "a sample: each node met %zu of %zu others\n", result->rounds, result->count - 1);
    }
    if (result->pairs_len > 0) {
        add_nodes(result, style, out);
    }
    str_add_char(out, '\n');
}

static json_t *rate_or_null(double rate)
{
    return rate > 0 ? json_real(rate) : json_null();
}

json_t *report_comm_json(const struct comm_result *result)
{
    json_t *object = json_object();
    json_t *nodes = json_array();
    json_t *pairs = json_array();
    for (size_t i = 0; i < result->count; i++) {
        json_t *node = json_object();
        json_object_set_new(node, "host", js_text(result->nodes[i].label));
        json_object_set_new(node, "transport", js_text(result->nodes[i].transport));
        json_object_set_new(node, "interface", js_text(result->nodes[i].interface));
        json_object_set_new(node, "best", rate_or_null(comm_best(result, i)));
        json_object_set_new(node, "error", js_text(result->nodes[i].problem));
        json_array_append_new(nodes, node);
    }
    for (size_t i = 0; i < result->pairs_len; i++) {
        const struct comm_pair *from = &result->pairs[i];
        json_t *pair = json_object();
        json_t *hosts = json_array();
        json_array_append_new(hosts, js_text(result->nodes[from->first].label));
        json_array_append_new(hosts, js_text(result->nodes[from->second].label));
        json_object_set_new(pair, "hosts", hosts);
        json_object_set_new(pair, "bytes_per_second", rate_or_null(from->rate));
        json_object_set_new(pair, "error", js_text(from->rate > 0 ? NULL : from->error));
        json_array_append_new(pairs, pair);
    }
    json_t *whole = json_object();
    json_object_set_new(whole, "nodes", json_integer((json_int_t)result->whole_nodes));
    json_object_set_new(whole, "bytes_per_second", rate_or_null(result->whole_rate));
    json_object_set_new(whole, "error", js_text(result->whole_error));
    json_object_set_new(object, "backend", js_text(result->backend));
    json_object_set_new(object, "processes", result->backend ? json_integer(result->processes) : json_null());
    json_object_set_new(object, "seconds", json_real(result->elapsed_ms / 1000.0));
    json_object_set_new(object, "rounds", json_integer((json_int_t)result->rounds));
    json_object_set_new(object, "rounds_all", json_integer((json_int_t)result->rounds_all));
    json_object_set_new(object, "nodes", nodes);
    json_object_set_new(object, "pairs", pairs);
    json_object_set_new(object, "whole", whole);
    return object;
}
