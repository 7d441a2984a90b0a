/* The list as a whole: duplicates, removals, order, limits, --exclude, --nodes, labels, places. */

#include "hostlist_test.h"

static int parse_lines(struct hostlist *list, const char *text, struct strlist *warnings, struct error *err)
{
    return hostlist_parse(list, text, strlen(text), HOSTLIST_LINES, "hosts", 1, warnings, err);
}

static int parse_commas(struct hostlist *list, const char *text, struct strlist *warnings, struct error *err)
{
    return hostlist_parse(list, text, strlen(text), HOSTLIST_COMMAS, "--hosts", 0, warnings, err);
}

static void test_order_is_the_lists(void **state)
{
    static const struct accept_case cases[] = {
        {"c3\nc1\nc2", "c3|c1|c2"},
        {"b\na[2-3]\na1\n0x", "b|a2|a3|a1|0x"},
    };

    (void)state;
    FOR_ROWS(i, cases, cases[i].text) {
        check_accept(&cases[i], HOSTLIST_LINES);
    }
}

struct repeat_case {
    enum hostlist_form form;
    const char *text, *hosts;
    const char *warning, *second; /* second may be NULL */
};

static void test_identical_entries_are_dropped(void **state)
{
    static const struct repeat_case cases[] = {
        {HOSTLIST_LINES, "a\na", "a", "hosts: 'a' in line 2 repeats line 1 and is dropped", NULL},
        {HOSTLIST_LINES, "a slots=8\n\n#\na slots=8", "a slots=8",
         "hosts: 'a' in line 4 repeats line 1 and is dropped", NULL},
        {HOSTLIST_LINES, "a env.X=1 env.Y=2\na env.Y=2 env.X=1", "a env.X=1 env.Y=2",
         "hosts: 'a' in line 2 repeats line 1 and is dropped", NULL},
        {HOSTLIST_LINES, "a gpus=0-1\na gpus=0,1 slots=2", "a slots=2 gpus=0,1",
         "hosts: 'a' in line 2 repeats line 1 and is dropped", NULL},
        {HOSTLIST_LINES, "u@a:22\na user=u port=22", "u@a:22",
         "hosts: 'a' in line 2 repeats line 1 and is dropped", NULL},
        {HOSTLIST_LINES, "g[1-2]\ng3\ng[1-4]", "g1|g2|g3|g4",
         "hosts: 'g[1-2]' in line 3 repeats line 1 and is dropped",
         "hosts: 'g3' in line 3 repeats line 2 and is dropped"},
        {HOSTLIST_LINES, "g[1,1]", "g1", "hosts: 'g1' in column 1 repeats column 1 and is dropped", NULL},
        {HOSTLIST_COMMAS, "a,a", "a", "--hosts: 'a' in column 3 repeats column 1 and is dropped", NULL},
        {HOSTLIST_COMMAS, "a,a,a", "a", "--hosts: 'a' in column 3 repeats column 1 and is dropped",
         "--hosts: 'a' in column 5 repeats column 1 and is dropped"},
        {HOSTLIST_COMMAS, "localhost,localhost", "localhost",
         "--hosts: 'localhost' in column 11 repeats column 1 and is dropped", NULL},
    };

    (void)state;
    FOR_ROWS(i, cases, cases[i].text) {
        const struct repeat_case *one = &cases[i];
        struct hostlist list = HOSTLIST_INIT;
        AUTO_STRLIST struct strlist warnings = STRLIST_INIT;
        int result = one->form == HOSTLIST_LINES ? parse_lines(&list, one->text, &warnings, NULL)
                                                 : parse_commas(&list, one->text, &warnings, NULL);
        assert_int_equal(result, 0);
        AUTO_FREE char *got = hostlist_write(&list);
        assert_string_equal(got, one->hosts);
        assert_int_equal(warnings.len, one->second ? 2 : 1);
        assert_string_equal(warnings.items[0], one->warning);
        if (one->second) {
            assert_string_equal(warnings.items[1], one->second);
        }
        hostlist_release(&list);
    }
}

