/* Draws a progress bar on stderr. */
#include "report/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/msg.h"
#include "base/term.h"

#define PROGRESS_PERIOD_MS 100
#define BAR_CELLS          24

static void erase(void)
{
    fputs("\r\033[K", stderr);
    fflush(stderr);
}

void progress_render(const struct progress *bar, size_t columns, struct str *out)
{
    AUTO_STR struct str line = STR_INIT;
    size_t full = bar->total ? BAR_CELLS * bar->done / bar->total : 0;
    str_addf(&line, "%s [", bar->what);
    for (size_t cell = 0; cell < BAR_CELLS; cell++) {
        str_add_char(&line, cell < full ? '#' : '.');
    }
    str_addf(&line, "] %zu/%zu nodes", bar->done, bar->total);
    if (line.len >= columns) {
        str_reset(&line);
        str_addf(&line, "%s %zu/%zu", bar->what, bar->done, bar->total);
    }
    if (line.len >= columns) { /* the last column stays free: a terminal would wrap there */
        str_truncate(&line, columns ? columns - 1 : 0);
    }
    str_add_mem(out, str_text(&line), line.len);
}

static void draw_line(struct progress *bar, const char *text, size_t len)
{
    AUTO_STR struct str line = STR_INIT;
    str_add(&line, "\r");
    str_add_mem(&line, text, len);
    str_add(&line, "\033[K");
    fwrite(line.data, 1, line.len, stderr);
    fflush(stderr);
    bar->drawn_ms = clock_mono_ms();
}

static void draw(struct progress *bar)
{
    AUTO_STR struct str line = STR_INIT;
    progress_render(bar, term_columns(STDERR_FILENO), &line);
    draw_line(bar, str_text(&line), line.len);
}

void progress_begin(struct progress *bar, bool enabled, const char *what, size_t total)
{
    *bar = (struct progress){.total = total, .enabled = enabled};
    snprintf(bar->what, sizeof bar->what, "%s", what);
    if (!enabled) {
        return;
    }
    msg_set_before(erase);
    draw(bar);
}

void progress_update(struct progress *bar, size_t done)
{
    bar->done = done;
    if (bar->enabled && (done == bar->total || clock_mono_ms() - bar->drawn_ms >= PROGRESS_PERIOD_MS)) {
        draw(bar);
    }
}

void progress_show(struct progress *bar, const char *line)
{
    const size_t columns = term_columns(STDERR_FILENO), len = strlen(line);
    if (bar->enabled && clock_mono_ms() - bar->drawn_ms >= PROGRESS_PERIOD_MS) {
        draw_line(bar, line, len < columns ? len : columns - 1);
    }
}

void progress_end(struct progress *bar)
{
    if (!bar->enabled) {
        return;
    }
    erase();
    msg_set_before(NULL);
    bar->enabled = false;
}
