/* The tables of a run's page: nodes, findings, network, plan, environment, spec, events, ends of logs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data_internal.h"
#include "figure_internal.h"
#include "html_internal.h"
#include "model/hostlist.h"
#include "page_internal.h"

#define FOLD_FROM     17
#define GROUPS_MAX    1000
#define SPEC_MAX      60000 /* bytes of the spec that are shown */
#define VALUE_MAX     2000  /* characters of a variable's value */
#define VARIABLES_MAX 500

/* --- nodes -----------------------------------------------------------------------------------------------
 */

/* Nodes that ended alike: one row. */
struct group {
    const json_t *node; /* the first of them */
    struct strlist hosts;
};

static bool same_text(const json_t *a, const json_t *b, const char *key)
{
    const char *left = data_text(a, key), *right = data_text(b, key);
    return left == right || (left && right && strcmp(left, right) == 0);
}

static bool is_alike(const json_t *a, const json_t *b)
{
    double left = data_number(a, "exit_status"), right = data_number(b, "exit_status");
    return same_text(a, b, "state") && same_text(a, b, "reason") && same_text(a, b, "signal") &&
           (left == right || (isnan(left) && isnan(right)));
}

static int compare_groups(const void *a, const void *b)
{
    const struct group *left = a, *right = b;
    return left->hosts.len < right->hosts.len ? -1 : left->hosts.len > right->hosts.len;
}

/* left: nodes that are in none of GROUPS_MAX groups. */
static size_t make_groups(const json_t *nodes, struct group *groups, size_t *left)
{
    size_t count = 0, len = json_array_size(nodes);
    for (size_t i = 0; i < len; i++) {
        const json_t *node = json_array_get(nodes, i);
        size_t at = 0;
        while (at < count && (len < FOLD_FROM || !is_alike(groups[at].node, node))) {
            at++;
        }
        if (at == GROUPS_MAX) {
            ++*left;
            continue;
        }
        if (at == count) {
            groups[count++] = (struct group){.node = node};
        }
        strlist_add(&groups[at].hosts, data_text(node, "host") ? data_text(node, "host") : "?");
    }
    if (len >= FOLD_FROM) {
        qsort(groups, count, sizeof(*groups), compare_groups);
    }
    return count;
}

static void add_exit(const struct page *page, const json_t *node)
{
    char text[FIGURE_TEXT_SIZE];
    const char *signal = data_text(node, "signal");
    double status = data_number(node, "exit_status");
    if (signal) {
        AUTO_FREE char *name = xasprintf("SIG%s", signal);
        page_cell(page, name);
    } else {
        page_cell(page, isfinite(status) ? figure_text(FIGURE_COUNT, status, text) : NULL);
    }
}

static void add_group(const struct page *page, const struct group *group, bool folded)
{
    char count[FIGURE_TEXT_SIZE];
    AUTO_STR struct str hosts = STR_INIT;
    const char *state = data_text(group->node, "state");
    double number = folded ? (double)group->hosts.len : data_number(group->node, "rank");
    hostlist_fold_names(group->hosts.items, group->hosts.len, &hosts);
    str_addf(page->out, "<tr><td class=\"number\">%s</td><th scope=\"row\">",
             figure_text(FIGURE_COUNT, number, count));
    html_text(page->out, str_text(&hosts));
    str_addf(page->out, "</th><td><span class=\"state %s\">", page_state_class(state));
    html_text(page->out, state);
    str_add(page->out, "</span></td>");
    add_exit(page, group->node);
    str_add(page->out, "<td>");
    page_time(page, data_time(group->node, "started"));
    str_add(page->out, "</td><td>");
    page_time(page, data_time(group->node, "ended"));
    str_add(page->out, "</td><td class=\"text\">");
    html_text(page->out, data_text(group->node, "reason") ? data_text(group->node, "reason") : "");
    str_add(page->out, "</td></tr>\n");
}

void page_add_nodes(const struct page *page, const json_t *run)
{
    static const char *const alone[] = {"Node", "Host", "State", "Exit", "Started", "Ended", "Reason", NULL};
    static const char *const folded[] = {"Nodes",   "Hosts", "State",  "Exit",
                                         "Started", "Ended", "Reason", NULL};
    const json_t *nodes = json_object_get(run, "nodes");
    const size_t len = json_array_size(nodes);
    AUTO_FREE struct group *groups = xcalloc(GROUPS_MAX, sizeof(*groups));
    size_t left = 0, count = make_groups(nodes, groups, &left);
    page_begin_table(page, "nodes", "nodes", len >= FOLD_FROM ? folded : alone);
    for (size_t i = 0; i < count; i++) {
        if (i < PAGE_ROWS_MAX) {
            add_group(page, &groups[i], len >= FOLD_FROM);
        }
        strlist_release(&groups[i].hosts);
    }
    page_end_table(page);
    if (count > PAGE_ROWS_MAX) {
        str_addf(page->out, "<p class=\"note\">%zu more rows are left out.</p>\n",
                 count - PAGE_ROWS_MAX + left);
    }
}

