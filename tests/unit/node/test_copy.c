/* The input that the node's copy program gets, and what is read from its answer. */
#include "base/alloc.h"
#include "model/kind.h"
#include "node/copy.h"
#include "test.h"

#define NONCE "0123456789abcdef0123456789abcdef"

static void test_input(void **state)
{
    static const char *const words[] = {"it's", "-rf", "a\nb"};
    AUTO_STR struct str text = STR_INIT;
    AUTO_STR struct str input = STR_INIT;

    (void)state;
    node_copy_call(&text, NODE_COPY_REMOVE, words, 3);
    assert_string_equal(str_text(&text), "mt_remove 'it'\\''s' '-rf' 'a\nb'\n");
    node_copy_add_run(&input, &text);
    assert_int_equal(input.len, strlen("run 1\n") + 512);
    assert_memory_equal(input.data, "run 1\nmt_remove ", 16);
    str_reset(&input);
    node_copy_add_tar(&input, 3 * NODE_COPY_RECORD);
    assert_string_equal(str_text(&input), "tar 3\n");
    str_reset(&text);
    node_copy_add_run(&input, &text);
    assert_string_equal(str_text(&input), "tar 3\n");
}

/* No command line is longer than every kernel takes, and no path is lost. */
static void test_many_paths(void **state)
{
    enum { PATHS = 5000 };
    AUTO_FREE const char **paths = xcalloc(PATHS, sizeof(*paths));
    AUTO_STR struct str text = STR_INIT;
    size_t calls = 0, found = 0;

    (void)state;
    for (size_t i = 0; i < PATHS; i++) {
        paths[i] = "a/folder/with/a/file";
    }
    node_copy_calls(&text, NODE_COPY_MOVE, "a/folder", paths, PATHS);
    for (char *rest = NULL, *line = strtok_r(text.data, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        assert_true(strlen(line) < 100000);
        assert_memory_equal(line, "mt_move 'a/folder' 'a/", 22);
        for (const char *at = line; (at = strstr(at, "'a/folder/with")); at++) {
            found++;
        }
        calls++;
    }
    assert_true(calls > 1);
    assert_int_equal(found, PATHS);
}

/* The one event of the bytes, or the error. */
static int take(struct node_copy *copy, const char *bytes, size_t len, enum node_copy_event *event,
                struct error *err)
{
    copy->nonce = NONCE;
    return node_copy_take(copy, &bytes, &len, event, err);
}

#define TAKE(copy, text, event, err) take(copy, text, sizeof(text) - 1, event, err)

static void test_entries(void **state)
{
    static const char begin[] = "\n@@" NONCE " list=1\n";
    struct node_copy copy = {0};
    struct error err = ERROR_INIT;
    enum node_copy_event event;

    (void)state;
    assert_int_equal(TAKE(&copy, begin, &event, &err), 0);
    assert_int_equal(TAKE(&copy, "f 4755 12 1700000000.9 ./a b\n\0\0", &event, &err), 0);
    assert_int_equal(event, NODE_COPY_ENTRY);
    assert_string_equal(copy.entry.path, "a b\n");
    assert_int_equal(copy.entry.kind, TREE_FILE);
    assert_int_equal(copy.entry.mode, 04755);
    assert_int_equal(copy.entry.size, 12);
    assert_int_equal(copy.entry.mtime, 1700000000);
    assert_int_equal(TAKE(&copy, "x a1ff 3 -2 ././l\0../to\0", &event, &err), 0);
    assert_int_equal(event, NODE_COPY_ENTRY);
    assert_int_equal(copy.entry.kind, TREE_LINK);
    assert_string_equal(copy.entry.link, "../to");
    assert_int_equal(copy.entry.mtime, -2);
    assert_int_equal(TAKE(&copy, "f 644 1 -2.5 ./old\0\0", &event, &err), 0);
    assert_int_equal(copy.entry.mtime, -3);
    assert_int_equal(TAKE(&copy, "d 755 4096 1.0 ./.\0\0", &event, &err), 0);
    assert_int_equal(event, NODE_COPY_NOTHING);
    assert_int_equal(TAKE(&copy, "E\0\0", &event, &err), 0);
    assert_int_equal(event, NODE_COPY_LISTED);
    node_copy_release(&copy);
}

static void test_bad_entries(void **state)
{
    static const char *const bad[] = {"f 644 1 1 ./../x", "f 644 1 1 /x", "f 644 x 1 x", "f 644 1 1", "", "f",
                                      "f644 1 1 x",       "x 81zz 1 1 x", "f 644 1 x x"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct node_copy copy = {.in_list = true};
        struct error err = ERROR_INIT;
        enum node_copy_event event;
        AUTO_STR struct str text = STR_INIT;
        str_add_mem(&text, bad[i], strlen(bad[i]) + 1);
        str_add_char(&text, '\0');
        if (take(&copy, text.data, text.len, &event, &err) == 0) {
            fail_msg("'%s' was taken", bad[i]);
        }
        assert_ptr_equal(err.kind, &kind_node_answer);
        node_copy_release(&copy);
    }
}

static void test_failures(void **state)
{
    struct node_copy copy = {0};
    struct error err = ERROR_INIT;
    enum node_copy_event event;

    (void)state;
    assert_int_equal(TAKE(&copy, "\n@@" NONCE " done=3 70\n", &event, &err), 0);
    assert_int_equal(event, NODE_COPY_FRAME);
    assert_string_equal(copy.key, "done");
    assert_string_equal(copy.value, "3 70");
    assert_int_equal(TAKE(&copy,
                          "\n@@" NONCE " error=copy\n\n@@" NONCE
                          " detail=cannot write: no space left on device\n\n@@" NONCE " end=ok\n",
                          &event, &err),
                     -1);
    assert_ptr_equal(err.kind, &kind_file_failed);
    assert_string_equal(err.text, "cannot write: no space left on device");
    assert_non_null(strstr(err.hint, "free some space there"));
    node_copy_release(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_input),       cmocka_unit_test(test_many_paths), cmocka_unit_test(test_entries),
        cmocka_unit_test(test_bad_entries), cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
