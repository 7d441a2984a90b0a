/* Intrusive lists: order, removal from every place, an item in two lists, removal while walking. */
#include "base/list.h"
#include "test.h"

struct item {
    int id;
    struct list_link link, other;
};

#define COUNT 4

static void fill(struct list *list, struct item *items)
{
    for (int i = 0; i < COUNT; i++) {
        items[i] = (struct item){.id = i};
        list_append(list, &items[i].link);
    }
}

/* The ids as a number, first digit first, walked from both ends. */
static void assert_ids(const struct list *list, int expected)
{
    int forward = 0, backward = 0, factor = 1;

    LIST_EACH(list, struct item, link, at) {
        forward = forward * 10 + at->id;
        assert_true(list_has(&at->link));
    }
    for (struct list_link *at = list->last; at; at = at->previous) {
        backward += factor * LIST_OF(at, struct item, link)->id;
        factor *= 10;
    }
    assert_int_equal(forward, expected);
    assert_int_equal(backward, expected);
    assert_int_equal(list_is_empty(list), list->first == NULL && list->last == NULL);
}

static void test_empty(void **state)
{
    struct list list = {0};
    struct item item = {0};

    (void)state;
    assert_true(list_is_empty(&list));
    assert_null(LIST_FIRST(&list, struct item, link));
    assert_null(LIST_LAST(&list, struct item, link));
    assert_false(list_has(&item.link));
    list_remove(&item.link);
    assert_ids(&list, 0);
}

static void test_order(void **state)
{
    struct list list = {0};
    struct item items[COUNT], front = {.id = 9}, middle = {.id = 8};

    (void)state;
    fill(&list, items);
    assert_ids(&list, 123);
    list_prepend(&list, &front.link);
    assert_ids(&list, 90123);
    list_insert(&list, &items[1].link, &middle.link);
    assert_ids(&list, 901823);
    assert_ptr_equal(LIST_FIRST(&list, struct item, link), &front);
    assert_ptr_equal(LIST_LAST(&list, struct item, link), &items[3]);
    assert_ptr_equal(LIST_NEXT(&items[1], struct item, link), &middle);
    assert_null(LIST_NEXT(&items[3], struct item, link));
}

static void test_remove(void **state)
{
    static const int left[COUNT] = {123, 23, 13, 12};
    struct item items[COUNT];

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        struct list list = {0};
        fill(&list, items);
        items[0].id = 0;
        list_remove(&items[i].link);
        assert_false(list_has(&items[i].link));
        assert_ids(&list, left[i]);
        list_remove(&items[i].link); /* is in none now */
        assert_ids(&list, left[i]);
        list_append(&list, &items[i].link);
        assert_ids(&list, left[i] * 10 + i);
    }
}

static void test_remove_while_walking(void **state)
{
    struct list list = {0};
    struct item items[COUNT];
    int seen = 0;

    (void)state;
    fill(&list, items);
    LIST_EACH(&list, struct item, link, at) {
        seen = seen * 10 + at->id;
        list_remove(&at->link);
    }
    assert_int_equal(seen, 123);
    assert_true(list_is_empty(&list));
    assert_null(list.last);
}

static void test_two_lists(void **state)
{
    struct list list = {0}, others = {0};
    struct item items[COUNT];

    (void)state;
    fill(&list, items);
    list_append(&others, &items[2].other);
    list_append(&others, &items[1].other);
    list_remove(&items[2].link);
    assert_ids(&list, 13);
    assert_ptr_equal(LIST_FIRST(&others, struct item, other), &items[2]);
    assert_ptr_equal(LIST_LAST(&others, struct item, other), &items[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),     cmocka_unit_test(test_order),
        cmocka_unit_test(test_remove),    cmocka_unit_test(test_remove_while_walking),
        cmocka_unit_test(test_two_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
