/* Environments: the order and source of variables, valid names, and names that may not be set. */
#include "model/env.h"
#include "test.h"

static void test_set_keeps_the_place(void **state)
{
    (void)state;
    struct env env = ENV_INIT;
    env_set(&env, "A", "1", "spec");
    env_set(&env, "B", NULL, "on start");
    env_set(&env, "A", "2", "-e");
    assert_int_equal(env.len, 2);
    assert_string_equal(env.items[0].name, "A");
    assert_string_equal(env.items[0].value, "2");
    assert_string_equal(env.items[0].source, "-e");
    assert_null(env_get(&env, "B")->value);
    assert_null(env_get(&env, "C"));
    assert_null(env_get(&env, "a"));
    /* a value may be set from itself */
    env_set(&env, "A", env_get(&env, "A")->value, env_get(&env, "A")->source);
    assert_string_equal(env_get(&env, "A")->value, "2");
    env_release(&env);
    assert_int_equal(env.len, 0);
}

static void test_copy(void **state)
{
    (void)state;
    struct env from = ENV_INIT, to = ENV_INIT;
    env_set(&from, "A", "1", "spec");
    env_set(&from, "K_TOKEN", "s", "-e");
    from.items[1].secret = true;
    env_set(&to, "A", "0", "default");
    env_copy(&to, &from);
    assert_int_equal(to.len, 2);
    assert_string_equal(env_get(&to, "A")->value, "1");
    assert_false(env_get(&to, "A")->secret);
    assert_true(env_get(&to, "K_TOKEN")->secret);
    assert_string_equal(env_get(&to, "K_TOKEN")->source, "-e");
    env_release(&from);
    env_release(&to);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const good[] = {"A", "_", "_a9", "NCCL_DEBUG", "z"};
    static const char *const bad[] = {"", "9A", "A-B", "A B", "A=", "Ä", "A.B", "BASH_FUNC_x%%"};
    FOR_ROWS(i, good, good[i]) {
        assert_true(env_name_valid(good[i]));
    }
    FOR_ROWS(i, bad, bad[i]) {
        assert_false(env_name_valid(bad[i]));
    }
}

static void refused(const char *name, const char *text, const char *hint)
{
    struct error err = ERROR_INIT;
    assert_int_equal(env_check_settable(name, "1", &err), -1);
    assert_true(error_is(&err, &kind_usage));
    assert_string_equal(err.text, text);
    if (!strstr(err.hint, hint)) {
        fail_msg("hint for %s is '%s'", name, err.hint);
    }
}

static void test_computed_names_are_refused(void **state)
{
    (void)state;
    refused("NNODES", "'NNODES' may not be set", "--nodes");
    refused("NPROC_PER_NODE", "'NPROC_PER_NODE' may not be set", "--nproc-per-node");
    refused("NODE_RANK", "'NODE_RANK' may not be set", "host list");
    refused("MASTER_ADDR", "'MASTER_ADDR' may not be set", "--master-addr");
    refused("MASTER_PORT", "'MASTER_PORT' may not be set", "--master-port");
    refused("ZERO_STAGE", "'ZERO_STAGE' may not be set", "--zero-stage");
    refused("RANK", "'RANK' may not be set", "launcher");
    refused("LOCAL_RANK", "'LOCAL_RANK' may not be set", "launcher");
    refused("WORLD_SIZE", "'WORLD_SIZE' may not be set", "launcher");
    refused("MTLAUNCH_MARK", "'MTLAUNCH_MARK' may not be set", "MTLAUNCH_");
    refused("MTLAUNCH_", "'MTLAUNCH_' may not be set", "MTLAUNCH_");
}

static void test_shell_names_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"UID",           "EUID",      "PPID", "BASHOPTS",
                                        "BASH_VERSINFO", "SHELLOPTS", "IFS",  "_"};
    FOR_ROWS(i, names, names[i]) {
        AUTO_FREE char *text = xasprintf("'%s' may not be set: the shell reserves it", names[i]);
        refused(names[i], text, "another name");
    }
}

static void test_invalid_names_are_refused(void **state)
{
    (void)state;
    refused("9A", "'9A' is not a valid environment variable name", "letters");
    refused("", "'' is not a valid environment variable name", "letters");
    refused("A-B", "'A-B' is not a valid environment variable name", "letters");
}

static void test_what_may_be_set(void **state)
{
    (void)state;
    static const char *const names[] = {"NCCL_DEBUG",           "RANKS",   "MY_RANK", "MTLAUNCH", "PATH",
                                        "CUDA_VISIBLE_DEVICES", "PET_TEE", "LANG",    "UIDS",     "LC_ALL"};
    FOR_ROWS(i, names, names[i]) {
        assert_int_equal(env_check_settable(names[i], "x", NULL), 0);
        assert_int_equal(env_check_settable(names[i], NULL, NULL), 0);
    }
}

/* MAX_ARG_STRLEN of execve(2): 131,072 with the NUL. */
static void test_longest_value(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    size_t len = ENV_VALUE_MAX - strlen("BIG=");
    AUTO_FREE char *value = xcalloc(len + 2, 1);
    memset(value, 'x', len);
    assert_int_equal(env_check_settable("BIG", value, &err), 0);
    value[len] = 'x';
    assert_int_equal(env_check_settable("BIG", value, &err), -1);
    assert_string_equal(
        err.text, "'BIG' with its value is 131072 bytes long; at most 131071 can be handed to a program");
    assert_string_equal(err.hint, "put the value into a file and name the file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_keeps_the_place),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_computed_names_are_refused),
        cmocka_unit_test(test_shell_names_are_refused),
        cmocka_unit_test(test_invalid_names_are_refused),
        cmocka_unit_test(test_what_may_be_set),
        cmocka_unit_test(test_longest_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
