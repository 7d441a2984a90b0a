/* Signatures of a node's files, memory and limits. */
#include "base/alloc.h"
#include "signatures_internal.h"

static const struct signature rows[] = {
    {.id = "NO_MODULE",
     .class = CLASS_CONF,
     .local = true,
     .literals = {"ModuleNotFoundError: No module named", "ImportError: cannot import name"},
     .pattern = "(No module named '?|cannot import name ')([A-Za-z0-9_.]+)",
     .remedies = {"python3 -m pip list (compare it with a node where it works)",
                  "activate the environment in the job's setup lines"}},
    {.id = "NO_FILE",
     .class = CLASS_CONF,
     .local = true,
     .generic = true,
     .literals = {"No such file or directory"},
     .pattern = "No such file or directory: '([^']+)'",
     .remedies = {"ls -ld '%1'"}},
};

const struct signature_table signatures_host = {"host", rows, ARRAY_LEN(rows)};
