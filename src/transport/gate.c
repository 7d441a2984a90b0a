#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/alloc.h"
#include "model/login_words.h"
#include "transport/gate_internal.h"

#define FIRST_PAUSE_MS   100 /* doubled each time, half of it by chance */
#define LONGEST_PAUSE_MS 2000
#define PUNISHED_PAUSES  4 /* pauses passed over: it begins with 0.8 to 1.6 s */

/* One way, address and port; lives while somebody is inside or waits. */
struct gate {
    struct gate *next;
    char *key;
    unsigned inside;
    struct gate_turn *waiting;
};

static char *make_key(const char *via, const char *host, unsigned port)
{
    struct in_addr in4;

    if (inet_pton(AF_INET, host, &in4) == 1 && (ntohl(in4.s_addr) >> 24) == 127) {
        host = "127.0.0.1";
    }
    return xasprintf("%s %u %s", host, port, via ? via : "");
}

static struct gate *find_gate(struct gates *gates, char *key)
{
    struct gate *gate;

    for (gate = gates->first; gate; gate = gate->next) {
        if (strcmp(gate->key, key) == 0) {
            free(key);
            return gate;
        }
    }
    gate = xcalloc(1, sizeof(*gate));
    gate->key = key;
    gate->next = gates->first;
    gates->first = gate;
    return gate;
}

bool gate_enter_by_name(struct gates *gates, const char *via, const char *host, unsigned port,
                        struct gate_turn *turn)
{
    struct gate_turn **at;

    turn->gate = find_gate(gates, make_key(via, host, port));
    turn->next = NULL;
    turn->inside = turn->gate->inside < GATE_WIDTH;
    if (turn->inside) {
        turn->gate->inside++;
        return true;
    }
    at = &turn->gate->waiting;
    while (*at) {
        at = &(*at)->next;
    }
    *at = turn;
    return false;
}

bool gate_enter(struct gates *gates, const struct sockaddr *address, struct gate_turn *turn)
{
    char host[INET6_ADDRSTRLEN] = "";
    unsigned port;

    if (address->sa_family == AF_INET) {
        struct sockaddr_in in4;
        memcpy(&in4, address, sizeof(in4));
        inet_ntop(AF_INET, &in4.sin_addr, host, sizeof(host));
        port = ntohs(in4.sin_port);
    } else {
        struct sockaddr_in6 in6;
        memcpy(&in6, address, sizeof(in6));
        inet_ntop(AF_INET6, &in6.sin6_addr, host, sizeof(host));
        port = ntohs(in6.sin6_port);
    }
    return gate_enter_by_name(gates, NULL, host, port, turn);
}

static void drop_gate(struct gates *gates, struct gate *gate)
{
    struct gate **at = &gates->first;

    while (*at != gate) {
        at = &(*at)->next;
    }
    *at = gate->next;
    free(gate->key);
    free(gate);
}

void gate_leave(struct gates *gates, struct gate_turn *turn)
{
    struct gate *gate = turn->gate;
    struct gate_turn *next;

    if (!gate) {
        return;
    }
    turn->gate = NULL;
    if (!turn->inside) {
        struct gate_turn **at = &gate->waiting;
        while (*at != turn) {
            at = &(*at)->next;
        }
        *at = turn->next;
        return; /* those inside keep the gate */
    }
    turn->inside = false;
    next = gate->waiting;
    if (next) {
        gate->waiting = next->next;
        next->next = NULL;
        next->inside = true;
        next->granted(next->ctx);
        return;
    }
    if (--gate->inside == 0) {
        drop_gate(gates, gate);
    }
}

uint64_t gate_pause_ms(unsigned tries)
{
    uint64_t whole = (uint64_t)FIRST_PAUSE_MS << tries;
    unsigned chance = 0;

    if (whole > LONGEST_PAUSE_MS) {
        whole = LONGEST_PAUSE_MS;
    }
    uv_random(NULL, NULL, &chance, sizeof(chance), 0, NULL);
    return whole / 2 + chance % (whole / 2 + 1);
}

uint64_t gate_pause_after(unsigned tries, const char *greeting)
{
    bool punished = strstr(greeting, LOGIN_WORDS_PENALTY);

    if (tries + 1 >= (punished ? GATE_MAX_TRIES_PUNISHED : GATE_MAX_TRIES)) {
        return 0;
    }
    return gate_pause_ms(punished ? tries + PUNISHED_PAUSES : tries);
}
