/* Properties over many made-up inputs: the same input gives the same plan; no node is left to a master of its
 * own. */
#include "model/topology.h"
#include "plan_fixture.h"

/* Numbers from a seed (xorshift), so that a failure can be repeated. */
static unsigned next(unsigned *seed, unsigned below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed % below;
}

static const char *pick(unsigned *seed, const char *const *items, size_t count)
{
    return items[next(seed, (unsigned)count)];
}

static const char *const names[] = {
    "a",           "b",        "localhost",    "127.0.0.1", "127.0.0.9",    "::1",
    "2001:db8::7", "10.0.0.4", "fe80::1%eth0", "g0033",     "h.example.org"};
static const char *const host_keys[] = {
    "",         " slots=2",   " slots=4", " gpus=0,1", " addr=10.9.9.9", " addr=127.0.0.5", " ifname=ib0",
    " env.X=y", " workdir=/w"};
static const char *const addrs[] = {NULL,        NULL,        NULL,  "10.0.0.1",
                                    "127.0.0.1", "localhost", "::1", "[2001:db8::1]",
                                    "0.0.0.0",   "127.1",     "",    "a:1"};
static const char *const hostnames[] = {NULL, NULL, "10.1.1.1", "127.0.0.1", "localhost"};

static void make_up(struct fixture *f, unsigned *seed)
{
    AUTO_STR struct str list = STR_INIT;
    unsigned count = 1 + next(seed, 4);
    for (unsigned i = 0; i < count; i++) {
        str_addf(&list, "%s port=%u%s\n", pick(seed, names, ARRAY_LEN(names)), 2200 + i,
                 pick(seed, host_keys, ARRAY_LEN(host_keys)));
    }
    set_hosts(f, str_text(&list));
    for (unsigned i = 0; i < count; i++) {
        f->host_facts[i] = (struct plan_host){.local = next(seed, 4) == 0,
                                              .hostname = pick(seed, hostnames, ARRAY_LEN(hostnames))};
    }
    set_text(&f->job.master_addr, pick(seed, addrs, ARRAY_LEN(addrs)));
    set_text(&f->job.launcher, next(seed, 2) ? "torchrun" : "script");
    f->job.rendezvous = next(seed, 2) ? RENDEZVOUS_STATIC : RENDEZVOUS_C10D;
    f->job.nproc_per_node = next(seed, 3);
    set_facts(f, next(seed, 40), next(seed, 3), next(seed, 2) ? "eth0" : NULL);
    if (next(seed, 2)) {
        f->in.facts = NULL;
    }
}

static bool all_loopback(const struct plan *plan)
{
    for (unsigned i = 0; i < plan->nnodes; i++) {
        if (!topology_addr_is_loopback(plan->nodes[i].addr)) {
            return false;
        }
    }
    return true;
}

static void check_plan(const struct plan *plan, unsigned case_number)
{
    unsigned world = 0;
    bool known = true;
    for (unsigned i = 0; i < plan->nnodes; i++) {
        world += plan->nodes[i].nproc;
        known = known && plan->nodes[i].nproc;
        const struct env_var *master = env_get(&plan->nodes[i].computed, "MASTER_ADDR");
        if (plan->nodes[i].rank != i || strcmp(master->value, plan->master_addr) != 0) {
            fail_msg("case %u: node %u has rank %u, master %s", case_number, i, plan->nodes[i].rank,
                     master->value);
        }
    }
    if (plan->world_size != (known ? world : 0)) {
        fail_msg("case %u: world %u is not %u", case_number, plan->world_size, world);
    }
    if (plan->master_addr[0] == '\0' || strchr(plan->master_addr, '[')) {
        fail_msg("case %u: master '%s'", case_number, plan->master_addr);
    }
    if (plan->nnodes > 1 && topology_addr_is_loopback(plan->master_addr) && !all_loopback(plan)) {
        fail_msg("case %u: %u nodes and master '%s'", case_number, plan->nnodes, plan->master_addr);
    }
}

static void test_properties(void **state)
{
    struct fixture *f = *state;
    unsigned seed = 20261129, made = 0, refused = 0;
    for (unsigned i = 0; i < 3000; i++) {
        AUTO_STR struct str once = STR_INIT, twice = STR_INIT;
        make_up(f, &seed);
        f->err = ERROR_INIT;
        struct plan plan, again;
        if (plan_make(&plan, &f->in, &f->err)) {
            refused++;
            if (!f->err.kind || !f->err.text[0] || !f->err.hint[0]) {
                fail_msg("case %u: error without kind, text or hint: %s", i, f->err.text);
            }
            continue;
        }
        made++;
        check_plan(&plan, i);
        add_plan_text(&plan, &once);
        assert_int_equal(plan_make(&again, &f->in, &f->err), 0);
        add_plan_text(&again, &twice);
        assert_string_equal(str_text(&once), str_text(&twice));
        plan_release(&plan);
        plan_release(&again);
    }
    /* the made-up inputs must reach both sides */
    assert_true(made > 300);
    assert_true(refused > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_properties, plan_setup, plan_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
