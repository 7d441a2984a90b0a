/* The run store: whole records round trip, damage and newer formats are named, locks take turns. */

#include "base/json.h"
#include "run/store.h"
#include "test.h"

struct fixture {
    char folder[64];
    struct run_store store;
};

static int set_up(void **state)
{
    struct fixture *fixture = xcalloc(1, sizeof(*fixture));
    strcpy(fixture->folder, "/tmp/mtlaunch-store-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    assert_int_equal(run_store_open(&fixture->store, fixture->folder, "/nowhere", NULL), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    AUTO_FREE char *command = xasprintf("rm -rf '%s'", fixture->folder);
    assert_int_equal(system(command), 0);
    run_store_release(&fixture->store);
    free(fixture);
    return 0;
}

static void fill_node(struct run_node *node, const char *name)
{
    node->host.name = xstrdup(name);
    node->host.port = 2222;
    node->host.user = xstrdup("it's \"me\"");
    node->label = xasprintf("%s:2222", name);
    node->artifacts = xstrdup("/a b/\xc3\xa9");
    node->state = NODE_FAILED;
    node->reason = xstrdup("killed by signal 9\nreally");
    node->pid = 4000000;
    node->exit_status = 137;
    node->signal = xstrdup("KILL");
    node->ended_ms = 1795965913123;
    node->signalled = true;
    node->stop_missed = true;
}

static void fill_cleanups(struct run *run)
{
    struct run_cleanup *cleanup = run_add_cleanup(run);
    cleanup->host.name = xstrdup("g0040");
    cleanup->label = xstrdup("g0040");
    cleanup->attempt = 1;
    cleanup->rank = 3;
    cleanup->place_known = true;
    cleanup->place.container = xstrdup("c \"1\"");
    cleanup->place.engine = xstrdup("podman");
    cleanup->place.sudo = true;
    cleanup->place.user = xstrdup("u");
    cleanup->place.id = xstrdup("0123");
    cleanup->place.started = xstrdup("2026-01-01 10:00:00.1 +0000 UTC");
    cleanup->reach.user = xstrdup("yi");
    cleanup->reach.port = 2222;
    cleanup->reach.jump = xstrdup("gate");
    cleanup = run_add_cleanup(run);
    cleanup->host.name = xstrdup("g0041");
    cleanup->label = xstrdup("g0041");
    cleanup->attempt = 1;
    cleanup->place_known = true;
    cleanup = run_add_cleanup(run);
    cleanup->host.name = xstrdup("g0042");
    cleanup->label = xstrdup("g0042");
    cleanup->attempt = 1;
}

static void fill_run(struct run *run, const char *name)
{
    run_init(run);
    run->name = xstrdup(name);
    run->job = xstrdup("job");
    strcpy(run->id, "r1-0123abcd");
    run->attempt = 2;
    run->state = RUN_FAILED;
    run->stopping = true;
    run->exit_status = 137;
    run_set_reason(run, xstrdup("killed:\n    one\n    two"));
    run->cause.hint = xstrdup("dmesg");
    strlist_add(&run->cause.hosts, "g0033:2222");
    run->master_port = 29501;
    run->stop_grace_s = 40;
    run->spec = xstrdup("{\"job\": \"x\"}");
    run->global_batch = 2048;
    run->sequence = 512;
    run->progress = PROGRESS_NONE;
    run->progress.known = true;
    run->progress.iteration = 7;
    run->progress.global_batch = 32;
    run->progress.sequence = 256;
    run->inventory.known = true;
    inventory_add_gpu(&run->inventory, "NVIDIA H200");
    inventory_add_link(&run->inventory, "mlx5_0", true, 400);
    run_nodes_alloc(run, 2);
    fill_node(&run->nodes[0], "g0033");
    fill_node(&run->nodes[1], "fe80::1%eth0");
    struct run_attempt *attempt = run_add_attempt(run);
    attempt->number = 2;
    attempt->state = RUN_FAILED;
    strlist_add(&attempt->nodes, "g0033:2222");
}

static void test_round_trip(void **state)
{
    struct fixture *fixture = *state;
    struct run run, back;
    struct error err = ERROR_INIT;
    fill_run(&run, "r1");
    assert_int_equal(run_store_save(&fixture->store, &run, &err), 0);
    assert_int_equal(run_store_load(&fixture->store, "r1", &back, &err), 0);
    assert_string_equal(back.id, run.id);
    assert_int_equal(back.attempt, 2);
    assert_true(back.stopping);
    assert_false(back.starting);
    assert_int_equal(back.exit_status, 137);
    assert_string_equal(back.reason, "killed: two");
    assert_string_equal(back.cause.log_lines, "one\ntwo");
    assert_string_equal(back.cause.hint, "dmesg");
    assert_int_equal(back.cause.hosts.len, 1);
    assert_string_equal(back.cause.hosts.items[0], "g0033:2222");
    assert_int_equal(back.nodes_len, 2);
    assert_string_equal(back.nodes[1].host.name, "fe80::1%eth0");
    assert_int_equal(back.nodes[1].rank, 1);
    assert_string_equal(back.nodes[0].host.user, "it's \"me\"");
    assert_string_equal(back.nodes[0].artifacts, "/a b/\xc3\xa9");
    assert_string_equal(back.nodes[0].reason, "killed by signal 9\nreally");
    assert_true(back.nodes[0].ended_ms == 1795965913123);
    assert_true(back.nodes[0].signalled);
    assert_true(back.nodes[0].stop_missed);
    assert_int_equal(back.nodes[0].state, NODE_FAILED);
    assert_null(back.nodes[0].addr);
    assert_int_equal(back.attempts_len, 1);
    assert_string_equal(back.attempts[0].nodes.items[0], "g0033:2222");
    assert_string_equal(back.spec, "{\"job\":\"x\"}");
    assert_int_equal(back.global_batch, 2048);
    assert_int_equal(back.sequence, 512);
    assert_int_equal(back.progress.iteration, 7);
    assert_int_equal(back.progress.global_batch, 32);
    assert_int_equal(back.progress.sequence, 256);
    assert_true(back.inventory.known);
    assert_string_equal(back.inventory.gpus.items[0], "NVIDIA H200");
    assert_true(inventory_find_link(&back.inventory, "mlx5_0", true)->gbps == 400);
    run_release(&run);
    run_release(&back);
}

/* The record as an earlier version wrote it: one key a line, none of them the number of nodes. */
static void write_as_before(struct fixture *fixture, const char *name)
{
    AUTO_FREE char *path = xasprintf("%s/%s/run.json", fixture->store.root, name);
    json_t *record = json_load_file(path, 0, NULL);
    assert_non_null(record);
    assert_int_equal(json_object_del(record, "node_count"), 0);
    assert_int_equal(json_dump_file(record, path, JSON_INDENT(1)), 0);
    json_decref(record);
}

static void test_heading_is_what_a_list_shows(void **state)
{
    struct fixture *fixture = *state;
    struct run run, back;
    struct error err = ERROR_INIT;
    size_t node_count = 0;
    fill_run(&run, "r1");
    run_set_reason(&run, xstrdup("a \"quoted\" reason,\twith a tab"));
    run.progress =
        (struct training_progress){.known = true, .iteration = 7, .total = 20, .has_loss = true, .loss = 2.5};
    run_add_left_over(&run, "g0033", 4711, "sleep 300");
    assert_int_equal(run_store_save(&fixture->store, &run, &err), 0);
    for (int before = 0; before < 2; before++) {
        if (before) {
            write_as_before(fixture, "r1");
        }
        assert_int_equal(run_store_load_heading(&fixture->store, "r1", &back, &node_count, &err), 0);
        assert_int_equal(node_count, 2);
        assert_int_equal(back.nodes_len, before ? 2 : 0);
        assert_string_equal(back.name, "r1");
        assert_string_equal(back.job, "job");
        assert_string_equal(back.id, run.id);
        assert_string_equal(back.reason, run.reason);
        assert_int_equal(back.state, RUN_FAILED);
        assert_int_equal(back.attempt, 2);
        assert_int_equal(back.exit_status, 137);
        assert_int_equal(back.progress.iteration, 7);
        assert_int_equal(back.left_over_len, 1);
        run_release(&back);
    }
    run_release(&run);
}

/* S8: a pending cleanup remembers where the work happens and how its host was reached. */
static void test_debts_round_trip_s8(void **state)
{
    struct fixture *fixture = *state;
    struct run run, back;
    struct error err = ERROR_INIT;
    fill_run(&run, "r1");
    fill_cleanups(&run);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_store_save(&fixture->store, &run, &err), 0);
        assert_int_equal(run_store_load(&fixture->store, "r1", &back, &err), 0);
        run_release(&run);
        run = back;
    }
    assert_int_equal(run.cleanups_len, 3);
    const struct run_cleanup *cleanup = &run.cleanups[0];
    assert_true(cleanup->place_known);
    assert_string_equal(cleanup->place.container, "c \"1\"");
    assert_string_equal(cleanup->place.engine, "podman");
    assert_true(cleanup->place.sudo);
    assert_string_equal(cleanup->place.user, "u");
    assert_string_equal(cleanup->place.id, "0123");
    assert_string_equal(cleanup->place.started, "2026-01-01 10:00:00.1 +0000 UTC");
    assert_string_equal(cleanup->reach.user, "yi");
    assert_int_equal(cleanup->reach.port, 2222);
    assert_string_equal(cleanup->reach.jump, "gate");
    assert_null(cleanup->reach.identity);
    assert_int_equal(cleanup->rank, 3);
    assert_true(run.cleanups[1].place_known);
    assert_null(run.cleanups[1].place.container);
    assert_false(run.cleanups[2].place_known); /* as an earlier version wrote it */
    run_release(&run);
}

