/* Memory: what comes back, growth, and the one line before the end when there is none left. */
#include <signal.h>
#include <wchar.h>

#include "test.h"

/* The address sanitizer ends a program that asks for too much, unless told otherwise. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void test_memory_is_zeroed_and_never_null(void **state)
{
    (void)state;
    AUTO_FREE unsigned char *bytes = xcalloc(100, 3);
    AUTO_FREE void *none = xcalloc(0, 8);
    AUTO_FREE void *nothing = xrealloc(NULL, 8, 0);

    for (size_t i = 0; i < 300; i++) {
        assert_int_equal(bytes[i], 0);
    }
    assert_non_null(none);
    assert_non_null(nothing);
}

static void test_copies(void **state)
{
    (void)state;
    AUTO_FREE char *whole = xstrdup("host");
    AUTO_FREE char *part = xstrndup("host", 2);
    AUTO_FREE char *ended = xstrndup("ho\0st", 5);
    AUTO_FREE char *printed = xasprintf("%s-%d", "g", 33);

    assert_string_equal(whole, "host");
    assert_string_equal(part, "ho");
    assert_string_equal(ended, "ho");
    assert_string_equal(printed, "g-33");
    assert_null(xstrdup(NULL));
    assert_null(xstrndup(NULL, 3));
}

static void test_grow_keeps_items(void **state)
{
    (void)state;
    int *items = NULL;
    size_t cap = 0, moves = 0;

    for (int i = 0; i < 1000; i++) {
        size_t before = cap;
        items = xgrow(items, (size_t)i, &cap, sizeof *items);
        assert_true(cap > (size_t)i);
        moves += cap != before;
        items[i] = i;
    }
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(items[i], i);
    }
    assert_true(moves < 12);
    free(items);
}

static void test_close_at_the_end_of_scope(void **state)
{
    (void)state;
    int kept;
    {
        AUTO_CLOSE int fd = open("/dev/null", O_RDONLY);
        AUTO_CLOSE int none = -1;
        assert_true(fd >= 0);
        kept = fd;
        errno = ENOENT;
        (void)none;
    }
    assert_int_equal(errno, ENOENT);
    assert_int_equal(fcntl(kept, F_GETFD), -1);
}

static void ask_calloc(void)
{
    volatile size_t huge = SIZE_MAX / 2;
    free(xcalloc(huge, 4));
}

static void ask_realloc(void)
{
    volatile size_t huge = SIZE_MAX / 2;
    free(xrealloc(NULL, huge, 4));
}

/* No locale of these tests has a multibyte form of this character, so that printing it fails at once:
 * vasprintf fails in the same way when there is no memory. */
static const wchar_t unprintable[] = {0x7fffffff, 0};

static void ask_printf(void)
{
    free(xasprintf("%ls", unprintable));
}

static void ask_str_printf(void)
{
    struct str s = STR_INIT;
    str_addf(&s, "%ls", unprintable);
}

static void ask_grow(void)
{
    size_t cap = 0;
    free(xgrow(NULL, SIZE_MAX - 1, &cap, 8));
}

static void ask_str(void)
{
    volatile size_t huge = SIZE_MAX - 8;
    struct str s = STR_INIT;
    str_add_mem(&s, "x", huge);
}

static void test_out_of_memory_is_one_line_and_abort(void **state)
{
    (void)state;
    void (*const asks[])(void) = {ask_calloc, ask_realloc, ask_printf, ask_grow, ask_str, ask_str_printf};

    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        int ends[2];
        AUTO_STR struct str said = STR_INIT;
        assert_int_equal(pipe(ends), 0);
        pid_t pid = fork_child();
        if (pid == 0) {
            signal(SIGABRT, SIG_DFL); /* cmocka's, and a sanitizer's, would speak too */
            dup2(ends[1], STDERR_FILENO);
            asks[i]();
            _exit(0);
        }
        close(ends[1]);
        read_to_end(ends[0], &said);
        close(ends[0]);
        assert_int_equal(wait_for(pid), 128 + SIGABRT);
        const char *line = strstr(str_text(&said), "mtlaunch: out of memory\n");
        assert_non_null(line);
        assert_string_equal(line, "mtlaunch: out of memory\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_zeroed_and_never_null),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_grow_keeps_items),
        cmocka_unit_test(test_close_at_the_end_of_scope),
        cmocka_unit_test(test_out_of_memory_is_one_line_and_abort),
    };
    return cmocka_run_group_tests_name("base/alloc", tests, NULL, NULL);
}
