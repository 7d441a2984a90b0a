/* U8: "@name" in host lists, and exclusions that name no host. Files are kept in a table. */
#include "hostlist_test.h"

static const struct {
    const char *name, *text;
} files[] = {
    {"gpu", "g1 slots=8\ng2 slots=8\n"},
    {"half", "@gpu\n^g1\n"},
    {"plain", "p1\np2:2222\n"},
    {"a", "x1\n@b\n"},
    {"b", "# b\n@a\n"},
    {"self", "@self\n"},
    {"bad", "x\ny slots=0\n"},
    {"empty", "# none\n"},
    {"keys", "k workdir=/w user=u port=2200 gpus=0,1 env.A=1\n"},
    {"d1", "@d2"},
    {"d2", "@d3"},
    {"d3", "@d4"},
    {"d4", "@d5"},
    {"d5", "@d6"},
    {"d6", "@d7"},
    {"d7", "@d8"},
    {"d8", "deep"},
    {"d0", "@d1"},
};

static int read_file(const struct hostlist_groups *groups, const char *name, char **path, struct str *text,
                     struct error *err)
{
    (void)groups;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        if (strcmp(files[i].name, name) != 0) {
            continue;
        }
        *path = xasprintf("hosts/%s.txt", name);
        str_add(text, files[i].text);
        return 0;
    }
    error_set(err, &kind_host_list, "no group '@%s'", name);
    return error_hint(err, "write it");
}

static int parse(struct hostlist *list, const char *text, enum hostlist_form form, struct strlist *said,
                 struct error *err)
{
    const struct hostlist_groups groups = {.read = read_file};
    const struct hostlist_context context = {.warnings = said, .notes = said, .groups = &groups};
    bool lines = form == HOSTLIST_LINES;

    return hostlist_read(list, text, strlen(text), form, lines ? "hosts" : "--hosts", lines, &context, err);
}

static void test_groups(void **state)
{
    static const struct {
        const char *text, *hosts, *said;
    } cases[] = {
        {"@gpu", "g1 slots=8|g2 slots=8", ""},
        {"a,@gpu,b", "a|g1 slots=8|g2 slots=8|b", ""},
        {"@half", "g2 slots=8", ""},
        {"@plain slots=4 python=/v/py env.X=1",
         "p1 slots=4 python=/v/py env.X=1|p2:2222 slots=4 python=/v/py env.X=1", ""},
        {"@gpu slots=8", "g1 slots=8|g2 slots=8", ""},
        {"@gpu gpus=0-7 user=t ssh=always",
         "t@g1 slots=8 gpus=0,1,2,3,4,5,6,7 ssh=always|t@g2 slots=8 gpus=0,1,2,3,4,5,6,7 ssh=always", ""},
        {"@keys user=u env.B=2", "u@k:2200 slots=2 gpus=0,1 workdir=/w env.A=1 env.B=2", ""},
        {"g[1-4],^@gpu", "g3|g4", ""},
        {"@gpu,^@half", "g1 slots=8", ""},
        {"g2,^@gpu", NULL, NULL},
        {"g2,g3,^@gpu", "g3", "--hosts: '^g1' is not in the host list, so nothing is removed"},
        {"@gpu,@gpu", "g1 slots=8|g2 slots=8",
         "--hosts: 'g1' in hosts/gpu.txt:1 repeats hosts/gpu.txt:1 and is dropped\n"
         "--hosts: 'g2' in hosts/gpu.txt:2 repeats hosts/gpu.txt:2 and is dropped"},
        {"@d1", "deep", ""},
    };

    (void)state;
    FOR_ROWS(i, cases, cases[i].text) {
        struct hostlist list = HOSTLIST_INIT;
        struct error err = ERROR_INIT;
        AUTO_STRLIST struct strlist said = STRLIST_INIT;
        int result = parse(&list, cases[i].text, HOSTLIST_COMMAS, &said, &err);
        if (!cases[i].hosts) {
            assert_int_equal(result, -1);
            continue;
        }
        if (result != 0) {
            fail_msg("refused '%s': %s", cases[i].text, err.text);
        }
        AUTO_FREE char *got = hostlist_write(&list);
        AUTO_FREE char *text = strlist_join(&said, "\n");
        assert_string_equal(got, cases[i].hosts);
        assert_string_equal(text, cases[i].said);
        hostlist_release(&list);
    }
}

