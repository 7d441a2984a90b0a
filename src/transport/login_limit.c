/*
 * Limits how many logins to one server are in progress at a time, and says how long to wait before the next
 * try.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/alloc.h"
#include "base/list.h"
#include "model/login_words.h"
#include "transport/login_limit_internal.h"

#define FIRST_PAUSE_MS   100 /* doubled each time; half of it is random */
#define LONGEST_PAUSE_MS 2000
#define PUNISHED_PAUSES  4 /* pauses that are skipped: the first one is 0.8 to 1.6 s */

/* The limit of one route, address and port; it exists while a login is inside or waits. */
struct login_limit {
    struct list_link link;
    char *key;
    unsigned inside;
    struct list waiting; /* of login_slot, in order */
};

static char *make_key(const char *via, const char *host, unsigned port)
{
    struct in_addr in4;

    if (inet_pton(AF_INET, host, &in4) == 1 && (ntohl(in4.s_addr) >> 24) == 127) {
        host = "127.0.0.1";
    }
    return xasprintf("%s %u %s", host, port, via ? via : "");
}

/* Takes ownership of the key. */
static struct login_limit *find_limit(struct login_limits *limits, char *key)
{
    struct login_limit *limit;

    LIST_EACH(&limits->limits, struct login_limit, link, at) {
        if (strcmp(at->key, key) == 0) {
            free(key);
            return at;
        }
    }
    limit = xcalloc(1, sizeof(*limit));
    limit->key = key;
    list_prepend(&limits->limits, &limit->link);
    return limit;
}

bool login_limit_enter_by_name(struct login_limits *limits, const char *via, const char *host, unsigned port,
                               struct login_slot *slot)
{
    struct login_limit *limit = find_limit(limits, make_key(via, host, port));

    slot->limit = limit;
    slot->inside = limit->inside < LOGIN_LIMIT;
    if (slot->inside) {
        limit->inside++;
    } else {
        list_append(&limit->waiting, &slot->link);
    }
    return slot->inside;
}

bool login_limit_enter(struct login_limits *limits, const struct sockaddr *address, struct login_slot *slot)
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
    return login_limit_enter_by_name(limits, NULL, host, port, slot);
}

void login_limit_leave(struct login_slot *slot)
{
    struct login_limit *limit = slot->limit;
    struct login_slot *next;

    if (!limit) {
        return;
    }
    slot->limit = NULL;
    if (!slot->inside) { /* those inside keep the limit alive */
        list_remove(&slot->link);
        return;
    }
    slot->inside = false;
    next = LIST_FIRST(&limit->waiting, struct login_slot, link);
    if (next) {
        list_remove(&next->link);
        next->inside = true;
        next->granted(next->ctx);
        return;
    }
    if (--limit->inside == 0) {
        list_remove(&limit->link);
        free(limit->key);
        free(limit);
    }
}

uint64_t login_pause_ms(unsigned tries)
{
    uint64_t whole = (uint64_t)FIRST_PAUSE_MS << tries;
    unsigned random = 0;

    if (whole > LONGEST_PAUSE_MS) {
        whole = LONGEST_PAUSE_MS;
    }
    uv_random(NULL, NULL, &random, sizeof(random), 0, NULL);
    return whole / 2 + random % (whole / 2 + 1);
}

uint64_t login_pause_after(unsigned tries, const char *greeting)
{
    bool punished = strstr(greeting, LOGIN_WORDS_PENALTY);

    if (tries + 1 >= (punished ? LOGIN_MAX_TRIES_PUNISHED : LOGIN_MAX_TRIES)) {
        return 0;
    }
    return login_pause_ms(punished ? tries + PUNISHED_PAUSES : tries);
}
