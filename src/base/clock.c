/* Reads the clocks and formats times and time spans. */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now); /* cannot fail for the two clocks asked for here */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_real_ms(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t clock_mono_ms(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* Whole seconds, kept within the years 1970 to 9999 that RFC 3339 can write and people can read. */
static time_t to_seconds(int64_t epoch_ms)
{
    const int64_t last = INT64_C(253402214400); /* 9999-12-31T00:00:00Z: still 9999 in every time zone */
    int64_t seconds = epoch_ms / 1000;

    if (seconds < 0 || epoch_ms < 0) {
        return 0;
    }
    return (time_t)(seconds > last ? last : seconds);
}

const char *clock_format_utc(int64_t epoch_ms, char buffer[CLOCK_TEXT_SIZE])
{
    time_t seconds = to_seconds(epoch_ms);
    struct tm parts;

    gmtime_r(&seconds, &parts);
    strftime(buffer, CLOCK_TEXT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return buffer;
}

const char *clock_format_local(int64_t epoch_ms, char buffer[CLOCK_TEXT_SIZE])
{
    time_t seconds = to_seconds(epoch_ms);
    struct tm parts;

    tzset(); /* localtime_r is not required to call it */
    localtime_r(&seconds, &parts);
    strftime(buffer, CLOCK_TEXT_SIZE, "%Y-%m-%d %H:%M:%S", &parts);
    return buffer;
}

const char *clock_format_span(int64_t seconds, char buffer[CLOCK_TEXT_SIZE])
{
    long long s = seconds < 0 ? 0 : (long long)seconds;

    if (s < 60) {
        snprintf(buffer, CLOCK_TEXT_SIZE, "%llds", s);
    } else if (s < 3600) {
        snprintf(buffer, CLOCK_TEXT_SIZE, "%lldm%02llds", s / 60, s % 60);
    } else if (s < 86400) {
        snprintf(buffer, CLOCK_TEXT_SIZE, "%lldh%02lldm", s / 3600, s % 3600 / 60);
    } else {
        snprintf(buffer, CLOCK_TEXT_SIZE, "%lldd%02lldh", s / 86400, s % 86400 / 3600);
    }
    return buffer;
}
