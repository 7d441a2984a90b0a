/* The loader's side of notify_curl_internal.h. */
#include <dlfcn.h>
#include <string.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "report/notify_curl_internal.h"

#define LIBRARY "libcurl.so.4" /* the ABI since 2006 (libcurl's docs/libcurl/ABI.md) */

struct curl_functions libcurl;

static const struct {
    const char *name;
    size_t at;
} table[] = {
#define ONE(name) {"curl_" #name, offsetof(struct curl_functions, name)},
    CURL_FUNCTIONS(ONE)
#undef ONE
};

int curl_load(struct error *err)
{
    static void *library; /* stays until the process ends */
    if (library) {
        return 0;
    }
    void *loaded = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; loaded && i < ARRAY_LEN(table); i++) {
        void *function = dlsym(loaded, table[i].name);
        if (!function) {
            dlclose(loaded);
            loaded = NULL;
        } else {
            memcpy((char *)&libcurl + table[i].at, &function, sizeof(function));
        }
    }
    if (!loaded) {
        const char *reason = dlerror();
        error_set(err, &kind_local, "libcurl, which sends notifications, cannot be loaded: %s",
                  reason ? reason : LIBRARY);
        return error_hint(err, "install it (Debian, Ubuntu: libcurl4), or leave out notify");
    }
    library = loaded;
    return 0;
}
