/* What a node says of GPUs, links and NCCL's choices; what cannot be is passed over. */
#include "insight/inventory.h"
#include "insight_test.h"

static void take(struct inventory *inventory, const char *const *facts, size_t count)
{
    struct facts all = FACTS_INIT;
    struct scanner *scanner = scanner_new();
    for (size_t i = 0; i + 1 < count; i += 2) {
        assert_int_equal(facts_add(&all, facts[i], facts[i + 1], NULL), 0);
    }
    inventory_take(inventory, scanner, &all);
    scanner_free(scanner);
    facts_release(&all);
}

#define TAKE(inventory, ...)                                                                                 \
    do {                                                                                                     \
        static const char *const said[] = {__VA_ARGS__};                                                     \
        take((inventory), said, ARRAY_LEN(said));                                                            \
    } while (0)

static void assert_link(const struct inventory *inventory, const char *name, bool rdma, double gbps)
{
    const struct inventory_link *link = inventory_find_link(inventory, name, rdma);
    assert_non_null(link);
    if (link && link->gbps != gbps) {
        fail_msg("%s: %g, not %g", name, link->gbps, gbps);
    }
}

static void test_a_whole_answer(void **state)
{
    (void)state;
    struct inventory inventory = {0};
    TAKE(&inventory, "gpu", "NVIDIA H200", "nic.interface", "eth0", "nic.speed", "eth0|25000", "nic.speed",
         "bond0|200000", "ib.port", "mlx5_0:1|4: ACTIVE|400 Gb/sec (4X NDR)|InfiniBand", "ib.port",
         "mlx5_1:1|1: DOWN|10 Gb/sec (4X SDR)|InfiniBand", "nccl",
         "vm:1630:1630 [0] NCCL INFO NCCL version 2.28.9+cuda13.0", "nccl",
         "[rank0]: vm:1630:1630 [0] NCCL INFO Bootstrap: Using eth0:192.0.2.2<0>", "nccl",
         "vm:1630:1630 [0] NCCL INFO Using network IB", "nccl",
         "vm:1:1 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/0/GDRDMA");
    assert_true(inventory.known);
    assert_string_equal(inventory.gpus.items[0], "NVIDIA H200");
    assert_string_equal(inventory.nccl_version, "2.28.9");
    assert_string_equal(inventory.networks.items[0], "IB");
    assert_string_equal(inventory.interfaces.items[0], "eth0");
    assert_int_equal(inventory.direct, INVENTORY_DIRECT_YES);
    assert_int_equal(inventory.links_len, 3);
    assert_link(&inventory, "eth0", false, 25);
    assert_link(&inventory, "bond0", false, 200);
    assert_link(&inventory, "mlx5_0", true, 400);
    inventory_release(&inventory);
}

/* Of links of one name the slowest counts, and one node without GPUDirect is enough. */
static void test_nodes_together(void **state)
{
    (void)state;
    struct inventory inventory = {0};
    TAKE(&inventory, "gpu", "NVIDIA H200", "nic.speed", "eth0|25000", "nccl",
         "NCCL INFO Using network Socket", "nccl", "Channel 0 via NET/IB/0");
    TAKE(&inventory, "gpu", "NVIDIA H200", "nic.speed", "eth0|10000", "nccl",
         "NCCL INFO Using network Socket", "nccl", "Channel 0 via NET/IB/0/GDRDMA");
    TAKE(&inventory, "gpu", "NVIDIA H100 PCIe", "nic.speed", "eth0|25000");
    assert_int_equal(inventory.gpus.len, 2);
    assert_int_equal(inventory.networks.len, 1);
    assert_int_equal(inventory.direct, INVENTORY_DIRECT_NO);
    assert_link(&inventory, "eth0", false, 10);
    inventory_release(&inventory);
}

static void test_an_older_nccl(void **state)
{
    (void)state;
    struct inventory inventory = {0};
    TAKE(&inventory, "nccl", "g0:1:2 [0] NCCL INFO Bootstrap : Using bond0:10.0.0.1<0>");
    assert_string_equal(inventory.interfaces.items[0], "bond0");
    inventory_release(&inventory);
}

static void test_what_cannot_be(void **state)
{
    (void)state;
    struct inventory inventory = {0};
    TAKE(&inventory, "gpu", "", "nic.speed", "eth0", "nic.speed", "eth0|-1", "nic.speed", "eth0|fast",
         "nic.speed", "|1000", "nic.speed", "=cmd|1000", "nic.speed", "a b|1000", "ib.port",
         "mlx5_0:1|4: ACTIVE|fast|IB", "ib.port", "\033[2J|4: ACTIVE|400 Gb/sec|IB", "ib.port", "4: ACTIVE",
         "nccl", "Using network =1+1", "nccl", "Using network ");
    assert_true(inventory.known);
    assert_int_equal(inventory.gpus.len, 0);
    assert_int_equal(inventory.links_len, 0);
    assert_int_equal(inventory.networks.len, 0);
    assert_int_equal(inventory.direct, INVENTORY_DIRECT_UNKNOWN);
    inventory_release(&inventory);
}

static void test_it_is_bounded(void **state)
{
    (void)state;
    struct inventory inventory = {0};
    for (unsigned i = 0; i < 2 * INVENTORY_MAX; i++) {
        AUTO_FREE char *name = xasprintf("eth%u", i);
        inventory_add_link(&inventory, name, false, 1);
        inventory_add_gpu(&inventory, name);
    }
    assert_int_equal(inventory.links_len, INVENTORY_MAX);
    assert_int_equal(inventory.gpus.len, INVENTORY_MAX);
    inventory_release(&inventory);
}

static void test_there_and_back(void **state)
{
    (void)state;
    struct inventory inventory = {0}, back = {0}, none = {0};
    TAKE(&inventory, "gpu", "NVIDIA H200", "nic.speed", "eth0|25000", "ib.port",
         "mlx5_0:1|4: ACTIVE|400 Gb/sec (4X NDR)|InfiniBand", "nccl", "NCCL version 2.21.5", "nccl",
         "Using network IB", "nccl", "via NET/IB/0");
    json_t *object = inventory_to_json(&inventory);
    inventory_from_json(object, &back);
    json_t *again = inventory_to_json(&back);
    assert_true(json_equal(object, again));
    assert_link(&back, "mlx5_0", true, 400);
    assert_int_equal(back.direct, INVENTORY_DIRECT_NO);
    json_decref(object);
    json_decref(again);
    object = inventory_to_json(&none);
    assert_true(json_is_null(object));
    inventory_from_json(object, &none);
    assert_false(none.known);
    json_decref(object);
    inventory_release(&inventory);
    inventory_release(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_answer), cmocka_unit_test(test_nodes_together),
        cmocka_unit_test(test_an_older_nccl),  cmocka_unit_test(test_what_cannot_be),
        cmocka_unit_test(test_it_is_bounded),  cmocka_unit_test(test_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
