/* Gathering job, hosts and ways to reach them; what people are told on the way. */
#include "cmd/setup_internal.h"
#include "cmd_test.h"

struct fixture {
    struct stage stage;
    struct cmd_call call;
    struct setup setup;
};

static int set_up(void **state)
{
    struct fixture *fixture = xcalloc(1, sizeof(*fixture));
    stage_begin(&fixture->stage);
    stage_file(&fixture->stage, "job.yaml", "program: echo hi\nlauncher: script\nhosts: g[1-3]\n");
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    setup_release(&fixture->setup);
    cmd_call_release(&fixture->call);
    stage_end(&fixture->stage);
    free(fixture);
    return 0;
}

static int load(struct fixture *fixture, struct error *err)
{
    AUTO_FREE char *path = xasprintf("%s/job.yaml", fixture->stage.folder);
    return setup_load(&fixture->setup, &fixture->call, path, err);
}

static void test_job_and_hosts(void **state)
{
    struct fixture *fixture = *state;
    struct error err = ERROR_INIT;
    fixture->call.options.nodes = (struct option_uint){true, 2};
    setenv("ZERO_STAGE", "1", 1);
    if (load(fixture, &err) != 0 || setup_endpoints(&fixture->setup, &err) != 0) {
        fail_msg("%s", err.text);
    }
    unsetenv("ZERO_STAGE");
    assert_int_equal(fixture->setup.hosts.len, 2);
    assert_int_equal(fixture->setup.job.zero_stage, 1);
    assert_string_equal(fixture->setup.endpoints[1].hostname, "g2");
    assert_false(fixture->setup.facts[1].local);
    assert_null(fixture->setup.facts[1].hostname); /* ssh_config says no other */
    assert_int_equal(fixture->setup.facts[1].port, 22);
    AUTO_FREE char *said = stage_text(&fixture->stage, 2);
    assert_contains(said, "ZERO_STAGE");
}

static void test_alone_is_said(void **state)
{
    struct fixture *fixture = *state;
    struct error err = ERROR_INIT;
    assert_int_equal(setup_load(&fixture->setup, &fixture->call, NULL, &err), 0);
    assert_int_equal(fixture->setup.hosts.len, 1);
    AUTO_FREE char *said = stage_text(&fixture->stage, 2);
    assert_string_equal(said, "no host list: running on this machine alone\n");
}

static void test_an_error_leaves_nothing_behind(void **state)
{
    struct fixture *fixture = *state;
    struct error err = ERROR_INIT;
    fixture->call.options.exclude = "zzz[";
    assert_int_equal(load(fixture, &err), -1);
    assert_ptr_equal(err.kind, &kind_host_list);
    assert_contains(err.text, "zzz");
}

/* A host that no client can reach as it is configured: nobody is asked. */
static void test_a_host_that_cannot_be_reached(void **state)
{
    struct fixture *fixture = *state;
    struct error err = ERROR_INIT;
    AUTO_FREE char *config = xasprintf("%s/config", fixture->stage.folder);
    stage_file(&fixture->stage, "config", "Host g2 login\n  ProxyJump login\n");
    AUTO_FREE char *set = xasprintf("ssh.config=%s", config);
    strlist_add(&fixture->call.options.set, set);
    if (load(fixture, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(setup_endpoints(&fixture->setup, &err), -1);
    assert_ptr_equal(err.kind, &kind_ssh_config);
    assert_contains(err.text, "jump 'login' leads to itself");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_job_and_hosts), TEST(test_alone_is_said),
                                       TEST(test_an_error_leaves_nothing_behind),
                                       TEST(test_a_host_that_cannot_be_reached)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
