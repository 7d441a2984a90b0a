/* Host keys: which are known, of which type, what is taken at its word, and what is said of the others. */
#include "fixture.h"

static void set_known_hosts(struct endpoint *endpoint, const char *folder, const char *name)
{
    strlist_release(&endpoint->known_hosts);
    strlist_addf(&endpoint->known_hosts, "%s/%s", folder, name);
}

static void know_nobody(struct world *world, struct endpoint *endpoint)
{
    set_known_hosts(endpoint, world->dir, "no_such_file");
}

static void test_hostkey_unknown(void **state)
{
    struct world *world = *state;
    struct outcome outcome = {0};
    AUTO_STR struct str fingerprint = STR_INIT;
    AUTO_FREE char *path = xasprintf("%s/fingerprint", world->dir);

    run_shell("ssh-keygen -lf %s/host_ed25519.pub | cut -d' ' -f2 | tr -d '\\n' >%s", world->dir, path);
    assert_int_equal(file_read(path, 1000, &fingerprint, NULL), 0);
    run_case(world, know_nobody, &outcome);
    assert_failed(&outcome, &kind_hostkey_unknown);
    assert_false(outcome.result.started);
    assert_non_null(strstr(outcome.result.error.text, str_text(&fingerprint)));
    assert_non_null(strstr(outcome.result.error.text, "no_such_file"));
    assert_non_null(strstr(outcome.result.error.hint, "ssh-keyscan"));
    outcome_release(&outcome);
}

/* accept-new: sixteen addresses of one unknown server at once; each is written down once, and known after it.
 */
static void test_accept_new(void **state)
{
    struct world *world = *state;
    AUTO_FREE char *path = xasprintf("%s/fresh/known_hosts", world->dir);

    run_shell("mkdir %s/fresh", world->dir);
    for (int round = 0; round < 2; round++) {
        struct fleet *fleet = make_fleet(0, 0);
        struct exec_request request = {.command = "true"};
        struct outcome outcomes[16] = {{0}};
        for (unsigned i = 0; i < 16; i++) {
            AUTO_FREE char *address = xasprintf("127.0.1.%u", i / 2 + 1);
            struct endpoint endpoint = make_endpoint(world, address, false);
            set_known_hosts(&endpoint, world->dir, "fresh/known_hosts");
            endpoint.accept_new = round == 0;
            endpoint.trust_file = xstrdup(path);
            outcome_ask(&outcomes[i], fleet, fleet_add_host(fleet, &endpoint), &request);
            endpoint_release(&endpoint);
        }
        fleet_run(fleet);
        fleet_free(fleet);
        for (int i = 0; i < 16; i++) {
            assert_ended(&outcomes[i], 0);
            outcome_release(&outcomes[i]);
        }
        run_shell("test $(grep -c . %s) -eq 8 && test $(stat -c %%a %s) = 600", path, path);
    }
}

/* Hashed names of several types: the server is asked again for the type that is known. */
static void know_hashed_ecdsa(struct world *world, struct endpoint *endpoint)
{
    AUTO_FREE char *name = port_name(world, "127.0.0.1");

    run_shell("{ printf '%%s ' '%s'; cut -d' ' -f1,2 %s/host_ecdsa.pub; printf 'other '; "
              "cut -d' ' -f1,2 %s/id.pub; } >%s/two && ssh-keygen -q -H -f %s/two 2>/dev/null",
              name, world->dir, world->dir, world->dir, world->dir);
    set_known_hosts(endpoint, world->dir, "two");
    endpoint->accept_new = true;
    endpoint->trust_file = xasprintf("%s/two", world->dir);
}

static void test_hashed_type(void **state)
{
    struct world *world = *state;
    struct outcome outcome = {0};

    run_case(world, know_hashed_ecdsa, &outcome);
    assert_ended(&outcome, 0);
    run_shell("test $(grep -c . %s/two) -eq 2", world->dir);
    outcome_release(&outcome);
}

