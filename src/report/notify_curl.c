/* Loads libcurl; see notify_curl_internal.h. */
#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/library.h"
#include "model/kind.h"
#include "report/notify_curl_internal.h"

#define LIBRARY "libcurl.so.4" /* the ABI since 2006 (libcurl's docs/libcurl/ABI.md) */

struct curl_functions libcurl;

static const struct library_symbol symbols[] = {
#define ONE(name) {"curl_" #name, offsetof(struct curl_functions, name)},
    CURL_FUNCTIONS(ONE)
#undef ONE
};

int curl_load(struct error *err)
{
    static bool loaded;
    const char *reason = loaded ? NULL : library_load(LIBRARY, symbols, ARRAY_LEN(symbols), &libcurl);
    if (reason) {
        error_set(err, &kind_local, "libcurl, which sends notifications, cannot be loaded: %s", reason);
        return error_hint(err, "install it (Debian, Ubuntu: libcurl4), or leave out notify");
    }
    loaded = true;
    return 0;
}
