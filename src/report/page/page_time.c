/* The timeline of a run: each node's attempts, and the events above them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data_internal.h"
#include "html_internal.h"
#include "model/hostlist.h"
#include "page_internal.h"
#include "svg_internal.h"

#define MARKS_MAX 60
#define HOSTS_MAX 4096
#define FOLD_FROM 17 /* with this many nodes or more, those with the same bars share a row */

/* A node over all attempts. */
struct course {
    struct strlist hosts;
    struct svg_bar *bars;
    size_t len;
    char *way; /* describes its bars; nodes with the same way share a row */
};

struct courses {
    struct course *items;
    size_t len, cap;
    double span;
    int64_t start_ms;
    char **texts; /* of bars */
    size_t texts_len, texts_cap;
};

static void courses_release(struct courses *courses)
{
    for (size_t i = 0; i < courses->len; i++) {
        strlist_release(&courses->items[i].hosts);
        free(courses->items[i].bars);
        free(courses->items[i].way);
    }
    for (size_t i = 0; i < courses->texts_len; i++) {
        free(courses->texts[i]);
    }
    free(courses->items);
    free(courses->texts);
}

static double seconds(const struct courses *courses, int64_t time_ms)
{
    return fmax((double)(time_ms - courses->start_ms) / 1000, 0);
}

static const json_t *first_attempt(const json_t *run)
{
    return json_array_get(json_object_get(run, "attempts"), 0);
}

bool page_has_timeline(const json_t *run)
{
    return data_time(first_attempt(run), "started") != 0;
}

/* --- nodes ------------------------------------------------------------------------------------------ */

/*
 * The object with the node's state: of the current attempt the node's own; of earlier ones only the attempt's
 * is known.
 */
static const json_t *node_of(const json_t *run, const json_t *attempt, const char *host)
{
    const json_t *nodes = json_object_get(run, "nodes");
    bool current = data_number(attempt, "attempt") == data_number(run, "attempt");
    for (size_t i = 0; current && i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        const char *name = data_text(node, "host");
        if (name && strcmp(name, host) == 0) {
            return node;
        }
    }
    return attempt;
}

static char *keep_text(struct courses *courses, char *text)
{
    courses->texts = xgrow(courses->texts, courses->texts_len, &courses->texts_cap, sizeof(*courses->texts));
    courses->texts[courses->texts_len++] = text;
    return text;
}

static bool took_part(const json_t *attempt, const char *host)
{
    const json_t *nodes = json_object_get(attempt, "nodes");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const char *name = json_string_value(json_array_get(nodes, i));
        if (name && strcmp(name, host) == 0) {
            return true;
        }
    }
    return false;
}

static void add_bar(struct courses *courses, struct course *course, const json_t *attempt,
                    const json_t *state_of, int64_t now_ms)
{
    int64_t from = data_time(state_of, "started"), to = data_time(state_of, "ended");
    const char *state = data_text(state_of, "state");
    const char *reason = data_text(state_of, "reason");
    from = from != 0 ? from : data_time(attempt, "started");
    to = to != 0 ? to : data_time(attempt, "ended");
    to = to != 0 ? to : now_ms;
    if (from == 0) {
        return;
    }
    double number = data_number(attempt, "attempt");
    char *title = xasprintf("attempt %.0f: %s%s%s", number, state ? state : "?", reason ? ": " : "",
                            reason ? reason : "");
    struct svg_bar bar = {
        .from = seconds(courses, from),
        .to = seconds(courses, to),
        .class = page_state_class(state),
        .text = keep_text(courses, xasprintf("attempt %.0f %s", number, state ? state : "")),
        .title = keep_text(courses, title),
    };
    course->bars[course->len++] = bar;
    AUTO_FREE char *before = course->way;
    double grain = courses->span / 200;
    course->way = xasprintf("%s|%.0f %s %.0f %.0f", before ? before : "", number, bar.class, bar.from / grain,
                            bar.to / grain);
}

static void add_host(struct courses *courses, const json_t *run, const char *host, int64_t now_ms)
{
    const json_t *attempts = json_object_get(run, "attempts");
    struct course course = {0};
    strlist_add(&course.hosts, host);
    course.bars = xcalloc(json_array_size(attempts), sizeof(*course.bars));
    for (size_t i = 0; i < json_array_size(attempts); i++) {
        const json_t *attempt = json_array_get(attempts, i);
        if (took_part(attempt, host)) {
            add_bar(courses, &course, attempt, node_of(run, attempt, host), now_ms);
        }
    }
    courses->items = xgrow(courses->items, courses->len, &courses->cap, sizeof(*courses->items));
    courses->items[courses->len++] = course;
}

static void add_hosts(struct courses *courses, const json_t *run, int64_t now_ms)
{
    const json_t *attempts = json_object_get(run, "attempts");
    AUTO_STRLIST struct strlist seen = STRLIST_INIT;
    for (size_t a = json_array_size(attempts); a > 0; a--) { /* those of the last attempt first */
        const json_t *nodes = json_object_get(json_array_get(attempts, a - 1), "nodes");
        for (size_t i = 0; i < json_array_size(nodes); i++) {
            const char *host = json_string_value(json_array_get(nodes, i));
            if (host && seen.len < HOSTS_MAX && !strlist_has(&seen, host)) {
                strlist_add(&seen, host);
            }
        }
    }
    for (size_t i = 0; i < seen.len; i++) {
        add_host(courses, run, seen.items[i], now_ms);
    }
}

