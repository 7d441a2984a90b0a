/* The manual page says all that the tables say. */
#include "cmd/cmd.h"
#include "cmd/exits_internal.h"
#include "cmd/man_internal.h"
#include "cmd_test.h"
#include "model/kind.h"

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
    man_page(&page);
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

static void test_nothing_is_taken_for_a_request(void **state)
{
    (void)state;
    static const char *const requests[] = {"TH", "SH", "SS", "TP", "PP", "B",
                                           "BR", "RS", "RE", "nf", "fi", "br"};
    AUTO_STR struct str page = STR_INIT;
    char *rest = NULL;
    man_page(&page);
    for (char *line = strtok_r(page.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_exit_code_is_explained),
        cmocka_unit_test(test_no_exit_code_is_made_up),
        cmocka_unit_test(test_page_has_commands_and_options),
        cmocka_unit_test(test_nothing_is_taken_for_a_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
