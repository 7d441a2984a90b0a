/* Draws a timeline: a row per node with its attempts, and the events above them. */
#include <math.h>
#include <string.h>

#include "html_internal.h"
#include "svg_plot_internal.h"

#define WIDTH     1140
#define LEFT      164
#define RIGHT     1126
#define MARKS     26 /* height of the lane of events */
#define ROW       24
#define BAR       16
#define AXIS      40
#define LABEL_MAX 21  /* characters */
#define LETTER    6.2 /* approximate width of a character */

struct timeline {
    struct str *out;
    const struct svg_timeline *values;
    struct axis axis;
    struct plot_scale x;
    double bottom; /* of the rows */
};

static void add_axis(const struct timeline *timeline)
{
    char text[FIGURE_TEXT_SIZE];
    for (size_t i = 0; i < timeline->axis.ticks_len; i++) {
        double x = plot_place(&timeline->x, timeline->axis.ticks[i]);
        plot_add_line(timeline->out, "grid", x, MARKS, x, timeline->bottom);
        plot_add_text(timeline->out, "tick", x, timeline->bottom + 16, "middle",
                      axis_label(FIGURE_SPAN, &timeline->axis, timeline->axis.ticks[i], text));
    }
    plot_add_line(timeline->out, "axis", LEFT, timeline->bottom, RIGHT, timeline->bottom);
    plot_add_text(timeline->out, "unit", (LEFT + RIGHT) / 2.0, timeline->bottom + AXIS - 6, "middle",
                  "time since the start");
}

static void add_bar(const struct timeline *timeline, const struct svg_bar *bar, double y)
{
    double from = plot_place(&timeline->x, bar->from), to = plot_place(&timeline->x, bar->to);
    double width = fmax(to - from, 2);
    str_addf(timeline->out, "<g class=\"bar %s\"><title>", bar->class);
    html_text(timeline->out, bar->title);
    str_add(timeline->out, "</title><rect rx=\"2\" x=\"");
    svg_number(timeline->out, from);
    str_add(timeline->out, "\" y=\"");
    svg_number(timeline->out, y);
    str_add(timeline->out, "\" width=\"");
    svg_number(timeline->out, width);
    str_addf(timeline->out, "\" height=\"%d\"/>", BAR);
    if (LETTER * (double)strlen(bar->text) + 12 < width) {
        plot_add_text(timeline->out, "inside", from + 6, y + 12, "start", bar->text);
    }
    str_add(timeline->out, "</g>");
}

static void add_row(const struct timeline *timeline, size_t index)
{
    const struct svg_row *row = &timeline->values->rows[index];
    double y = MARKS + (double)index * ROW + (ROW - BAR) / 2.0;
    str_add(timeline->out, "<g><title>");
    html_text(timeline->out, row->label);
    str_add(timeline->out, "</title>");
    plot_open_text(timeline->out, "key", LEFT - 10, y + 12, "end");
    html_text_short(timeline->out, row->label, LABEL_MAX);
    str_add(timeline->out, "</text></g>");
    for (size_t i = 0; i < row->bars_len; i++) {
        add_bar(timeline, &row->bars[i], y);
    }
}

/* Append a mark that links to the event in the list of events. */
static void add_mark(const struct timeline *timeline, const struct svg_mark *mark)
{
    double x = plot_place(&timeline->x, mark->at);
    str_addf(timeline->out, "<a class=\"mark %s\" href=\"#r%zu-e%zu\" aria-label=\"", mark->class,
             timeline->values->run, mark->link);
    html_text(timeline->out, mark->title);
    str_add(timeline->out, "\"><title>");
    html_text(timeline->out, mark->title);
    str_add(timeline->out, "</title>");
    plot_add_line(timeline->out, "", x, 12, x, timeline->bottom);
    str_add(timeline->out, "<path d=\"M");
    svg_number(timeline->out, x - 5);
    str_add(timeline->out, " 4h10l-5 9z\"/></a>");
}

void svg_timeline(struct str *out, const struct svg_timeline *values)
{
    struct timeline timeline = {.out = out, .values = values};
    timeline.bottom = MARKS + (double)values->rows_len * ROW;
    timeline.axis = axis_make(FIGURE_SPAN, 0, values->span > 0 ? values->span : 1, 9);
    timeline.x = (struct plot_scale){0, timeline.axis.high, LEFT, RIGHT};
    str_addf(out,
             "<svg class=\"timeline\" viewBox=\"0 0 %d %.0f\" role=\"group\" aria-label=\"attempts of each "
             "node over "
             "time, and events\">",
             WIDTH, timeline.bottom + AXIS);
    add_axis(&timeline);
    for (size_t i = 0; i < values->rows_len; i++) {
        add_row(&timeline, i);
    }
    for (size_t i = 0; i < values->marks_len; i++) {
        add_mark(&timeline, &values->marks[i]);
    }
    str_add(out, "</svg>");
}
