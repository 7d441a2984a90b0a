/* Settings of a host entry: what each key takes, and what it refuses. */
#include "hostlist_test.h"

static const struct accept_case keys[] = {
    {"a slots=8", "a slots=8"},
    {"a gpus=0-3", "a slots=4 gpus=0,1,2,3"},
    {"a gpus=0,2", "a slots=2 gpus=0,2"},
    {"a gpus=3,0-1,7", "a slots=4 gpus=3,0,1,7"},
    {"a gpus=5", "a slots=1 gpus=5"},
    {"a slots=2 gpus=0,2", "a slots=2 gpus=0,2"},
    {"a addr=10.0.0.7", "a addr=10.0.0.7"},
    {"a addr=g0033-ib", "a addr=g0033-ib"},
    {"a addr=2001:db8::2", "a addr=2001:db8::2"},
    {"a user=root", "root@a"},
    {"a user='a.b+c'", "a.b+c@a"},
    {"a port=2222", "a:2222"},
    {"a port=1", "a:1"},
    {"a ifname=eth0", "a ifname=eth0"},
    {"a ifname=bond0.100", "a ifname=bond0.100"},
    {"a workdir=/data/x", "a workdir=/data/x"},
    {"a workdir=~/x", "a workdir=~/x"},
    {"a python=/v/bin/python3", "a python=/v/bin/python3"},
    {"a env.NCCL_DEBUG=INFO", "a env.NCCL_DEBUG=INFO"},
    {"a env.B=2 env.A=1", "a env.B=2 env.A=1"},
    {"a ssh=always", "a ssh=always"},
    {"a ssh=auto", "a"},
    {"u@a:22 slots=1 addr=b ifname=i workdir=w env.X=y ssh=always",
     "u@a:22 slots=1 addr=b ifname=i workdir=w env.X=y ssh=always"},
};

static const struct reject_case bad_keys[] = {
    {"a gpus=x", 1, 3, "'gpus=x': not a list of numbers", "gpus=0-3"},
    {"a gpus=0,", 1, 3, "'gpus=0,': not a list of numbers", "gpus=0-3"},
    {"a gpus='0, 2'", 1, 3, "'gpus=0, 2': not a list of numbers", "gpus=0-3"},
    {"a gpus=''", 1, 3, "'gpus=': not a list of numbers", "gpus=0-3"},
    {"a gpus=0-", 1, 3, "'gpus=0-': not a list of numbers", "gpus=0-3"},
    {"a gpus=0-30/2", 1, 3, "'gpus=0-30/2': not a list of numbers", "gpus=0-3"},
    {"a gpus=3-0", 1, 3, "'gpus=3-0': the range is reversed", "gpus=0-3"},
    {"a gpus=0-1,1", 1, 3, "'gpus=0-1,1': a GPU is named twice", "each once"},
    {"a gpus=1024", 1, 3, "'gpus=1024': numbers go up to 1023", "gpus=0-3"},
    {"a gpus=0-99999999999999", 1, 3, "'gpus=0-99999999999999': numbers go up to 1023", "gpus=0-3"},
    {"a slots=3 gpus=0,2", 1, 11, "slots=3 does not match gpus=0,2, which names 2", "leave slots= out"},
    {"a gpus=0-1 slots=1", 1, 12, "slots=1 does not match gpus=0,1, which names 2", "leave slots= out"},
    {"a addr=fe80::1%eth0", 1, 3, "'addr=fe80::1%eth0' is not an address", "%zone"},
    {"a addr=[2001:db8::2]", 1, 3, "'addr=[2001:db8::2]' is not an address", "without brackets"},
    {"a addr=b:22", 1, 3, "'addr=b:22' is not an address", "without brackets"},
    {"a addr=g[1-4]", 1, 3, "'addr=g[1-4]' is not an address", "IPv6"},
    {"a addr=u@b", 1, 3, "'addr=u@b' is not an address", "the one name or address"},
    {"a addr=''", 1, 3, "'addr=' is not an address", "the one name or address"},
    {"a addr=10.0.0", 1, 3, "'10.0.0' is not an IPv4 address, and a name needs a letter", "10.0.0.7"},
    {"a addr=-b", 1, 3, "the host name '-b' starts with '-'", "letter"},
    {"a user='b c'", 1, 3, "'b c' is not a valid user name", "without blanks"},
    {"a user=b@c", 1, 3, "'b@c' is not a valid user name", "without blanks"},
    {"a user=-b", 1, 3, "'-b' is not a valid user name", "start with '-'"},
    {"a user=''", 1, 3, "the user is empty", "a user is"},
    /* S11: OpenSSH's client hands a user to shells */
    {"a user=$(touch${IFS}x)", 1, 3, "'$(touch${IFS}x)' is not a valid user name", "shell characters"},
    {"$(touch${IFS}x)@a", 1, 1, "'$(touch${IFS}x)' is not a valid user name", "shell characters"},
    {"o'brien@h", 1, 1, "'o'brien' is not a valid user name", "shell characters"},
    {"a user=b;c", 1, 3, "'b;c' is not a valid user name", "shell characters"},
    {"a user='b`c'", 1, 3, "'b`c' is not a valid user name", "shell characters"},
    {"a user='b|c'", 1, 3, "'b|c' is not a valid user name", "shell characters"},
    {"a user='b{c}'", 1, 3, "'b{c}' is not a valid user name", "shell characters"},
    {"a user='b\\'", 1, 3, "'b\\' is not a valid user name", "shell characters"},
    {"r@a user=r", 1, 5, "'user=r' and 'r@' both name a user", "once"},
    {"a:22 port=22", 1, 6, "'port=22' and ':22' both name a port", "once"},
    {"a port=0", 1, 3, "'port=0' is not allowed", "1 to 65535"},
    {"a port=65536", 1, 3, "'port=65536' is not allowed", "1 to 65535"},
    {"a port=ssh", 1, 3, "'port=ssh' is not allowed", "1 to 65535"},
    {"a ifname==eth0", 1, 3, "'ifname==eth0' is not allowed", "exact name"},
    {"a ifname=^lo", 1, 3, "'ifname=^lo' is not allowed", "exact name"},
    {"a ifname='eth0,eth1'", 1, 3, "'ifname=eth0,eth1' is not allowed", "one interface"},
    {"a ifname='eth 0'", 1, 3, "'ifname=eth 0' is not allowed", "exact name"},
    {"a ifname=a/b", 1, 3, "'ifname=a/b' is not allowed", "exact name"},
    {"a ifname=..", 1, 3, "'ifname=..' is not allowed", "exact name"},
    {"a ifname=''", 1, 3, "'ifname=' is not allowed", "exact name"},
    {"a ifname=abcdefghijklmnop", 1, 3, "'ifname=abcdefghijklmnop' is not allowed", "at most 15"},
    {"a workdir=''", 1, 3, "'workdir=' is not allowed", "leave workdir= out"},
    {"a ssh=never", 1, 3, "'ssh=never' is not allowed", "ssh=always"},
    {"a addr=b addr=c", 1, 10, "'addr=' is given twice", "once"},
    {"a env.X=1 env.X=1", 1, 11, "'env.X' is given twice", "once"},
};

