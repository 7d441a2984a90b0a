/* Topology: the master address, loopback among several nodes, and process counts. */
#include "model/topology.h"
#include "test.h"

static char name_a[] = "a", name_b[] = "b", name_c[] = "c", loop2[] = "127.0.0.2", loop3[] = "127.0.0.3";
static char local[] = "localhost", zone[] = "fe80::1%eth0", v6[] = "2001:db8::2", gpus02[] = "0,2";

static void test_loopback(void **state)
{
    (void)state;
    static const char *const own[] = {"127.0.0.1",
                                      "127.1.2.3",
                                      "127.1",
                                      "0.0.0.0",
                                      "::1",
                                      "[::1]",
                                      "::",
                                      "localhost",
                                      "LocalHost",
                                      "localhost.",
                                      "localhost4",
                                      "ip6-localhost",
                                      "::ffff:127.0.0.1",
                                      "2130706433",
                                      "x.localhost"};
    static const char *const others[] = {"10.0.0.1",
                                         "128.0.0.1",
                                         "::2",
                                         "fe80::1%lo",
                                         "a",
                                         "localhosts",
                                         "localhost.example.org",
                                         "notlocalhost",
                                         "",
                                         "127.0.0.1.example.org",
                                         "::ffff:10.0.0.1"};
    FOR_ROWS(i, own, own[i]) {
        if (!topology_addr_is_loopback(own[i])) {
            fail_msg("'%s' is a loopback address", own[i]);
        }
    }
    FOR_ROWS(i, others, others[i]) {
        if (topology_addr_is_loopback(others[i])) {
            fail_msg("'%s' is no loopback address", others[i]);
        }
    }
}

static void chosen(const char *wanted, const struct topology_node *nodes, size_t count, const char *master)
{
    struct error err = ERROR_INIT;
    char *addr = topology_choose_master(wanted, nodes, count, &err);
    assert_non_null(addr);
    assert_string_equal(addr, master);
    free(addr);
}

static void master_refused(const char *wanted, const struct topology_node *nodes, size_t count,
                           const char *text)
{
    struct error err = ERROR_INIT;
    assert_null(topology_choose_master(wanted, nodes, count, &err));
    assert_true(error_is(&err, &kind_plan));
    assert_string_equal(err.text, text);
    assert_true(err.hint[0] != '\0');
}

static void test_master(void **state)
{
    (void)state;
    struct host a = {.name = name_a}, b = {.name = name_b}, with_addr = {.name = name_a, .addr = v6};
    struct topology_node plain[] = {{.host = &a, .label = "a"}, {.host = &b, .label = "b"}};
    struct topology_node config[] = {{.host = &a, .label = "a", .hostname = "10.0.0.7"},
                                     {.host = &b, .label = "b"}};
    struct topology_node addr[] = {{.host = &with_addr, .label = "a", .hostname = "10.0.0.7"},
                                   {.host = &b, .label = "b"}};
    chosen(NULL, plain, 1, "127.0.0.1");
    chosen(NULL, plain, 2, "a");
    chosen(NULL, config, 2, "10.0.0.7");
    chosen(NULL, addr, 2, "2001:db8::2");
    chosen("10.1.1.1", addr, 2, "10.1.1.1");
    chosen("[2001:db8::3]", addr, 2, "2001:db8::3");
    chosen("10.1.1.1", plain, 1, "10.1.1.1");
    chosen("localhost", plain, 1, "localhost");
}

