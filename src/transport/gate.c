#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "transport/gate_internal.h"

/* One address and port; lives while somebody is inside or waits. */
struct gate {
    struct gate *next;
    unsigned char key[20]; /* IPv4 as mapped IPv6, zone left out; port */
    unsigned inside;
    struct gate_turn *waiting;
};

static void make_key(const struct sockaddr *address, unsigned char key[20])
{
    memset(key, 0, 20);
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in4;
        memcpy(&in4, address, sizeof(in4));
        if ((ntohl(in4.sin_addr.s_addr) >> 24) == 127)
            in4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        key[10] = key[11] = 0xff;
        memcpy(key + 12, &in4.sin_addr, 4);
        memcpy(key + 16, &in4.sin_port, 2);
    } else {
        struct sockaddr_in6 in6;
        memcpy(&in6, address, sizeof(in6));
        memcpy(key, &in6.sin6_addr, 16);
        memcpy(key + 16, &in6.sin6_port, 2);
    }
}

static struct gate *find_gate(struct gates *gates, const unsigned char key[20])
{
    struct gate *gate;

    for (gate = gates->first; gate != NULL; gate = gate->next) {
        if (memcmp(gate->key, key, 20) == 0)
            return gate;
    }
    gate = xcalloc(1, sizeof(*gate));
    memcpy(gate->key, key, 20);
    gate->next = gates->first;
    gates->first = gate;
    return gate;
}

bool gate_enter(struct gates *gates, const struct sockaddr *address, struct gate_turn *turn)
{
    unsigned char key[20];
    struct gate_turn **at;

    make_key(address, key);
    turn->gate = find_gate(gates, key);
    turn->next = NULL;
    turn->inside = turn->gate->inside < GATE_WIDTH;
    if (turn->inside) {
        turn->gate->inside++;
        return true;
    }
    at = &turn->gate->waiting;
    while (*at != NULL)
        at = &(*at)->next;
    *at = turn;
    return false;
}

static void drop_gate(struct gates *gates, struct gate *gate)
{
    struct gate **at = &gates->first;

    while (*at != gate)
        at = &(*at)->next;
    *at = gate->next;
    free(gate);
}

void gate_leave(struct gates *gates, struct gate_turn *turn)
{
    struct gate *gate = turn->gate;
    struct gate_turn *next;

    if (gate == NULL)
        return;
    turn->gate = NULL;
    if (!turn->inside) {
        struct gate_turn **at = &gate->waiting;
        while (*at != turn)
            at = &(*at)->next;
        *at = turn->next;
        return; /* those inside keep the gate */
    }
    turn->inside = false;
    next = gate->waiting;
    if (next != NULL) {
        gate->waiting = next->next;
        next->next = NULL;
        next->inside = true;
        next->granted(next->ctx);
        return;
    }
    if (--gate->inside == 0)
        drop_gate(gates, gate);
}
