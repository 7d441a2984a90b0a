/* Signatures of how processes end: Python exceptions, signals, exit statuses. */
#include "base/alloc.h"
#include "signatures_internal.h"

static const struct signature rows[] = {
    /* without literals: made from a traceback, or from the end of a process */
    {.id = "PY_EXCEPTION", .class = CLASS_ROOT},
    {.id = "PY_DISTRIBUTED",
     .class = CLASS_AMBIG,
     .remedies =
         {"look at the other ranks: a call of torch.distributed fails when another process has gone"}},
    /* torch/_utils.py: the message holds the traceback of the worker, whose exception counts */
    {.id = "PY_RERAISED",
     .class = CLASS_NOISE,
     .literals = {"Error: Caught ", "Exception: Caught "},
     .pattern = ": Caught [A-Za-z_.]+ in (DataLoader worker process|pin memory thread|replica)"},
    /* Python's own end: Py_FatalError. Signals are EXIT_SIG… below. */
    {.id = "PY_FATAL",
     .class = CLASS_ROOT,
     .literals = {"Fatal Python error: "},
     .pattern = "Fatal Python error: ([a-z_].*)$",
     .summary = "Python itself failed: %1",
     .remedies = {"python3 -V; python3 -c 'import sys; print(sys.prefix)'"}},
    {.id = "EXIT_SIGKILL",
     .class = CLASS_NODE,
     .summary = "killed by SIGKILL: by hand, or the machine ran out of memory",
     .remedies = {"dmesg | grep -i 'killed process'", "use fewer data loader workers, or a smaller batch"}},
    {.id = "EXIT_SIGSEGV",
     .class = CLASS_ROOT,
     .summary = "killed by SIGSEGV, a segmentation fault",
     .remedies = {"compare the versions of Python packages and of the driver with those of the other nodes"}},
    {.id = "EXIT_SIGBUS",
     .class = CLASS_NODE,
     .summary = "killed by SIGBUS: often /dev/shm is full",
     .remedies = {"df -h /dev/shm", "start the container with --ipc=host or a larger --shm-size"}},
    {.id = "EXIT_SIGABRT", .class = CLASS_AMBIG, .summary = "killed by SIGABRT"},
    {.id = "EXIT_SIGNAL", .class = CLASS_ROOT, .summary = "killed by SIG%1"},
    {.id = "EXIT_SIGTERM", .class = CLASS_VICTIM, .summary = "ended by SIGTERM"},
    {.id = "EXIT_STATUS", .class = CLASS_ROOT, .summary = "exit status %1"},
    {.id = "NODE_UNREACHABLE",
     .class = CLASS_NODE,
     .hardware = true,
     .summary = "the node does not answer",
     .remedies = {"ping it, and look at its console: it may have been restarted or lost its network"}},
    {.id = "RDZV_UNMET",
     .class = CLASS_CONF,
     .summary =
         "the nodes did not find each other: their rendezvous ids ('%1' on one), addresses or ports differ",
     .remedies = {"give every node the same --rdzv_id, MASTER_ADDR and MASTER_PORT"}},
    {.id = "NODE_SILENT",
     .class = CLASS_ABSENT,
     .culprit = CULPRIT_ABSENT,
     .summary = "nothing in its log says why, and the processes of the other nodes lost theirs",
     .remedies = {"dmesg | tail -50"}},
};

const struct signature_table signatures_process = {"process", rows, ARRAY_LEN(rows)};
