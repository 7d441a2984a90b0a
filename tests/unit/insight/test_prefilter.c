/* What a match must hold: read from the expression, and never more than every match does hold. */
#include <locale.h>
#include <regex.h>

#include "base/text.h"
#include "insight/prefilter.h"
#include "test.h"

static void test_what_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *expression, *want; /* alternatives between '|', gaps as '~'; NULL: nothing */
    } rows[] = {
        {"NCCL WARN", "NCCL WARN"},
        {"loss: (nan|inf)", "loss: nan|loss: inf"},
        {"a.c", "a~c"},
        {"colou?r", "colo~r"},
        {"abc*", "ab~"},
        {"abc+d", "abc~d"},
        {"abc{2}d", "abc~d"},
        {"abc{0,2}d", "ab~d"},
        {"(ab)*c", "~c"},
        {"(ab|c)+d", "ab~d|c~d"},
        {"^x$", "~x~"},
        {"x[]^a-z[:digit:]]y", "x~y"},
        {"1\\.5\\|\\\\", "1.5\x01\\"}, /* \x01 stands for '|' */
        {"\\bword\\b", "~word~"},
        {"a\\?b", "a~b"}, /* '?' stands for control characters too */
        {"(a)\\1", "a~"},
        {"step\t1", "step\t1"},
        {"\xC3\xA4+\xE2\x82\xAC", "\xC3\xA4~\xE2\x82\xAC"},
        {"x\xEF\xBF\xBDy", "x~~~y"}, /* U+FFFD stands for what is no UTF-8 */
        {"x\xFFy\033z", "x~y~z"},
        {"x\xE2\x80\xAEy", "x\xE2\x80\xAEy"},
        {"one|two", "one|two"},
        {"", NULL},
        {".*", NULL},
        {"a|", NULL},
        {"a|[b]", NULL},
        {"(a|b)?", NULL},
        {"*a", NULL},
        {"a{,2}", NULL},
        {"((((((((((((((((((((((a))))))))))))))))))))))", NULL},
    };
    FOR_ROWS(i, rows, rows[i].expression) {
        AUTO_STRLIST struct strlist found = STRLIST_INIT;
        assert_int_equal(prefilter_find(rows[i].expression, &found), rows[i].want != NULL);
        AUTO_FREE char *joined = strlist_join(&found, "|");
        for (char *at = joined; *at; at++) {
            *at = *at == PREFILTER_GAP ? '~' : *at;
        }
        AUTO_FREE char *want = xstrdup(rows[i].want ? rows[i].want : "");
        for (char *at = want; *at; at++) {
            *at = *at == '\x01' ? '|' : *at;
        }
        assert_string_equal(joined, want);
    }
}

static void test_many_alternatives(void **state)
{
    (void)state;
    AUTO_STRLIST struct strlist found = STRLIST_INIT;
    assert_true(prefilter_find("x(a|b|c|d)(a|b|c|d)(a|b|c|d)y", &found));
    assert_int_equal(found.len, 16);
    assert_string_equal(found.items[15], "xdd\ny");
    AUTO_STR struct str many = STR_INIT;
    for (int i = 0; i < 40; i++) {
        str_addf(&many, "%sw%d", i ? "|" : "", i);
    }
    assert_false(prefilter_find(str_text(&many), &found));
    str_reset(&many);
    for (int i = 0; i < 1001; i++) {
        str_add_char(&many, 'x');
    }
    assert_false(prefilter_find(str_text(&many), &found));
}

static void test_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *expression, *want;
        bool fixed;
    } rows[] = {
        {"a\\.b|^\\*c$", "a.b\n*c", true},
        {"a\\.b.c|d", "a\\.b.*c\nd", false},
        {"\\[x\\].\\{\\}", "\\[x\\].*\\{\\}", false},
    };
    FOR_ROWS(i, rows, rows[i].expression) {
        AUTO_STRLIST struct strlist found = STRLIST_INIT;
        AUTO_STR struct str out = STR_INIT;
        bool fixed = !rows[i].fixed;
        assert_true(prefilter_find(rows[i].expression, &found));
        prefilter_add_patterns(&found, &fixed, &out);
        assert_string_equal(str_text(&out), rows[i].want);
        assert_int_equal(fixed, rows[i].fixed);
    }
}

