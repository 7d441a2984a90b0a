/* Quoting, read back by every shell that is here. */
#include "base/quote.h"
#include "test.h"

struct shell {
    const char *path, *first, *second; /* first and second: words before the script */
};

static const struct shell shells[] = {
    {"/bin/sh", "-c", NULL},      {"/bin/dash", "-c", NULL},        {"/bin/bash", "-c", NULL},
    {"/bin/busybox", "sh", "-c"}, {"/usr/bin/busybox", "sh", "-c"}, {"/bin/zsh", "-c", NULL},
    {"/bin/ksh", "-c", NULL},
};

/* Run script and append what it prints. */
static void run_shell(const struct shell *shell, const char *script, struct str *out)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork_child();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        if (shell->second == NULL) {
            execl(shell->path, shell->path, shell->first, script, (char *)NULL);
        } else {
            execl(shell->path, shell->path, shell->first, shell->second, script, (char *)NULL);
        }
        _exit(127);
    }
    close(ends[1]);
    read_to_end(ends[0], out);
    close(ends[0]);
    assert_int_equal(wait_for(pid), 0);
}

/* printf prints each of the words behind this, with an unlikely end, so that none can be lost. */
#define SCRIPT "printf '%s<end>' "

static void check_in_all_shells(const char *script, const char *want)
{
    size_t tried = 0;

    FOR_ROWS(i, shells, shells[i].path) {
        AUTO_STR struct str got = STR_INIT;
        if (access(shells[i].path, X_OK) != 0) {
            continue;
        }
        run_shell(&shells[i], script, &got);
        if (strcmp(str_text(&got), want) != 0) {
            fail_msg("%s did not give back what was quoted", shells[i].path);
        }
        tried++;
    }
    assert_true(tried > 0);
}

static void check_bytes(void (*quote)(struct str *, const char *))
{
    AUTO_STR struct str script = STR_INIT;
    AUTO_STR struct str want = STR_INIT;

    str_add(&script, SCRIPT);
    for (int byte = 1; byte < 256; byte++) {
        /* Alone, at the start, in the middle, at the end, doubled. */
        const char c = (char)byte;
        const char words[][4] = {{c}, {c, 'a'}, {'a', c, 'b'}, {'a', c}, {c, c}};
        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
            quote(&script, words[i]);
            str_add_char(&script, ' ');
            str_addf(&want, "%s<end>", words[i]);
        }
    }
    check_in_all_shells(str_text(&script), str_text(&want));
}

static void test_every_byte(void **state)
{
    (void)state;
    check_bytes(quote_sh);
}

static void test_every_byte_for_people(void **state)
{
    (void)state;
    check_bytes(quote_sh_pretty);
}

static void test_whole_words(void **state)
{
    (void)state;
    static const char *const words[] = {
        "",
        "'",
        "''",
        "it's",
        "$HOME",
        "*",
        "a b",
        "`id`",
        "$(id)",
        "a\nb\n",
        "\\",
        "\\'",
        "'\\''",
        "\"",
        "{\"a\": 1}",
        "-n",
        "--",
        "!!",
        "a;b|c&d>e<f(g)",
        "~",
        "~root",
        "#x",
        "[a-z]",
        "{a,b}",
        "x=~",
        "\xC3\xA4\xFF",
        "%s%n",
        "a=b",
        "=ls",
        "\t",
        "a\rb",
        "\x1B[31m",
        "$'x'",
        "+-,./:=@",
        "1e-5",
        "\\n",
        "a\\\nb",
        "^a^b",
        "\x80\x81",
        "-",
        "\n",
    };
    AUTO_STR struct str script = STR_INIT;
    AUTO_STR struct str want = STR_INIT;

    str_add(&script, SCRIPT);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        quote_sh(&script, words[i]);
        str_add_char(&script, ' ');
        quote_sh_pretty(&script, words[i]);
        str_add_char(&script, ' ');
        str_addf(&want, "%s<end>%s<end>", words[i], words[i]);
    }
    check_in_all_shells(str_text(&script), str_text(&want));
}

static void test_forms(void **state)
{
    (void)state;
    static const struct {
        const char *text, *always, *pretty;
    } rows[] = {
        {"", "''", "''"},
        {"abc", "'abc'", "abc"},
        {"it's", "'it'\\''s'", "'it'\\''s'"},
        {"--lr=1e-5", "'--lr=1e-5'", "--lr=1e-5"},
        {"a b", "'a b'", "'a b'"},
        {"=x", "'=x'", "'=x'"},
        {"~", "'~'", "'~'"},
    };

    FOR_ROWS(i, rows, rows[i].text) {
        AUTO_STR struct str always = STR_INIT;
        AUTO_STR struct str pretty = STR_INIT;
        quote_sh(&always, rows[i].text);
        quote_sh_pretty(&pretty, rows[i].text);
        assert_string_equal(str_text(&always), rows[i].always);
        assert_string_equal(str_text(&pretty), rows[i].pretty);
    }
}

static void test_argv(void **state)
{
    (void)state;
    AUTO_STR struct str out = STR_INIT;
    AUTO_STRLIST struct strlist argv = STRLIST_INIT;

    strlist_add(&argv, "python3");
    strlist_add(&argv, "-c");
    strlist_add(&argv, "print('x')");
    strlist_add(&argv, "A=b");
    strlist_add(&argv, "if");
    quote_argv_pretty(&out, argv.items, argv.len);
    assert_string_equal(str_text(&out), "python3 -c 'print('\\''x'\\'')' A=b if");

    str_reset(&out);
    quote_argv_pretty(&out, argv.items + 3, 1); /* else an assignment */
    assert_string_equal(str_text(&out), "'A=b'");
    str_reset(&out);
    quote_argv_pretty(&out, argv.items + 4, 1); /* else a reserved word */
    assert_string_equal(str_text(&out), "'if'");
    str_reset(&out);
    quote_argv_pretty(&out, argv.items, 0);
    assert_string_equal(str_text(&out), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_byte),  cmocka_unit_test(test_every_byte_for_people),
        cmocka_unit_test(test_whole_words), cmocka_unit_test(test_forms),
        cmocka_unit_test(test_argv),
    };
    return cmocka_run_group_tests_name("base/quote", tests, NULL, NULL);
}
