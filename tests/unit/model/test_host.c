/* Hosts: deep copies, when two entries are the same host, and loopback names. */
#include "model/host.h"
#include "test.h"

static void test_copy_is_deep(void **state)
{
    struct host from = {
        .name = xstrdup("g0033"),
        .user = xstrdup("root"),
        .port = 2222,
        .addr = xstrdup("10.0.0.7"),
        .ifname = xstrdup("eth0"),
        .workdir = xstrdup("/data"),
        .slots = 2,
        .gpus = xstrdup("0,2"),
        .ssh_always = true,
        .file = xstrdup("hosts.txt"),
        .line = 3,
        .column = 5,
    };
    struct host to;

    (void)state;
    env_set(&from.env, "A", "1", "host list");
    host_copy(&to, &from);
    assert_true(host_is_same(&to, &from));
    host_release(&from);
    assert_null(from.name);
    assert_string_equal(to.name, "g0033");
    assert_string_equal(to.user, "root");
    assert_int_equal(to.port, 2222);
    assert_string_equal(to.addr, "10.0.0.7");
    assert_string_equal(to.ifname, "eth0");
    assert_string_equal(to.workdir, "/data");
    assert_int_equal(to.slots, 2);
    assert_string_equal(to.gpus, "0,2");
    assert_true(to.ssh_always);
    assert_string_equal(to.file, "hosts.txt");
    assert_int_equal(to.line, 3);
    assert_int_equal(to.column, 5);
    assert_string_equal(env_get(&to.env, "A")->value, "1");
    host_release(&to);
}

static void test_same_by_user_name_and_port_alone(void **state)
{
    char a[] = "a", b[] = "b", user[] = "root", other[] = "yi", addr[] = "10.0.0.1";
    struct host one = {.name = a, .addr = addr};

    (void)state;
    assert_true(host_is_same(&one, &(struct host){.name = a, .slots = 8}));
    assert_false(host_is_same(&one, &(struct host){.name = b, .addr = addr}));
    assert_false(host_is_same(&one, &(struct host){.name = a, .addr = addr, .port = 22}));
    assert_false(host_is_same(&one, &(struct host){.name = a, .addr = addr, .user = user}));
    one.user = user;
    assert_false(host_is_same(&one, &(struct host){.name = a}));
    assert_false(host_is_same(&one, &(struct host){.name = a, .user = other}));
    assert_true(host_is_same(&one, &(struct host){.name = a, .user = user}));
}

static void test_loopback_names(void **state)
{
    static const char *const loopback[] = {"localhost", "LocalHost", "127.0.0.1", "127.10.1.2",
                                           "::1",       "0:0::1",    "::1%lo",    "::ffff:127.0.0.1"};
    static const char *const others[] = {"localhost.example", "128.0.0.1", "10.127.0.0", "fe80::1",
                                         "127.0.0.1.nip.io",  "127",       "::2",        "",
                                         "::ffff:10.0.0.1"};

    (void)state;
    FOR_ROWS(i, loopback, loopback[i]) {
        assert_true(host_name_is_loopback(loopback[i]));
    }
    FOR_ROWS(i, others, others[i]) {
        assert_false(host_name_is_loopback(others[i]));
    }
}

static void test_join_port(void **state)
{
    AUTO_FREE char *name = host_join_port("g0033", 29500);
    AUTO_FREE char *v4 = host_join_port("10.0.0.7", 22);
    AUTO_FREE char *v6 = host_join_port("2001:db8::2", 29500);

    (void)state;
    assert_string_equal(name, "g0033:29500");
    assert_string_equal(v4, "10.0.0.7:22");
    assert_string_equal(v6, "[2001:db8::2]:29500");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_is_deep),
        cmocka_unit_test(test_same_by_user_name_and_port_alone),
        cmocka_unit_test(test_loopback_names),
        cmocka_unit_test(test_join_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