static void test_master_refused(void **state)
{
    (void)state;
    struct host a = {.name = name_a}, l = {.name = local}, z = {.name = zone}, two = {.name = loop2},
                three = {.name = loop3};
    struct topology_node plain[] = {{.host = &a, .label = "a"}, {.host = &a, .label = "b"}};
    struct topology_node first[] = {{.host = &l, .label = "localhost"}, {.host = &a, .label = "a"}};
    struct topology_node zoned[] = {{.host = &z, .label = "fe80::1%eth0"}, {.host = &a, .label = "a"}};
    struct topology_node loops[] = {{.host = &two, .label = "127.0.0.2"},
                                    {.host = &three, .label = "127.0.0.3"}};
    master_refused("127.0.0.1", plain, 2,
                   "master.addr '127.0.0.1' is a loopback address, but there are 2 nodes");
    master_refused("localhost", plain, 2,
                   "master.addr 'localhost' is a loopback address, but there are 2 nodes");
    master_refused("::1", plain, 2, "master.addr '::1' is a loopback address, but there are 2 nodes");
    master_refused(
        NULL, first, 2,
        "the first host 'localhost' would be the master with the loopback address 'localhost', but there are "
        "2 nodes");
    master_refused(NULL, zoned, 2,
                   "the master's address 'fe80::1%eth0' has a zone, which has no meaning on other nodes");
    master_refused("", plain, 2, "master.addr is empty");
    master_refused("a:29500", plain, 2, "master.addr 'a:29500' is not an address");
    master_refused("root@a", plain, 2, "master.addr 'root@a' is neither an address nor a host name");
    master_refused("a b", plain, 1, "master.addr 'a b' is neither an address nor a host name");
    master_refused("-x", plain, 1, "master.addr '-x' is neither an address nor a host name");
    /* all of them on one machine: then it works */
    chosen(NULL, loops, 2, "127.0.0.2");
    chosen("127.0.0.1", loops, 2, "127.0.0.1");
    loops[1].hostname = "10.0.0.3";
    master_refused(
        NULL, loops, 2,
        "the first host '127.0.0.2' would be the master with the loopback address '127.0.0.2', but there are "
        "2 nodes");
}

/* Count into nproc; the error's text is compared when wanted is given. */
static int count(const struct job *job, bool unequal, struct topology_node *nodes, size_t len,
                 unsigned *nproc, struct strlist *warnings, const struct error_kind *kind, const char *wanted)
{
    struct error err = ERROR_INIT;
    int rc = topology_count_processes(job, unequal, nodes, len, nproc, warnings, &err);
    assert_int_equal(rc, wanted ? -1 : 0);
    if (wanted) {
        assert_ptr_equal(err.kind, kind);
        assert_string_equal(err.text, wanted);
        assert_true(err.hint[0] != '\0');
    }
    return rc;
}

static void test_counts(void **state)
{
    (void)state;
    char launcher[] = "torchrun";
    struct job job = {.launcher = launcher};
    struct host a = {.name = name_a}, b = {.name = name_b}, s8 = {.name = name_a, .slots = 8},
                t8 = {.name = name_b, .slots = 8};
    struct topology_node none[] = {{.host = &a, .label = "a", .gpus = -1},
                                   {.host = &b, .label = "b", .gpus = -1}};
    struct topology_node slots[] = {{.host = &s8, .label = "a", .gpus = -1},
                                    {.host = &t8, .label = "b", .gpus = -1}};
    unsigned nproc[2];
    struct strlist warnings = STRLIST_INIT;

    count(&job, false, none, 2, nproc, &warnings, NULL, NULL);
    assert_int_equal(nproc[0] + nproc[1], 0); /* open */
    count(&job, false, slots, 2, nproc, &warnings, NULL, NULL);
    assert_int_equal(nproc[0], 8);
    assert_int_equal(nproc[1], 8);
    none[0].gpus = none[1].gpus = 0;
    count(&job, false, none, 2, nproc, &warnings, NULL, NULL);
    assert_int_equal(nproc[0], 1);
    none[0].gpus = none[1].gpus = 4;
    count(&job, false, none, 2, nproc, &warnings, NULL, NULL);
    assert_int_equal(nproc[1], 4);
    slots[0].gpus = 2; /* the list is asked before the node */
    count(&job, false, slots, 2, nproc, &warnings, NULL, NULL);
    assert_int_equal(nproc[0], 8);
    assert_int_equal(warnings.len, 0);

    job.nproc_per_node = 16;
    count(&job, false, slots, 2, nproc, &warnings, NULL, NULL);
    assert_int_equal(nproc[0], 16);
    assert_int_equal(warnings.len, 1);
    assert_string_equal(warnings.items[0], "nproc_per_node is 16, which is more than the slots of a,b");
    strlist_release(&warnings);
}

