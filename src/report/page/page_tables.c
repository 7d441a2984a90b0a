/* The tables of a run's page: nodes, findings, events; and the ends of its logs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data_internal.h"
#include "figure_internal.h"
#include "html_internal.h"
#include "model/hostlist.h"
#include "page_internal.h"

#define FOLD_FROM  17
#define GROUPS_MAX 1000
#define TEXT_MAX   2000 /* characters of an event */

/* --- nodes ------------------------------------------------------------------------------------------ */

/* Nodes that ended in the same way and share a row. */
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

/* left: the number of nodes for which there was no room in GROUPS_MAX groups. */
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

/* --- findings --------------------------------------------------------------------------------------- */

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

/* --- events and logs ----------------------------------------------------------------------------- */

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
        html_text_short(page->out, data_text(event, "text") ? data_text(event, "text") : "", TEXT_MAX);
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
