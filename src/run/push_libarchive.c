/* Loads libarchive; see push_libarchive_internal.h. */
#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/library.h"
#include "model/kind.h"
#include "push_libarchive_internal.h"

#define LIBRARY "libarchive.so.13" /* the ABI since 3.0 (2011) */

struct archive_functions libarchive;

static const struct library_symbol symbols[] = {
#define ONE(name) {"archive_" #name, offsetof(struct archive_functions, name)},
    ARCHIVE_FUNCTIONS(ONE)
#undef ONE
};

int archive_load(struct error *err)
{
    static bool loaded;
    const char *reason = loaded ? NULL : library_load(LIBRARY, symbols, ARRAY_LEN(symbols), &libarchive);
    if (reason) {
        error_set(err, &kind_local, "libarchive, which packs the files, cannot be loaded: %s", reason);
        return error_hint(err, "install it (Debian, Ubuntu: libarchive13, or libarchive13t64)");
    }
    loaded = true;
    return 0;
}
