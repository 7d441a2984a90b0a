/* Who is told: kept beside the secrets, gone with them. */

#include "run/notify_store.h"
#include "test.h"

struct fixture {
    char folder[64];
    struct run_store store;
    char *file;
};

static int set_up(void **state)
{
    struct fixture *fixture = xcalloc(1, sizeof(*fixture));
    strcpy(fixture->folder, "/tmp/mtlaunch-notify-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    assert_int_equal(run_store_open(&fixture->store, fixture->folder, "/nowhere", NULL), 0);
    fixture->file = xasprintf("%s/mtlaunch/runs/r/notify", fixture->folder);
    AUTO_FREE char *folder = path_folder(fixture->file);
    assert_int_equal(file_make_dirs(folder, 0700, NULL), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    AUTO_FREE char *command = xasprintf("rm -rf '%s'", fixture->folder);
    assert_int_equal(system(command), 0);
    run_store_release(&fixture->store);
    free(fixture->file);
    free(fixture);
    return 0;
}

static void test_round_trip(void **state)
{
    struct fixture *fixture = *state;
    struct notify_targets targets = {0}, loaded = {0};
    struct stat info;
    notify_targets_add(&targets, "https://h/T0KEN?a=\"b\"");
    *notify_targets_add(&targets, "http://h/") = (struct notify_target){.url = targets.items[1].url,
                                                                        .on = NOTIFY_BIT(NOTIFY_LOST),
                                                                        .format = NOTIFY_FEISHU,
                                                                        .allow_http = true};
    assert_int_equal(run_store_save_notify(&fixture->store, "r", &targets, NULL), 0);
    assert_int_equal(stat(fixture->file, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(run_store_load_notify(&fixture->store, "r", &loaded, NULL), 0);
    assert_int_equal(loaded.len, 2);
    assert_string_equal(loaded.items[0].url, "https://h/T0KEN?a=\"b\"");
    assert_int_equal(loaded.items[0].on, NOTIFY_ON_DEFAULT);
    assert_int_equal(loaded.items[1].on, NOTIFY_BIT(NOTIFY_LOST));
    assert_int_equal(loaded.items[1].format, NOTIFY_FEISHU);
    assert_true(loaded.items[1].allow_http);
    notify_targets_release(&targets);
    assert_int_equal(run_store_save_notify(&fixture->store, "r", &targets, NULL),
                     0); /* a start without any */
    assert_false(file_exists(fixture->file));
    notify_targets_release(&loaded);
}

static void test_gone_with_the_secrets(void **state)
{
    struct fixture *fixture = *state;
    struct notify_targets targets = {0}, loaded = {0};
    notify_targets_add(&targets, "https://h/");
    run_store_save_notify(&fixture->store, "r", &targets, NULL);
    run_store_drop_secrets(&fixture->store, "r");
    assert_int_equal(run_store_load_notify(&fixture->store, "r", &loaded, NULL), 0);
    assert_int_equal(loaded.len, 0);
    notify_targets_release(&targets);
}

static void test_damage_is_named_and_the_rest_is_used(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *text;
        size_t targets;
    } cases[] = {{"", 0},
                 {"{}", 0},
                 {"[1]", 0},
                 {"[{\"url\": \"https://h/\"}]", 0},
                 {"[{\"url\": \"https://h/\", \"format\": \"teams\"}]", 0},
                 {"[{\"url\": \"https://h/\", \"format\": \"json\", \"on\": 1}, 2]", 1}};
    FOR_ROWS(i, cases, cases[i].text) {
        struct notify_targets loaded = {0};
        struct error err = ERROR_INIT;
        file_write_atomic(fixture->file, cases[i].text, strlen(cases[i].text), 0600, NULL);
        assert_int_equal(run_store_load_notify(&fixture->store, "r", &loaded, &err), -1);
        assert_ptr_equal(err.kind, &kind_record_damaged);
        assert_non_null(strstr(err.text, "is damaged: not all notifications can be sent"));
        assert_int_equal(loaded.len, cases[i].targets);
        notify_targets_release(&loaded);
    }
}

static void test_values_of_secrets(void **state)
{
    struct fixture *fixture = *state;
    AUTO_STRLIST struct strlist values = STRLIST_INIT;
    struct env env = ENV_INIT;
    run_store_load_secret_values(&fixture->store, "r", &values);
    assert_int_equal(values.len, 0);
    env_set(&env, "A_TOKEN", "hunter22", "spec");
    env.items[0].secret = true;
    run_store_save_secrets(&fixture->store, "r", &env, NULL);
    run_store_load_secret_values(&fixture->store, "r", &values);
    assert_int_equal(values.len, 1);
    assert_string_equal(values.items[0], "hunter22");
    env_release(&env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gone_with_the_secrets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage_is_named_and_the_rest_is_used, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_values_of_secrets, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
