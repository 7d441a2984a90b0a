/* Safe printing, UTF-8 and widths. The wanted replacements are those of the Unicode standard, 3.9. */
#include "base/text.h"
#include "test.h"

#define R "\xEF\xBF\xBD" /* U+FFFD */

static void test_invalid_utf8_is_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *want;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\x80", R},
        {"a\xBFz", "a" R "z"},
        {"\xC0\x80", R R},                /* overlong NUL */
        {"\xC1\xBF", R R},                /* overlong */
        {"\xE0\x80\x80", R R R},          /* overlong, three bytes */
        {"\xE0\x9F\xBF", R R R},          /* the last overlong one */
        {"\xE0\xA0\x80", "\xE0\xA0\x80"}, /* the first proper one */
        {"\xF0\x80\x80\x80", R R R R},    /* overlong, four bytes */
        {"\xF0\x8F\xBF\xBF", R R R R},
        {"\xF0\x90\x80\x80", "\xF0\x90\x80\x80"},
        {"\xED\xA0\x80", R R R}, /* a surrogate */
        {"\xED\xBF\xBF", R R R},
        {"\xED\x9F\xBF", "\xED\x9F\xBF"},         /* U+D7FF, just below */
        {"\xEE\x80\x80", "\xEE\x80\x80"},         /* U+E000, just above */
        {"\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF"}, /* U+10FFFF */
        {"\xF4\x90\x80\x80", R R R R},            /* above it */
        {"\xF5\x80", R R},
        {"\xFE\xFF", R R},
        {"\xC3", R}, /* truncated: one replacement for what belongs together */
        {"\xE2\x82", R},
        {"\xF0\x9F\x98", R},
        {"\xE2\x82"
         "abc",
         R "abc"},
        {"\xF0\x9F\x98\xC3\xA4", R "\xC3\xA4"},
        {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
         "A",
         R R R R "A"}, /* table 3-11 of the standard */
    };

    FOR_ROWS(i, rows, rows[i].bytes) {
        AUTO_STR struct str json = STR_INIT;
        AUTO_STR struct str safe = STR_INIT;
        text_add_utf8(&json, rows[i].bytes, strlen(rows[i].bytes));
        text_add_safe(&safe, rows[i].bytes, strlen(rows[i].bytes));
        assert_string_equal(str_text(&json), rows[i].want);
        assert_string_equal(str_text(&safe), rows[i].want);
    }
}

static void test_bytes_behind_the_end_are_not_read(void **state)
{
    (void)state;
    AUTO_STR struct str out = STR_INIT;

    text_add_utf8(&out, "\xE2\x82\xAC", 2);
    assert_string_equal(str_text(&out), R);
}

static size_t encode(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; c >>= 6) {
        out[i] = (char)(0x80 | (c & 0x3F));
    }
    out[0] = (char)((0xF00U >> len & 0xF0) | c);
    return len;
}

static void test_every_character(void **state)
{
    (void)state;
    AUTO_STR struct str out = STR_INIT;

    for (uint32_t c = 0; c < 0x120000; c++) {
        char bytes[4];
        size_t len = encode(c, bytes);
        bool valid = c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
        bool control = c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x2028 && c <= 0x202E) ||
                       (c >= 0x2066 && c <= 0x2069); /* the last two: line ends and direction */

        str_reset(&out);
        text_add_utf8(&out, bytes, len);
        if ((out.len == len && memcmp(out.data, bytes, len) == 0) != valid) {
            fail_msg("U+%04X was %s", (unsigned)c, valid ? "changed" : "kept");
        }
        str_reset(&out);
        text_add_safe(&out, bytes, len);
        if (control && c != '\n' && c != '\t') {
            if (strcmp(out.data, "?") != 0) {
                fail_msg("control U+%04X passed", (unsigned)c);
            }
        } else if ((out.len == len && memcmp(out.data, bytes, len) == 0) != valid) {
            fail_msg("U+%04X was %s", (unsigned)c, valid ? "changed" : "kept");
        }
    }
}

static void test_controls(void **state)
{
    (void)state;
    AUTO_STR struct str out = STR_INIT;
    static const char bytes[] = "a\0b\x1B[31mred\x07\r\n\tx\x7F\xC2\x9B"
                                "2J\xC2\xA0.";

    text_add_safe(&out, bytes, sizeof bytes - 1);
    assert_string_equal(str_text(&out), "a?b?[31mred??\n\tx??2J\xC2\xA0.");
    str_reset(&out);
    text_add_utf8(&out, "a\0\x1B", 3);
    assert_int_equal(out.len, 3);
    assert_memory_equal(out.data, "a\0\x1B", 3);
}

/* S10 */
static void test_foreign_text_makes_no_line(void **state)
{
    (void)state;
    AUTO_STR struct str out = STR_INIT;
    static const char bytes[] = "a\nb\r\n    c\td\x7F\xC2\x85\xE2\x80\xA8\xE2\x80\xAE\xE2\x81\xA6\xFF";

    text_add_line(&out, bytes, sizeof bytes - 1);
    assert_string_equal(str_text(&out), "a b?     c d?????\xEF\xBF\xBD");
    str_reset(&out);
    text_add_lines(&out, bytes, sizeof bytes - 1);
    assert_string_equal(str_text(&out), "a b?\n    c d?????\xEF\xBF\xBD");
    str_reset(&out);
    str_add(&out, "x\n");
    text_add_lines(&out, "\n   y\n", 6);
    assert_string_equal(str_text(&out), "x\n    y ");
}