static void test_warnings_are_bounded(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    AUTO_STR struct str text = STR_INIT;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;

    (void)state;
    for (int i = 0; i < 100; i++) {
        str_add(&text, "a\n");
    }
    assert_int_equal(parse_lines(&list, text.data, &warnings, NULL), 0);
    assert_int_equal(list.len, 1);
    assert_int_equal(warnings.len, 21);
    assert_string_equal(warnings.items[20], "hosts: 79 more repeated entries are dropped");
    hostlist_release(&list);
}

static void test_different_second_entry_is_refused(void **state)
{
    static const struct reject_case lines[] = {
        {"a slots=4\na slots=2", 2, 1,
         "a different second entry for 'a': slots=4 in line 1, slots=2 in line 2", "user, name and port"},
        {"a\n\na slots=2", 3, 1, "a different second entry for 'a': no slots= in line 1, slots=2 in line 3",
         "keep one"},
        {"a gpus=0,1\na gpus=0,2", 2, 1,
         "a different second entry for 'a': gpus=0,1 in line 1, gpus=0,2 in line 2", "keep one"},
        {"g[1-3] addr=x\ng2", 2, 1, "a different second entry for 'g2': addr=x in line 1, no addr= in line 2",
         "keep one"},
        {"a ifname=x\na ifname=y", 2, 1,
         "a different second entry for 'a': ifname=x in line 1, ifname=y in line 2", "keep one"},
        {"a workdir=x\na workdir=y", 2, 1,
         "a different second entry for 'a': workdir=x in line 1, workdir=y in line 2", "keep one"},
        {"a ssh=always\na", 2, 1, "a different second entry for 'a': ssh=always in line 1, no ssh= in line 2",
         "keep one"},
        {"a env.X=1\na env.X=2", 2, 1,
         "a different second entry for 'a': one env.X= in line 1, another env.X= in line 2", "keep one"},
        {"a\na env.X=2", 2, 1,
         "a different second entry for 'a': no env.X= in line 1, another env.X= in line 2", "keep one"},
    };
    static const struct reject_case commas[] = {
        {"a slots=4,a slots=2", 0, 11,
         "a different second entry for 'a': slots=4 in column 1, slots=2 in column 11", "keep one"},
    };

    (void)state;
    FOR_ROWS(i, lines, lines[i].text) {
        check_reject(&lines[i], HOSTLIST_LINES);
    }
    FOR_ROWS(i, commas, commas[i].text) {
        check_reject(&commas[i], HOSTLIST_COMMAS);
    }
}

/* Only user, name and port make the same host: no shared label or address merges two. */
static void test_different_hosts_stay(void **state)
{
    static const struct accept_case cases[] = {
        {"g1.a\ng1.b\ng1", "g1.a|g1.b|g1"},
        {"a addr=10.0.0.1\nb addr=10.0.0.1", "a addr=10.0.0.1|b addr=10.0.0.1"},
        {"a:2201\na:2202", "a:2201|a:2202"},
        {"u@a\nv@a\na", "u@a|v@a|a"},
        {"A\na", "A|a"},
    };

    (void)state;
    FOR_ROWS(i, cases, cases[i].text) {
        check_accept(&cases[i], HOSTLIST_LINES);
    }
}

