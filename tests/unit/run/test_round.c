/* A round over local hosts: who is asked, and who hears of an interruption. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "run/round_internal.h"
#include "test.h"

#define HOSTS 4

struct asked {
    bool wanted[HOSTS], built[HOSTS], taken[HOSTS], failed[HOSTS];
    bool interrupt; /* with the first question */
};

static bool wanted(void *ctx, size_t node)
{
    return ((const struct asked *)ctx)->wanted[node];
}

static bool build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    struct asked *asked = ctx;
    asked->built[node] = true;
    call->command = xasprintf("echo answer %s", nonce);
    if (asked->interrupt) {
        raise(SIGINT);
    }
    return true;
}

static int take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce, struct error *err)
{
    AUTO_FREE char *line = xasprintf("answer %s\n", nonce);
    (void)err;
    ((struct asked *)ctx)->taken[node] = len == strlen(line) && memcmp(bytes, line, len) == 0;
    return 0;
}

static void failed(void *ctx, size_t node, const struct error *error, bool started)
{
    struct asked *asked = ctx;
    (void)started;
    assert_true(error_is(error, &kind_interrupted));
    asked->failed[node] = true;
}

static int ask(struct asked *asked)
{
    static const struct run_observer observer = {0};
    static const char *const environ_[] = {NULL};
    struct run_context context = {.observer = &observer, .environ_ = environ_, .home = "/", .fanout = 1};
    const struct node_question question = {
        .ctx = asked, .timeout_ms = 20000, .wanted = wanted, .build = build, .take = take, .failed = failed};
    struct host host = {.name = (char[]){"localhost"}};
    const struct host *hosts[HOSTS];
    const char *labels[HOSTS];
    const struct reach reach = {0};
    struct node_set set;
    struct error err = ERROR_INIT;
    for (size_t i = 0; i < HOSTS; i++) {
        hosts[i] = &host;
        labels[i] = "localhost";
    }
    const struct node_set_options options = {
        .hosts = hosts, .labels = labels, .count = HOSTS, .reach = &reach};
    if (node_set_open(&set, &context, &options, &err) != 0) {
        fail_msg("%s", err.text);
    }
    int result = node_set_ask(&set, &question);
    node_set_close(&set);
    return result;
}

static void test_only_wanted_nodes_are_asked(void **state)
{
    struct asked asked = {.wanted = {true, false, true, false}};
    (void)state;
    assert_int_equal(ask(&asked), 0);
    for (size_t i = 0; i < HOSTS; i++) {
        assert_int_equal(asked.built[i], asked.wanted[i]);
        assert_int_equal(asked.taken[i], asked.wanted[i]);
        assert_false(asked.failed[i]);
    }
}

/* The one that was asked and the one that was still to be: nobody else has anything to answer for. */
static void test_an_interruption_fails_wanted_nodes_alone(void **state)
{
    struct asked asked = {.wanted = {true, false, true, false}, .interrupt = true};
    (void)state;
    assert_int_equal(ask(&asked), -1);
    for (size_t i = 0; i < HOSTS; i++) {
        assert_int_equal(asked.failed[i] || asked.taken[i], asked.wanted[i]);
    }
    assert_true(asked.failed[2]);
    assert_false(asked.built[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_wanted_nodes_are_asked),
        cmocka_unit_test(test_an_interruption_fails_wanted_nodes_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
