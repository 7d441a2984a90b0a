/* Where the host list comes from: options, the spec, the environment, Slurm, this machine, in this order. */
#include "input/hostsource_internal.h"
#include "test.h"

/* Files of a test: a folder with a host file of one host "f1", one of "f2". */
struct files {
    char *folder, *one, *two;
};

static int make_files(void **state)
{
    struct files *files = xcalloc(1, sizeof *files);

    files->folder = xstrdup("/tmp/mtlaunch-hostsource-XXXXXX");
    if (!mkdtemp(files->folder)) {
        return -1;
    }
    files->one = write_file_in(files->folder, "one", "f1\n");
    files->two = write_file_in(files->folder, "two", "f2\n");
    *state = files;
    return 0;
}

static int remove_files(void **state)
{
    struct files *files = *state;

    unlink(files->one);
    unlink(files->two);
    rmdir(files->folder);
    free(files->one);
    free(files->two);
    free(files->folder);
    free(files);
    return 0;
}

/* The names found, joined by ','; the caller frees. */
static char *find(const struct hostsource_request *request, bool *alone, struct error *err)
{
    struct hostlist list = HOSTLIST_INIT;
    AUTO_STR struct str names = STR_INIT;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;

    if (hostsource_find(&list, request, &warnings, NULL, alone, err) < 0) {
        assert_int_equal(list.len, 0);
        assert_null(list.items);
        return NULL;
    }
    for (size_t i = 0; i < list.len; i++) {
        str_addf(&names, "%s%s", i ? "," : "", list.items[i].name);
    }
    str_addf(&names, " from %s", list.source);
    hostlist_release(&list);
    return str_detach(&names);
}

static void check_found(const struct hostsource_request *request, const char *expected)
{
    bool alone = true;
    struct error err = ERROR_INIT;
    AUTO_FREE char *names = find(request, &alone, &err);

    if (!names) {
        fail_msg("'%s' refused: %s", expected, err.text);
    }
    assert_string_equal(names, expected);
    assert_false(alone);
}

static void check_refused(const struct hostsource_request *request, const struct error_kind *kind,
                          const char *text, const char *hint)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *names = find(request, NULL, &err);

    if (names) {
        fail_msg("'%s' accepted: %s", text, names);
    }
    assert_ptr_equal(err.kind, kind);
    assert_int_equal(err.kind->exit_code, 2);
    if (!strstr(err.text, text)) {
        fail_msg("'%s' lacks '%s'", err.text, text);
    }
    if (!strstr(err.hint, hint)) {
        fail_msg("hint '%s' lacks '%s'", err.hint, hint);
    }
}

/* All sources given at once; one after the other taken away from the front. */
static void test_precedence(void **state)
{
    struct files *files = *state;
    char spec_hosts[] = "s[1-2]";
    AUTO_FREE char *variable = xasprintf("MTLAUNCH_HOSTFILE=%s", files->two);
    const char *environment[] = {variable, "SLURM_JOB_NODELIST=g[0033-0034],login1", NULL};
    struct job job = {.hosts = spec_hosts};
    struct hostsource_request request = {
        .hosts = "o1,o2", .job = &job, .environ_ = environment, .self = "me"};

    check_found(&request, "o1,o2 from --hosts");
    request.hosts = NULL;
    request.hostfile = files->one;
    AUTO_FREE char *from_one = xasprintf("f1 from %s", files->one);
    AUTO_FREE char *from_two = xasprintf("f2 from %s", files->two);
    check_found(&request, from_one);
    request.hostfile = NULL;
    check_found(&request, "s1,s2 from hosts");
    job.hosts = NULL;
    job.hostfile = files->one;
    check_found(&request, from_one);
    job.hostfile = NULL;
    check_found(&request, from_two);
    request.job = NULL;
    check_found(&request, from_two);
    environment[0] = "OTHER=x";
    check_found(&request, "g0033,g0034,login1 from Slurm allocation");
    environment[1] = NULL;

    bool alone = false;
    AUTO_FREE char *names = find(&request, &alone, NULL);
    assert_string_equal(names, "me from this machine");
    assert_true(alone);
    request.environ_ = NULL;
    AUTO_FREE char *again = find(&request, &alone, NULL);
    assert_string_equal(again, "me from this machine");
}

/* The table is in that order, every source has a name, and the last one always answers. */
static void test_table(void **state)
{
    static const char *const order[] = {"command line", "spec", "MTLAUNCH_HOSTFILE", "SLURM_JOB_NODELIST",
                                        "this machine"};
    struct hostsource_request nothing = {.self = "me"};

    (void)state;
    assert_int_equal(hostsources_count, ARRAY_LEN(order));
    for (size_t i = 0; i < hostsources_count; i++) {
        struct hostlist list = HOSTLIST_INIT;
        assert_string_equal(hostsources[i]->name, order[i]);
        int found = hostsources[i]->find(&list, &nothing, NULL, NULL);
        assert_int_equal(found, i + 1 == hostsources_count);
        hostlist_release(&list);
    }
}