/* The smallest groups first: they are the odd ones. */
static int compare_courses(const void *a, const void *b)
{
    const struct course *left = a, *right = b;
    return left->hosts.len < right->hosts.len ? -1 : left->hosts.len > right->hosts.len;
}

static void fold(struct courses *courses)
{
    size_t kept = 0;
    for (size_t i = 0; i < courses->len; i++) {
        struct course *course = &courses->items[i];
        size_t same = 0;
        while (same < kept && strcmp(courses->items[same].way ? courses->items[same].way : "",
                                     course->way ? course->way : "") != 0) {
            same++;
        }
        if (same < kept) {
            strlist_copy(&courses->items[same].hosts, &course->hosts);
            strlist_release(&course->hosts);
            free(course->bars);
            free(course->way);
        } else {
            courses->items[kept++] = *course;
        }
    }
    courses->len = kept;
    qsort(courses->items, kept, sizeof(*courses->items), compare_courses);
}

/* --- the drawing ------------------------------------------------------------------------------------ */

static int64_t end_of(const json_t *run, int64_t now_ms)
{
    int64_t ended = data_time(run, "ended"), started = data_time(run, "started");
    return ended > started ? ended : now_ms;
}

static const char *mark_class(const char *event)
{
    static const char *const bad[] = {"failed",  "node-failed", "lost", "unreachable",
                                      "stalled", "time-limit",  "alone"};
    for (size_t i = 0; event && i < ARRAY_LEN(bad); i++) {
        if (strcmp(bad[i], event) == 0) {
            return "bad";
        }
    }
    return "idle";
}

/* Make the marks of the last events, each with its number in the list of events. */
static size_t make_marks(const struct courses *courses, const json_t *events, struct svg_mark *marks,
                         char **titles)
{
    size_t len = json_array_size(events), count = 0;
    for (size_t i = len > MARKS_MAX ? len - MARKS_MAX : 0; i < len; i++) {
        const json_t *event = json_array_get(events, i);
        const char *host = data_text(event, "host"), *text = data_text(event, "text");
        double at = seconds(courses, data_time(event, "time"));
        titles[count] = xasprintf("%s%s%s%s%s", data_text(event, "event"), host ? " " : "", host ? host : "",
                                  text ? ": " : "", text ? text : "");
        marks[count] = (struct svg_mark){.at = fmin(at, courses->span),
                                         .class = mark_class(data_text(event, "event")),
                                         .title = titles[count],
                                         .link = i};
        count++;
    }
    return count;
}

static void draw(const struct page *page, const struct courses *courses, const json_t *run)
{
    struct svg_mark marks[MARKS_MAX];
    char *titles[MARKS_MAX];
    size_t rows_len = courses->len < PAGE_ROWS_MAX ? courses->len : PAGE_ROWS_MAX;
    AUTO_FREE struct svg_row *rows = xcalloc(rows_len > 0 ? rows_len : 1, sizeof(*rows));
    AUTO_FREE char **labels = xcalloc(rows_len > 0 ? rows_len : 1, sizeof(*labels));
    size_t marks_len = make_marks(courses, json_object_get(run, "events"), marks, titles);
    for (size_t i = 0; i < rows_len; i++) {
        struct str label = STR_INIT;
        hostlist_fold_names(courses->items[i].hosts.items, courses->items[i].hosts.len, &label);
        labels[i] = str_detach(&label);
        rows[i] = (struct svg_row){
            .label = labels[i], .bars = courses->items[i].bars, .bars_len = courses->items[i].len};
    }
    const struct svg_timeline timeline = {.run = page->run,
                                          .span = courses->span,
                                          .rows = rows,
                                          .rows_len = rows_len,
                                          .marks = marks,
                                          .marks_len = marks_len};
    str_add(page->out, "<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"timeline\">");
    svg_timeline(page->out, &timeline);
    str_add(page->out, "</div>\n");
    for (size_t i = 0; i < rows_len; i++) {
        free(labels[i]);
    }
    for (size_t i = 0; i < marks_len; i++) {
        free(titles[i]);
    }
    if (courses->len > rows_len) {
        str_addf(page->out, "<p class=\"note\">%zu more groups of nodes are not drawn.</p>\n",
                 courses->len - rows_len);
    }
}

void page_add_timeline(const struct page *page, const json_t *run)
{
    struct courses courses = {.start_ms = data_time(first_attempt(run), "started")};
    int64_t end_ms = end_of(run, page->now_ms);
    courses.span = fmax((double)(end_ms - courses.start_ms) / 1000, 1);
    add_hosts(&courses, run, end_ms);
    if (courses.len >= FOLD_FROM) {
        fold(&courses);
    }
    draw(page, &courses, run);
    courses_release(&courses);
}
