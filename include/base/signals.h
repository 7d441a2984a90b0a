/* The signal mask of this process's main thread, one signal at a time. */
#ifndef MTLAUNCH_BASE_SIGNALS_H
#define MTLAUNCH_BASE_SIGNALS_H

#include <stdbool.h>

/* A blocked signal waits until it is unblocked. Children that are forked inherit the mask. */
void signal_block(int number);
void signal_unblock(int number);
bool signal_is_blocked(int number);

/* Ignored from the start (nohup), or by us. */
bool signal_is_ignored(int number);

#endif
