/* The manual pages and `help` say all that the tables say. */
#include "cmd/cmd.h"
#include "cmd/exits_internal.h"
#include "cmd/man_internal.h"
#include "cmd/reference_internal.h"
#include "cmd/topics_internal.h"
#include "cmd_test.h"
#include "input/jobfile.h"
#include "model/hostlist.h"

static bool has_exit(int code)
{
    for (size_t i = 0; i < exit_meanings_count; i++) {
        if (exit_meanings[i].code == code) {
            return true;
        }
    }
    return false;
}

static void test_every_exit_code_is_explained(void **state)
{
    (void)state;
    for (size_t i = 0; i < kinds_all_count; i++) {
        assert_true(has_exit(kinds_all[i]->exit_code));
    }
    for (size_t i = 1; i < exit_meanings_count; i++) {
        assert_true(exit_meanings[i - 1].code < exit_meanings[i].code);
    }
}

static void test_no_exit_code_is_made_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < exit_meanings_count; i++) {
        bool known = exit_meanings[i].code == 0;
        for (size_t k = 0; k < kinds_all_count; k++) {
            known = known || kinds_all[k]->exit_code == exit_meanings[i].code;
        }
        assert_true(known);
    }
}

static void test_page_has_commands_and_options(void **state)
{
    (void)state;
    AUTO_STR struct str page = STR_INIT;
    manual_write(&manuals[0], &page);
    for (size_t i = 0; i < commands_count; i++) {
        const struct option_group *groups[CMD_GROUPS_MAX];
        AUTO_FREE char *heading = xasprintf("\n.SS %s\n", commands[i]->name);
        assert_int_equal(strstr(page.data, heading) != NULL, commands[i]->run != NULL);
        command_groups(commands[i], groups);
        for (size_t g = 0; commands[i]->run && groups[g]; g++) {
            for (size_t o = 0; o < groups[g]->count; o++) {
                const struct option *option = &groups[g]->options[o];
                AUTO_STR struct str name = STR_INIT;
                str_add(&name, "\\fB\\-\\-");
                for (const char *at = option->name; *at; at++) {
                    str_addf(&name, "%s%c", *at == '-' ? "\\" : "", *at);
                }
                str_add(&name, "\\fR");
                if (option->type != OPTION_UNBUILT) {
                    assert_non_null(strstr(page.data, str_text(&name)));
                }
            }
        }
    }
}

static void assert_requests(char *text)
{
    static const char *const requests[] = {"TH", "SH", "SS", "TP", "PP", "B",
                                           "BR", "RS", "RE", "nf", "fi", "br"};
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        bool known = line[0] != '.' || strncmp(line, ".\\\"", 3) == 0;
        for (size_t i = 0; !known && i < ARRAY_LEN(requests); i++) {
            size_t len = strlen(requests[i]);
            known =
                strncmp(line + 1, requests[i], len) == 0 && (line[1 + len] == ' ' || line[1 + len] == '\0');
        }
        assert_true(known);
        assert_true(line[0] != '\'');
    }
}

static void test_nothing_is_taken_for_a_request(void **state)
{
    (void)state;
    for (size_t i = 0; i < manuals_count; i++) {
        AUTO_STR struct str page = STR_INIT;
        manual_write(&manuals[i], &page);
        assert_requests(page.data);
    }
}

/* `help job` and mtlaunch-job(5): each key of the parser once, with all that is said of a key. */
static void test_reference_has_every_key(void **state)
{
    (void)state;
    AUTO_JOBFILE_KEYS struct jobfile_keys keys = {0};
    jobfile_keys_list(&keys);
    assert_true(keys.len > 70);
    AUTO_STR struct str text = STR_INIT;
    assert_true(help_topic("job", 1000, &text));
    for (size_t i = 0; i < keys.len; i++) {
        const struct jobfile_key *key = &keys.items[i];
        AUTO_FREE char *line =
            xasprintf("\n  %s\n      %s\n      Type: %s. ", key->path, key->about, key->type);
        const char *found = strstr(text.data, line);
        if (!found || strstr(found + 1, line) || !key->since || !key->example || !key->about) {
            fail_msg("the reference has not one whole item for '%s'", key->path);
        }
    }
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    jobfile_key_names(&names); /* as --set and the completion take them */
    for (size_t i = 0; i < names.len; i++) {
        AUTO_STR struct str one = STR_INIT;
        struct page page = {.out = &one, .form = PAGE_TEXT, .columns = 80};
        assert_int_equal(reference_job_key(&page, names.items[i], true), 1);
    }
}

static void test_reference_has_every_setting_of_a_host(void **state)
{
    (void)state;
    AUTO_STR struct str text = STR_INIT;
    const size_t count = hostlist_key_docs(NULL);
    AUTO_FREE const struct hostlist_key_doc **docs = xcalloc(count, sizeof(docs[0]));
    hostlist_key_docs(docs);
    assert_true(help_topic("hosts", 1000, &text));
    for (size_t i = 0; i < count; i++) {
        AUTO_FREE char *line = xasprintf("\n  %s\n      %s Example: ", docs[i]->form, docs[i]->about);
        assert_non_null(strstr(text.data, line));
        struct hostlist list = HOSTLIST_INIT;
        struct error err = ERROR_INIT;
        AUTO_FREE char *entry = xasprintf("g1 %s", docs[i]->example);
        assert_int_equal(hostlist_parse(&list, entry, strlen(entry), HOSTLIST_LINES, "x", 1, NULL, &err), 0);
        hostlist_release(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_exit_code_is_explained),
        cmocka_unit_test(test_no_exit_code_is_made_up),
        cmocka_unit_test(test_page_has_commands_and_options),
        cmocka_unit_test(test_nothing_is_taken_for_a_request),
        cmocka_unit_test(test_reference_has_every_key),
        cmocka_unit_test(test_reference_has_every_setting_of_a_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