static void test_empty_variables_are_unset(void **state)
{
    static const char *const environment[] = {"MTLAUNCH_HOSTFILE=", "SLURM_JOB_NODELIST=", NULL};
    struct hostsource_request request = {.environ_ = environment, .self = "me"};
    bool alone = false;
    AUTO_FREE char *names = find(&request, &alone, NULL);

    (void)state;
    assert_string_equal(names, "me from this machine");
    assert_true(alone);
}

static void test_hosts_is_never_a_file(void **state)
{
    struct files *files = *state;
    struct hostsource_request request = {.hosts = files->one, .self = "me"};

    check_refused(&request, &kind_usage, "is a file, not a list of hosts", "use --hostfile /");
    request.hosts = "hosts.txt"; /* U16 */
    check_refused(&request, &kind_usage, "'hosts.txt' for --hosts is a file, not a list of hosts",
                  "use --hostfile hosts.txt");
}

static void test_hosts_beside_hostfile(void **state)
{
    struct files *files = *state;
    struct hostsource_request request = {.hosts = "a", .hostfile = files->one, .self = "me"};

    check_refused(&request, &kind_usage, "'--hosts' and '--hostfile' cannot be used together",
                  "one of the two");
}

/* A file that is named and missing never leads to the next source, nor to this machine. */
static void test_missing_files_never_fall_back(void **state)
{
    char missing[] = "/nonexistent/hosts";
    const char *environment[] = {"SLURM_JOB_NODELIST=g1", NULL, NULL};
    struct job job = {.hostfile = missing};
    struct hostsource_request request = {.hostfile = missing, .environ_ = environment, .self = "me"};

    (void)state;
    check_refused(&request, &kind_host_list, "cannot read '/nonexistent/hosts'", "check the path");
    request.hostfile = NULL;
    request.job = &job;
    check_refused(&request, &kind_host_list, "cannot read '/nonexistent/hosts'", "check the path");
    request.job = NULL;
    environment[1] = "MTLAUNCH_HOSTFILE=/nonexistent/hosts";
    check_refused(&request, &kind_host_list,
                  "$MTLAUNCH_HOSTFILE: the host list: cannot read '/nonexistent/hosts'", "check the path");
    request.hostfile = "";
    check_refused(&request, &kind_host_list, "cannot read ''", "check the path");
    request.hostfile = NULL;
    request.hosts = "";
    check_refused(&request, &kind_host_list, "'--hosts' is empty", "at least one");
}

/* As Slurm prints them (scontrol show hostlist). */
static void test_slurm_lists(void **state)
{
    static const struct {
        const char *variable, *expected;
    } cases[] = {
        {"SLURM_JOB_NODELIST=g[0033-0036,0040],login1",
         "g0033,g0034,g0035,g0036,g0040,login1 from Slurm allocation"},
        {"SLURM_JOB_NODELIST=n[1-3]", "n1,n2,n3 from Slurm allocation"},
        {"SLURM_JOB_NODELIST=n[8-10]", "n8,n9,n10 from Slurm allocation"},
        {"SLURM_JOB_NODELIST=g[08-11]", "g08,g09,g10,g11 from Slurm allocation"},
        {"SLURM_JOB_NODELIST=n[0-1,3]", "n0,n1,n3 from Slurm allocation"},
        {"SLURM_JOB_NODELIST=rack[1-2]-n[3-4]", "rack1-n3,rack1-n4,rack2-n3,rack2-n4 from Slurm allocation"},
        {"SLURM_JOB_NODELIST=node7", "node7 from Slurm allocation"},
    };

    (void)state;
    FOR_ROWS(i, cases, cases[i].variable) {
        const char *const environment[] = {cases[i].variable, NULL};
        struct hostsource_request request = {.environ_ = environment, .self = "me"};
        check_found(&request, cases[i].expected);
    }
    const char *const bad[] = {"SLURM_JOB_NODELIST=g[1-", NULL};
    struct hostsource_request request = {.environ_ = bad, .self = "me"};
    check_refused(&request, &kind_host_list, "SLURM_JOB_NODELIST: unclosed '[' in 'g[1-'", "close the range");
}

static void test_exclude_and_nodes(void **state)
{
    struct hostsource_request request = {.hosts = "c[1-4]", .self = "me"};

    (void)state;
    request.exclude = "c1";
    check_found(&request, "c2,c3,c4 from --hosts");
    request.nodes_given = true;
    request.nodes = 2;
    check_found(&request, "c2,c3 from --hosts");
    request.nodes = 3;
    check_found(&request, "c2,c3,c4 from --hosts");
    request.nodes = 4;
    check_refused(&request, &kind_host_list, "--nodes 4, but the host list has 3", "1 to 3");
    request.nodes = 0;
    check_refused(&request, &kind_usage, "'--nodes 0' leaves no host", "at least 1");
    request.nodes_given = false;
    request.exclude = "c9";
    check_found(&request, "c1,c2,c3,c4 from --hosts"); /* U8: a note */
    request.exclude = "";
    check_found(&request, "c1,c2,c3,c4 from --hosts");
    request.exclude = "c[1-4]";
    check_refused(&request, &kind_host_list, "--exclude leaves no host of the list", "at least one");
}