static void test_files_are_private(void **state)
{
    struct fixture *fixture = *state;
    struct run run;
    struct stat info;
    fill_run(&run, "r1");
    struct env env = ENV_INIT;
    env_set(&env, "A_TOKEN", "s3cr3t", "spec");
    env.items[0].secret = true;
    assert_int_equal(run_store_save(&fixture->store, &run, NULL), 0);
    assert_int_equal(run_store_save_secrets(&fixture->store, "r1", &env, NULL), 0);
    AUTO_FREE char *folder = xasprintf("%s/r1", fixture->store.root);
    AUTO_FREE char *secrets = xasprintf("%s/r1/secrets", fixture->store.root);
    assert_int_equal(stat(folder, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_int_equal(stat(secrets, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    run_store_drop_secrets(&fixture->store, "r1");
    assert_int_not_equal(stat(secrets, &info), 0);
    env_release(&env);
    run_release(&run);
}

static void write_record(struct fixture *fixture, const char *text)
{
    AUTO_FREE char *folder = xasprintf("%s/bad", fixture->store.root);
    AUTO_FREE char *path = xasprintf("%s/bad/run.json", fixture->store.root);
    assert_int_equal(file_make_dirs(folder, 0700, NULL), 0);
    assert_int_equal(file_write_atomic(path, text, strlen(text), 0600, NULL), 0);
}

static void test_damaged_and_newer_records(void **state)
{
    struct fixture *fixture = *state;
    struct run run;
    static const struct {
        const char *text;
        const struct error_kind *kind;
    } rows[] = {
        {"{\"format\": 1", &kind_record_damaged},
        {"{\"format\": 1}", &kind_record_damaged},
        {"[]", &kind_record_damaged},
        {"", &kind_record_damaged},
        {"{\"format\": 1, \"run\": \"bad\", \"job\": \"j\", \"run_id\": \"x\", \"state\": \"dead\"}",
         &kind_record_damaged},
        {"{\"format\": 2, \"run\": \"bad\"}", &kind_record_newer},
    };
    FOR_ROWS(i, rows, rows[i].text) {
        struct error err = ERROR_INIT;
        write_record(fixture, rows[i].text);
        assert_int_equal(run_store_load(&fixture->store, "bad", &run, &err), -1);
        assert_ptr_equal(err.kind, rows[i].kind);
        assert_non_null(strstr(err.text, "bad/run.json"));
        assert_int_equal(err.kind->exit_code, 8);
        size_t node_count = 0;
        err = ERROR_INIT;
        assert_int_equal(run_store_load_heading(&fixture->store, "bad", &run, &node_count, &err), -1);
        assert_ptr_equal(err.kind, rows[i].kind);
    }
}

static void test_unknown_run_names_the_nearest(void **state)
{
    struct fixture *fixture = *state;
    struct run run;
    struct error err = ERROR_INIT;
    assert_int_equal(run_store_load(&fixture->store, "qwen", &run, &err), -1);
    assert_ptr_equal(err.kind, &kind_no_such_run);
    assert_string_equal(err.text, "no run 'qwen' here");
    fill_run(&run, "qwen1");
    assert_int_equal(run_store_save(&fixture->store, &run, &err), 0);
    run_release(&run);
    assert_int_equal(run_store_load(&fixture->store, "qwen", &run, &err), -1);
    assert_string_equal(err.hint, "did you mean 'qwen1'?");
}

static void test_names_are_sorted_and_whole(void **state)
{
    struct fixture *fixture = *state;
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    assert_int_equal(run_store_names(&fixture->store, &names, NULL), 0);
    assert_int_equal(names.len, 0);
    static const char *const wanted[] = {"b", "a", "c"};
    FOR_ROWS(i, wanted, wanted[i]) {
        struct run run;
        fill_run(&run, wanted[i]);
        assert_int_equal(run_store_save(&fixture->store, &run, NULL), 0);
        run_release(&run);
    }
    int lock = run_store_lock(&fixture->store, "a", 0, NULL);
    assert_true(lock >= 0);
    close(lock);
    assert_int_equal(run_store_names(&fixture->store, &names, NULL), 0);
    AUTO_FREE char *joined = strlist_join(&names, " ");
    assert_string_equal(joined, "a b c");
}

static void test_lock_takes_turns(void **state)
{
    struct fixture *fixture = *state;
    struct error err = ERROR_INIT;
    int first = run_store_lock(&fixture->store, "r1", 0, &err);
    assert_true(first >= 0);
    assert_int_equal(run_store_lock(&fixture->store, "r1", 50, &err), -2);
    int other = run_store_lock(&fixture->store, "r2", 0, &err);
    assert_true(other >= 0);
    close(other);
    close(first);
    int second = run_store_lock(&fixture->store, "r1", 0, &err);
    assert_true(second >= 0);
    close(second);
}

static void test_events_keep_the_last(void **state)
{
    struct fixture *fixture = *state;
    struct run run;
    struct run_events events = {0};
    fill_run(&run, "r1");
    assert_int_equal(run_store_save(&fixture->store, &run, NULL), 0);
    run_release(&run);
    for (int i = 0; i < 5; i++) {
        AUTO_FREE char *text = xasprintf("line\n%d \xff", i);
        assert_int_equal(
            run_store_add_event(&fixture->store, "r1", i, "note", i == 4 ? "g1" : NULL, text, NULL), 0);
    }
    AUTO_FREE char *path = xasprintf("%s/r1/events.jsonl", fixture->store.root);
    assert_int_equal(file_append(path, "{torn\n", 6, 0600, NULL), 0);
    assert_int_equal(run_store_events(&fixture->store, "r1", 2, &events, NULL), 0);
    assert_int_equal(events.len, 2);
    assert_string_equal(events.items[0].text, "line\n3 \xef\xbf\xbd");
    assert_null(events.items[0].host);
    assert_string_equal(events.items[1].host, "g1");
    assert_int_equal(events.items[1].time_ms, 4);
    run_events_release(&events);
}

static void test_remove(void **state)
{
    struct fixture *fixture = *state;
    struct run run;
    struct error err = ERROR_INIT;
    assert_int_equal(run_store_remove(&fixture->store, "r1", &err), -1);
    assert_ptr_equal(err.kind, &kind_no_such_run);
    fill_run(&run, "r1");
    assert_int_equal(run_store_save(&fixture->store, &run, NULL), 0);
    run_release(&run);
    assert_int_equal(run_store_add_event(&fixture->store, "r1", 1, "note", NULL, "x", NULL), 0);
    assert_true(run_store_has(&fixture->store, "r1"));
    assert_int_equal(run_store_remove(&fixture->store, "r1", &err), 0);
    assert_false(run_store_has(&fixture->store, "r1"));
}

static void test_open_needs_a_folder(void **state)
{
    (void)state;
    struct run_store store = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(run_store_open(&store, NULL, NULL, &err), -1);
    assert_ptr_equal(err.kind, &kind_local);
    assert_int_equal(run_store_open(&store, "relative", "/home/x", &err), 0);
    assert_string_equal(store.root, "/home/x/.local/state/mtlaunch/runs");
    run_store_release(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_heading_is_what_a_list_shows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_debts_round_trip_s8, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_are_private, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_and_newer_records, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_run_names_the_nearest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_are_sorted_and_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lock_takes_turns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_events_keep_the_last, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_remove, set_up, tear_down),
        cmocka_unit_test(test_open_needs_a_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
