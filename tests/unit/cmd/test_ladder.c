/* The list of steps of a ladder: what is understood, and what is refused. */
#include "cmd/ladder_internal.h"
#include "test.h"

static int read_list(const char *list, const char *profiles, struct ladder_steps *steps, struct error *err)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    AUTO_FREE char *copy = xstrdup(profiles);
    char *rest = NULL;
    *err = ERROR_INIT;
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        strlist_add(&names, name);
    }
    return ladder_read_steps(list, &names, "train.yaml", steps, err);
}

/* name:nodes:profiles:level of each step. */
static char *describe(const struct ladder_steps *steps)
{
    struct str out = STR_INIT;
    for (size_t i = 0; i < steps->len; i++) {
        const struct ladder_step *step = &steps->items[i];
        AUTO_FREE char *profiles = strlist_join(&step->profiles, "+");
        str_addf(&out, "%s%s:%lu:%s:%s", i ? " " : "", step->name, step->nodes, profiles,
                 step->zero_stage ? step->zero_stage : "-");
    }
    return str_detach(&out);
}

static const struct {
    const char *list, *profiles, *steps;
} lists[] = {
    {"1", "", "1:1::-"},
    {"all", "", "all:0::-"},
    {"1,2,all", "", "1:1::- 2:2::- all:0::-"},
    {"1+smoke,all+smoke,z0,z1,z2", "smoke", "1-smoke:1:smoke:- all-smoke:0:smoke:- z0:0::0 z1:0::1 z2:0::2"},
    {"smoke+ib+2+z3", "ib smoke", "smoke-ib-2-z3:2:smoke+ib:3"},
    {"z1,z2", "z1", "z1:0:z1:- z2:0::2"},
    {"z1+z2", "z1", "z1-z2:0:z1:2"},
    {"all", "all 4", "all:0::-"},
};

static void test_lists(void **state)
{
    (void)state;
    FOR_ROWS(i, lists, lists[i].list) {
        struct ladder_steps steps;
        struct error err;
        assert_int_equal(read_list(lists[i].list, lists[i].profiles, &steps, &err), 0);
        AUTO_FREE char *got = describe(&steps);
        assert_string_equal(got, lists[i].steps);
        ladder_steps_release(&steps);
    }
}

static const struct {
    const char *list, *profiles, *text, *hint;
} refused[] = {
    {"", "", "'' in --steps has an empty part", "for example: --steps 1+smoke,all+smoke,z0,z1"},
    {"1,,2", "", "'' in --steps has an empty part", "for example: --steps 1+smoke,all+smoke,z0,z1"},
    {"1+", "", "'1+' in --steps has an empty part", "for example: --steps 1+smoke,all+smoke,z0,z1"},
    {"0", "",
     "'0' in --steps is not a number of nodes, 'all', a ZeRO level 'z0' to 'z3' or a profile of 'train.yaml'",
     "the job has no profiles; for example: --steps 1,2,all+z1"},
    {"z4", "a b",
     "'z4' in --steps is not a number of nodes, 'all', a ZeRO level 'z0' to 'z3' or a profile of "
     "'train.yaml'",
     "its profiles are a, b"},
    {"somke", "smoke",
     "'somke' in --steps is not a number of nodes, 'all', a ZeRO level 'z0' to 'z3' or a profile of "
     "'train.yaml'",
     "did you mean 'smoke'?"},
    {"1 ,2", "",
     "'1 ' in --steps is not a number of nodes, 'all', a ZeRO level 'z0' to 'z3' or a profile of "
     "'train.yaml'",
     "the job has no profiles; for example: --steps 1,2,all+z1"},
    {"1+all", "", "step '1+all' has two numbers of nodes",
     "separate steps by commas: a step has one of them at most"},
    {"z0+z1", "", "step 'z0+z1' has two ZeRO levels",
     "separate steps by commas: a step has one of them at most"},
    {"z1,2,z1", "", "step 'z1' is in --steps twice", "leave one of them out"},
};

static void test_what_is_refused(void **state)
{
    (void)state;
    FOR_ROWS(i, refused, refused[i].list) {
        struct ladder_steps steps;
        struct error err;
        assert_int_equal(read_list(refused[i].list, refused[i].profiles, &steps, &err), -1);
        assert_ptr_equal(err.kind, &kind_usage);
        assert_string_equal(err.text, refused[i].text);
        assert_string_equal(err.hint, refused[i].hint);
        ladder_steps_release(&steps);
    }
}

static void test_too_many_steps(void **state)
{
    (void)state;
    AUTO_STR struct str list = STR_INIT;
    struct ladder_steps steps;
    struct error err;
    for (int i = 1; i <= LADDER_STEPS_MAX + 1; i++) {
        str_addf(&list, "%s%d", i > 1 ? "," : "", i);
    }
    assert_int_equal(read_list(str_text(&list), "", &steps, &err), -1);
    assert_string_equal(err.text, "--steps has more than 64 steps");
    ladder_steps_release(&steps);
}

static void test_the_default_is_understood(void **state)
{
    (void)state;
    static const struct {
        const char *profiles;
        size_t hosts;
        const char *list;
    } rows[] = {
        {"", 4, "1,all,z0,z1,z2"},
        {"ib smoke", 4, "1+smoke,all+smoke,z0,z1,z2"},
        {"smoke", 1, "1+smoke,z0,z1,z2"},
        {"", 1, "z0,z1,z2"},
    };
    FOR_ROWS(i, rows, rows[i].list) {
        AUTO_STRLIST struct strlist profiles = STRLIST_INIT;
        struct ladder_steps steps;
        struct error err = ERROR_INIT;
        if (strstr(rows[i].profiles, "smoke")) {
            strlist_add(&profiles, "smoke");
        }
        const char *list = ladder_default_steps(&profiles, rows[i].hosts);
        assert_string_equal(list, rows[i].list);
        assert_int_equal(ladder_read_steps(list, &profiles, "j", &steps, &err), 0);
        ladder_steps_release(&steps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_too_many_steps),
        cmocka_unit_test(test_the_default_is_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
