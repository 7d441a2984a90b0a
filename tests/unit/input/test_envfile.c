/* Env files: NAME=VALUE lines, nothing expanded, values never shown. */

#include "input/envfile.h"
#include "jobfile_test.h"

static void test_good_lines(void **state)
{
    (void)state;
    const char *text = "\xEF\xBB\xBF"
                       "A=1\r\n"
                       "\n"
                       " \t\n"
                       "# note\n"
                       "  # note\n"
                       "export B=two words \n"
                       "export\t C=\"in quotes\"\n"
                       "D='$HOME `x` \"y\"'\n"
                       "E=$HOME\n"
                       "F=\n"
                       "G=\"\n"
                       "H=it's\n"
                       "I=\"a\"b\"\n"
                       "J=a=b#c\n"
                       "A=3\n"
                       "exported=x\n"
                       "K='last'";
    static const struct {
        const char *name, *value, *source;
    } want[] = {
        {"A", "3", "env_file c.env:15"},        {"B", "two words ", "env_file c.env:6"},
        {"C", "in quotes", "env_file c.env:7"}, {"D", "$HOME `x` \"y\"", "env_file c.env:8"},
        {"E", "$HOME", "env_file c.env:9"},     {"F", "", "env_file c.env:10"},
        {"G", "\"", "env_file c.env:11"},       {"H", "it's", "env_file c.env:12"},
        {"I", "a\"b", "env_file c.env:13"},     {"J", "a=b#c", "env_file c.env:14"},
        {"exported", "x", "env_file c.env:16"}, {"K", "last", "env_file c.env:17"},
    };
    struct env env = ENV_INIT;
    struct error err = ERROR_INIT;
    assert_int_equal(envfile_parse(&env, text, strlen(text), "/x/c.env", "c.env", &err), 0);
    assert_int_equal(env.len, ARRAY_LEN(want));
    FOR_ROWS(i, want, want[i].name) {
        const struct env_var *var = env_get(&env, want[i].name);
        assert_non_null(var);
        assert_string_equal(var->value, want[i].value);
        assert_string_equal(var->source, want[i].source);
    }
    env_release(&env);
}

static void test_bad_lines(void **state)
{
    (void)state;
    static const char no_name[] =
        "' is not a valid variable name, allowed: letters, digits and '_', the first not a digit";
    static const struct {
        const char *text, *message, *hint;
    } cases[] = {
        {"SESAM", "expected NAME=VALUE",
         "write one NAME=VALUE per line; a line that begins with '#' is a comment"},
        {"export SESAM", "expected NAME=VALUE",
         "write one NAME=VALUE per line; a line that begins with '#' is a comment"},
        {"A =SESAM", "'A ", "write NAME=VALUE without blanks around NAME"},
        {" A=SESAM", "' A", "write NAME=VALUE without blanks around NAME"},
        {"1A=SESAM", "'1A", "write NAME=VALUE without blanks around NAME"},
        {"=SESAM", "'", "write NAME=VALUE without blanks around NAME"},
        {"a-b=SESAM", "'a-b", "write NAME=VALUE without blanks around NAME"},
        {"RANK=SESAM", "'RANK' may not be set", "the launcher gives it to each process: leave it out"},
        {"UID=SESAM", "'UID' may not be set: the shell reserves it", "choose another name"},
    };
    FOR_ROWS(i, cases, cases[i].text) {
        AUTO_FREE char *text = xasprintf("# first\n%s\n", cases[i].text);
        struct env env = ENV_INIT;
        struct error err = ERROR_INIT;
        assert_int_equal(envfile_parse(&env, text, strlen(text), "/x/c.env", "c.env", &err), -1);
        bool is_name = strstr(cases[i].hint, "around NAME") != NULL;
        AUTO_FREE char *message = xasprintf("%s%s", cases[i].message, is_name ? no_name : "");
        assert_string_equal(err.text, message);
        assert_string_equal(err.hint, cases[i].hint);
        assert_ptr_equal(err.kind, &kind_env_file);
        assert_string_equal(err.file, "/x/c.env");
        assert_int_equal(err.line, 2);
        assert_string_equal(err.source, "");
        assert_null(strstr(err.text, "SESAM"));
        env_release(&env);
    }
}

static void test_nul_and_length(void **state)
{
    (void)state;
    struct env env = ENV_INIT;
    struct error err = ERROR_INIT;
    assert_int_equal(envfile_parse(&env, "A=1\nB=\0x\n", 9, "f", "f", &err), -1);
    assert_string_equal(err.text, "the line contains a NUL byte");
    assert_int_equal(err.line, 2);

    AUTO_STR struct str text = STR_INIT;
    str_add(&text, "A=");
    for (int i = 0; i < ENV_VALUE_MAX - 2; i++) {
        str_add_char(&text, 'x');
    }
    assert_int_equal(envfile_parse(&env, text.data, text.len - 1, "f", "f", &err), 0);
    assert_int_equal(envfile_parse(&env, text.data, text.len, "f", "f", &err), 0);
    str_add_char(&text, 'x');
    assert_int_equal(envfile_parse(&env, text.data, text.len, "f", "f", &err), -1);
    assert_ptr_equal(err.kind, &kind_env_file);
    assert_int_equal(err.line, 1);
    env_release(&env);
}

static void test_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/mtlaunch-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    AUTO_FREE char *path = path_join(folder, "a.env");
    struct error err = ERROR_INIT;
    struct env env = ENV_INIT;
    assert_int_equal(envfile_read(&env, path, "a.env", &err), -1);
    assert_ptr_equal(err.kind, &kind_env_file);
    AUTO_FREE char *want = xasprintf("cannot read '%s': no such file or directory", path);
    assert_string_equal(err.text, want);
    assert_string_equal(err.file, ""); /* the caller knows where the path stands */
    assert_int_equal(file_write_atomic(path, "A=1\n", 4, 0600, &err), 0);
    assert_int_equal(envfile_read(&env, path, "a.env", &err), 0);
    assert_string_equal(env_get(&env, "A")->source, "env_file a.env:1");
    env_release(&env);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_lines),
        cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_nul_and_length),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
