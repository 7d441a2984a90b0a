/* Makes the input of a host in a relay: where its next piece comes from, and what to do with it. */
#include <stdlib.h>

#include "base/alloc.h"
#include "node/copy.h"
#include "push_internal.h"

#define IMPATIENT_MS 10000 /* a source that lags for this long is replaced */
#define STAY_MS      10000 /* how long a host stays for hosts that have not been compared yet */

static uint64_t now_ms(const struct push_host *host)
{
    return (uint64_t)fleet_now_ms(host->push->hosts.fleet);
}

void push_relay_wait(struct push_host *host, struct str *out)
{
    (void)out;
    host->waits = true;
}

void push_relay_add_control(struct push_host *host, struct str *out)
{
    node_copy_add_run(out, &host->relay.control);
    str_release(&host->relay.control);
}

/* Make source admit the host's key. true: it has. */
static bool is_admitted(struct push_host *host, size_t source)
{
    struct push_relay_link *link = &host->relay;
    struct push_host *other = link->group->members[source];

    if (link->admitted == source) {
        return true;
    }
    if (link->asked != source) {
        char number[32];
        snprintf(number, sizeof(number), "%zu", link->member);
        node_copy_call(&other->relay.control, NODE_COPY_ADMIT, (const char *const[]){number, link->key}, 2);
        link->asked = source;
        other->relay.admissions++;
        push_wake(other);
    }
    return false;
}

static void fetch(struct push_host *host, size_t index, struct str *out)
{
    struct push_relay_link *link = &host->relay;
    struct push_pieces *pieces = &link->group->pieces;
    const size_t source = push_relay_member(host)->source;
    const struct push_relay_link *other = &link->group->members[source]->relay;
    AUTO_STR struct str text = STR_INIT;
    char number[32], records[32];

    if (link->connected != source) {
        node_copy_call(&text, NODE_COPY_CONNECT,
                       (const char *const[]){other->address, other->port, other->user, other->hostkey}, 4);
        link->connected = source;
    }
    snprintf(number, sizeof(number), "%zu", index);
    snprintf(records, sizeof(records), "%llu",
             (unsigned long long)(pieces->items[index].length / NODE_COPY_RECORD));
    node_copy_call(&text, NODE_COPY_FETCH,
                   (const char *const[]){number, records, push_pieces_sum(pieces, index, PUSH_SUM_SHA256)},
                   3);
    node_copy_add_run(out, &text);
    link->fetched_from = source;
    host->step = PUSH_FETCH;
}

static void begin_sending(struct push_host *host, size_t index, struct str *out)
{
    struct push_relay_link *link = &host->relay;
    struct push_pieces *pieces = &link->group->pieces;
    AUTO_STR struct str text = STR_INIT;
    char number[32];

    snprintf(number, sizeof(number), "%zu", index);
    node_copy_call(&text, NODE_COPY_EXPECT,
                   (const char *const[]){number, push_pieces_sum(pieces, index, link->sum_kind)}, 2);
    node_copy_add_run(out, &text);
    node_copy_add_piece(out, pieces->items[index].length);
    push_piece_begin(&link->reader, pieces, index);
    relay_sent(&link->group->relay, link->member);
    link->fetched_from = RELAY_NONE;
    host->step = PUSH_SEND;
}

void push_relay_choose(struct push_host *host, struct str *out)
{
    struct push_relay_link *link = &host->relay;
    struct relay *relay = &link->group->relay;
    const size_t index = push_relay_member(host)->next;
    const bool impatient = link->since_ms != 0 && now_ms(host) - link->since_ms >= IMPATIENT_MS;

    if (index == relay->pieces) {
        link->since_ms = 0;
        host->step = PUSH_MODES;
        return;
    }
    switch (relay_choose(relay, link->member, impatient)) {
    case RELAY_HEAD:
        link->since_ms = 0;
        begin_sending(host, index, out);
        return;
    case RELAY_MEMBER:
        if (is_admitted(host, push_relay_member(host)->source)) {
            link->since_ms = 0;
            fetch(host, index, out);
            return;
        }
        break;
    case RELAY_WAIT:
        /* ask early, so that it is admitted when the piece is there */
        is_admitted(host, push_relay_member(host)->source);
        break;
    }
    if (link->since_ms == 0) {
        link->since_ms = now_ms(host);
    }
    host->waits = true;
}

