/* Who passes pieces on to whom: chains and trees, what the head sends, and random failures. */
#include "model/relay.h"
#include "test.h"

#define MEMBERS_MAX 40

/* A generator whose sequence is the same everywhere. */
static unsigned next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*state >> 33);
}

/* What is played: each turn every member takes its next piece, if it can come. */
struct play {
    struct relay relay;
    uint64_t random;
    size_t from_head;
    bool walls[MEMBERS_MAX][MEMBERS_MAX]; /* [a][b]: a cannot reach b */
    bool liar[MEMBERS_MAX];               /* what it passes on is damaged */
};

static void check_no_loop(const struct relay *relay)
{
    for (size_t i = 0; i < relay->len; i++) {
        size_t at = i;
        for (size_t steps = 0; at != RELAY_NONE; steps++) {
            assert_true(steps <= relay->len);
            at = relay->members[at].source;
        }
    }
}

static bool turn(struct play *play, size_t i, bool impatient)
{
    struct relay_member *member = &play->relay.members[i];
    const enum relay_from from = relay_choose(&play->relay, i, impatient);

    check_no_loop(&play->relay);
    if (from == RELAY_WAIT) {
        assert_true(member->source != RELAY_NONE && !play->relay.members[member->source].gone);
        return false;
    }
    if (from == RELAY_HEAD) {
        play->from_head++;
        relay_sent(&play->relay, i);
        relay_arrived(&play->relay, i, RELAY_NONE);
        return true;
    }
    const struct relay_member *source = &play->relay.members[member->source];
    assert_true(source->kept <= member->have && member->have < source->have && !source->gone);
    if (play->walls[i][member->source] || play->liar[member->source]) {
        relay_failed(&play->relay, i, play->liar[member->source]);
        return true;
    }
    relay_arrived(&play->relay, i, member->source);
    return true;
}

/* Until every member that lives has everything. Returns the number of turns. */
static size_t play_all(struct play *play, bool deaths)
{
    struct relay *relay = &play->relay;

    for (size_t turns = 0;; turns++) {
        bool moved = false, all = true;
        assert_true(turns < 100000);
        for (size_t k = 0; k < relay->len; k++) {
            const size_t i = relay->len - 1 - k; /* the last first: a piece goes one step a turn */
            if (relay->members[i].gone || relay->members[i].have == relay->pieces) {
                continue;
            }
            all = false;
            if (deaths && next_random(&play->random) % 200 == 0) {
                relay_leave(relay, i);
                moved = true;
                continue;
            }
            moved |= turn(play, i, deaths && next_random(&play->random) % 3 == 0);
        }
        for (size_t i = 0; i < relay->len; i++) {
            relay_forget(relay, i);
            assert_true(relay->members[i].have - relay->members[i].kept <= RELAY_KEPT);
        }
        if (all) {
            return turns;
        }
        assert_true(moved); /* somebody always can go on */
    }
}

static void begin(struct play *play, size_t members, size_t pieces)
{
    memset(play, 0, sizeof(*play));
    play->relay.pieces = pieces;
    play->relay.expected = members;
    for (size_t i = 0; i < members; i++) {
        relay_choose(&play->relay, relay_join(&play->relay, true, true), false);
    }
}

static void test_a_chain_costs_the_head_one_copy(void **state)
{
    static struct play play;

    (void)state;
    begin(&play, 16, 128);
    const size_t turns = play_all(&play, false);
    assert_int_equal(play.from_head, 128);
    assert_int_equal(turns, 128 + 15);
    for (size_t i = 1; i < 16; i++) {
        assert_int_equal(play.relay.members[i].source, i - 1);
    }
    relay_release(&play.relay);
}

static void test_few_pieces_make_a_tree(void **state)
{
    static struct play play;

    (void)state;
    begin(&play, 31, 4);
    const size_t turns = play_all(&play, false);
    assert_int_equal(play.from_head, 4);
    assert_true(turns <= 4 + 4); /* five levels */
    relay_release(&play.relay);
}

