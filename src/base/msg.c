/* Writes messages to stderr or to another receiver, according to the message level. */
#include "base/msg.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"

/* State of the whole process: the message level, and where and how messages are written. */
static struct {
    enum msg_level level;
    void (*before)(void);
    void (*take)(void *ctx, const char *line, size_t len); /* NULL: messages go to stderr */
    void *take_ctx;
    bool hidden; /* the last message was not shown, so neither is its hint */
} state = {.level = MSG_NORMAL};

void msg_set_level(enum msg_level level)
{
    state.level = level;
}

enum msg_level msg_get_level(void)
{
    return state.level;
}

void msg_set_before(void (*before)(void))
{
    state.before = before;
}

void msg_set_taker(void (*take)(void *ctx, const char *line, size_t len), void *ctx)
{
    state.take = take;
    state.take_ctx = ctx;
}

void msg_make_room(void)
{
    if (state.before) {
        state.before();
    }
}

/*
 * One write() per line, so that lines of several processes do not mix. A line that cannot be written is
 * dropped.
 */
static void write_line(const char *line, size_t len)
{
    while (len > 0) {
        ssize_t put = write(STDERR_FILENO, line, len);
        if (put >= 0) {
            line += put;
            len -= (size_t)put;
        } else if (errno == EAGAIN) {
            struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
            if (poll(&ready, 1, 2000) == 0) { /* a reader that has stopped must not block this process */
                return;
            }
        } else if (errno != EINTR) {
            return;
        }
    }
}

void msg_write(const char *text, size_t len)
{
    msg_make_room();
    for (const char *line = text, *end = text + len; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t line_len = newline ? (size_t)(newline + 1 - line) : (size_t)(end - line);
        if (state.take) {
            state.take(state.take_ctx, line, line_len);
        } else {
            write_line(line, line_len);
        }
        line += line_len;
    }
}

static void say(bool shown, const char *prefix, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
static void say(bool shown, const char *prefix, const char *format, va_list args)
{
    state.hidden = !shown;
    if (!shown) {
        return;
    }

    int saved = errno;
    AUTO_FREE char *text = xvasprintf(format, args);
    AUTO_STR struct str safe = STR_INIT;

    str_add(&safe, prefix);
    text_add_lines(&safe, text, strlen(text));
    str_add_char(&safe, '\n');
    msg_write(safe.data, safe.len);
    errno = saved;
}

void msg_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(true, "mtlaunch: ", format, args);
    va_end(args);
}

void msg_warn(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(state.level > MSG_QUIET, "mtlaunch: warning: ", format, args);
    va_end(args);
}

void msg_hint(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(!state.hidden, "  hint: ", format, args);
    va_end(args);
}

void msg_info(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(state.level > MSG_QUIET, "", format, args);
    va_end(args);
}

void msg_verbose(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(state.level >= MSG_VERBOSE, "", format, args);
    va_end(args);
}