void push_relay_send(struct push_host *host, struct str *out)
{
    struct push_relay_link *link = &host->relay;

    if (push_piece_fill(&link->reader, out)) {
        return;
    }
    host->push->progress.bytes_done += link->group->pieces.items[link->reader.index].bytes;
    push_piece_release(&link->reader);
    host->step = PUSH_TAKE; /* the host accepts the piece only if the checksum is right */
}

/* Delete pieces that no other host will ask for. */
static void add_forget(struct push_host *host, struct str *text)
{
    struct relay *relay = &host->relay.group->relay;
    const size_t first = push_relay_member(host)->kept;
    char from[32], to[32];

    relay->open = host->push->undecided > 0;
    const size_t end = relay_forget(relay, host->relay.member);
    if (end > first) {
        snprintf(from, sizeof(from), "%zu", first);
        snprintf(to, sizeof(to), "%zu", end);
        node_copy_call(text, NODE_COPY_FORGET, (const char *const[]){from, to}, 2);
    }
}

/* A large file is complete: move it into the room, like the files of an archive. */
static void add_place(const struct push_host *host, size_t entry, struct str *text)
{
    const struct tree_entry *what = &host->push->source.tree.items[entry];
    char mode[16], stamp[64];

    if (host->states[entry].torn) {
        node_copy_call(text, NODE_COPY_ABANDON, NULL, 0);
        return;
    }
    snprintf(mode, sizeof(mode), "%04o", what->mode);
    push_stamp(what, stamp);
    node_copy_call(text, NODE_COPY_PLACE, (const char *const[]){what->path, mode, stamp}, 3);
}

void push_relay_take(struct push_host *host, struct str *out)
{
    const struct push_pieces *pieces = &host->relay.group->pieces;
    const size_t index = push_relay_member(host)->next - 1;
    const struct push_piece *piece = &pieces->items[index];
    AUTO_STR struct str text = STR_INIT;
    char number[32], bytes[32];

    snprintf(number, sizeof(number), "%zu", index);
    if (piece->is_part) {
        snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)piece->bytes);
        node_copy_call(&text, NODE_COPY_APPEND, (const char *const[]){number, bytes}, 2);
    } else {
        node_copy_call(&text, NODE_COPY_UNPACK, (const char *const[]){number}, 1);
    }
    if (!piece->is_part || piece->is_last) {
        for (size_t i = piece->first; i < piece->first + piece->count; i++) {
            host->states[pieces->entries[i]].torn = pieces->torn[i];
        }
        if (piece->is_part) {
            add_place(host, pieces->entries[piece->first], &text);
        }
        push_add_moves(host, &pieces->entries[piece->first], piece->count, &text);
    }
    add_forget(host, &text);
    node_copy_add_run(out, &text);
    host->step = PUSH_PIECE;
}

void push_relay_stay(struct push_host *host, struct str *out)
{
    struct push_relay_link *link = &host->relay;

    (void)out;
    if (link->group && link->since_ms == 0) {
        link->since_ms = now_ms(host);
    }
    host->waits = link->group && (relay_is_needed(&link->group->relay, link->member) ||
                                  (host->push->undecided > 0 && push_relay_member(host)->serves &&
                                   now_ms(host) - link->since_ms < STAY_MS));
    if (!host->waits) {
        host->step = PUSH_END;
    }
}

void push_relay_tick(struct push *push)
{
    for (size_t i = 0; push->groups && i < push->hosts.next; i++) {
        struct push_host *host = &push->items[i];
        if (host->waits && (host->step == PUSH_PIECE || host->step == PUSH_STAY)) {
            push_go_on(host);
        }
    }
}
