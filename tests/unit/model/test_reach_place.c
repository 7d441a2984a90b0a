/* How hosts are reached and where the work happens: copies own what they hold, and JSON gives all of it back.
 */

#include <string.h>

#include "base/alloc.h"
#include "model/place.h"
#include "model/reach.h"
#include "test.h"

/* Every key of an object, sorted, as one line. */
static char *keys_of(json_t *object)
{
    AUTO_FREE char *text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
    struct str keys = STR_INIT;
    const char *key;
    json_t *value;
    json_t *sorted = json_loads(text, 0, NULL);
    json_object_foreach(sorted, key, value)
    {
        str_addf(&keys, "%s ", key);
    }
    json_decref(sorted);
    return str_detach(&keys);
}

static void test_reach(void **state)
{
    static const char *const prefixes[] = {"", "ssh_"};
    static const char *const keys[] = {
        "client config host_key identity jump known_hosts port user ",
        "ssh_client ssh_config ssh_host_key ssh_identity ssh_jump ssh_known_hosts ssh_port ssh_user ",
    };
    const struct reach reach = {
        .user = (char[]){"u"},
        .port = 2222,
        .identity = (char[]){"~/id\xff"},
        .config = (char[]){"/c"},
        .known_hosts = (char[]){"/k"},
        .client = (char[]){"openssh"},
        .host_key = (char[]){"strict"},
        .jump = (char[]){"a,b"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        json_t *object = json_object();
        struct reach copy, back;
        reach_copy(&copy, &reach);
        reach_to_json(&copy, object, prefixes[i]);
        reach_release(&copy);
        reach_from_json(&back, object, prefixes[i]);
        AUTO_FREE char *found = keys_of(object);
        assert_string_equal(found, keys[i]); /* those of records that are there already */
        assert_string_equal(back.user, "u");
        assert_int_equal(back.port, 2222);
        assert_string_equal(back.identity, "~/id\xff");
        assert_string_equal(back.config, "/c");
        assert_string_equal(back.known_hosts, "/k");
        assert_string_equal(back.client, "openssh");
        assert_string_equal(back.host_key, "strict");
        assert_string_equal(back.jump, "a,b");
        reach_release(&back);
        assert_null(back.user);
        json_decref(object);
    }
}

static void test_place(void **state)
{
    static const char *const prefixes[] = {"", "container_"};
    static const char *const keys[] = {
        "container engine id started sudo user ",
        "container_engine container_id container_name container_started container_sudo container_user ",
    };
    const struct place place = {
        .container = (char[]){"c"},
        .engine = (char[]){"podman"},
        .sudo = true,
        .user = (char[]){"u"},
        .id = (char[]){"abc"},
        .started = (char[]){"2026"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        json_t *object = json_object();
        struct place copy, back;
        place_copy(&copy, &place);
        place_to_json(&copy, object, prefixes[i]);
        place_release(&copy);
        place_from_json(&back, object, prefixes[i]);
        AUTO_FREE char *found = keys_of(object);
        assert_string_equal(found, keys[i]);
        assert_string_equal(back.container, "c");
        assert_string_equal(back.engine, "podman");
        assert_true(back.sudo);
        assert_string_equal(back.user, "u");
        assert_string_equal(back.id, "abc");
        assert_string_equal(back.started, "2026");
        place_release(&back);
        assert_null(back.container);
        json_decref(object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reach), cmocka_unit_test(test_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
