/*
 * The last lines of one log as a page for a screen: bytes in, safe text out. Of a line only the text after
 * its last carriage return counts, even if it arrives bit by bit (progress bars). Pure.
 */
#ifndef MTLAUNCH_REPORT_LOGPAGE_H
#define MTLAUNCH_REPORT_LOGPAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "insight/lines.h"

#define LOGPAGE_BYTES ((size_t)128 * 1024) /* of text: older lines are dropped */

struct logpage {
    struct lines lines;
    struct str text;  /* with line ends */
    size_t last;      /* where the last line of text begins; text.len: none has begun */
    bool unfinished;  /* the last line has no end yet */
    bool has_pending; /* lines holds bytes that are not in text yet */
};

void logpage_init(struct logpage *page);
void logpage_release(struct logpage *page);

void logpage_feed(struct logpage *page, const char *bytes, size_t len);
/* Show the part of an unfinished line that has arrived. */
void logpage_flush(struct logpage *page);

#endif