static void test_keys(void **state)
{
    (void)state;
    FOR_ROWS(i, keys, keys[i].text) {
        check_accept(&keys[i], HOSTLIST_LINES);
    }
    FOR_ROWS(i, bad_keys, bad_keys[i].text) {
        check_reject(&bad_keys[i], HOSTLIST_LINES);
    }
}

static void test_many_gpus(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    static const char text[] = "a gpus=0-1023";

    (void)state;
    assert_int_equal(hostlist_parse(&list, text, strlen(text), HOSTLIST_LINES, "hosts", 1, NULL, NULL), 0);
    assert_int_equal(list.items[0].slots, 1024);
    assert_int_equal(strncmp(list.items[0].gpus, "0,1,2,", 6), 0);
    hostlist_release(&list);
}

/* Names of computed variables, of the shell and impossible ones; the place is the entry's. */
static void test_env_names(void **state)
{
    static const char *const refused[] = {
        "RANK", "LOCAL_RANK",      "WORLD_SIZE",  "NNODES", "NPROC_PER_NODE", "NODE_RANK",
        "UID",  "MASTER_ADDR",     "MASTER_PORT", "PPID",   "ZERO_STAGE",     "1X",
        "",     "MTLAUNCH_RUN_ID", "A-B"};

    (void)state;
    FOR_ROWS(i, refused, refused[i]) {
        struct hostlist list = HOSTLIST_INIT;
        struct error err = ERROR_INIT;
        AUTO_FREE char *text = xasprintf("b\na env.%s=1", refused[i]);
        assert_int_equal(hostlist_parse(&list, text, strlen(text), HOSTLIST_LINES, "hosts", 1, NULL, &err),
                         -1);
        assert_ptr_equal(err.kind, &kind_host_list);
        assert_non_null(strstr(err.text, refused[i]));
        assert_string_not_equal(err.hint, "");
        assert_int_equal(err.line, 2);
        assert_int_equal(err.column, 3);
    }
}