static void know_another_and_accept(struct world *world, struct endpoint *endpoint);

/* A changed key is never accepted. */
static void test_accept_new_changed(void **state)
{
    struct outcome outcome = {0};

    run_case(*state, know_another_and_accept, &outcome);
    assert_failed(&outcome, &kind_hostkey_changed);
    outcome_release(&outcome);
}

static void know_another(struct world *world, struct endpoint *endpoint)
{
    AUTO_FREE char *name = port_name(world, "127.0.0.1");

    run_shell("rm -f %s/other*; ssh-keygen -q -t ed25519 -N '' -f %s/other", world->dir, world->dir);
    run_shell("{ echo '# a comment'; echo; printf '%%s ' '%s'; cut -d' ' -f1,2 %s/other.pub; } >%s/changed",
              name, world->dir, world->dir);
    set_known_hosts(endpoint, world->dir, "changed");
}

static void know_another_and_accept(struct world *world, struct endpoint *endpoint)
{
    know_another(world, endpoint);
    endpoint->accept_new = true;
    endpoint->trust_file = xasprintf("%s/changed", world->dir);
}

static void test_hostkey_changed(void **state)
{
    struct world *world = *state;
    struct outcome outcome = {0};
    AUTO_FREE char *path = xasprintf("%s/changed", world->dir);

    run_case(world, know_another, &outcome);
    assert_failed(&outcome, &kind_hostkey_changed);
    assert_string_equal(outcome.result.error.file, path);
    assert_int_equal(outcome.result.error.line, 3);
    assert_non_null(strstr(outcome.result.error.hint, "ssh-keygen -R"));
    outcome_release(&outcome);
}

static void know_hashed(struct world *world, struct endpoint *endpoint)
{
    run_shell("cp %s/known_hosts %s/hashed && ssh-keygen -q -H -f %s/hashed 2>/dev/null", world->dir,
              world->dir, world->dir);
    run_shell("grep -q '^|1|' %s/hashed", world->dir);
    set_known_hosts(endpoint, world->dir, "hashed");
}

static void test_hostkey_hashed(void **state)
{
    struct outcome outcome = {0};

    run_case(*state, know_hashed, &outcome);
    assert_ended(&outcome, 0);
    outcome_release(&outcome);
}

/* The server has an ECDSA key too, and that is the one known: it must be asked for. */
static void know_ecdsa(struct world *world, struct endpoint *endpoint)
{
    AUTO_FREE char *name = port_name(world, "127.0.0.1");

    run_shell("printf '%%s ' '%s' >%s/ecdsa_only && cut -d' ' -f1,2 %s/host_ecdsa.pub >>%s/ecdsa_only", name,
              world->dir, world->dir, world->dir);
    set_known_hosts(endpoint, world->dir, "ecdsa_only");
}

static void test_hostkey_type(void **state)
{
    struct world *world = *state;
    struct outcome outcome = {0};

    run_case(world, know_ecdsa, &outcome);
    assert_ended(&outcome, 0);
    outcome_release(&outcome);
}

static int set_up(void **state)
{
    struct world *world = xcalloc(1, sizeof(*world));
    AUTO_FREE char *extra = NULL;

    world_init(world);
    run_shell("ssh-keygen -q -t ecdsa -N '' -f %s/host_ecdsa", world->dir);
    extra = xasprintf("HostKey %s/host_ecdsa\n", world->dir);
    world_serve(world, extra);
    *state = world;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostkey_unknown),    cmocka_unit_test(test_accept_new),
        cmocka_unit_test(test_accept_new_changed), cmocka_unit_test(test_hashed_type),
        cmocka_unit_test(test_hostkey_changed),    cmocka_unit_test(test_hostkey_hashed),
        cmocka_unit_test(test_hostkey_type),
    };

    return cmocka_run_group_tests(tests, set_up, world_tear_down);
}
