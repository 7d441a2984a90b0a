/* Fills struct error: text, hint, position and source line, each cut to the size of its buffer. */
#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct error_kind kind_usage = {"usage", 2};
const struct error_kind kind_not_supported = {"not-supported", 2};
const struct error_kind kind_local = {"local", 8};

/*
 * Copy len bytes into a buffer of size bytes. A text that does not fit is cut between two characters and ends
 * in "...".
 */
static void copy_bounded(char *to, size_t size, const char *from, size_t len)
{
    static const char mark[] = "...";

    if (len < size) {
        memcpy(to, from, len);
        to[len] = '\0';
        return;
    }
    size_t keep = size - sizeof mark;
    while (keep > 0 && ((unsigned char)from[keep] & 0xC0) == 0x80) {
        keep--;
    }
    memcpy(to, from, keep);
    memcpy(to + keep, mark, sizeof mark);
}

/*
 * Format into a buffer of size bytes that the arguments may point into. The copy on the stack is longer than
 * any buffer of struct error, so that only copy_bounded cuts the text.
 */
static void format_bounded(char *to, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
static void format_bounded(char *to, size_t size, const char *format, va_list args)
{
    char text[sizeof((struct error *)0)->text + 8];
    int len = vsnprintf(text, sizeof text, format, args);

    if (len < 0) { /* an encoding error: show at least the format */
        snprintf(text, sizeof text, "%s", format);
    }
    copy_bounded(to, size, text, strlen(text));
}

static void set_text(struct error *err, const struct error_kind *kind, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
static void set_text(struct error *err, const struct error_kind *kind, const char *format, va_list args)
{
    int saved = errno;

    if (!err) {
        return;
    }
    format_bounded(err->text, sizeof err->text, format, args);
    err->kind = kind;
    err->hint[0] = '\0';
    err->file[0] = '\0';
    err->source[0] = '\0';
    err->line = 0;
    err->column = 0;
    errno = saved;
}

int error_set(struct error *err, const struct error_kind *kind, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    set_text(err, kind, format, args);
    va_end(args);
    return -1;
}

int error_set_errno(struct error *err, const struct error_kind *kind, int errnum, const char *format, ...)
{
    char reason[128], text[sizeof err->text];
    va_list args;

    if (!err) {
        return -1;
    }
    va_start(args, format);
    set_text(err, kind, format, args);
    va_end(args);

    int saved = errno;
    const char *known = strerror_r(errnum, reason, sizeof reason);
    int len = snprintf(text, sizeof text, ": %c%s", tolower((unsigned char)known[0]), known + 1);
    /* The reason matters most to the reader, so a long text is cut in front of it. */
    size_t room = sizeof err->text - (size_t)len;
    size_t used = strlen(err->text);
    if (used >= room) {
        char whole[sizeof err->text];
        memcpy(whole, err->text, used + 1);
        copy_bounded(err->text, room, whole, used);
        used = strlen(err->text);
    }
    memcpy(err->text + used, text, (size_t)len + 1);
    errno = saved;
    return -1;
}

int error_hint(struct error *err, const char *format, ...)
{
    va_list args;
    int saved = errno;

    if (!err) {
        return -1;
    }
    va_start(args, format);
    format_bounded(err->hint, sizeof err->hint, format, args);
    va_end(args);
    errno = saved;
    return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
    char context[sizeof err->text];
    char whole[2 * sizeof err->text + 2];
    va_list args;
    int saved = errno;

    if (!err) {
        return -1;
    }
    va_start(args, format);
    format_bounded(context, sizeof context, format, args);
    va_end(args);
    snprintf(whole, sizeof whole, "%s: %s", context, err->text);
    copy_bounded(err->text, sizeof err->text, whole, strlen(whole));
    errno = saved;
    return -1;
}

int error_at(struct error *err, const char *file, unsigned line, unsigned column)
{
    if (!err) {
        return -1;
    }
    if (file && file != err->file) {
        copy_bounded(err->file, sizeof err->file, file, strlen(file));
    }
    err->line = line;
    err->column = column;
    return -1;
}

int error_source(struct error *err, const char *line, size_t len)
{
    if (!err) {
        return -1;
    }
    size_t used = 0;
    while (used < len && line[used] != '\n' && line[used] != '\0') {
        used++;
    }
    if (used > 0 && line[used - 1] == '\r') {
        used--;
    }
    copy_bounded(err->source, sizeof err->source, line, used);
    return -1;
}

bool error_is(const struct error *err, const struct error_kind *kind)
{
    return err && err->kind == kind;
}
