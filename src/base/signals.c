/* Blocks and unblocks single signals. */
#include "base/signals.h"

#include <signal.h>
#include <stddef.h>

static void change_mask(int how, int number)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(how, &set, NULL);
}

void signal_block(int number)
{
    change_mask(SIG_BLOCK, number);
}

void signal_unblock(int number)
{
    change_mask(SIG_UNBLOCK, number);
}

bool signal_is_blocked(int number)
{
    sigset_t set;

    sigemptyset(&set);
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    return sigismember(&set, number) == 1;
}

bool signal_is_ignored(int number)
{
    struct sigaction now;

    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}
