/* Decides from which other member each member of a relay gets its next piece. */
#include "model/relay.h"

#include <stdlib.h>

#include "base/alloc.h"

#define EXTRA_FOLLOWERS 2 /* above the usual number, for members whose source failed */
#define FAILED_AT_FIRST 2 /* failed attempts before any success: then only the head is used */
#define FAILED_LATER    8

void relay_release(struct relay *relay)
{
    for (size_t i = 0; i < relay->len; i++) {
        free(relay->members[i].avoided);
    }
    free(relay->members);
    *relay = (struct relay){0};
}

size_t relay_join(struct relay *relay, bool serves, bool fetches)
{
    relay->members = xgrow(relay->members, relay->len, &relay->cap, sizeof(*relay->members));
    relay->members[relay->len] =
        (struct relay_member){.serves = serves, .fetches = fetches, .source = RELAY_NONE};
    return relay->len++;
}

void relay_leave(struct relay *relay, size_t member)
{
    relay->members[member].gone = true;
    relay->members[member].source = RELAY_NONE;
}

static size_t followers_of(const struct relay *relay, size_t member)
{
    size_t count = 0;

    for (size_t i = 0; i < relay->len; i++) {
        const struct relay_member *other = &relay->members[i];
        count += !other->gone && other->source == member && other->have < relay->pieces ? 1 : 0;
    }
    return count;
}

/* A chain uses the full rate of every link, but its last member waits for as many pieces as there are members
 * before it. */
static size_t followers_limit(const struct relay *relay)
{
    const size_t members = relay->len > relay->expected ? relay->len : relay->expected;

    return relay->pieces >= members ? 1 : 2;
}

static bool is_avoided(const struct relay_member *member, size_t other)
{
    for (size_t i = 0; i < member->avoided_len; i++) {
        if (member->avoided[i] == other) {
            return true;
        }
    }
    return false;
}

/* Does from get its pieces from member, directly or through others? */
static bool is_downstream(const struct relay *relay, size_t from, size_t member)
{
    for (size_t i = 0; i < relay->len && from != RELAY_NONE; i++) {
        if (from == member) {
            return true;
        }
        from = relay->members[from].source;
    }
    return false;
}

static bool may_fetch_from(const struct relay *relay, size_t member, size_t from)
{
    const struct relay_member *other = &relay->members[from];

    return other->serves && !other->gone && !is_avoided(&relay->members[member], from) &&
           !is_downstream(relay, from, member);
}

static bool holds(const struct relay_member *member, size_t piece)
{
    return member->kept <= piece && piece < member->have;
}

/*
 * A member that is not behind and has or will have the piece: the first one, so that a tree fills level by
 * level.
 */
static size_t find_ahead(const struct relay *relay, size_t member, size_t limit)
{
    const size_t piece = relay->members[member].next;

    for (size_t i = 0; i < relay->len; i++) {
        const struct relay_member *other = &relay->members[i];
        if (i != member && other->have >= piece && other->kept <= piece && may_fetch_from(relay, member, i) &&
            followers_of(relay, i) < limit) {
            return i;
        }
    }
    return RELAY_NONE;
}

/* A member that has the piece, with as few followers as possible. */
static size_t find_holder(const struct relay *relay, size_t member, size_t limit)
{
    size_t best = RELAY_NONE, least = limit;

    for (size_t i = 0; i < relay->len; i++) {
        if (i == member || i == relay->members[member].source ||
            !holds(&relay->members[i], relay->members[member].next) || !may_fetch_from(relay, member, i)) {
            continue;
        }
        const size_t followers = followers_of(relay, i);
        if (followers < least) {
            least = followers;
            best = i;
        }
    }
    return best;
}

enum relay_from relay_choose(struct relay *relay, size_t index, bool impatient)
{
    struct relay_member *member = &relay->members[index];
    const size_t limit = followers_limit(relay);

    if (!member->fetches) {
        member->source = RELAY_NONE;
        return RELAY_HEAD;
    }
    if (member->source != RELAY_NONE && !may_fetch_from(relay, index, member->source)) {
        member->source = RELAY_NONE;
    }
    if (member->source == RELAY_NONE) {
        member->source = find_ahead(relay, index, limit);
    }
    if (member->source == RELAY_NONE) {
        member->source = find_holder(relay, index, limit + EXTRA_FOLLOWERS);
    }
    if (member->source == RELAY_NONE || relay->members[member->source].kept > member->next) {
        return RELAY_HEAD;
    }
    if (!holds(&relay->members[member->source], member->next)) {
        const size_t other = impatient ? find_holder(relay, index, limit + EXTRA_FOLLOWERS) : RELAY_NONE;
        if (other == RELAY_NONE) {
            return RELAY_WAIT;
        }
        member->source = other;
    }
    return RELAY_MEMBER;
}

void relay_sent(struct relay *relay, size_t member)
{
    relay->members[member].next++;
}

void relay_arrived(struct relay *relay, size_t member, size_t from)
{
    relay->members[member].have++;
    if (from != RELAY_NONE) {
        relay->members[member].next++;
        relay->members[member].fetched++;
        relay->members[from].served++;
        relay->members[from].refused = 0;
    }
}

void relay_failed(struct relay *relay, size_t index, bool damaged)
{
    struct relay_member *member = &relay->members[index];
    struct relay_member *source = &relay->members[member->source];

    member->avoided =
        xgrow(member->avoided, member->avoided_len, &member->avoided_cap, sizeof(*member->avoided));
    member->avoided[member->avoided_len++] = member->source;
    member->source = RELAY_NONE;
    member->failed++;
    source->refused++;
    if (damaged || (source->served == 0 && source->refused >= FAILED_AT_FIRST)) {
        source->serves = false;
    }
    if (member->failed >= (member->fetched == 0 ? FAILED_AT_FIRST : FAILED_LATER)) {
        member->fetches = false;
    }
}

size_t relay_forget(struct relay *relay, size_t index)
{
    struct relay_member *member = &relay->members[index];
    size_t low = relay->open ? 0 : member->have;

    for (size_t i = 0; i < relay->len; i++) {
        const struct relay_member *other = &relay->members[i];
        if (!other->gone && other->fetches && other->have < low) {
            low = other->have;
        }
    }
    if (member->have > RELAY_KEPT && low < member->have - RELAY_KEPT) {
        low = member->have - RELAY_KEPT;
    }
    if (low > member->kept) {
        member->kept = low;
    }
    return member->kept;
}

bool relay_is_needed(const struct relay *relay, size_t member)
{
    return relay->members[member].serves && followers_of(relay, member) > 0;
}
