/* Folding a host list into ranges, so that the text names the same hosts again. */
#include "hostlist_test.h"

static void test_fold(void **state)
{
    static const struct {
        const char *hosts, *folded;
    } cases[] = {
        {"g[0033-0036],login1", "g[0033-0036],login1"},
        {"a", "a"},
        {"a1", "a1"},
        {"a1,a2", "a[1-2]"},
        {"a1,a3", "a[1,3]"},
        {"a1,a2,a3,a5,a7,a8", "a[1-3,5,7-8]"},
        {"a3,a2,a1", "a[3,2,1]"},
        {"a2,b,a1", "a2,b,a1"},
        {"c09,c010", "c09,c010"},
        {"c09,c10", "c[09-10]"},
        {"c9,c10,c11", "c[9-11]"},
        {"c99,c100", "c[99-100]"},
        {"c099,c100", "c[099-100]"},
        {"c10,c09,c100", "c[10,09,100]"},
        {"a001,a2", "a001,a2"},
        {"a0,a1,a10", "a[0-1,10]"},
        {"a00,a0", "a00,a0"},
        {"n1.x,n2.x,n3.y", "n[1-2].x,n3.y"},
        {"r1n1,r1n2,r2n1,r2n2", "r1n[1-2],r2n[1-2]"},
        {"r1n1,r2n1,r3n1", "r[1-3]n1"},
        {"1a,2a", "[1-2]a"},
        {"a1b,a2c", "a1b,a2c"},
        {"10.0.0.1,10.0.0.2,10.0.0.3", "10.0.0.[1-3]"},
        {"10.0.0.9,10.0.1.9", "10.0.[0-1].9"},
        {"fe80::1,fe80::2", "fe80::1,fe80::2"},
        {"fe80::1%eth0,fe80::1%eth1", "fe80::1%eth0,fe80::1%eth1"},
        {"a:2201,a:2202", "a:2201,a:2202"},
        {"a1:2201,a2:2202", "a[1-2]"},
        {"[fe80::1]:22,[fe80::1]:23", "[fe80::1]:22,[fe80::1]:23"},
        {"u@a,v@a,a", "u@a,v@a,a"},
        {"u@a1,u@a2", "a[1-2]"},
        {"a999999999999999999,a999999999999999998", "a[999999999999999999,999999999999999998]"},
        {"a1000000000000000000,a1000000000000000001", "a1000000000000000000,a1000000000000000001"},
    };

    (void)state;
    FOR_ROWS(i, cases, cases[i].hosts) {
        struct hostlist list = HOSTLIST_INIT;
        AUTO_STR struct str out = STR_INIT;
        assert_int_equal(hostlist_parse(&list, cases[i].hosts, strlen(cases[i].hosts), HOSTLIST_COMMAS, "x",
                                        0, NULL, NULL),
                         0);
        hostlist_fold(&list, &out);
        assert_string_equal(out.data, cases[i].folded);
        hostlist_release(&list);
    }
}

static void test_fold_names(void **state)
{
    char a1[] = "a1", a2[] = "a2", again[] = "a1", port[] = "b:2201", other[] = "b:2202", odd[] = "x y",
         c1[] = "c1:22", c2[] = "c2:22", c3[] = "c3:23", v6[] = "fe80::1", v7[] = "fe80::2";
    char *const names[] = {a1, a2, again, port, other, odd, c1, c2, c3, v6, v7};
    AUTO_STR struct str out = STR_INIT;

    (void)state;
    str_add(&out, "on ");
    hostlist_fold_names(names, ARRAY_LEN(names), &out);
    assert_string_equal(out.data, "on a[1-2],b:2201,b:2202,x y,c[1-2]:22,c3:23,fe80::1,fe80::2");
    str_reset(&out);
    hostlist_fold_names(NULL, 0, &out);
    assert_string_equal(str_text(&out), "");
}

/* A name of a few forms that are alike enough to fold, often with leading zeros. */
static char *random_name(void)
{
    static const char *const prefixes[] = {"g", "c0", "r1n", "a-", "10.0.0.", "x"};
    static const char *const suffixes[] = {"", "", "", ".l", "b2"};
    size_t prefix = (size_t)rand() % ARRAY_LEN(prefixes);
    unsigned number = (unsigned)rand() % 13;

    if (prefix == 4) {
        return xasprintf("10.0.0.%u", number);
    }
    return xasprintf("%s%0*u%s", prefixes[prefix], rand() % 4, number,
                     suffixes[(size_t)rand() % ARRAY_LEN(suffixes)]);
}

/* For 3,000 random lists: the folded text expands to the same names in the same order. */
static void test_fold_then_parse_is_the_same(void **state)
{
    (void)state;
    srand(20261129);
    for (int round = 0; round < 3000; round++) {
        AUTO_STRLIST struct strlist names = STRLIST_INIT;
        AUTO_STR struct str folded = STR_INIT;
        struct hostlist list = HOSTLIST_INIT;
        int count = 1 + rand() % 24;
        for (int i = 0; i < count; i++) {
            AUTO_FREE char *name = random_name();
            if (!strlist_has(&names, name)) {
                strlist_add(&names, name);
            }
        }
        hostlist_fold_names(names.items, names.len, &folded);
        if (hostlist_parse(&list, folded.data, folded.len, HOSTLIST_COMMAS, "x", 0, NULL, NULL) != 0) {
            fail_msg("'%s' cannot be read back", folded.data);
        }
        AUTO_FREE char *got = hostlist_write(&list);
        AUTO_FREE char *expected = strlist_join(&names, "|");
        assert_string_equal(got, expected);
        hostlist_release(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_fold_names),
        cmocka_unit_test(test_fold_then_parse_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