static void test_removals(void **state)
{
    static const struct accept_case lines[] = {
        {"g[1-4]\n^g2", "g1|g3|g4"},
        {"^g2\ng[1-4]", "g1|g3|g4"},
        {"g[1-8]\n^g[2-7/2]", "g1|g3|g5|g7|g8"},
        {"u@a:2201\na:2202\na\nb\n^a", "b"},
        {"u@a:2201\na:2202\nb\n^v@a:99", "b"},
        {"a\nb\n^a\n^a", "b"},
        {"fe80::1\n2001:db8::2\n^[fe80::1]", "2001:db8::2"},
        {"a slots=8\nb slots=8\n^a slots=8 # broken", "b slots=8"},
    };
    static const struct reject_case bad[] = {
        {"^a", 1, 1, "'hosts' is empty: it names no host", "at least one"},
        {"a\n^", 2, 1, "no host name in '^'", "^g0033"},
        {"a\n^ a", 2, 1, "no host name in '^'", "^g0033"},
        {"a\n^^a", 2, 2, "'^' is not allowed in the host name '^a'", "letters"},
        {"g[1-3]\n^g[3-1]", 2, 3, "the range '[3-1]' is reversed: '3' is above '1'", "[1-3]"},
        {"a\n^33", 2, 2, "'33' is not an IPv4 address, and a name needs a letter", "10.0.0.7"},
        {"a\nb\n^a\n^b", 3, 1, "'hosts' is empty: '^' removes every host", "remove a '^' entry"},
    };

    (void)state;
    FOR_ROWS(i, lines, lines[i].text) {
        check_accept(&lines[i], HOSTLIST_LINES);
    }
    FOR_ROWS(i, bad, bad[i].text) {
        check_reject(&bad[i], HOSTLIST_LINES);
    }
}

static void test_empty_is_refused(void **state)
{
    static const char *const empty[] = {"", "\n", " \t\r\n", "# only\n  # comments", "\xEF\xBB\xBF"};

    (void)state;
    FOR_ROWS(i, empty, empty[i]) {
        struct reject_case one = {empty[i], 0, 0, "'hosts' is empty: it names no host", "at least one"};
        check_reject(&one, HOSTLIST_LINES);

        struct hostlist list = HOSTLIST_INIT;
        struct error err = ERROR_INIT;
        assert_int_equal(parse_commas(&list, empty[i], NULL, &err), -1);
        assert_string_equal(err.text, "'--hosts' is empty: it names no host");
        assert_string_equal(err.file, "");
    }
}

/* A text that is refused leaves a list as it was; one that is taken is appended. */
static void test_list_is_unchanged_on_error(void **state)
{
    struct hostlist list = HOSTLIST_INIT;

    (void)state;
    assert_int_equal(parse_lines(&list, "a\nb", NULL, NULL), 0);
    assert_string_equal(list.source, "hosts");
    assert_int_equal(parse_commas(&list, "c,d slots=0", NULL, NULL), -1);
    assert_int_equal(list.len, 2);
    assert_int_equal(parse_commas(&list, "c", NULL, NULL), 0);
    AUTO_FREE char *got = hostlist_write(&list);
    assert_string_equal(got, "a|b|c");
    assert_string_equal(list.source, "hosts");
    hostlist_release(&list);
    assert_int_equal(list.len, 0);
}

static void test_places_of_hosts(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    struct hostlist flat = HOSTLIST_INIT;

    (void)state;
    assert_int_equal(parse_lines(&list, "# x\n  a\ng[1-2]", NULL, NULL), 0);
    assert_string_equal(list.items[0].file, "hosts");
    assert_int_equal(list.items[0].line, 2);
    assert_int_equal(list.items[0].column, 3);
    assert_int_equal(list.items[2].line, 3);
    assert_int_equal(list.items[2].column, 1);
    hostlist_release(&list);
    assert_int_equal(parse_commas(&flat, "a, b", NULL, NULL), 0);
    assert_null(flat.items[1].file);
    assert_int_equal(flat.items[1].column, 4);
    hostlist_release(&flat);
}

/* Lines count from first_line (a spec's), columns in characters, BOM and CR not at all. */
static void test_places_of_errors(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    static const char text[] = "a\nb slots=9999";
    static const char wide[] = "\xEF\xBB\xBF"
                               "a env.X=é日本 lots=8\r\n";

    (void)state;
    assert_int_equal(hostlist_parse(&list, text, strlen(text), HOSTLIST_LINES, "x.yaml", 7, NULL, &err), -1);
    assert_string_equal(err.file, "x.yaml");
    assert_int_equal(err.line, 8);
    assert_int_equal(err.column, 3);
    assert_string_equal(err.source, "b slots=9999");
    assert_int_equal(parse_lines(&list, wide, NULL, &err), -1);
    assert_int_equal(err.line, 1);
    assert_int_equal(err.column, 13);
    assert_string_equal(err.source, "a env.X=é日本 lots=8");
}