/* --- findings --------------------------------------------------------------------------------------------
 */

bool page_has_findings(const json_t *run)
{
    return data_len(run, "findings") > 0;
}

void page_add_findings(const struct page *page, const json_t *run)
{
    static const char *const head[] = {"Severity", "Check", "Hosts", "Finding", "What to do", NULL};
    const json_t *findings = json_object_get(run, "findings");
    page_begin_table(page, "findings of the check", "findings", head);
    for (size_t i = 0; i < json_array_size(findings) && i < PAGE_EVENTS_MAX; i++) {
        const json_t *finding = json_array_get(findings, i);
        const char *severity = data_text(finding, "severity");
        str_addf(page->out, "<tr><td><span class=\"state %s\">", page_state_class(severity));
        html_text(page->out, severity);
        str_add(page->out, "</span></td>");
        page_cell(page, data_text(finding, "id"));
        page_cell(page, data_text(finding, "folded"));
        page_cell(page, data_text(finding, "title"));
        page_cell(page, data_text(finding, "remedy"));
        str_add(page->out, "</tr>\n");
    }
    page_end_table(page);
}

/* --- lists of names and values
 * ------------------------------------------------------------------------------- */

static void add_row(const struct page *page, const char *name, const char *value)
{
    str_add(page->out, "<tr>");
    html_element(page->out, "th", " scope=\"row\"", name);
    str_add(page->out, "<td class=\"text\">");
    html_text_short(page->out, value, VALUE_MAX);
    str_add(page->out, "</td></tr>\n");
}

static void add_text_row(const struct page *page, const char *name, const json_t *object, const char *key)
{
    if (data_text(object, key)) {
        add_row(page, name, data_text(object, key));
    }
}

static void add_number_row(const struct page *page, const char *name, const json_t *object, const char *key)
{
    char text[FIGURE_TEXT_SIZE];
    if (isfinite(data_number(object, key))) {
        snprintf(text, sizeof text, "%.0f", data_number(object, key));
        add_row(page, name, text);
    }
}

/* Hosts that use the same interface, one row each interface. */
static void add_interfaces(const struct page *page, const json_t *interfaces)
{
    AUTO_STRLIST struct strlist done = STRLIST_INIT;
    json_t *object = (json_t *)(uintptr_t)interfaces; /* jansson iterates over what it could change */
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        AUTO_STR struct str text = STR_INIT;
        const char *name = json_string_value(json_object_iter_value(at));
        if (!name || strlist_has(&done, name)) {
            continue;
        }
        strlist_add(&done, name);
        for (void *other = at; other; other = json_object_iter_next(object, other)) {
            const char *same = json_string_value(json_object_iter_value(other));
            if (same && strcmp(same, name) == 0) {
                strlist_add(&hosts, json_object_iter_key(other));
            }
        }
        str_addf(&text, "%s on ", name);
        hostlist_fold_names(hosts.items, hosts.len, &text);
        add_row(page, "Interface", str_text(&text));
    }
}

void page_add_network(const struct page *page, const json_t *run)
{
    const json_t *facts = json_object_get(run, "facts"), *interfaces = json_object_get(facts, "interfaces");
    if (!data_text(facts, "nccl_version") && !data_text(facts, "network") &&
        json_object_size(interfaces) == 0) {
        str_add(page->out,
                "<p class=\"none\">The logs say nothing of NCCL. With NCCL_DEBUG=INFO they name its version, "
                "network and interfaces.</p>\n");
        return;
    }
    page_begin_table(page, "network", "pairs", NULL);
    add_text_row(page, "NCCL", facts, "nccl_version");
    add_text_row(page, "Network", facts, "network");
    add_interfaces(page, interfaces);
    page_end_table(page);
}

/* The words of a command as one line for a person: blanks within a word are quoted. */
static void add_command(const struct page *page, const json_t *command)
{
    AUTO_STR struct str text = STR_INIT;
    for (size_t i = 0; i < json_array_size(command); i++) {
        const char *word = json_string_value(json_array_get(command, i));
        bool quoted = word && (strpbrk(word, " \t\n'\"$\\") || *word == '\0');
        str_add(&text, i > 0 ? " " : "");
        str_addf(&text, quoted ? "'%s'" : "%s", word ? word : "?");
    }
    if (text.len > 0) {
        add_row(page, "Command", str_text(&text));
    }
}

