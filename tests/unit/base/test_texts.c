/* Texts kept once, and the lists that borrow them. */
#include "base/texts.h"
#include "model/env.h"
#include "test.h"

static void test_equal_texts_are_one(void **state)
{
    (void)state;
    struct texts texts = TEXTS_INIT;
    char *first[1000];
    for (int i = 0; i < 1000; i++) {
        AUTO_FREE char *text = xasprintf("%*d", i % 40 + 1, i); /* of all lengths, also beside a word's */
        first[i] = texts_add(&texts, text);
        assert_ptr_not_equal(first[i], text);
    }
    assert_int_equal(texts.len, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_ptr_equal(texts_take(&texts, xasprintf("%*d", i % 40 + 1, i)), first[i]);
    }
    assert_int_equal(texts.len, 1000);
    assert_null(texts_add(&texts, NULL));
    assert_null(texts_take(&texts, NULL));
    assert_string_equal(texts_add(&texts, ""), "");
    texts_release(&texts);
    assert_int_equal(texts.len, 0);
}

static void test_numbers_are_found(void **state)
{
    (void)state;
    struct texts texts = TEXTS_INIT;
    size_t value = 7;
    assert_false(texts_find(&texts, "a", &value));
    for (size_t i = 0; i < 1000; i++) {
        AUTO_FREE char *text = xasprintf("node%04zu", i);
        texts_put(&texts, text, i);
    }
    assert_true(texts_find(&texts, "node0999", &value));
    assert_int_equal(value, 999);
    texts_put(&texts, "node0999", 5);
    texts_add(&texts, "node0999"); /* keeps its number */
    assert_true(texts_find(&texts, "node0999", &value));
    assert_int_equal(value, 5);
    assert_true(texts_find(&texts, "node0998", NULL));
    assert_false(texts_find(&texts, "node1000", &value));
    assert_int_equal(value, 5);
    assert_int_equal(texts.len, 1000);
    texts_release(&texts);
}

static void test_lists_borrow(void **state)
{
    (void)state;
    struct texts texts = TEXTS_INIT;
    struct strlist own = STRLIST_INIT, one = {.texts = &texts}, other = {.texts = &texts};
    strlist_add(&own, "a");
    strlist_add(&one, "a");
    strlist_addf(&one, "%s", "a");
    strlist_add_mem(&one, "bcd", 1);
    strlist_copy(&one, &own);
    assert_ptr_equal(one.items[0], one.items[1]);
    assert_ptr_equal(one.items[0], one.items[3]);
    strlist_copy(&other, &one);
    strlist_copy(&other, &other);
    strlist_release(&one);
    AUTO_FREE char *joined = strlist_join(&other, "");
    assert_string_equal(joined, "aabaaaba");
    assert_null(other.items[8]);
    strlist_copy(&own, &other);
    strlist_release(&other);
    texts_release(&texts);
    assert_string_equal(own.items[3], "b"); /* a list that owns its strings got copies */
    strlist_release(&own);
}

static void test_environments_borrow(void **state)
{
    (void)state;
    struct texts texts = TEXTS_INIT;
    struct env one = {.texts = &texts}, other = {.texts = &texts}, own = ENV_INIT;
    env_set(&one, "A", "1", "spec");
    env_set(&one, "B", NULL, "spec");
    env_set(&one, "A", "2", NULL);
    one.items[0].secret = true;
    env_append(&other, &one);
    env_append(&own, &one);
    assert_ptr_equal(other.items[0].value, one.items[0].value);
    env_release(&one);
    assert_string_equal(env_get(&other, "A")->value, "2");
    env_release(&other);
    texts_release(&texts);
    assert_int_equal(own.len, 2);
    assert_string_equal(own.items[0].value, "2");
    assert_null(own.items[0].source);
    assert_true(own.items[0].secret);
    assert_null(own.items[1].value);
    env_release(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_texts_are_one),
        cmocka_unit_test(test_numbers_are_found),
        cmocka_unit_test(test_lists_borrow),
        cmocka_unit_test(test_environments_borrow),
    };
    return cmocka_run_group_tests_name("base/texts", tests, NULL, NULL);
}
