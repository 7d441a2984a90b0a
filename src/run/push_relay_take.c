/* Handles the reports of a host in a relay: what it can do, and which pieces it has. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "push_internal.h"

#define ABILITIES_MAX 8 /* frames about the abilities of a host */

static bool is_plain(const char *text, const char *more)
{
    for (; *text != '\0'; text++) {
        if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
              (*text >= '0' && *text <= '9') || strchr(more, *text))) {
            return false;
        }
    }
    return true;
}

/*
 * "TYPE BASE64", as in files of OpenSSH. It is quoted where it is used, and must fit on one line of a file.
 */
static bool key_is_valid(const char *key)
{
    return strlen(key) < 4096 && is_plain(key, " +/=.@-") && strchr(key, ' ') && key[0] != ' ' &&
           (text_starts(key, "ssh-") || text_starts(key, "ecdsa-"));
}

static bool address_is_valid(const char *address)
{
    unsigned char bytes[16];

    return inet_pton(AF_INET, address, bytes) == 1 || inet_pton(AF_INET6, address, bytes) == 1;
}

/* "USER PORT ADDRESS" */
static bool take_door(struct push_relay_link *link, const char *value)
{
    const char *port = strchr(value, ' ');
    const char *address = port ? strchr(port + 1, ' ') : NULL;
    uint64_t number = 0;

    if (!address) {
        return false;
    }
    AUTO_FREE char *user = xstrndup(value, (size_t)(port - value));
    AUTO_FREE char *digits = xstrndup(port + 1, (size_t)(address - port - 1));
    if (!host_user_is_valid(user, strlen(user)) ||
        !text_to_uint(digits, PUSH_RELAY_PORT, UINT16_MAX, &number) || !address_is_valid(address + 1) ||
        link->port) {
        return false;
    }
    link->user = user;
    link->port = digits;
    link->address = xstrdup(address + 1);
    user = digits = NULL;
    return true;
}

static void set_text(char **text, const char *value)
{
    free(*text);
    *text = xstrdup(value);
}

/* Handle a frame about what the host can do. */
static int take_ability(struct push_host *host, const char *key, const char *value, struct error *err)
{
    struct push_relay_link *link = &host->relay;
    bool good = link->said++ < ABILITIES_MAX;

    if (!good) {
        return copy_call_unexpected(&host->call, err);
    }
    if (strcmp(key, "relay_summer") == 0) {
        link->sum_kind = strcmp(value, "sha256sum") == 0 ? PUSH_SUM_SHA256 : PUSH_SUM_CKSUM;
    } else if (strcmp(key, "relay_key") == 0 && (good = key_is_valid(value))) {
        set_text(&link->key, value);
    } else if (strcmp(key, "relay_host_key") == 0 && (good = key_is_valid(value))) {
        set_text(&link->hostkey, value);
    } else if (strcmp(key, "relay_door") == 0) {
        good = take_door(link, value);
    } else if (strcmp(key, "relay_alone") == 0) {
        set_text(&link->why, value);
    } else if (strcmp(key, "relay_open") == 0) {
        push_relay_join(host);
        push_wake(host);
    }
    return good ? 0
                : error_set(err, &kind_node_answer, "the node says '%s=%s', which is impossible", key, value);
}

static void wake_followers(const struct push_host *host)
{
    const struct push_group *group = host->relay.group;

    for (size_t i = 0; i < group->relay.len; i++) {
        struct push_host *other = group->members[i];
        if (other && other->waits && other->step == PUSH_PIECE &&
            group->relay.members[i].source == host->relay.member) {
            push_wake(other);
        }
    }
}

static void take_piece(struct push_host *host)
{
    struct push_relay_link *link = &host->relay;
    const size_t index = push_relay_member(host)->have;
    const bool fetched = index == push_relay_member(host)->next; /* else the head sent it */

    relay_arrived(&link->group->relay, link->member, fetched ? link->fetched_from : RELAY_NONE);
    if (fetched) {
        host->end.bytes_relayed += link->group->pieces.items[index].bytes;
        host->push->progress.bytes_done += link->group->pieces.items[index].bytes;
        host->step = PUSH_TAKE;
        push_wake(host);
    }
    wake_followers(host);
}

static void take_failure(struct push_host *host, const char *why)
{
    struct push_relay_link *link = &host->relay;
    const struct push *push = host->push;
    const bool damaged = strcmp(why, "damaged") == 0;
    const struct push_host *source = link->group->members[link->fetched_from];

    if (damaged) {
        AUTO_FREE char *text =
            xasprintf("%s got something else from %s than was sent (another SHA-256): it was dropped, and "
                      "comes from elsewhere",
                      push->request->labels->items[host->call.host],
                      source ? push->request->labels->items[source->call.host] : "another host");
        push->request->observer->warn(push->request->observer->ctx, text);
    }
    set_text(&link->why, damaged ? "what other hosts passed on was damaged" : why);
    if (push_relay_member(host)->source == link->fetched_from) {
        relay_failed(&link->group->relay, link->member, damaged);
    }
    link->connected = RELAY_NONE;
    host->step = PUSH_PIECE;
    push_wake(host);
}

static bool take_admission(struct push_host *host, const char *value)
{
    const struct push_group *group = host->relay.group;
    uint64_t member = 0;

    if (host->relay.admissions == 0 || !text_to_uint(value, 0, group->relay.len - 1, &member)) {
        return false;
    }
    host->relay.admissions--;
    struct push_host *other = group->members[member];
    if (!other || other->relay.asked != host->relay.member) {
        return true; /* the other host is over, or has chosen another source */
    }
    other->relay.admitted = host->relay.member;
    if (other->waits && other->step == PUSH_PIECE) {
        push_wake(other);
    }
    return true;
}

int push_relay_take_frame(struct push_host *host, const char *key, const char *value, struct error *err)
{
    uint64_t number = 0;

    if (host->step == PUSH_JOIN) {
        return take_ability(host, key, value, err);
    }
    if (!host->relay.group) {
        return copy_call_unexpected(&host->call, err);
    }
    if (strcmp(key, "have") == 0 && text_to_uint(value, 0, SIZE_MAX, &number) &&
        number == push_relay_member(host)->have &&
        (number < push_relay_member(host)->next || host->step == PUSH_FETCH)) {
        take_piece(host);
    } else if (strcmp(key, "fetch_failed") == 0 && host->step == PUSH_FETCH) {
        take_failure(host, value);
    } else if (strcmp(key, "admitted") != 0 || !take_admission(host, value)) {
        return copy_call_unexpected(&host->call, err);
    }
    return 0;
}