static void test_env_value_too_long(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    AUTO_STR struct str text = STR_INIT;

    (void)state;
    str_add(&text, "a env.X=");
    for (size_t i = 0; i < ENV_VALUE_MAX; i++) {
        str_add_char(&text, 'v');
    }
    assert_int_equal(hostlist_parse(&list, text.data, text.len, HOSTLIST_LINES, "hosts", 1, NULL, &err), -1);
    assert_ptr_equal(err.kind, &kind_host_list);
    assert_non_null(strstr(err.text, "131"));
    assert_null(strstr(err.text, "vvv"));
}

static void test_env_has_its_source(void **state)
{
    struct hostlist list = HOSTLIST_INIT;

    (void)state;
    assert_int_equal(hostlist_parse(&list, "a env.X=1", 9, HOSTLIST_COMMAS, "--hosts", 0, NULL, NULL), 0);
    assert_string_equal(env_get(&list.items[0].env, "X")->source, "host list");
    hostlist_release(&list);
}

/* U6: what is written for one host reads as the same host, with all its settings. */
static void test_entries_are_written_as_they_read(void **state)
{
    (void)state;
    static const char *const entries[] = {
        "g1",
        "me@g1:2222",
        "me@[2001:db8::2]:2222 addr=10.0.0.1",
        "2001:db8::2 slots=8",
        "g1 gpus=\"0,2\"",
        "g1 ifname=eth0 workdir=\"/a b, c\" python=/opt/python3 ssh=always",
        "g1 workdir='/a \"b\"' env.A=1 env.B=\"x, y\" env.C=\"it's\"",
    };
    FOR_ROWS(i, entries, entries[i]) {
        struct hostlist list = HOSTLIST_INIT, again = HOSTLIST_INIT;
        AUTO_STR struct str text = STR_INIT;
        AUTO_STR struct str more = STR_INIT;
        struct error err = ERROR_INIT;
        assert_int_equal(
            hostlist_parse(&list, entries[i], strlen(entries[i]), HOSTLIST_COMMAS, "x", 0, NULL, &err), 0);
        hostlist_write_entry(&list.items[0], &text);
        assert_string_equal(str_text(&text), entries[i]);
        assert_int_equal(
            hostlist_parse(&again, str_text(&text), text.len, HOSTLIST_COMMAS, "x", 0, NULL, &err), 0);
        assert_int_equal(again.len, 1);
        assert_true(host_is_same(&list.items[0], &again.items[0]));
        hostlist_write_entry(&again.items[0], &more);
        assert_string_equal(str_text(&more), str_text(&text));
        hostlist_release(&list);
        hostlist_release(&again);
    }
}

/* What the default secret_env names never shows, in the text, the hint or the source line. */
static void test_secrets_are_starred(void **state)
{
    static const struct {
        const char *text, *source;
    } cases[] = {
        {"a env.WANDB_API_KEY=s3cr3t lots=8", "a env.WANDB_API_KEY=****** lots=8"},
        {"a env.HF_TOKEN='s3cr3t s3cr3t' lots=8", "a env.HF_TOKEN=**************' lots=8"},
        {"a env.HF_TOKEN='s3cr3t", "a env.HF_TOKEN=*******"},
        {"a env.HF_TOKEN=s3cr3t'", "a env.HF_TOKEN=*******"},
        {"a env.HF_TOKEN = s3cr3t", "a env.HF_TOKEN = ******"},
        {"a env.1HF_TOKEN=s3cr3t", "a env.1HF_TOKEN=******"},
        {"a HF_TOKEN=s3cr3t", "a HF_TOKEN=******"},
        {"a HF_TOKEN= s3cr3t", "a HF_TOKEN= ******"},
        {"a env.HF_TOKEN=s3cr3té lots=8", "a env.HF_TOKEN=******* lots=8"},
        {"a env.DB_PASSWORD_X=s3cr3t\ta", "a env.DB_PASSWORD_X=******\ta"},
        {"a env.PLAIN=shown lots=8", "a env.PLAIN=shown lots=8"},
    };

    (void)state;
    FOR_ROWS(i, cases, cases[i].text) {
        struct hostlist list = HOSTLIST_INIT;
        struct error err = ERROR_INIT;
        size_t len = strlen(cases[i].text);
        assert_int_equal(hostlist_parse(&list, cases[i].text, len, HOSTLIST_LINES, "hosts", 1, NULL, &err),
                         -1);
        assert_string_equal(err.source, cases[i].source);
        assert_null(strstr(err.text, "s3cr3t"));
        assert_null(strstr(err.hint, "s3cr3t"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_many_gpus),
        cmocka_unit_test(test_env_names),
        cmocka_unit_test(test_env_value_too_long),
        cmocka_unit_test(test_env_has_its_source),
        cmocka_unit_test(test_entries_are_written_as_they_read),
        cmocka_unit_test(test_secrets_are_starred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
