/*
 * Memory allocation that never fails: when memory runs out, the process prints one line and aborts. Also
 * cleanup attributes for local variables.
 */
#ifndef MTLAUNCH_BASE_ALLOC_H
#define MTLAUNCH_BASE_ALLOC_H

#include <stdarg.h>
#include <stddef.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* A local `char *` (or any heap pointer) with this attribute is freed when it leaves its scope. */
#define AUTO_FREE __attribute__((cleanup(auto_free)))
void auto_free(void *pointer_to_pointer);

/* A local file descriptor with this attribute is closed when it leaves its scope (if >= 0). */
#define AUTO_CLOSE __attribute__((cleanup(auto_close)))
void auto_close(int *fd);

void *xcalloc(size_t count, size_t size) __attribute__((returns_nonnull)); /* zeroed */
void *xrealloc(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *text);              /* NULL in, NULL out */
char *xstrndup(const char *text, size_t len); /* up to a NUL or len; NULL in, NULL out */
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull));
char *xvasprintf(const char *format, va_list args) __attribute__((format(printf, 1, 0), returns_nonnull));

/*
 * Make room for one more item in a growing array: returns the (possibly moved) array with capacity
 * for at least len + 1 items; *cap is updated. New room is not zeroed.
 */
void *xgrow(void *items, size_t len, size_t *cap, size_t item_size) __attribute__((returns_nonnull));

#endif
