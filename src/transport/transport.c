/* The table of transports, and the limits and signal names that they share. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "transport/transport_internal.h"

#define MAX_SILENT 3

const struct transport_ops *const transports_all[] = {&transport_local, &transport_openssh, &transport_ssh};
const size_t transports_all_count = ARRAY_LEN(transports_all);

const struct transport_ops *transport_find(const struct endpoint *endpoint)
{
    for (size_t i = 0; i + 1 < transports_all_count; i++) {
        if (transports_all[i]->serves(endpoint)) {
            return transports_all[i];
        }
    }
    return transports_all[transports_all_count - 1];
}

const struct transport_ops *transport_find_carrier(void)
{
    size_t i = 0;

    while (!transports_all[i]->carries) { /* a unit test checks that the table has one */
        i++;
    }
    return transports_all[i];
}

unsigned transport_answer_ms(const struct transport_setup *setup)
{
    return setup->connect_timeout_ms != 0 ? setup->connect_timeout_ms : FLEET_CONNECT_MS;
}

unsigned transport_connect_ms(const struct transport_setup *setup, const struct endpoint *endpoint)
{
    unsigned own = endpoint->connect_timeout_ms;

    return own != 0 && setup->connect_timeout_ms == 0 ? own : transport_answer_ms(setup);
}

unsigned transport_keepalive_ms(const struct transport_setup *setup, const struct endpoint *endpoint)
{
    return endpoint->alive_interval_ms != 0 ? endpoint->alive_interval_ms : setup->keepalive_ms;
}

unsigned transport_max_silent(const struct endpoint *endpoint)
{
    return endpoint->alive_count_max != 0 ? endpoint->alive_count_max : MAX_SILENT;
}

/* Names as in RFC 4254 6.10 and in sh's kill. The C library's own table is too new (glibc 2.32). */
static const struct {
    int number;
    const char *name;
} signals[] = {
    {SIGHUP, "HUP"},   {SIGINT, "INT"},     {SIGQUIT, "QUIT"}, {SIGILL, "ILL"},   {SIGTRAP, "TRAP"},
    {SIGABRT, "ABRT"}, {SIGBUS, "BUS"},     {SIGFPE, "FPE"},   {SIGKILL, "KILL"}, {SIGUSR1, "USR1"},
    {SIGSEGV, "SEGV"}, {SIGUSR2, "USR2"},   {SIGPIPE, "PIPE"}, {SIGALRM, "ALRM"}, {SIGTERM, "TERM"},
    {SIGCHLD, "CHLD"}, {SIGCONT, "CONT"},   {SIGSTOP, "STOP"}, {SIGTSTP, "TSTP"}, {SIGTTIN, "TTIN"},
    {SIGTTOU, "TTOU"}, {SIGURG, "URG"},     {SIGXCPU, "XCPU"}, {SIGXFSZ, "XFSZ"}, {SIGVTALRM, "VTALRM"},
    {SIGPROF, "PROF"}, {SIGWINCH, "WINCH"}, {SIGIO, "IO"},     {SIGPWR, "PWR"},   {SIGSYS, "SYS"},
};

const char *transport_signal_name(int number)
{
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        if (signals[i].number == number) {
            return signals[i].name;
        }
    }
    return NULL;
}

int transport_signal_number(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        if (strcmp(signals[i].name, name) == 0) {
            return signals[i].number;
        }
    }
    return 0;
}

void transport_set_signal(struct exec_result *result, const char *name)
{
    int number = transport_signal_number(name);

    snprintf(result->signal, sizeof(result->signal), "%s", name);
    /* A signal that only the other system knows (sshd sends "SIG@openssh.com") is a failure too. */
    result->exit_status = number > 0 ? 128 + number : 255;
}