/* --- property ----------------------------------------------------------------------------------- */

static void make_up(struct str *out, unsigned *seed, const char *const *parts, size_t count, int most)
{
    str_reset(out);
    for (int left = rand_r(seed) % most; left >= 0; left--) {
        str_add(out, parts[rand_r(seed) % (int)count]);
    }
}

/* What is shown of a line (report/logview.c). */
static void add_shown(struct str *out, const struct str *line)
{
    size_t len = line->len;
    const char *bytes = str_text(line);
    while (len > 0 && bytes[len - 1] == '\r') {
        len--;
    }
    const char *cr = len ? memrchr(bytes, '\r', len) : NULL;
    size_t from = cr ? (size_t)(cr + 1 - bytes) : 0;
    text_add_safe(out, bytes + from, len - from);
}

static bool holds_pieces(const char *alternative, const struct str *line)
{
    size_t at = 0;
    while (*alternative) {
        size_t len = strcspn(alternative, "\n");
        const char *found = len ? memmem(line->data + at, line->len - at, alternative, len) : NULL;
        if (len && !found) {
            return false;
        }
        at = len ? (size_t)(found - line->data) + len : at;
        alternative += len + (alternative[len] == '\n');
    }
    return true;
}

static bool holds_any(const struct strlist *alternatives, const struct str *line)
{
    for (size_t i = 0; i < alternatives->len; i++) {
        if (holds_pieces(alternatives->items[i], line)) {
            return true;
        }
    }
    return false;
}

static void check_lines(const char *expression, unsigned *seed, unsigned *matched)
{
    static const char *const parts[] = {
        "a",  "b",        "ab",   "x",    "?",        "\r", "\033",         "\xFF", ".",
        "\\", "\xC3\xA4", "\xC3", "\xA4", "\xE2\x82", "|",  "\xEF\xBF\xBD", "(",    "*",
        "[",  "]",        "{",    "}",    "1",        "\t", "\xC2\x9B",     "-",    "^"};
    AUTO_STRLIST struct strlist found = STRLIST_INIT;
    regex_t regex;
    if (regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB) != 0) {
        return;
    }
    bool any = prefilter_find(expression, &found);
    for (int i = 0; any && i < 40; i++) {
        AUTO_STR struct str line = STR_INIT, shown = STR_INIT;
        make_up(&line, seed, parts, ARRAY_LEN(parts), 10);
        add_shown(&shown, &line);
        if (regexec(&regex, str_text(&shown), 0, NULL, 0) == 0) {
            ++*matched;
            if (!holds_any(&found, &line)) {
                fail_msg("'%s' matches '%s', but is not found in it", expression, str_text(&line));
            }
        }
    }
    regfree(&regex);
}

static void check_expressions(const char *locale)
{
    static const char *const parts[] = {
        "a",       "b",       "x",    "ab",   "?",    "*",    "+",        "{2}",         "{0,1}",
        "{1,2}",   "(",       ")",    "|",    "^",    "$",    ".",        "\\.",         "\\?",
        "\\(",     "\\|",     "\\\\", "[ab]", "[^a]", "[]x]", "[^]x]",    "[[:alpha:]]", "[a-x]",
        "[[.a.]]", "[[=a=]]", "[",    "]",    "{",    "}",    "\xC3\xA4", "\xC3",        "\xEF\xBF\xBD",
        "\\w",     "\\b",     "\\1",  "\\-",  "1",    "\t",   "-",        "\\["};
    unsigned seed = 11, matched = 0;
    assert_non_null(setlocale(LC_CTYPE, locale));
    for (int round = 0; round < 30000; round++) {
        AUTO_STR struct str expression = STR_INIT;
        make_up(&expression, &seed, parts, ARRAY_LEN(parts), 8);
        check_lines(str_text(&expression), &seed, &matched);
    }
    setlocale(LC_CTYPE, "C");
    assert_true(matched > 5000);
}

static void test_no_match_is_missed(void **state)
{
    (void)state;
    check_expressions("C");
    check_expressions("C.UTF-8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_found),
        cmocka_unit_test(test_many_alternatives),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_no_match_is_missed),
    };
    return cmocka_run_group_tests_name("insight/prefilter", tests, NULL, NULL);
}
