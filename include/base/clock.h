/* Wall-clock and monotonic time in milliseconds, and text forms of it for people and for JSON. */
#ifndef MTLAUNCH_BASE_CLOCK_H
#define MTLAUNCH_BASE_CLOCK_H

#include <stdint.h>

#define CLOCK_TEXT_SIZE 40

int64_t clock_real_ms(void);
int64_t clock_mono_ms(void);

/* RFC 3339 UTC with seconds ("2026-11-29T19:30:00Z"); returns buffer. */
const char *clock_format_utc(int64_t epoch_ms, char buffer[CLOCK_TEXT_SIZE]);
/* Local "2026-11-29 20:30:00"; returns buffer. */
const char *clock_format_local(int64_t epoch_ms, char buffer[CLOCK_TEXT_SIZE]);
/* "7s", "3m12s", "5h02m", "2d03h"; returns buffer. */
const char *clock_format_span(int64_t seconds, char buffer[CLOCK_TEXT_SIZE]);

#endif