static void test_late_members_get_what_is_gone_from_the_head(void **state)
{
    static struct play play;

    (void)state;
    begin(&play, 2, 30);
    for (size_t k = 0; k < 20; k++) {
        turn(&play, 0, false);
        turn(&play, 1, false);
    }
    relay_forget(&play.relay, 0);
    relay_forget(&play.relay, 1);
    assert_int_equal(play.relay.members[0].kept, 20);
    relay_join(&play.relay, true, true);
    play_all(&play, false);
    assert_int_equal(play.from_head, 30 + 20);
    relay_release(&play.relay);
}

static void test_open_groups_keep_for_those_to_come(void **state)
{
    static struct play play;

    (void)state;
    begin(&play, 1, 20);
    play.relay.open = true;
    for (size_t k = 0; k < 20; k++) {
        turn(&play, 0, false);
        assert_int_equal(relay_forget(&play.relay, 0), 0);
    }
    relay_join(&play.relay, true, true);
    play.relay.open = false;
    play_all(&play, false);
    assert_int_equal(play.from_head, 20);
    relay_release(&play.relay);
}

static void test_who_cannot_be_reached_is_tried_no_more(void **state)
{
    static struct play play;

    (void)state;
    begin(&play, 8, 50);
    for (size_t i = 0; i < 8; i++) {
        for (size_t k = 0; k < 8; k++) {
            play.walls[i][k] = true;
        }
    }
    play_all(&play, false);
    for (size_t i = 0; i < 8; i++) {
        assert_true(play.relay.members[i].failed <= 2);
    }
    assert_int_equal(play.from_head, 8 * 50);
    relay_release(&play.relay);
}

static void test_damaged_pieces_end_a_source(void **state)
{
    static struct play play;

    (void)state;
    begin(&play, 4, 50);
    play.liar[1] = true;
    play_all(&play, false);
    assert_false(play.relay.members[1].serves);
    assert_int_equal(play.relay.members[2].failed, 1);
    assert_int_equal(play.from_head, 50);
    relay_release(&play.relay);
}

static void test_who_waits_long_goes_round_a_slow_one(void **state)
{
    static struct play play;

    (void)state;
    begin(&play, 3, 10);
    turn(&play, 0, false); /* member 1 does nothing */
    assert_int_equal(relay_choose(&play.relay, 1, false), RELAY_MEMBER);
    assert_int_equal(relay_choose(&play.relay, 2, false), RELAY_WAIT);
    assert_int_equal(play.relay.members[2].source, 1);
    assert_int_equal(relay_choose(&play.relay, 2, true), RELAY_MEMBER);
    assert_int_equal(play.relay.members[2].source, 0);
    assert_true(relay_is_needed(&play.relay, 0) && !relay_is_needed(&play.relay, 1));
    relay_release(&play.relay);
}

static void test_random_failures(void **state)
{
    static struct play play;

    (void)state;
    for (unsigned seed = 1; seed <= 300; seed++) {
        uint64_t random = seed;
        begin(&play, 2 + next_random(&random) % (MEMBERS_MAX - 2), 1 + next_random(&random) % 90);
        play.random = random;
        for (size_t i = 0; i < play.relay.len; i++) {
            play.relay.members[i].serves = next_random(&play.random) % 6 != 0;
            play.relay.members[i].fetches = next_random(&play.random) % 9 != 0;
            play.liar[i] = next_random(&play.random) % 12 == 0;
            for (size_t k = 0; k < play.relay.len; k++) {
                play.walls[i][k] = next_random(&play.random) % 10 == 0;
            }
        }
        play_all(&play, true);
        for (size_t i = 0; i < play.relay.len; i++) {
            assert_true(play.relay.members[i].gone || play.relay.members[i].have == play.relay.pieces);
        }
        relay_release(&play.relay);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_chain_costs_the_head_one_copy),
        cmocka_unit_test(test_few_pieces_make_a_tree),
        cmocka_unit_test(test_late_members_get_what_is_gone_from_the_head),
        cmocka_unit_test(test_open_groups_keep_for_those_to_come),
        cmocka_unit_test(test_who_cannot_be_reached_is_tried_no_more),
        cmocka_unit_test(test_damaged_pieces_end_a_source),
        cmocka_unit_test(test_who_waits_long_goes_round_a_slow_one),
        cmocka_unit_test(test_random_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
