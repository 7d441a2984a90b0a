/* Allocation that ends the process when memory runs out, and the cleanup functions for local variables. */
#include "base/alloc.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void __attribute__((noreturn)) out_of_memory(void)
{
    static const char text[] = "mtlaunch: out of memory\n";

    /* Not stdio, which may allocate memory itself. Nothing more can be done if this write fails. */
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {
        abort();
    }
    abort();
}

void auto_free(void *pointer_to_pointer)
{
    void *pointer;

    /* memcpy, because the variable may be a pointer of any type. */
    memcpy(&pointer, pointer_to_pointer, sizeof pointer);
    free(pointer);
}

void auto_close(int *fd)
{
    int saved = errno;

    if (*fd >= 0) {
        close(*fd);
    }
    errno = saved;
}

void *xcalloc(size_t count, size_t size)
{
    /* Never 0 bytes: calloc() could then return NULL. */
    void *result = count == 0 || size == 0 ? calloc(1, 1) : calloc(count, size);

    if (!result) {
        out_of_memory();
    }
    return result;
}

void *xrealloc(void *old, size_t count, size_t size)
{
    void *result = count == 0 || size == 0 ? realloc(old, 1) : reallocarray(old, count, size);

    if (!result) {
        out_of_memory();
    }
    return result;
}

char *xstrdup(const char *text)
{
    return text ? xstrndup(text, strlen(text)) : NULL;
}

char *xstrndup(const char *text, size_t len)
{
    if (!text) {
        return NULL;
    }
    size_t used = strnlen(text, len);
    char *result = xrealloc(NULL, used + 1, 1);
    memcpy(result, text, used);
    result[used] = '\0';
    return result;
}

char *xasprintf(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *result = xvasprintf(format, args);
    va_end(args);
    return result;
}

char *xvasprintf(const char *format, va_list args)
{
    char *result;

    if (vasprintf(&result, format, args) < 0) {
        out_of_memory();
    }
    return result;
}

void *xgrow(void *items, size_t len, size_t *cap, size_t item_size)
{
    if (len < *cap) {
        return items;
    }
    if (len > SIZE_MAX / 2 - 8) {
        out_of_memory();
    }
    size_t wanted = len < 4 ? 8 : 2 * len;
    items = xrealloc(items, wanted, item_size);
    *cap = wanted;
    return items;
}
