/* Known failures of a job and what to do about each. */
#include "model/remedy.h"

#include <string.h>

const struct remedy remedies[] = {
    /* torch/distributed: TCPStore, from 2.4 on, in a build without libuv such as Debian's 2.6 */
    {"use_libuv was requested but PyTorch was buil",
     "this PyTorch was built without libuv: set USE_LIBUV=0 (-e USE_LIBUV=0, or env: {USE_LIBUV: 0} in the "
     "spec); where torchrun ignores it, use a PyTorch with libuv (pip install torch)"},
};

const size_t remedies_len = sizeof remedies / sizeof remedies[0];

static const char *last_in(const char *text, const char *part)
{
    const char *last = NULL;
    for (const char *at = text; (at = strstr(at, part)); at++) {
        last = at;
    }
    return last;
}

const char *remedy_find(const char *text)
{
    const char *last = NULL;
    const char *action = NULL;
    for (size_t i = 0; text && i < remedies_len; i++) {
        const char *at = last_in(text, remedies[i].line);
        if (at && (!last || at > last)) {
            last = at;
            action = remedies[i].action;
        }
    }
    return action;
}
