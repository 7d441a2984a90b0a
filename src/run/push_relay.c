/* Groups hosts that lack the same files and pass them on to each other. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "push_internal.h"
#include "push_relay_internal.h"

#define WORTH_BYTES (4u << 20) /* less is sent faster than a host can be prepared to pass it on */
#define PORTS       6          /* number of ports that a host tries to listen on */
#define COUNT_PORTS 9000       /* from PUSH_RELAY_PORT on: below the kernel's ephemeral ports */
#define LISTEN_S    3600       /* a host listens for this long, plus one second per MiB */

struct relay_member *push_relay_member(const struct push_host *host)
{
    return &host->relay.group->relay.members[host->relay.member];
}

/* --- abilities of a host --- */

static uint64_t needed_bytes(const struct push_host *host)
{
    const struct tree *tree = &host->push->source.tree;
    uint64_t bytes = 0;

    for (size_t i = 0; i < tree->len; i++) {
        bytes += push_is_needed(&host->states[i]) ? tree->items[i].size : 0;
    }
    return bytes;
}

bool push_relay_is_wanted(const struct push_host *host)
{
    const struct run_copy_request *request = host->push->request;

    return request->relay && request->count > 1 && !request->endpoints[host->call.host].local &&
           needed_bytes(host) >= WORTH_BYTES;
}

/*
 * The address by which other hosts reach it: that of the host list, else "", the one used from here. A login
 * knows this address but a container does not, so a container gets it.
 */
static const char *address_of(const struct push_host *host)
{
    const struct run_copy_request *request = host->push->request;
    const size_t index = host->call.host;

    if (request->addresses && request->addresses[index]) {
        return request->addresses[index];
    }
    return request->container ? request->endpoints[index].hostname : "";
}

void push_relay_add_open(struct push_host *host, struct str *text)
{
    AUTO_STRLIST struct strlist words = STRLIST_INIT;
    uint16_t random[PORTS] = {0};

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        abort(); /* cannot happen for so few bytes */
    }
    strlist_addf(&words, "%llu", (unsigned long long)(LISTEN_S + (needed_bytes(host) >> 20)));
    strlist_add(&words, address_of(host));
    for (size_t i = 0; i < PORTS; i++) {
        strlist_addf(&words, "%u", PUSH_RELAY_PORT + random[i] % COUNT_PORTS);
    }
    node_copy_call(text, NODE_COPY_RELAY_OPEN, (const char *const *)words.items, words.len);
}

/* --- groups --- */

static bool lacks_the_same(const struct push_host *host, const struct push_group *group)
{
    const struct tree *tree = &host->push->source.tree;
    size_t at = 0;

    for (size_t i = 0; i < tree->len; i++) {
        if (!push_is_needed(&host->states[i])) {
            continue;
        }
        if (at == group->pieces.entries_len || group->pieces.entries[at] != i) {
            return false;
        }
        at++;
    }
    return at == group->pieces.entries_len;
}

static struct push_group *make_group(struct push_host *host)
{
    struct push *push = host->push;
    struct push_group *group = xcalloc(1, sizeof(*group));
    size_t *entries = xcalloc(push->source.tree.len, sizeof(*entries));
    size_t len = 0;

    for (size_t i = 0; i < push->source.tree.len; i++) {
        if (push_is_needed(&host->states[i])) {
            entries[len++] = i;
        }
    }
    push_pieces_init(&group->pieces, &push->source, entries, len);
    group->relay.pieces = group->pieces.len;
    group->relay.expected =
        push->request->count < push->request->fanout ? push->request->count : push->request->fanout;
    group->next = push->groups;
    push->groups = group;
    return group;
}

void push_relay_join(struct push_host *host)
{
    struct push_relay_link *link = &host->relay;
    struct push_group *group = host->push->groups;

    while (group && !lacks_the_same(host, group)) {
        group = group->next;
    }
    link->group = group ? group : make_group(host);
    group = link->group;
    const bool fetches = link->key && link->sum_kind == PUSH_SUM_SHA256;
    if (link->key && !fetches) {
        free(link->why);
        link->why = xstrdup("no 'sha256sum' there");
    }
    link->member = relay_join(&group->relay, link->port && link->hostkey, fetches);
    link->asked = link->admitted = link->connected = link->fetched_from = RELAY_NONE;
    group->members =
        xgrow(group->members, group->relay.len - 1, &group->members_cap, sizeof(*group->members));
    group->members[link->member] = host;
    push_decide(host);
    host->step = PUSH_PIECE;
}

void push_relay_leave(struct push_host *host)
{
    struct push_group *group = host->relay.group;

    if (!group || !group->members[host->relay.member]) {
        return;
    }
    relay_leave(&group->relay, host->relay.member);
    group->members[host->relay.member] = NULL;
    for (size_t i = 0; i < group->relay.len; i++) { /* hosts that waited for it choose another source */
        if (group->members[i] && group->members[i]->waits && group->members[i]->step == PUSH_PIECE) {
            push_wake(group->members[i]);
        }
    }
}

const char *push_relay_why(const struct push_host *host)
{
    const struct push_relay_link *link = &host->relay;

    return link->group && !push_relay_member(host)->fetches ? link->why : NULL;
}

void push_relay_release_link(struct push_host *host)
{
    struct push_relay_link *link = &host->relay;

    push_piece_release(&link->reader);
    str_release(&link->control);
    free(link->key);
    free(link->address);
    free(link->port);
    free(link->user);
    free(link->hostkey);
    free(link->why);
    *link = (struct push_relay_link){0};
}

void push_relay_release(struct push *push)
{
    while (push->groups) {
        struct push_group *group = push->groups;
        push->groups = group->next;
        push_pieces_release(&group->pieces);
        relay_release(&group->relay);
        free(group->members);
        free(group);
    }
}