static void test_nul_byte_is_refused(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(hostlist_parse(&list, "a\nb\0c", 5, HOSTLIST_LINES, "hosts", 1, NULL, &err), -1);
    assert_string_equal(err.text, "control character 0x00 in a host list");
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 2);
}

/* Products are counted before names are made, whatever their size. */
static void test_too_many_hosts(void **state)
{
    static const struct reject_case cases[] = {
        {"g[1-65537]", 1, 1, "'g[1-65537]' names more than 65536 hosts", "65536"},
        {"g[0-999999999999999999]", 1, 1, "'g[0-999999999999999999]' names more than 65536 hosts", "65536"},
        {"g[1-1000000000000][1-1000000000000]", 1, 1,
         "'g[1-1000000000000][1-1000000000000]' names more than 65536 hosts", "65536"},
        {"g[0-9][0-9][0-9][0-9][0-9]", 1, 1, "'g[0-9][0-9][0-9][0-9][0-9]' names more than 65536 hosts",
         "65536"},
        {"g[1-40000,50000-80000]", 1, 1, "'g[1-40000,50000-80000]' names more than 65536 hosts", "65536"},
        {"g[0-999999999999999999,0-999999999999999999,1-2]", 1, 1,
         "'g[0-999999999999999999,0-999999999999999999,1-2]' names more than 65536 hosts", "65536"},
        {"a\n^g[1-65537]", 2, 2, "'g[1-65537]' names more than 65536 hosts", "65536"},
        {"g[1-40000]\nh[1-40000]", 2, 1, "more than 65536 hosts", "65536"},
    };

    (void)state;
    FOR_ROWS(i, cases, cases[i].text) {
        check_reject(&cases[i], HOSTLIST_LINES);
    }
}

static void test_most_hosts(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    AUTO_STR struct str folded = STR_INIT;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;

    (void)state;
    assert_int_equal(parse_lines(&list, "g[00000-65535]\ng[00010-00019]", &warnings, NULL), 0);
    assert_int_equal(list.len, HOSTLIST_MAX);
    assert_string_equal(list.items[65535].name, "g65535");
    assert_int_equal(warnings.len, 1);
    hostlist_fold(&list, &folded);
    assert_string_equal(folded.data, "g[00000-65535]");

    struct error err = ERROR_INIT;
    assert_int_equal(parse_lines(&list, "one-more", NULL, &err), -1);
    assert_string_equal(err.text, "65537 hosts, at most 65536 are allowed");
    hostlist_release(&list);
}

static void test_work_is_bounded(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    AUTO_STR struct str text = STR_INIT;

    (void)state;
    for (int i = 0; i < 20; i++) {
        str_add(&text, "g[1-65536]\n");
    }
    assert_int_equal(parse_lines(&list, text.data, NULL, &err), -1);
    assert_string_equal(err.text, "more than 1048576 names before duplicates are dropped");
    assert_int_equal(err.line, 17);
    assert_string_not_equal(err.hint, "");
}

static void test_memory_is_bounded(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    AUTO_STR struct str text = STR_INIT;

    (void)state;
    str_add(&text, "g[1-65536] env.X=");
    for (int i = 0; i < 8192; i++) {
        str_add_char(&text, 'v');
    }
    assert_int_equal(parse_lines(&list, text.data, NULL, &err), -1);
    assert_string_equal(err.text, "the settings of all hosts take more than 268435456 bytes");
    assert_non_null(strstr(err.hint, "env:"));
}

/* Long ranges are no settings: 14,400 single numbers, a quarter of a megabyte, are one entry like any other.
 */
static void test_long_ranges_cost_nothing(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    struct hostlist again = HOSTLIST_INIT;
    AUTO_STR struct str folded = STR_INIT;
    static const char text[] = "n[1-14400]444000000000R";

    (void)state;
    assert_int_equal(parse_lines(&list, text, NULL, NULL), 0);
    hostlist_fold(&list, &folded);
    assert_true(folded.len > 200000);
    assert_int_equal(parse_commas(&again, folded.data, NULL, NULL), 0);
    assert_int_equal(again.len, 14400);
    assert_string_equal(again.items[14399].name, "n14400444000000000R");
    hostlist_release(&list);
    hostlist_release(&again);
}

