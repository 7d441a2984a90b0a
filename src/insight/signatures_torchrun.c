/* Signatures of torchrun, its rendezvous and the store of torch.distributed. */
#include "base/alloc.h"
#include "signatures_internal.h"

static const struct signature rows[] = {
    /* torch/csrc/distributed/c10d/socket.cpp */
    {.id = "RDZV_PORT_BUSY",
     .class = CLASS_NODE,
     .literals = {"server socket has failed to bind to", "failed to listen on any local network address",
                  "EADDRINUSE"},
     .pattern = "(errno: 98|code: -98|EADDRINUSE|failed to listen on any)",
     .summary = "the master port is in use: another program listens on it",
     .remedies = {"ss -ltnp", "choose another port: --master-port P"}},
    /* torch/distributed/elastic/multiprocessing/errors/__init__.py */
    {.id = "CHILD_FAILED", .class = CLASS_NOISE, .literals = {"ChildFailedError"}},
    {.id = "SIG_EXCEPTION",
     .class = CLASS_VICTIM,
     .literals = {"SignalException: Process "},
     .pattern = "SignalException: Process [0-9]+ got signal: ([0-9]+)",
     .summary = "torchrun was ended by signal %1"},
};

const struct signature_table signatures_torchrun = {"torchrun", rows, ARRAY_LEN(rows)};