static void test_exclude_and_nodes_alone(void **state)
{
    struct hostsource_request request = {.self = "me"};
    bool alone = false;
    AUTO_FREE char *names = find(&request, &alone, NULL);

    (void)state;
    assert_string_equal(names, "me from this machine");
    assert_true(alone);
    request.nodes_given = true; /* U20: there is no list to take the first of */
    request.nodes = 1;
    check_refused(&request, &kind_usage, "'--nodes 1', but there is no host list", "--hosts LIST");
    request.nodes = 4;
    check_refused(&request, &kind_usage, "'--nodes 4', but there is no host list", "--hosts LIST");
    request.nodes_given = false;
    request.exclude = "me";
    check_refused(&request, &kind_host_list, "--exclude leaves no host of the list", "at least one");
}

/* What find_said says: notes and warnings, one per line. */
static void check_said(const char *const *environment, const char *want)
{
    const struct hostsource_request request = {.environ_ = environment, .self = "me"};
    struct hostlist list = HOSTLIST_INIT;
    AUTO_STRLIST struct strlist said = STRLIST_INIT;

    assert_int_equal(hostsource_find(&list, &request, &said, &said, NULL, NULL), 0);
    AUTO_FREE char *text = strlist_join(&said, "\n");
    assert_string_equal(text, want);
    hostlist_release(&list);
}

/* U17: hosts that the command does not name are said, and which of two sources is used. */
static void test_u17_sources_are_said(void **state)
{
    struct files *files = *state;
    AUTO_FREE char *variable = xasprintf("MTLAUNCH_HOSTFILE=%s", files->one);
    AUTO_FREE char *file = xasprintf("hosts: 1 from $MTLAUNCH_HOSTFILE (%s)", files->one);
    AUTO_FREE char *both = xasprintf("%s\n$MTLAUNCH_HOSTFILE is used and not the hosts of the Slurm job 77: "
                                     "'unset MTLAUNCH_HOSTFILE' uses those",
                                     file);
    const char *const slurm[] = {"SLURM_JOB_NODELIST=g[1-4]", "SLURM_JOB_ID=77", NULL};
    const char *const nameless[] = {"SLURM_JOB_NODELIST=g[1-4]", "MTLAUNCH_HOSTFILE=", NULL};
    const char *const one[] = {variable, "SLURM_JOB_NODELIST=", NULL};
    const char *const two[] = {variable, "SLURM_JOB_NODELIST=g[1-4]", "SLURM_JOB_ID=77", NULL};

    check_said(slurm, "hosts: 4 from the Slurm job 77");
    check_said(nameless, "hosts: 4 from the Slurm allocation");
    check_said(one, file);
    check_said(two, both);
}

static void test_warnings_come_up(void **state)
{
    struct hostsource_request request = {.hosts = "a,a", .self = "me"};
    struct hostlist list = HOSTLIST_INIT;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;

    (void)state;
    assert_int_equal(hostsource_find(&list, &request, &warnings, NULL, NULL, NULL), 0);
    assert_int_equal(warnings.len, 1);
    hostlist_release(&list);
}

static void test_spec_places(void **state)
{
    char hosts[] = "a\n\nb slots=0";
    char spec[] = "x.yaml";
    struct job job = {.hosts = hosts, .hosts_is_list = true};
    struct hostsource_request request = {.job = &job, .self = "me"};
    struct error err = ERROR_INIT;

    (void)state;
    check_refused(&request, &kind_host_list, "hosts: 'slots=0' is not allowed", "slots=8");
    job.file = spec;
    job.hosts_line = 3;
    assert_null(find(&request, NULL, &err));
    assert_string_equal(err.file, "x.yaml");
    assert_int_equal(err.line, 5);
    assert_int_equal(err.column, 3);
}

static void test_spec_lists(void **state)
{
    char expression[] = "g[1-2],x";
    char entries[] = "g[1-2] slots=8\nx";
    char comma[] = "a,b";
    struct job job = {.hosts = expression};
    struct hostsource_request request = {.job = &job, .self = "me"};

    (void)state;
    check_found(&request, "g1,g2,x from hosts");
    job.hosts = entries;
    job.hosts_is_list = true;
    check_found(&request, "g1,g2,x from hosts");
    job.hosts = comma;
    check_refused(&request, &kind_host_list, "hosts: ',' on a line of a host list", "one entry per line");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_empty_variables_are_unset),
        cmocka_unit_test(test_hosts_is_never_a_file),
        cmocka_unit_test(test_hosts_beside_hostfile),
        cmocka_unit_test(test_missing_files_never_fall_back),
        cmocka_unit_test(test_slurm_lists),
        cmocka_unit_test(test_exclude_and_nodes),
        cmocka_unit_test(test_exclude_and_nodes_alone),
        cmocka_unit_test(test_u17_sources_are_said),
        cmocka_unit_test(test_warnings_come_up),
        cmocka_unit_test(test_spec_places),
        cmocka_unit_test(test_spec_lists),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
