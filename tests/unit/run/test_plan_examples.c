/*
 * The plans of examples/ against tests/data/plans/example-NAME.txt. After a wanted change:
 * MTLAUNCH_UPDATE_GOLDEN=1 writes the files anew, and the difference is read before it is committed.
 */
#include "input/hostfile.h"
#include "input/jobfile.h"
#include "plan_fixture.h"

/* Profiles divided by blanks; nodes: the first n of the list, 0: all. */
static void golden(struct fixture *f, const char *name, const char *spec, const char *profiles, size_t nodes)
{
    struct strlist chosen = STRLIST_INIT, warnings = STRLIST_INIT;
    AUTO_FREE char *words = xstrdup(profiles);
    for (char *rest = words, *word; (word = strsep(&rest, " "));) {
        if (*word) {
            strlist_add(&chosen, word);
        }
    }
    AUTO_FREE char *file = xasprintf("examples/%s", spec);
    const struct job_request request = {.job = file, .profiles = &chosen, .home = "/home/yi"};
    job_release(&f->job);
    hostlist_release(&f->hosts);
    const struct hostlist_context context = {.warnings = &warnings};
    if (jobfile_load(&f->job, &request, NULL, &warnings, &f->err) ||
        hostfile_read(&f->hosts, f->job.hostfile, &context, &f->err)) {
        fail_msg("%s: %s", f->err.file, f->err.text);
    }
    assert_int_equal(warnings.len, 0);
    strlist_release(&chosen);
    for (; nodes && f->hosts.len > nodes; f->hosts.len--) {
        host_release(&f->hosts.items[f->hosts.len - 1]);
    }

    AUTO_FREE char *path = xasprintf("tests/data/plans/example-%s.txt", name);
    AUTO_STR struct str got = STR_INIT, wanted = STR_INIT;
    add_plan_text(planned(f), &got);
    if (getenv("MTLAUNCH_UPDATE_GOLDEN")) {
        assert_int_equal(file_write_atomic(path, got.data, got.len, 0644, NULL), 0);
    }
    assert_int_equal(file_read(path, 1 << 20, &wanted, &f->err), 0);
    assert_string_equal(str_text(&got), str_text(&wanted));
}

static void test_qwen3(void **state)
{
    golden(*state, "qwen3-z1-ib", "qwen3_1p7b.yaml", "z1 ib", 0);
    golden(*state, "qwen3-z2-eth", "qwen3_1p7b.yaml", "z2 eth", 2);
    golden(*state, "qwen3-smoke", "qwen3_1p7b.yaml", "z0 smoke plain", 1);
}

static void test_gpt_smoke(void **state)
{
    golden(*state, "gpt-smoke-tp2", "gpt_smoke.yaml", "tp2", 2);
}

static void test_existing_script(void **state)
{
    golden(*state, "existing-script-z1", "existing_script.yaml", "z1", 2);
}

static void test_other_launchers(void **state)
{
    golden(*state, "deepspeed", "deepspeed.yaml", "", 2);
    golden(*state, "deepspeed-no-ssh", "deepspeed.yaml", "own-launcher", 2);
    golden(*state, "accelerate", "accelerate.yaml", "", 2);
    golden(*state, "accelerate-plain", "accelerate.yaml", "plain", 2);
    golden(*state, "qwen3-vl-swift", "qwen3_vl_swift.yaml", "", 2);
    golden(*state, "qwen3-vl-megatron-swift", "qwen3_vl_megatron_swift.yaml", "", 4);
    golden(*state, "ray", "ray.yaml", "", 2);
}

static void test_smallest(void **state)
{
    golden(*state, "hello", "hello.yaml", "", 1);
    golden(*state, "allreduce", "torchrun_allreduce.yaml", "", 2);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, plan_setup, plan_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_qwen3),           TEST(test_gpt_smoke), TEST(test_existing_script),
        TEST(test_other_launchers), TEST(test_smallest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
