/*
 * A shared library that is loaded when it is first needed. Linking it, with the libraries it depends on,
 * would cost every command milliseconds and megabytes. Its functions are called through a struct of pointers,
 * typed by the library's own header.
 */
#ifndef MTLAUNCH_BASE_LIBRARY_H
#define MTLAUNCH_BASE_LIBRARY_H

#include <stddef.h>

struct library_symbol {
    const char *name; /* as the library exports it */
    size_t at;        /* offset of its pointer in the struct of functions */
};

/*
 * Load a library by its soname, which names the version of its ABI, and fill functions. Returns NULL, or the
 * loader's reason why it could not be loaded (valid until the next call; functions is then unchanged or
 * filled in part). It stays loaded until the process ends. The caller must not call it again with the same
 * functions after a success.
 */
const char *library_load(const char *soname, const struct library_symbol *symbols, size_t count,
                         void *functions);

#endif
