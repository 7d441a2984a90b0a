/* Fetches the last lines of nodes' logs, made safe to display. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "lastlines_internal.h"
#include "node/answer.h"
#include "node_set_internal.h"
#include "node_target_internal.h"
#include "observer_internal.h"
#include "round_internal.h"

#define FETCH_TIMEOUT_MS 10000
#define QUOTE_MAX        600 /* bytes that go into a reason */
#define LINES_QUOTED     5

struct fetch {
    struct run_context *context;
    const struct run *run;
    const bool *wanted;
    unsigned lines;
    char **texts;
};

static bool fetch_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct fetch *fetch = ctx;
    if (!fetch->wanted[node]) {
        return false;
    }
    const struct node_target target = run_node_target(fetch->run, node);
    const struct node_tail_options options = {.from = NODE_TAIL_LINES, .count = fetch->lines};
    node_request_tail(&target, &options, nonce, call);
    return true;
}

char *run_safe_lines(const char *plain)
{
    struct str text = STR_INIT;
    size_t len = plain ? strlen(plain) : 0;
    size_t skip = len > LAST_LINES_BYTES ? len - LAST_LINES_BYTES : 0;
    if (len > 0) {
        text_add_safe(&text, plain + skip, len - skip);
    }
    while (text.len > 0 && strchr("\r\n ", text.data[text.len - 1])) {
        str_truncate(&text, text.len - 1);
    }
    return str_detach(&text);
}

static int fetch_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                      struct error *err)
{
    struct fetch *fetch = ctx;
    AUTO_NODE_LOG struct node_log log;
    int result = node_answer_log(bytes, len, nonce, &log, err);
    if (result == 0 && log.path) {
        run_mask(fetch->context, &log.text);
        node_drop_shell_place(log.text);
        free(fetch->texts[node]);
        fetch->texts[node] = run_safe_lines(log.text);
    }
    return result;
}

static void fetch_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    (void)ctx; /* a log that cannot be read is not quoted */
    (void)node;
    (void)error;
    (void)started;
}

int run_fetch_lines(struct node_set *set, const struct run *run, const bool *wanted, unsigned lines,
                    char **texts)
{
    struct fetch fetch = {
        .context = set->context, .run = run, .wanted = wanted, .lines = lines, .texts = texts};
    const struct node_question question = {
        .ctx = &fetch,
        .timeout_ms = FETCH_TIMEOUT_MS,
        .build = fetch_build,
        .take = fetch_take,
        .failed = fetch_failed,
    };
    return node_set_ask(set, &question);
}

char *run_quote_lines(const char *head, const char *text, unsigned lines)
{
    AUTO_STR struct str out = STR_INIT;
    str_add(&out, head);
    if (!text || text[0] == '\0') {
        return str_detach(&out);
    }
    const char *from = text + strlen(text);
    for (unsigned found = 0; from > text; from--) {
        if (from[-1] == '\n' && ++found == lines) {
            break;
        }
    }
    size_t len = strlen(from);
    from += len > QUOTE_MAX ? len - QUOTE_MAX : 0;
    while (((unsigned char)*from & 0xC0) == 0x80) {
        from++; /* do not begin in the middle of a character */
    }
    str_add(&out, ":\n    ");
    for (; *from != '\0'; from++) {
        str_add_char(&out, *from);
        if (*from == '\n') {
            str_add(&out, "    ");
        }
    }
    return str_detach(&out);
}

char *run_failure_text(const struct run_node *node, const char *text)
{
    AUTO_FREE char *head =
        xasprintf("%s (node %u): %s", node->label, node->rank, node->reason ? node->reason : "failed");
    return run_quote_lines(head, text, LINES_QUOTED);
}
