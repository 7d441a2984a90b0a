/* Signatures of a job's own configuration, as the frameworks report it. */
#include "base/alloc.h"
#include "signatures_internal.h"

static const struct signature rows[] = {
    /* Python's argparse, exit status 2 */
    {.id = "ARG_UNKNOWN",
     .class = CLASS_CONF,
     .literals = {"error: unrecognized arguments:"},
     .pattern = "error: unrecognized arguments: (.+)$",
     .summary = "unrecognized arguments: %1",
     .remedies = {"remove the argument, or use a version of the program that has it"}},
};

const struct signature_table signatures_config = {"config", rows, ARRAY_LEN(rows)};
