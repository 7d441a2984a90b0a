/* The meanings of the exit codes. */
#include "base/alloc.h"
#include "cmd/exits_internal.h"

const struct exit_meaning exit_meanings[] = {
    {0, "done; status RUN: starting, running, stopping, finished, stopped; wait and start --wait: finished"},
    {1, "the training failed, or was stopped while a command waited for it; status RUN: degraded, failed"},
    {2, "usage, job file or host list is wrong; no node was touched"},
    {3, "a host could not be reached, authenticated or trusted; status RUN: lost"},
    {4, "a check before the start failed: folder, program, interpreter, port, container"},
    {5, "a time limit passed"},
    {6, "no such run here, or its state does not allow the command"},
    {7, "could not verify that everything has stopped; it is safe to repeat the command"},
    {8, "a problem on this machine (state folder, disk, memory), or a record written by a newer version"},
    {129, "ended by SIGHUP; the run continues"},
    {130, "interrupted by Ctrl-C"},
    {143, "terminated by SIGTERM"},
};
const size_t exit_meanings_count = ARRAY_LEN(exit_meanings);
