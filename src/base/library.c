/* Loads shared libraries that only some commands need. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

static const char *why(const char *soname)
{
    const char *reason = dlerror();
    return reason ? reason : soname;
}

const char *library_load(const char *soname, const struct library_symbol *symbols, size_t count,
                         void *functions)
{
    void *loaded = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (!loaded) {
        return why(soname);
    }
    for (size_t i = 0; i < count; i++) {
        void *function = dlsym(loaded, symbols[i].name);
        if (!function) {
            return why(soname);
        }
        memcpy((char *)functions + symbols[i].at, &function, sizeof(function));
    }
    return NULL;
}