static void test_wrong_groups(void **state)
{
    static const struct {
        const char *text, *file;
        unsigned line, column;
        const char *message, *hint;
    } cases[] = {
        {"x\n@nope", "hosts", 2, 1, "no group '@nope'", "write it"},
        {"@", "hosts", 1, 1, "no name after '@'", "write @NAME"},
        {"@a/b", "hosts", 1, 1, "'@a/b' is not a valid group name", "write @NAME"},
        {"@..", "hosts", 1, 1, "'@..' is not a valid group name", "write @NAME"},
        {"@a", "hosts/b.txt", 2, 1,
         "the group '@a' contains itself: hosts/a.txt:2 leads on, and hosts/b.txt:2 names 'hosts/a.txt' "
         "again",
         "remove '@a' from hosts/b.txt"},
        {"@self", "hosts/self.txt", 1, 1,
         "the group '@self' contains itself: hosts/self.txt:1 names 'hosts/self.txt' again",
         "remove '@self' from hosts/self.txt"},
        {"@d0", "hosts/d7.txt", 1, 1, "the group '@d8' is nested more than 8 deep", "innermost"},
        {"@bad", "hosts/bad.txt", 2, 3, "'slots=0' is not allowed", "1 to 1024"},
        {"@empty", "hosts/empty.txt", 0, 0, "'hosts/empty.txt' is empty: it names no host", "at least one"},
        {"a\n@gpu slots=4", "hosts", 2, 1,
         "'slots=4' of '@gpu', but the group gives 'g1' slots=8 (hosts/gpu.txt:1)", "one of the two"},
        {"@keys workdir=/x", "hosts", 1, 1,
         "'workdir=/x' of '@keys', but the group gives 'k' workdir=/w (hosts/keys.txt:1)", "one of the two"},
        {"@keys env.A=2", "hosts", 1, 1,
         "'env.A=' of '@keys', but the group gives 'k' another (hosts/keys.txt:1)", "one of the two"},
        {"g1 slots=4\n@gpu", "hosts", 2, 1,
         "a different second entry for 'g1': slots=4 in line 1, slots=8 in hosts/gpu.txt:1",
         "one of the two"},
    };

    (void)state;
    FOR_ROWS(i, cases, cases[i].text) {
        struct hostlist list = HOSTLIST_INIT;
        struct error err = ERROR_INIT;
        if (parse(&list, cases[i].text, HOSTLIST_LINES, NULL, &err) == 0) {
            fail_msg("accepted '%s'", cases[i].text);
        }
        assert_string_equal(err.text, cases[i].message);
        assert_string_equal(err.file, cases[i].file);
        if (err.line != cases[i].line || err.column != cases[i].column || !strstr(err.hint, cases[i].hint)) {
            fail_msg("'%s': %u:%u: %s", cases[i].text, err.line, err.column, err.hint);
        }
        assert_ptr_equal(err.kind, &kind_host_list);
        assert_int_equal(list.len, 0);
    }
}

static void test_exclusions(void **state)
{
    static const struct {
        const char *exclude, *left, *note;
    } cases[] = {
        {"", "g1|g2|g3", ""},
        {" \t", "g1|g2|g3", ""},
        {"g9", "g1|g2|g3", "--exclude: 'g9' is not in the host list, so nothing is removed"},
        {"g[2-5]", "g1", "--exclude: 'g[4-5]' is not in the host list, so nothing is removed"},
        {"@gpu", "g3", ""},
        {"@half,x", "g1|g3", "--exclude: 'x' is not in the host list, so nothing is removed"},
    };
    const struct hostlist_groups groups = {.read = read_file};

    (void)state;
    FOR_ROWS(i, cases, cases[i].exclude) {
        struct hostlist list = HOSTLIST_INIT;
        AUTO_STRLIST struct strlist notes = STRLIST_INIT;
        const struct hostlist_context context = {.notes = &notes, .groups = &groups};
        assert_int_equal(hostlist_parse(&list, "g[1-3]", 6, HOSTLIST_COMMAS, "--hosts", 0, NULL, NULL), 0);
        assert_int_equal(hostlist_exclude(&list, cases[i].exclude, "--exclude", &context, NULL), 0);
        AUTO_FREE char *got = hostlist_write(&list);
        AUTO_FREE char *text = strlist_join(&notes, "\n");
        assert_string_equal(got, cases[i].left);
        assert_string_equal(text, cases[i].note);
        hostlist_release(&list);
    }
}

/* '^' of a host that is not in the list is a note with its place. */
static void test_removals_of_nothing(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    AUTO_STRLIST struct strlist said = STRLIST_INIT;

    (void)state;
    assert_int_equal(parse(&list, "g[1-3]\n^g[2-4]\n^u@h:22\n", HOSTLIST_LINES, &said, NULL), 0);
    AUTO_FREE char *got = hostlist_write(&list);
    AUTO_FREE char *text = strlist_join(&said, "\n");
    assert_string_equal(got, "g1");
    assert_string_equal(text, "hosts:2: '^g4' is not in the host list, so nothing is removed\n"
                              "hosts:3: '^h' is not in the host list, so nothing is removed");
    hostlist_release(&list);
}

/* U9: on a line of a file a comma in a value belongs to the value. */
static void test_commas_in_values(void **state)
{
    static const struct accept_case lines[] = {
        {"a env.NCCL_IB_HCA=mlx5_0,mlx5_1 slots=2", "a slots=2 env.NCCL_IB_HCA=mlx5_0,mlx5_1"},
        {"a gpus=0,2\nb gpus=1,3", "a slots=2 gpus=0,2|b slots=2 gpus=1,3"},
        {"a workdir=/x,y env.B=,", "a workdir=/x,y env.B=,"},
        {"a python=/v/bin/python3.11", "a python=/v/bin/python3.11"},
    };
    static const struct reject_case bad[] = {
        {"a,b", 1, 2, "',' on a line of a host list", "one entry per line"},
        {"a slots=8,b", 1, 10, "',' on a line of a host list", "one entry per line"},
        {"a env.X=1, b", 1, 12, "'b' is not of the form key=value", "one entry per line"},
        {"a python=none", 1, 3, "'python=none' is not allowed", "interpreter"},
    };

    (void)state;
    FOR_ROWS(i, lines, lines[i].text) {
        check_accept(&lines[i], HOSTLIST_LINES);
    }
    FOR_ROWS(i, bad, bad[i].text) {
        check_reject(&bad[i], HOSTLIST_LINES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),           cmocka_unit_test(test_wrong_groups),
        cmocka_unit_test(test_exclusions),       cmocka_unit_test(test_removals_of_nothing),
        cmocka_unit_test(test_commas_in_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
