/* Logs in rank order: what is read ahead is printed once, whatever comes first. The nodes are made up. */
#include "node/answer.h"
#include "node/request.h"
#include "run/ask_internal.h"
#include "run/node_target_internal.h"
#include "run/tails_internal.h"
#include "test.h"

#define NONCE  "0123456789abcdef0123456789abcdef"
#define FRAME  "\n@@" NONCE " "
#define HEADER FRAME "log=/r.log\n" FRAME "offset=0\n" FRAME "size=900000\n"
#define AHEAD  300000 /* more than is read ahead of a log */

static struct ask *asks[2];
static unsigned sent[2];
static bool cancelled[2];

/* --- in place of ask.c -------------------------------------------------------------------------- */

void ask_init(struct ask *ask, struct fleet *fleet, size_t host, const struct ask_handler *handler,
              const struct ask_options *options, void *ctx)
{
    *ask = (struct ask){.fleet = fleet, .host = host, .handler = handler, .options = *options, .ctx = ctx};
    asks[host] = ask;
}

void ask_release(struct ask *ask)
{
    (void)ask;
}

bool ask_send(struct ask *ask)
{
    AUTO_NODE_CALL struct node_call call = NODE_CALL_INIT;
    sent[ask->host]++;
    return ask->handler->build(ask->ctx, NONCE, &call);
}

void ask_retry(struct ask *ask, unsigned ms)
{
    (void)ms;
    (void)ask;
}

unsigned ask_retry_ms(unsigned failures)
{
    return failures;
}

void ask_begun(struct ask *ask)
{
    ask->begun = true;
}

void ask_cancel(struct ask *ask) /* its end comes later, as with a fleet */
{
    cancelled[ask->host] = true;
}

void ask_explain(const struct ask *ask, struct error *err)
{
    (void)ask;
    (void)err;
}

unsigned ask_begin_ms(unsigned connect_timeout_ms)
{
    return connect_timeout_ms;
}

void ask_make_nonce(char nonce[NODE_NONCE_LEN + 1])
{
    strcpy(nonce, NONCE);
}

void ask_make_run_id(const char *run, char *out, size_t size)
{
    snprintf(out, size, "%s", run);
}

/* --- a run of two nodes ------------------------------------------------------------------------- */

static void on_log(void *ctx, size_t rank, const char *label, const char *bytes, size_t len)
{
    struct str *out = ctx;
    (void)rank;
    (void)label;
    str_add_mem(out, bytes, len);
}

static void answer(size_t node, const char *head, const char *lines, const char *end)
{
    const struct ask *ask = asks[node];
    ask->handler->data(ask->ctx, 1, head, strlen(head));
    ask->handler->data(ask->ctx, 1, lines, strlen(lines));
    ask->handler->data(ask->ctx, 1, end, strlen(end));
}

static void end(size_t node)
{
    const struct exec_result result = {0};
    asks[node]->handler->done(asks[node]->ctx, &result);
}

/* A log is cancelled because much of it is there, and its turn comes before the cancelled command has ended.
 */
static void test_a_log_read_ahead_is_printed_once(void **state)
{
    (void)state;
    static const char head[] = HEADER FRAME "filtered=1\n" FRAME "body=1\n", last[] = FRAME "lines=all\n";
    AUTO_STR struct str out = STR_INIT, lines = STR_INIT;
    struct run_observer observer = {.ctx = &out, .log = on_log};
    struct run_context context = {.observer = &observer};
    struct error err = ERROR_INIT;
    const struct fleet_options fleet_options = {0};
    struct node_set set = {.context = &context, .fleet = fleet_new(&fleet_options, &err)};
    char label_a[] = "a", label_b[] = "b";
    struct run_node nodes[] = {{.label = label_a, .rank = 0}, {.label = label_b, .rank = 1}};
    const struct run run = {.nodes = nodes, .nodes_len = 2};
    const bool selected[] = {true, true};
    const struct node_tail_options options = {.from = NODE_TAIL_ALL, .filter = "x", .filter_fixed = true};
    while (lines.len < AHEAD) {
        str_add(&lines, "x of b\n");
    }
    struct tails *tails = tails_open(&set, &run, selected, &options, NULL);
    answer(1, head, str_text(&lines), "");
    assert_true(cancelled[1]);
    answer(0, head, "x of a\n", last);
    end(0);
    end(1);
    assert_int_equal(sent[1], 2);
    answer(1, head, str_text(&lines), last);
    end(1);
    assert_int_equal(tails_left(tails), 0);
    assert_int_equal(out.len, strlen("x of a\n") + lines.len);
    tails_free(tails);
    fleet_free(set.fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_log_read_ahead_is_printed_once),
    };
    return cmocka_run_group_tests_name("run/tails", tests, NULL, NULL);
}
