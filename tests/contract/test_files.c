/* More hosts than files may be open: the limit is raised, or sessions make room, or it is said before all
 * else. */
#include "fixture.h"

#define HOSTS 24

/* How many of the hosts, each asked twice, end well; -1 when the fleet says no. In a process of its own. */
static void ask_all(const struct world *world, rlim_t soft, rlim_t hard, bool hold, FILE *answer)
{
    const struct fleet_options options = {.fanout = HOSTS, .hosts = HOSTS};
    const struct exec_request request = {.command = "sleep 0.3"};
    struct outcome outcomes[2 * HOSTS] = {0};
    struct error err = ERROR_INIT;
    struct fleet *fleet;
    int well = 0;

    limit_files(lowest_free_file() + soft, lowest_free_file() + hard);
    fleet = fleet_new(&options, &err);
    for (size_t i = 0; i < HOSTS; i++) {
        struct endpoint endpoint = make_endpoint(world, "127.0.0.1", false);
        fleet_add_host(fleet, &endpoint);
        endpoint_release(&endpoint);
    }
    if (hold && fleet_hold(fleet, &err) != 0) {
        fprintf(answer, "%s: %s; %s\n", err.kind->name, err.text, err.hint);
        fleet_free(fleet);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        outcome_ask(&outcomes[i], fleet, i % HOSTS, &request);
        if (i + 1 == HOSTS) {
            fleet_run(fleet);
        }
    }
    fleet_run(fleet);
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        well += outcomes[i].result.error.kind == NULL && outcomes[i].result.exit_status == 0;
        if (outcomes[i].result.error.kind != NULL) {
            fprintf(answer, "%s; ", outcomes[i].result.error.text);
        }
    }
    fleet_free(fleet);
    fprintf(answer, "%d well, limit %s\n", well,
            file_limits().rlim_cur > lowest_free_file() + soft ? "raised" : "kept");
}

static void check(void **state, rlim_t soft, rlim_t hard, bool hold, const char *expected)
{
    struct subject *subject = *state;
    char text[2000] = "";
    FILE *answer = tmpfile();
    pid_t child;

    assert_non_null(answer);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        ask_all(&subject->world, soft, hard, hold, answer);
        fflush(answer);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    rewind(answer);
    (void)!fread(text, 1, sizeof(text) - 1, answer);
    fclose(answer);
    if (strstr(text, expected) == NULL) {
        fail_msg("'%s' is not in '%s'", expected, text);
    }
}

static void test_limit_is_raised(void **state)
{
    check(state, 10, 400, true, "48 well, limit raised\n");
}

/* Neither those at work nor those that stand idle may all be open at once. */
static void test_few_files_do(void **state)
{
    check(state, 24, 24, false, "48 well, limit kept\n");
}

static void test_said_before_the_first(void **state)
{
    check(state, 32, 32, true, "local: 24 hosts at once need ");
    check(state, 32, 32, true, "raise the limit (ulimit -Hn");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit_is_raised),
        cmocka_unit_test(test_few_files_do),
        cmocka_unit_test(test_said_before_the_first),
    };

    return cmocka_run_group_tests(tests, subject_set_up_ssh, subject_tear_down);
}
