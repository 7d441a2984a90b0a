/*
 * How results are shown. The command chooses it once from its options and streams, then passes it down. The
 * report functions themselves never look at the environment or at a terminal.
 */
#ifndef MTLAUNCH_REPORT_STYLE_H
#define MTLAUNCH_REPORT_STYLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_style {
    bool json;
    bool color;     /* on stdout */
    bool color_err; /* on stderr */
    bool bar;       /* stderr may show a progress bar */
    bool chart;     /* stdout may show a bar chart */
    bool full;      /* every node on its own line, however many there are */
    size_t columns; /* width of stdout; tables fit it */
    int64_t now_ms; /* wall clock, for the durations of running things */
};

#define REPORT_STYLE_PLAIN ((struct report_style){.columns = 80})

enum report_tone { TONE_PLAIN, TONE_GOOD, TONE_WARN, TONE_BAD, TONE_FAINT, TONE_STRONG };

#endif