static void test_text_is_bounded(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    size_t len = HOSTLIST_TEXT_MAX + 1;
    AUTO_FREE char *text = xcalloc(len + 1, 1);

    (void)state;
    memset(text, '\n', len);
    text[0] = 'a';
    assert_int_equal(hostlist_parse(&list, text, len, HOSTLIST_LINES, "hosts", 1, NULL, &err), -1);
    assert_string_equal(err.text, "'hosts' has 8388609 bytes, at most 8388608 are allowed");
    assert_int_equal(hostlist_parse(&list, text, len - 1, HOSTLIST_LINES, "hosts", 1, NULL, &err), 0);
    assert_int_equal(list.len, 1);
    hostlist_release(&list);
}

/* One line of 200,000 bytes: a message shows a part of it only. */
static void test_long_lines(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    AUTO_STR struct str text = STR_INIT;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        str_add_char(&text, 'x');
    }
    assert_int_equal(parse_lines(&list, text.data, NULL, &err), -1);
    assert_non_null(strstr(err.text, "has 200000 characters, at most 255 are allowed"));
    assert_true(strlen(err.text) < 300);
    str_truncate(&text, 255);
    assert_int_equal(parse_lines(&list, text.data, NULL, &err), 0);
    hostlist_release(&list);
}

/* A multibyte character is never cut when a message clips, at whatever byte the limit falls. */
static void test_clipped_at_a_character(void **state)
{
    (void)state;
    for (int shift = 0; shift < 2; shift++) {
        struct hostlist list = HOSTLIST_INIT;
        struct error err = ERROR_INIT;
        AUTO_STR struct str text = STR_INIT;
        str_add(&text, shift ? "a x" : "a ");
        for (int i = 0; i < 100; i++) {
            str_add(&text, "é");
        }
        assert_int_equal(parse_lines(&list, text.data, NULL, &err), -1);
        assert_non_null(strstr(err.text, "é...' is not of the form key=value"));
    }
}

/* An error far along a line keeps its column; the source line is cut. */
static void test_error_far_along(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    AUTO_STR struct str text = STR_INIT;

    (void)state;
    str_add(&text, "a env.X=");
    for (int i = 0; i < 5000; i++) {
        str_add_char(&text, 'v');
    }
    str_add(&text, " lots=8");
    assert_int_equal(parse_lines(&list, text.data, NULL, &err), -1);
    assert_int_equal(err.column, 5010);
    assert_int_equal(strncmp(err.source, "a env.X=vvvv", 12), 0);
}

static void test_exclude(void **state)
{
    static const struct {
        const char *hosts, *exclude, *left;
    } cases[] = {
        {"c[1-4]", "c1", "c2|c3|c4"},
        {"g[1-8]", "g[2-3],g8", "g1|g4|g5|g6|g7"},
        {"u@a:2201,a:2202,b", "a", "b"},
        {"u@a:2201,a:2202,b", "v@a:99", "b"},
        {"a,b", "a,a", "b"},
        {"fe80::1,b", "[fe80::1]", "b"},
    };

    (void)state;
    FOR_ROWS(i, cases, cases[i].hosts) {
        struct hostlist list = HOSTLIST_INIT;
        assert_int_equal(parse_commas(&list, cases[i].hosts, NULL, NULL), 0);
        assert_int_equal(hostlist_exclude(&list, cases[i].exclude, "--exclude", NULL, NULL), 0);
        AUTO_FREE char *got = hostlist_write(&list);
        assert_string_equal(got, cases[i].left);
        hostlist_release(&list);
    }
}

