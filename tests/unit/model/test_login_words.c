/* W8: what a login says in place of an answer is quoted, and a known text has its remedy. */

#include "model/login_words.h"
#include "test.h"

/* One text for each row, as it is written by the program that says it; a word of the remedy. */
static const struct {
    const char *said, *line, *word;
} samples[] = {
    {"Not allowed at this time\r\n", "Not allowed at this time", "PerSourcePenalties"},
    {"Exceeded MaxStartups\r\n", "Exceeded MaxStartups", "--fanout"},
    {"WARNING: Your password has expired.\nYou must change your password now.\n",
     "WARNING: Your password has expired.", "passwd"},
    {"Password change required but no TTY available.\r\n", "Password change required but no TTY available.",
     "chage -M"},
    {"You are required to change your password immediately (administrator enforced).\n",
     "You are required to change your password immediately (administrator enforced).", "passwd"},
    {"Welcome\nYour account has expired; please contact your system administrator.\n\n",
     "Your account has expired; please contact your system administrator.", "chage -E"},
    {"The account is expired\n", "The account is expired", "chage -E"},
    {"This account is currently not available.\n", "This account is currently not available.", "chsh"},
    {"Your account is locked.", "Your account is locked.", "passwd -u"},
    {"\"System is booting up. Unprivileged users are not permitted to log in yet.\"\n",
     "\"System is booting up. Unprivileged users are not permitted to log in yet.\"", "wait"},
    {"System is going down.\n", "System is going down.", "wait"},
    {"sh: 1: /run/nologin: closed\n", "sh: 1: /run/nologin: closed", "/etc/nologin"},
    {"Too many logins for 'ada'.\n", "Too many logins for 'ada'.", "maxlogins"},
    {"bash: fork: retry: Resource temporarily unavailable\nbash: fork: retry: Resource temporarily "
     "unavailable\n",
     "bash: fork: retry: Resource temporarily unavailable", "process limit"},
    {"-bash: fork: Resource temporarily unavailable\n", "-bash: fork: Resource temporarily unavailable",
     "TasksMax"},
    {"/bin/sh: 3: Cannot fork\n", "/bin/sh: 3: Cannot fork", "process limit"},
    {"sh: can't fork: Resource temporarily unavailable\n", "sh: can't fork: Resource temporarily unavailable",
     "process limit"},
    {"bash: xmalloc: Cannot allocate memory", "bash: xmalloc: Cannot allocate memory", "memory"},
    {"tee: No space left on device\n", "tee: No space left on device", "df -h"},
    {"touch: Disk quota exceeded\n", "touch: Disk quota exceeded", "quota"},
};

static void test_each_row_has_its_sample(void **state)
{
    (void)state;
    assert_int_equal(login_words_len, ARRAY_LEN(samples));
    FOR_ROWS(i, samples, samples[i].said) {
        AUTO_STR struct str shown = STR_INIT;
        const char *action = login_words_pick(samples[i].said, strlen(samples[i].said), &shown);
        assert_ptr_equal(action, login_words[i].action);
        assert_string_equal(str_text(&shown), samples[i].line);
        assert_non_null(strstr(action, samples[i].word));
    }
}

static void test_last_lines_of_other_texts(void **state)
{
    static const struct {
        const char *said, *shown;
    } cases[] = {
        {"", ""},
        {"\n \r\n", ""},
        {"one", "one"},
        {"one\ntwo\n\nthree\r\n\n", "two / three"},
        {"  one  \n\033[2Jtwo\007", "one / \\x1b[2Jtwo\\x07"},
    };

    (void)state;
    FOR_ROWS(i, cases, cases[i].said) {
        AUTO_STR struct str shown = STR_INIT;
        assert_null(login_words_pick(cases[i].said, strlen(cases[i].said), &shown));
        for (size_t at = 0; at < shown.len; at++) {
            assert_true((unsigned char)shown.data[at] >= ' ');
        }
        if (strchr(cases[i].said, '\033') == NULL) {
            assert_string_equal(str_text(&shown), cases[i].shown);
        }
    }
}

/* Bounded, and a NUL byte hides nothing behind it. */
static void test_bounds(void **state)
{
    static const char hidden[] = "\0Your account has expired\n";
    AUTO_STR struct str shown = STR_INIT, long_shown = STR_INIT;
    AUTO_FREE char *text = xcalloc(1, 5000);

    (void)state;
    assert_non_null(login_words_pick(hidden, sizeof(hidden) - 1, &shown));
    memset(text, 'x', 4999);
    text[2500] = '\n';
    assert_null(login_words_pick(text, 4999, &long_shown));
    assert_in_range(long_shown.len, 1, 600);
}

static void test_errors(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    error_set(&err, &kind_auth_failed, "login is refused");
    error_hint(&err, "is the user right");
    login_words_explain(&err, "the server says", "", 0);
    assert_string_equal(err.text, "login is refused");
    login_words_explain(&err, "the server says", "keep out\n", 9);
    assert_string_equal(err.text, "login is refused; the server says: 'keep out'");
    assert_string_equal(err.hint, "is the user right");
    login_words_explain(&err, "the login says", "Cannot fork", 11);
    assert_non_null(strstr(err.hint, "process limit"));
    assert_ptr_equal(err.kind, &kind_auth_failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_row_has_its_sample),
        cmocka_unit_test(test_last_lines_of_other_texts),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
