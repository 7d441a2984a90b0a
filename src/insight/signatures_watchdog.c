/* Signatures of the watchdog of ProcessGroupNCCL (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp). */
#include "base/alloc.h"
#include "signatures_internal.h"

static const struct signature rows[] = {
    {.id = "NCCL_WATCHDOG",
     .class = CLASS_ABSENT,
     .culprit = CULPRIT_LAGGARD,
     .literals = {"Watchdog caught collective operation timeout"},
     .pattern = "WorkNCCL\\(SeqNum=([0-9]+), OpType=([A-Z_]+).*Timeout\\(ms\\)=([0-9]+)",
     .summary = "stopped calling collectives: the others wait in %2 number %1",
     .remedies =
         {"look where it stands: mtlaunch stacks RUN",
          "uneven data, a rank that saves or loads alone, and a slow file system are frequent causes"}},
    {.id = "NCCL_ASYNC_ABORT",
     .class = CLASS_VICTIM,
     .literals = {"Some NCCL operations have failed or timed out", "we are taking the entire process down"},
     .summary = "the watchdog ended the process after a failed collective"},
};

const struct signature_table signatures_watchdog = {"watchdog", rows, ARRAY_LEN(rows)};