static void test_exclude_refuses(void **state)
{
    static const struct reject_case cases[] = {
        {"g[1-4]", 0, 0, "--exclude leaves no host of the list", "at least one"},
        {"^g1", 0, 1, "--exclude: '^' is not allowed here", "without '^'"},
        {",", 0, 1, "--exclude: an entry between commas is empty", "extra ','"},
        {"@gpu", 0, 1, "--exclude: '@gpu': a group is not allowed here", "the hosts themselves"},
        {"g[1-", 0, 2, "--exclude: unclosed '[' in 'g[1-'", "close the range"},
    };

    (void)state;
    FOR_ROWS(i, cases, cases[i].text) {
        struct hostlist list = HOSTLIST_INIT;
        struct error err = ERROR_INIT;
        assert_int_equal(parse_commas(&list, "g[1-4]", NULL, NULL), 0);
        assert_int_equal(hostlist_exclude(&list, cases[i].text, "--exclude", NULL, &err), -1);
        assert_ptr_equal(err.kind, &kind_host_list);
        assert_string_equal(err.text, cases[i].message);
        assert_int_equal(err.column, cases[i].column);
        assert_non_null(strstr(err.hint, cases[i].hint));
        assert_int_equal(list.len, 4);
        hostlist_release(&list);
    }
}

static void test_keep_first(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(parse_commas(&list, "c1,c2,c3", NULL, NULL), 0);
    assert_int_equal(hostlist_keep_first(&list, 4, "--nodes", &err), -1);
    assert_ptr_equal(err.kind, &kind_host_list);
    assert_string_equal(err.text, "--nodes 4, but the host list has 3");
    assert_string_equal(err.hint, "give a number from 1 to 3");
    assert_int_equal(hostlist_keep_first(&list, 0, "--nodes", &err), -1);
    assert_string_equal(err.text, "--nodes 0 leaves no host of the list");
    assert_int_equal(list.len, 3);
    assert_int_equal(hostlist_keep_first(&list, 3, "--nodes", &err), 0);
    assert_int_equal(hostlist_keep_first(&list, 2, "--nodes", &err), 0);
    AUTO_FREE char *got = hostlist_write(&list);
    assert_string_equal(got, "c1|c2");
    hostlist_release(&list);
}

static void test_labels(void **state)
{
    static const char *const expected[] = {"127.0.0.1:2201",
                                           "127.0.0.1:2202",
                                           "b",
                                           "[fe80::1]:22",
                                           "fe80::1",
                                           "c",
                                           "u@d:1022",
                                           "v@d:1022",
                                           "u@e",
                                           "e"};
    struct hostlist list = HOSTLIST_INIT;
    AUTO_STRLIST struct strlist labels = STRLIST_INIT;

    (void)state;
    assert_int_equal(
        parse_commas(&list,
                     "127.0.0.1:2201,127.0.0.1:2202,b:22,[fe80::1]:22,fe80::1,u@c,u@d:1022,v@d:1022,u@e,e",
                     NULL, NULL),
        0);
    hostlist_labels(&list, &labels);
    assert_int_equal(labels.len, ARRAY_LEN(expected));
    for (size_t i = 0; i < labels.len; i++) {
        assert_string_equal(labels.items[i], expected[i]);
    }
    hostlist_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_is_the_lists),
        cmocka_unit_test(test_identical_entries_are_dropped),
        cmocka_unit_test(test_warnings_are_bounded),
        cmocka_unit_test(test_different_second_entry_is_refused),
        cmocka_unit_test(test_different_hosts_stay),
        cmocka_unit_test(test_removals),
        cmocka_unit_test(test_empty_is_refused),
        cmocka_unit_test(test_list_is_unchanged_on_error),
        cmocka_unit_test(test_places_of_hosts),
        cmocka_unit_test(test_places_of_errors),
        cmocka_unit_test(test_nul_byte_is_refused),
        cmocka_unit_test(test_too_many_hosts),
        cmocka_unit_test(test_most_hosts),
        cmocka_unit_test(test_work_is_bounded),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_long_ranges_cost_nothing),
        cmocka_unit_test(test_text_is_bounded),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_clipped_at_a_character),
        cmocka_unit_test(test_error_far_along),
        cmocka_unit_test(test_exclude),
        cmocka_unit_test(test_exclude_refuses),
        cmocka_unit_test(test_keep_first),
        cmocka_unit_test(test_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
