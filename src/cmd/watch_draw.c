/* Draws what `status --watch` shows. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/term.h"
#include "base/text.h"
#include "report/output.h"
#include "report/screen.h"
#include "watch_internal.h"

#define MESSAGE_MS 8000 /* how long a message is shown in the footer */

/* The view of the run without its first line, which is the title. */
static const char *below_title(const struct watch *watch)
{
    const char *text = str_text(&watch->picture);
    const char *end = strchr(text, '\n');
    return !watch->view ? text : end ? end + 1 : "asking the nodes\n";
}

static const char *page_text(const struct watch *watch)
{
    switch (watch->place.page) {
    case WATCH_LOG:
        return str_text(&watch->log.text);
    case WATCH_STACKS:
        return watch->reads_stacks || watch->wants_stacks ? "reading the stacks of all nodes\n"
                                                          : str_text(&watch->stacks);
    case WATCH_STATUS:
    case WATCH_PAGES:
        break;
    }
    return below_title(watch);
}

static void add_title(const struct watch *watch, struct str *out)
{
    const struct run *run = watch->view ? run_view_run(watch->view) : NULL;
    const char *picture = str_text(&watch->picture);
    if (!run) {
        str_add(out, "all runs");
    } else if (watch->place.page == WATCH_STATUS && watch->picture.len > 0) {
        str_add_mem(out, picture, strcspn(picture, "\n"));
    } else {
        str_addf(out, "%s: ", watch->name);
    }
    if (run && watch->place.page == WATCH_LOG && watch->place.node < run->nodes_len) {
        const struct run_node *node = &run->nodes[watch->place.node];
        str_addf(out, "log of node %u, ", node->rank);
        text_add_line(out, node->label, strlen(node->label));
    } else if (run && watch->place.page == WATCH_STACKS) {
        str_add(out, "stacks");
    }
}

static const char *keys_of(const struct watch *watch)
{
    if (!watch->terminal.has_keys) {
        return "Ctrl-C ends it";
    }
    switch (watch->place.page) {
    case WATCH_LOG:
        return "q quit  Esc back  arrows PgUp PgDn scroll  left right other node  End follow";
    case WATCH_STACKS:
        return "q quit  Esc back  arrows PgUp PgDn scroll  s read again";
    case WATCH_STATUS:
    case WATCH_PAGES:
        break;
    }
    return watch->view ? "q quit  arrows PgUp PgDn scroll  l log  5l log of node 5  s stacks"
                       : "q quit  arrows PgUp PgDn scroll";
}

/* Append what was typed, the last message, or the keys with the position in the page before them. */
static void add_footer(const struct watch *watch, size_t lines, size_t room, struct str *out)
{
    const size_t top = watch->place.top[watch->place.page];
    if (watch->place.has_number) {
        str_addf(out, "node %zu: l or Enter shows its log", watch->place.number);
        return;
    }
    if (watch->message && clock_mono_ms() - watch->message_ms < MESSAGE_MS) {
        str_add(out, watch->message);
        return;
    }
    if (lines > room) {
        str_addf(out, "%zu-%zu of %zu  ", top + 1, top + room < lines ? top + room : lines, lines);
    }
    str_add(out, keys_of(watch));
}

void watch_measure(const struct watch *watch, size_t *lines, size_t *room)
{
    AUTO_STRLIST struct strlist wrapped = STRLIST_INIT;
    size_t rows, columns;
    term_size(STDOUT_FILENO, &rows, &columns);
    screen_wrap(page_text(watch), columns, &wrapped);
    *lines = wrapped.len;
    *room = screen_room(rows);
}

void watch_draw(struct watch *watch)
{
    AUTO_STRLIST struct strlist lines = STRLIST_INIT;
    AUTO_STR struct str title = STR_INIT;
    AUTO_STR struct str footer = STR_INIT;
    AUTO_STR struct str frame = STR_INIT;
    struct screen screen = {
        .color = watch->session->call->style.color, .corner = watch->seen, .lines = &lines};
    term_size(STDOUT_FILENO, &screen.rows, &screen.columns);
    const size_t room = screen_room(screen.rows);
    screen_wrap(page_text(watch), screen.columns, &lines);
    watch_place_fit(&watch->place, lines.len, room);
    add_title(watch, &title);
    add_footer(watch, lines.len, room, &footer);
    screen.title = str_text(&title);
    screen.footer = str_text(&footer);
    screen.top = watch->place.top[watch->place.page];
    screen_frame(&screen, &frame);
    if (!watch->error.kind && output_write(STDOUT_FILENO, frame.data, frame.len, &watch->error) != 0) {
        watch->quit = true;
        run_context_interrupt(&watch->session->context);
    }
}
