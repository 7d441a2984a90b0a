/* Stacks of ranks: what nodes say of them, and how they are grouped. */
#include "base/alloc.h"
#include "insight/stacks.h"
#include "test.h"

#define LIBRARY "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py"
#define WAITS                                                                                                \
    "[{\"name\": \"all_reduce\",\"filename\": \"" LIBRARY "\",\"line\": 9},"                                 \
    "{\"name\": \"main\",\"filename\": \"/home/a/train.py\",\"line\": 88}]"
#define LOADS                                                                                                \
    "[{\"name\": \"load_batch\",\"filename\": \"/home/a/data.py\",\"line\": 41},"                            \
    "{\"name\": \"main\",\"filename\": \"/home/a/train.py\",\"line\": 80}]"

static void add(struct stack_list *list, unsigned rank, const char *rest, const char *frames)
{
    AUTO_FREE char *text = xasprintf("%u %s", rank, rest);
    struct stack *stack = stack_list_add(list, rank < 16 ? "node1" : "node2", text);
    assert_non_null(stack);
    if (frames) {
        assert_true(stack_read_frames(stack, frames));
    }
}

static void check_summary(struct stack_list *list, const char *wanted)
{
    AUTO_STR struct str text = STR_INIT;
    struct stack_groups groups;
    stack_groups_make(&groups, list);
    stack_groups_add_summary(&groups, &text);
    assert_string_equal(str_text(&text), wanted);
    stack_groups_release(&groups);
    stack_list_release(list);
}

static void test_the_odd_rank_comes_first(void **state)
{
    (void)state;
    struct stack_list list = {0};
    struct stack_groups groups;
    AUTO_STR struct str text = STR_INIT;
    for (unsigned rank = 32; rank-- > 0;) {
        add(&list, rank, "100 S 0 202 futex_wait_queue", rank == 7 ? LOADS : WAITS);
    }
    stack_groups_make(&groups, &list);
    assert_int_equal(groups.len, 2);
    assert_true(groups.items[0].odd);
    assert_int_equal(groups.items[0].stacks[0]->rank, 7);
    assert_false(groups.items[1].odd);
    assert_int_equal(groups.items[1].len, 31);
    stack_group_add_ranks(&groups.items[1], &text);
    assert_string_equal(str_text(&text), "ranks 0-6,8-31");
    stack_groups_release(&groups);
    check_summary(&list, "31 ranks at train.py:88 in all_reduce; rank 7 at data.py:41 in load_batch");
}

static void test_of_two_ranks_the_one_in_a_collective_is_not_odd(void **state)
{
    (void)state;
    for (unsigned odd = 0; odd < 2; odd++) {
        struct stack_list list = {0};
        struct stack_groups groups;
        add(&list, 0, "100 S 0 - -", odd == 0 ? LOADS : WAITS);
        add(&list, 1, "101 R 99 - -", odd == 1 ? LOADS : WAITS);
        stack_groups_make(&groups, &list);
        assert_true(groups.items[0].odd);
        assert_int_equal(groups.items[0].stacks[0]->rank, odd);
        stack_groups_release(&groups);
        stack_list_release(&list);
    }
}

static void test_nothing_tells_two_places_apart(void **state)
{
    (void)state;
    struct stack_list list = {0};
    struct stack_groups groups;
    add(&list, 0, "100 S 0 230 hrtimer_nanosleep", NULL);
    add(&list, 1, "101 S 0 202 futex_wait_queue", NULL);
    stack_groups_make(&groups, &list);
    assert_int_equal(groups.len, 2);
    assert_false(groups.items[0].odd || groups.items[1].odd);
    stack_groups_release(&groups);
    check_summary(&list, "rank 1 sleeping in futex_wait_queue; rank 0 sleeping in hrtimer_nanosleep");
}

static void test_a_stopped_rank_is_odd_at_the_same_place(void **state)
{
    (void)state;
    struct stack_list list = {0};
    add(&list, 0, "100 S 0 - -", WAITS);
    add(&list, 1, "101 T 0 - -", WAITS);
    add(&list, 2, "102 R 50 - -", WAITS);
    check_summary(
        &list,
        "2 ranks at train.py:88 in all_reduce; rank 1 stopped by a signal at train.py:88 in all_reduce");
}

static void test_what_the_kernel_says(void **state)
{
    (void)state;
    static const struct {
        const char *said, *words;
    } rows[] = {
        {"1 R 100 - -", "running"},
        {"1 D 0 0 nfs_wait_bit_killable", "blocked in nfs_wait_bit_killable"},
        {"1 S 0 35 -", "sleeping in system call 35"},
        {"1 S 0 - -", "sleeping"},
        {"1 t 0 - -", "stopped by a debugger"},
        {"1 Z 0 - -", "ended"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct stack_list list = {0};
        AUTO_STR struct str text = STR_INIT;
        add(&list, 3, rows[i].said, NULL);
        stack_add_state(&list.items[0], &text);
        assert_string_equal(str_text(&text), rows[i].words);
        stack_list_release(&list);
    }
}

static void test_answers_that_are_none(void **state)
{
    (void)state;
    static const char *const workers[] = {"",
                                          "1 2 S 0 -",
                                          "x 2 S 0 - -",
                                          "1 0 S 0 - -",
                                          "1 2 SS 0 - -",
                                          "1 2 S 0 - - -",
                                          "99999999999 2 S 0 - -"};
    static const char *const frames[] = {"",
                                         "[]",
                                         "{}",
                                         "[1]",
                                         "[{\"name\": \"f\"}]",
                                         "[{\"name\": 1, \"filename\": \"f\"}]",
                                         "[{",
                                         "[{\"name\": \"f\", \"filename\": \"a\", \"line\": 1}, null]"};
    struct stack_list list = {0};
    for (size_t i = 0; i < ARRAY_LEN(workers); i++) {
        assert_null(stack_list_add(&list, "h", workers[i]));
    }
    struct stack *stack = stack_list_add(&list, "h", "1 2 S 0 - -");
    for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
        assert_false(stack_read_frames(stack, frames[i]));
        assert_int_equal(stack->frames_len, 0);
    }
    stack_list_release(&list);
    check_summary(&list, "");
}

static void test_many_places_are_cut(void **state)
{
    (void)state;
    struct stack_list list = {0};
    for (unsigned rank = 0; rank < 6; rank++) {
        AUTO_FREE char *said = xasprintf("9 S 0 %u -", rank < 2 ? 0 : rank);
        add(&list, rank, said, NULL);
    }
    check_summary(&list,
                  "2 ranks sleeping in system call 0; rank 2 sleeping in system call 2; rank 3 sleeping "
                  "in system call 3; rank 4 sleeping in system call 4; and 1 other place");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_odd_rank_comes_first),
        cmocka_unit_test(test_of_two_ranks_the_one_in_a_collective_is_not_odd),
        cmocka_unit_test(test_nothing_tells_two_places_apart),
        cmocka_unit_test(test_a_stopped_rank_is_odd_at_the_same_place),
        cmocka_unit_test(test_what_the_kernel_says),
        cmocka_unit_test(test_answers_that_are_none),
        cmocka_unit_test(test_many_places_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