static void test_output_is_appended(void **state)
{
    (void)state;
    AUTO_STR struct str out = STR_INIT;

    str_add(&out, "host: ");
    text_add_safe(&out, "a\rb", 3);
    text_add_utf8(&out, "c", 1);
    assert_string_equal(str_text(&out), "host: a?bc");
}

static void test_columns(void **state)
{
    (void)state;
    assert_int_equal(text_columns(""), 0);
    assert_int_equal(text_columns("abc"), 3);
    assert_int_equal(text_columns("\xC3\xA4\xE2\x82\xAC"), 2);
    assert_int_equal(text_columns("\xE8\xAE\xAD\xE7\xBB\x83"), 4);             /* Han, two wide */
    assert_int_equal(text_columns("\xED\x95\x9C"), 2);                         /* Hangul */
    assert_int_equal(text_columns("\xEF\xBC\xA1"), 2);                         /* fullwidth A */
    assert_int_equal(text_columns("\xF0\x9F\x98\x80"), 2);                     /* a face */
    assert_int_equal(text_columns("e\xCC\x81"), 1);                            /* a combining accent */
    assert_int_equal(text_columns("\xE2\x96\x88\xE2\x96\x91\xE2\x9C\x93"), 3); /* block, shade, check mark */
    assert_int_equal(text_columns("\xFF"
                                  "a"),
                     2);
}

/* Alone, every byte is judged by itself; together they may be passed over several at a time. */
static void test_runs_are_as_single_bytes(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (int round = 0; round < 20000; round++) {
        char bytes[64];
        size_t len = (size_t)(rand_r(&seed) % (int)sizeof(bytes));
        AUTO_STR struct str safe = STR_INIT, clean = STR_INIT, want_safe = STR_INIT, want_clean = STR_INIT;
        for (size_t i = 0; i < len; i++) {
            static const char odd[] = "\n\t\r\033\x7f\x1f\x7e\0";
            bytes[i] = rand_r(&seed) % 12 ? (char)(0x20 + rand_r(&seed) % 0x5f)
                                          : odd[rand_r(&seed) % (int)sizeof(odd)];
            text_add_safe(&want_safe, &bytes[i], 1);
            text_add_utf8(&want_clean, &bytes[i], 1);
        }
        text_add_safe(&safe, bytes, len);
        text_add_utf8(&clean, bytes, len);
        assert_int_equal(safe.len, want_safe.len);
        assert_int_equal(clean.len, want_clean.len);
        assert_memory_equal(str_text(&safe), str_text(&want_safe), safe.len);
        assert_memory_equal(str_text(&clean), str_text(&want_clean), clean.len);
    }
}

/* Characters beyond ASCII between those that are passed over: the same wherever they stand. */
static void test_a_place_changes_nothing(void **state)
{
    (void)state;
    static const char *const odd[] = {"\xC3\xA4",     "\xFF", "\xE2\x82", "\xC2\x9B",
                                      "\xE2\x80\xAE", "\x7f", "\033"};
    static const char *const want[] = {"\xC3\xA4", R, R, "?", "?", "?", "?"};
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        for (int place = 0; place < 40; place++) {
            AUTO_FREE char *bytes = xasprintf("%.*s%s%.*s", place, "0123456789012345678901234567890123456789",
                                              odd[i], 40 - place, "abcdefghijklmnopqrstuvwxyzabcdefghijklmn");
            AUTO_FREE char *wanted =
                xasprintf("%.*s%s%.*s", place, "0123456789012345678901234567890123456789", want[i],
                          40 - place, "abcdefghijklmnopqrstuvwxyzabcdefghijklmn");
            AUTO_STR struct str out = STR_INIT;
            text_add_safe(&out, bytes, strlen(bytes));
            assert_string_equal(str_text(&out), wanted);
        }
    }
}

static void test_secrets_are_masked(void **state)
{
    (void)state;
    AUTO_STRLIST struct strlist secrets = STRLIST_INIT;
    strlist_add(&secrets, "hunter2");
    strlist_add(&secrets, "hunter2000");
    strlist_add(&secrets, "abc"); /* too short to be looked for */
    AUTO_STR struct str out = STR_INIT;
    text_add_masked(&out, "a hunter2000, hunter2; hunter abc hunter2", &secrets);
    assert_string_equal(str_text(&out), "a ***, ***; hunter abc ***");
    str_reset(&out);
    text_add_masked(&out, "hunter2", NULL);
    assert_string_equal(str_text(&out), "hunter2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secrets_are_masked),
        cmocka_unit_test(test_runs_are_as_single_bytes),
        cmocka_unit_test(test_a_place_changes_nothing),
        cmocka_unit_test(test_invalid_utf8_is_replaced),
        cmocka_unit_test(test_bytes_behind_the_end_are_not_read),
        cmocka_unit_test(test_every_character),
        cmocka_unit_test(test_controls),
        cmocka_unit_test(test_foreign_text_makes_no_line),
        cmocka_unit_test(test_output_is_appended),
        cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests_name("base/text_print", tests, NULL, NULL);
}