static void test_unequal_counts(void **state)
{
    (void)state;
    char launcher[] = "torchrun";
    struct job job = {.launcher = launcher};
    struct host a = {.name = name_a, .slots = 8}, b = {.name = name_b, .slots = 4}, c = {.name = name_c};
    struct topology_node nodes[] = {{.host = &c, .label = "c", .gpus = -1},
                                    {.host = &a, .label = "a", .gpus = -1},
                                    {.host = &b, .label = "b", .gpus = -1}};
    unsigned nproc[3];
    struct strlist warnings = STRLIST_INIT;
    count(&job, false, nodes, 3, nproc, &warnings, &kind_plan, "unequal process counts: 8 on a, 4 on b");
    count(&job, true, nodes, 3, nproc, &warnings, NULL, NULL);
    assert_int_equal(nproc[1], 8);
    assert_int_equal(nproc[2], 4);
    nodes[0].gpus = 4; /* found on a node: still the list that is wrong */
    count(&job, false, nodes, 3, nproc, &warnings, &kind_plan, "unequal process counts: 8 on a, 4 on b");
    b.slots = 8;
    count(&job, false, nodes, 3, nproc, &warnings, &kind_unequal_gpus,
          "unequal process counts: 4 on c, 8 on a,b");
    nodes[0].gpus = 8;
    count(&job, false, nodes, 3, nproc, &warnings, NULL, NULL);
    a.slots = b.slots = 0;
    nodes[1].gpus = 8;
    nodes[2].gpus = 7;
    count(&job, false, nodes, 3, nproc, &warnings, &kind_unequal_gpus,
          "unequal process counts: 8 on c,a, 7 on b");
    job.nproc_per_node = 7;
    count(&job, false, nodes, 3, nproc, &warnings, NULL, NULL);
    assert_int_equal(warnings.len, 0);
    strlist_release(&warnings);
}

static void test_more_processes_than_gpus(void **state)
{
    (void)state;
    char launcher[] = "torchrun";
    struct job job = {.launcher = launcher, .nproc_per_node = 4};
    struct host a = {.name = name_a, .slots = 2, .gpus = gpus02};
    struct topology_node nodes[] = {{.host = &a, .label = "a", .gpus = -1}};
    unsigned nproc[1];
    struct strlist warnings = STRLIST_INIT;
    count(&job, true, nodes, 1, nproc, &warnings, &kind_plan,
          "nproc_per_node is 4, but host 'a' has gpus=0,2, which names 2");
    job.nproc_per_node = 2;
    count(&job, true, nodes, 1, nproc, &warnings, NULL, NULL);
    assert_int_equal(nproc[0], 2);
    strlist_release(&warnings);
}

static void test_visible(void **state)
{
    (void)state;
    assert_int_equal(topology_count_visible("0,1", 8), 2);
    assert_int_equal(topology_count_visible("7", 8), 1);
    assert_int_equal(topology_count_visible("0,8,1", 8), 1); /* the first invalid one hides the rest */
    assert_int_equal(topology_count_visible("-1", 8), 0);
    assert_int_equal(topology_count_visible("", 8), 0);
    assert_int_equal(topology_count_visible("0,,1", 8), 1);
    assert_int_equal(topology_count_visible("GPU-8932f937,MIG-1", 8), 2);
    assert_int_equal(topology_count_visible("${{node_rank}}", 8), 1);
    assert_int_equal(topology_count_visible("0,1", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loopback),       cmocka_unit_test(test_master),
        cmocka_unit_test(test_master_refused), cmocka_unit_test(test_counts),
        cmocka_unit_test(test_unequal_counts), cmocka_unit_test(test_more_processes_than_gpus),
        cmocka_unit_test(test_visible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
