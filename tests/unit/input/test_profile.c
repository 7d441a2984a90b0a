/* Profiles: mappings merge, lists and texts replace, in the order given. */
#include "jobfile_test.h"

static struct outcome read_with(const char *spec, const char *first, const char *second)
{
    AUTO_STRLIST struct strlist profiles = STRLIST_INIT;
    if (first != NULL) {
        strlist_add(&profiles, first);
    }
    if (second != NULL) {
        strlist_add(&profiles, second);
    }
    const struct job_request request = {.profiles = &profiles};
    return read_spec(spec, &request);
}

#define SPEC                                                                                                 \
    "program: x\n"                                                                                           \
    "hostfile: h\n"                                                                                          \
    "args: {b: 1, a: [1, 2], c: 3}\n"                                                                        \
    "env: {A: base, B: base}\n"                                                                              \
    "setup: [one, two]\n"                                                                                    \
    "master: {addr: m, port: 1}\n"                                                                           \
    "profiles:\n"                                                                                            \
    "  one: {args: {a: [9], d: 4}, env: {B: one}, setup: uno, master: {port: 2}}\n"                          \
    "  two: {args: {d: 5, b: null}, env: {C: two}, master: null, hosts: g1, hostfile: null}\n"               \
    "  list: {args: [--only]}\n"                                                                             \
    "  none:\n"

static void assert_args(const struct job *job, const char *want)
{
    AUTO_STR struct str text = STR_INIT;
    for (size_t i = 0; i < job->args.len; i++) {
        const struct job_arg *arg = &job->args.items[i];
        str_addf(&text, "%s=", arg->key != NULL ? arg->key : "");
        for (size_t v = 0; v < arg->values.len; v++) {
            str_addf(&text, "%s,", arg->values.items[v]);
        }
        str_add_char(&text, ' ');
    }
    assert_string_equal(str_text(&text), want);
}

static void test_one_profile(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_with(SPEC, "one", NULL);
    assert_read(&got);
    assert_args(&got.job, "b=1, a=9, c=3, d=4, ");
    assert_string_equal(env_get(&got.job.env, "A")->source, "spec");
    assert_string_equal(env_get(&got.job.env, "B")->value, "one");
    assert_string_equal(env_get(&got.job.env, "B")->source, "profile one");
    assert_int_equal(got.job.setup.len, 1);
    assert_string_equal(got.job.master_addr, "m");
    assert_int_equal(got.job.master_port, 2);
}

static void test_order_decides(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_with(SPEC, "one", "two");
    assert_read(&got);
    assert_args(&got.job, "b= a=9, c=3, d=5, ");
    assert_int_equal(got.job.args.items[0].type, JOB_ARG_NULL);
    assert_null(got.job.master_addr);
    assert_null(got.job.hostfile);
    assert_string_equal(got.job.hosts, "g1");
    AUTO_OUTCOME struct outcome other = read_with(SPEC, "two", "one");
    assert_read(&other);
    assert_args(&other.job, "b= a=9, c=3, d=4, ");
    assert_int_equal(other.job.master_port, 2);
}

static void test_list_replaces_mapping(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_with(SPEC, "list", NULL);
    assert_read(&got);
    assert_args(&got.job, "=--only, ");
    AUTO_OUTCOME struct outcome back = read_with(SPEC, "list", "one");
    assert_read(&back);
    assert_args(&back.job, "a=9, d=4, ");
}

static void test_no_profile_and_an_empty_one(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_with(SPEC, NULL, NULL);
    assert_read(&got);
    assert_args(&got.job, "b=1, a=1,2, c=3, ");
    AUTO_OUTCOME struct outcome none = read_with(SPEC, "none", NULL);
    assert_read(&none);
    assert_args(&none.job, "b=1, a=1,2, c=3, ");
}

static void test_names_asked_for(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome near = read_with(SPEC, "tow", NULL);
    assert_refused(
        &near, &kind_usage, "--profile tow",
        &(struct refusal){"tow", 0, 0, "no profile 'tow' in '" SPEC_FILE "'", "did you mean 'two'?"});
    AUTO_OUTCOME struct outcome far = read_with(SPEC, "production", NULL);
    assert_refused(&far, &kind_usage, "--profile production",
                   &(struct refusal){"production", 0, 0, "no profile 'production' in '" SPEC_FILE "'",
                                     "choose one of: one, two, list, none"});
    AUTO_OUTCOME struct outcome without = read_with("program: x\n", "p", NULL);
    assert_refused(&without, &kind_usage, "--profile p",
                   &(struct refusal){"p", 0, 0, "no profile 'p' in '" SPEC_FILE "'",
                                     "write it below 'profiles:' in the job file"});
}

static void test_profiles_are_checked_unasked(void **state)
{
    (void)state;
    static const struct refusal wrong[] = {
        {"profiles: [a]\n", 1, 11,
         "'profiles' is a list, expected a mapping of names to keys of the job file",
         "write 'profiles: {smoke: {nproc_per_node: 1}}'"},
        {"profiles: {p: [a]}\n", 1, 15, "'profiles.p' is a list, expected a mapping of keys of the job file",
         "write 'p: {nproc_per_node: 1}'"},
        {"profiles: {p: {nproc: 1, arg: 1}}\n", 1, 16, "unknown key 'profiles.p.nproc'",
         "did you mean 'nproc_per_node'?"},
        {"profiles:\n  p:\n    master: {prt: 1}\n", 3, 14, "unknown key 'profiles.p.master.prt'",
         "did you mean 'port'?"},
        {"profiles: {p: {profiles: {}}}\n", 1, 16, "'profiles.p.profiles': a profile cannot contain profiles",
         "give several: --profile A --profile B"},
    };
    FOR_ROWS(i, wrong, wrong[i].spec) {
        AUTO_OUTCOME struct outcome got = read_spec(wrong[i].spec, NULL);
        assert_refused(&got, &kind_job_file, SPEC_FILE, &wrong[i]);
    }
}

static void test_values_of_a_profile_have_its_place(void **state)
{
    (void)state;
    const char *spec = "program: x\nprofiles:\n  p:\n    zero_stage: 9\n    env: {A: null}\n";
    AUTO_OUTCOME struct outcome unasked = read_with(spec, NULL, NULL);
    assert_read(&unasked);
    AUTO_OUTCOME struct outcome got = read_with(spec, "p", NULL);
    assert_refused(
        &got, &kind_job_file, SPEC_FILE,
        &(struct refusal){spec, 4, 17, "'zero_stage' is '9', allowed: 0 to 3", "write 'zero_stage: 3'"});
}

static void test_both_host_lists(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got =
        read_with("program: x\nhostfile: h\nprofiles: {p: {hosts: g1}}\n", "p", NULL);
    assert_refused(&got, &kind_job_file, SPEC_FILE,
                   &(struct refusal){"both", 2, 11, "'hostfile' and 'hosts' cannot be used together",
                                     "keep one of the two; in a profile, null removes one of them"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_profile),
        cmocka_unit_test(test_order_decides),
        cmocka_unit_test(test_list_replaces_mapping),
        cmocka_unit_test(test_no_profile_and_an_empty_one),
        cmocka_unit_test(test_names_asked_for),
        cmocka_unit_test(test_profiles_are_checked_unasked),
        cmocka_unit_test(test_values_of_a_profile_have_its_place),
        cmocka_unit_test(test_both_host_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