void page_add_plan(const struct page *page, const json_t *run)
{
    const json_t *plan = json_object_get(run, "plan"), *spec = json_object_get(run, "spec");
    page_begin_table(page, "plan", "pairs", NULL);
    add_text_row(page, "Launcher", spec, "launcher");
    add_number_row(page, "Nodes", plan, "nnodes");
    add_number_row(page, "Processes a node", plan, "nproc_per_node");
    add_number_row(page, "World size", plan, "world_size");
    add_text_row(page, "Master", plan, "master_addr");
    add_number_row(page, "Master port", plan, "master_port");
    add_text_row(page, "Rendezvous id", plan, "rendezvous_id");
    add_text_row(page, "Container", plan, "container");
    add_text_row(page, "Working folder", spec, "workdir");
    add_text_row(page, "Job file", spec, "file");
    add_text_row(page, "Commit", json_object_get(plan, "synced"), "commit");
    add_command(page, json_object_get(plan, "command"));
    page_end_table(page);
}

bool page_has_environment(const json_t *run)
{
    return json_object_size(json_object_get(json_object_get(run, "plan"), "env")) > 0;
}

void page_add_environment(const struct page *page, const json_t *run)
{
    json_t *env = json_object_get(json_object_get(run, "plan"), "env");
    size_t count = 0;
    str_add(page->out, "<p class=\"note\">Of node 0; secrets are shown as ***.</p>\n");
    page_begin_table(page, "environment", "pairs", NULL);
    for (void *at = json_object_iter(env); at && count < VARIABLES_MAX;
         at = json_object_iter_next(env, at), count++) {
        const char *value = json_string_value(json_object_iter_value(at));
        add_row(page, json_object_iter_key(at), value ? value : "");
    }
    page_end_table(page);
}

bool page_has_spec(const json_t *run)
{
    return json_is_object(json_object_get(run, "spec"));
}

void page_add_spec(const struct page *page, const json_t *run)
{
    json_t *spec = json_copy(json_object_get(run, "spec"));
    json_object_del(spec, "env"); /* have parts of their own */
    json_object_del(spec, "command");
    AUTO_FREE char *text = json_dumps(spec, JSON_INDENT(2));
    size_t len = strlen(text);
    str_add(page->out, "<pre class=\"spec\" tabindex=\"0\">");
    html_text_len(page->out, text, len < SPEC_MAX ? len : SPEC_MAX);
    str_add(page->out, "</pre>\n");
    json_decref(spec);
}

/* --- events and logs
 * ------------------------------------------------------------------------------------------- */

bool page_has_events(const json_t *run)
{
    return data_len(run, "events") > 0;
}

void page_add_events(const struct page *page, const json_t *run)
{
    static const char *const head[] = {"Time", "Event", "Host", "What happened", NULL};
    const json_t *events = json_object_get(run, "events");
    size_t len = json_array_size(events), from = len > PAGE_EVENTS_MAX ? len - PAGE_EVENTS_MAX : 0;
    if (from > 0) {
        str_addf(page->out, "<p class=\"note\">The last %d of %zu.</p>\n", PAGE_EVENTS_MAX, len);
    }
    page_begin_table(page, "events", "events", head);
    for (size_t i = from; i < len; i++) {
        const json_t *event = json_array_get(events, i);
        str_addf(page->out, "<tr id=\"r%zu-e%zu\"><td>", page->run, i);
        page_time(page, data_time(event, "time"));
        str_add(page->out, "</td>");
        page_cell(page, data_text(event, "event"));
        page_cell(page, data_text(event, "host") ? data_text(event, "host") : "");
        str_add(page->out, "<td class=\"text\">");
        html_text_short(page->out, data_text(event, "text") ? data_text(event, "text") : "", VALUE_MAX);
        str_add(page->out, "</td></tr>\n");
    }
    page_end_table(page);
}

bool page_has_logs(const json_t *run)
{
    return data_len(run, "logs") > 0;
}

void page_add_logs(const struct page *page, const json_t *run)
{
    char rank[FIGURE_TEXT_SIZE];
    const json_t *logs = json_object_get(run, "logs");
    for (size_t i = 0; i < json_array_size(logs); i++) {
        const json_t *log = json_array_get(logs, i);
        str_addf(page->out, "<details open class=\"log\"><summary>");
        html_text(page->out, data_text(log, "host"));
        str_addf(page->out, " <span>node %s, ", figure_text(FIGURE_COUNT, data_number(log, "rank"), rank));
        html_text(page->out, data_text(log, "file"));
        str_add(page->out, "</span></summary><pre tabindex=\"0\">");
        html_text(page->out, data_text(log, "text"));
        str_add(page->out, "</pre></details>\n");
    }
}
