/* Signatures of NCCL and gloo. */
#include "base/alloc.h"
#include "signatures_internal.h"

static const struct signature rows[] = {
    /* ncclGetErrorString, misc/socket.cc */
    {.id = "NCCL_REMOTE",
     .class = CLASS_VICTIM,
     .literals = {"remote process exited or there was a network error", "ncclRemoteError",
                  "Connection closed by remote peer"},
     .summary = "a process of another node has gone"},
    /* gloo/transport/tcp/pair.cc */
    {.id = "GLOO_PEER",
     .class = CLASS_VICTIM,
     .literals = {"Connection closed by peer", "Connection reset by peer"},
     .pattern = "(gloo|pair\\.cc|c10d|store|socket|Connection closed by peer \\[)",
     .summary = "a process of another node has gone"},
};

const struct signature_table signatures_nccl = {"nccl", rows, ARRAY_LEN(rows)};
