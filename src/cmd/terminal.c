/* Takes over the terminal and gives it back: mode, keys, size, and the related signals. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/keys.h"
#include "base/signals.h"
#include "model/kind.h"
#include "report/output.h"
#include "report/screen.h"
#include "terminal_internal.h"

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

/* --- mode --------------------------------------------------------------------------------------- */

/* No echo, one key at a time; keys that send signals still do. In the background this stops the process. */
static void take(struct terminal *terminal)
{
    struct termios mode = terminal->before;
    if (terminal->has_keys) {
        mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        mode.c_cc[VMIN] = 1;
        mode.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
    }
    output_write(STDOUT_FILENO, screen_enter, strlen(screen_enter), NULL);
    terminal->taken = true;
}

static void give_back(struct terminal *terminal)
{
    if (!terminal->taken) {
        return;
    }
    terminal->taken = false;
    output_write(STDOUT_FILENO, screen_leave, strlen(screen_leave), NULL);
    if (terminal->has_keys) {
        tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal->before);
    }
}

/* Let the signal's default action happen: stop until SIGCONT, or end. */
static void let_act(struct terminal *terminal, int number)
{
    give_back(terminal);
    raise(number); /* stays pending, because it is blocked */
    signal_unblock(number);
    signal_block(number);
    take(terminal);
    terminal->handler->redraw(terminal->ctx);
}

/* --- events ------------------------------------------------------------------------------------- */

static void on_signals(struct terminal *terminal)
{
    struct signalfd_siginfo info;
    while (read(terminal->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        const int number = (int)info.ssi_signo;
        switch (number) {
        case SIGTSTP:
        case SIGQUIT:
            let_act(terminal, number);
            break;
        case SIGCONT: /* also after a stop that could not be caught */
            give_back(terminal);
            take(terminal);
            terminal->handler->redraw(terminal->ctx);
            break;
        case SIGWINCH:
            terminal->handler->redraw(terminal->ctx);
            break;
        default:
            terminal->handler->end(terminal->ctx, number);
            break;
        }
    }
}

static void on_keys(struct terminal *terminal)
{
    char bytes[256];
    ssize_t len = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (len <= 0) {
        if (len == 0 || (errno != EINTR && errno != EAGAIN)) {
            epoll_ctl(terminal->events, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
            terminal->handler->end(terminal->ctx, 0);
        }
        return;
    }
    for (size_t at = 0, used = 0; at < (size_t)len; at += used) {
        int key = key_take(bytes + at, (size_t)len - at, &used);
        if (key != KEY_NONE) {
            terminal->handler->key(terminal->ctx, key);
        }
    }
}

static void on_alarm(struct terminal *terminal)
{
    uint64_t times;
    if (read(terminal->alarm, &times, sizeof(times)) == (ssize_t)sizeof(times)) {
        terminal->alarm_set = false;
        terminal->handler->alarm(terminal->ctx);
    }
}

void terminal_ready(void *ctx)
{
    struct terminal *terminal = ctx;
    struct epoll_event events[4];
    int count = epoll_wait(terminal->events, events, ARRAY_LEN(events), 0);
    for (int i = 0; i < count; i++) {
        if (events[i].data.fd == terminal->signals) {
            on_signals(terminal);
        } else if (events[i].data.fd == terminal->alarm) {
            on_alarm(terminal);
        } else {
            on_keys(terminal);
        }
    }
}

void terminal_set_alarm(struct terminal *terminal, unsigned ms)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000L + 1}};
    if (!terminal->alarm_set) {
        terminal->alarm_set = timerfd_settime(terminal->alarm, 0, &when, NULL) == 0;
    }
}

/* --- opening and closing ------------------------------------------------------------------------ */

static int watch(const struct terminal *terminal, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};
    return fd < 0 ? -1 : epoll_ctl(terminal->events, EPOLL_CTL_ADD, fd, &event);
}

int terminal_open(struct terminal *terminal, const struct terminal_handler *handler, void *ctx,
                  struct error *err)
{
    sigset_t taken;
    *terminal = (struct terminal){.handler = handler, .ctx = ctx, .events = -1, .signals = -1, .alarm = -1};
    sigemptyset(&taken);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        if (!signal_is_ignored(numbers[i])) {
            sigaddset(&taken, numbers[i]);
        }
    }
    pthread_sigmask(SIG_BLOCK, &taken, &terminal->mask);
    terminal->events = epoll_create1(EPOLL_CLOEXEC);
    terminal->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    terminal->alarm = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    terminal->has_keys = tcgetattr(STDIN_FILENO, &terminal->before) == 0;
    if (watch(terminal, terminal->signals) != 0 || watch(terminal, terminal->alarm) != 0 ||
        (terminal->has_keys && watch(terminal, STDIN_FILENO) != 0)) {
        return error_set_errno(err, &kind_local, errno, "the terminal cannot be watched");
    }
    take(terminal);
    return 0;
}

static void close_fd(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

void terminal_close(struct terminal *terminal)
{
    give_back(terminal);
    close_fd(terminal->events);
    close_fd(terminal->signals);
    close_fd(terminal->alarm);
    pthread_sigmask(SIG_SETMASK, &terminal->mask, NULL);
}

int terminal_fd(const struct terminal *terminal)
{
    return terminal->events;
}
