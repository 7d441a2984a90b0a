/*
 * A node's answer of any bytes, through every parser: no reading outside, texts without NUL, lists within
 * their bounds, and a tail that says the same in whatever pieces it comes. The first byte says the size of
 * the pieces.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "check/check.h"
#include "fuzz.h"
#include "node/answer.h"

#define NONCE "0123456789abcdef0123456789abcdef"

static void check_result(int result, const struct error *err)
{
    CHECK(result == 0 || result == -1);
    CHECK((result == -1) == (err->kind != NULL));
    CHECK(result == 0 || err->text[0] != '\0');
}

static void check_list(const struct node_processes *list)
{
    CHECK(list->len <= 64 && list->total >= list->len);
    for (size_t i = 0; i < list->len; i++) {
        CHECK(list->items[i].pid > 0);
        CHECK(list->items[i].state != '\0');
        CHECK(list->items[i].command != NULL);
    }
}

/* Facts, and what every check makes of them. */
static void check_checks(const char *bytes, size_t len)
{
    AUTO_FACTS struct facts facts = FACTS_INIT;
    AUTO_FINDINGS struct findings found = FINDINGS_INIT;
    struct error err = ERROR_INIT;
    struct check_choice choice;
    const struct job_require require = {0};
    const struct check_subject subject = {
        .require = &require, .run = "r", .program = "p", .interpreter = "i", .module = "m"};
    int result = node_answer_facts(bytes, len, NONCE, &facts, &err);

    check_result(result, &err);
    CHECK(facts.len <= FACTS_MAX && facts.bytes <= FACTS_BYTES_MAX);
    if (result == 0) {
        result = check_verify(&facts, &err);
        check_result(result, &err);
    }
    if (result == 0) {
        check_choose_start(&choice, false);
        check_judge(&subject, &choice, &facts, &found);
        for (size_t i = 0; i < found.len; i++) {
            CHECK(found.items[i].text[0] != '\0');
            CHECK((found.items[i].severity == FINDING_FAIL) == (found.items[i].kind != NULL));
        }
    }
}

static void check_start(const char *bytes, size_t len)
{
    struct node_start start;
    struct error err = ERROR_INIT;
    int result = node_answer_start(bytes, len, NONCE, &start, &err);

    check_result(result, &err);
    CHECK(start.status >= -1 && start.status <= 255);
    node_start_release(&start);
}

static void check_observe(const char *bytes, size_t len)
{
    struct node_observation seen;
    struct error err = ERROR_INIT;
    int result = node_answer_observe(bytes, len, NONCE, &seen, &err);

    check_result(result, &err);
    CHECK(seen.status >= -1 && seen.status <= 255);
    CHECK(seen.ended_uptime_ms >= 0 && seen.pid >= 0);
    check_list(&seen.leftovers);
    node_observation_release(&seen);
}

static void check_stop(const char *bytes, size_t len)
{
    struct node_stop stop;
    struct node_removal removal;
    struct error err = ERROR_INIT;
    int result = node_answer_stop(bytes, len, NONCE, &stop, &err);

    check_result(result, &err);
    check_list(&stop.survivors);
    check_list(&stop.leftovers);
    node_stop_release(&stop);
    err = ERROR_INIT;
    check_result(node_answer_remove(bytes, len, NONCE, &removal, &err), &err);
    check_list(&removal.live);
    node_removal_release(&removal);
}

/* The body of a tail fed in pieces of this size; false on an error. */
static bool tail_body(const char *bytes, size_t len, size_t piece, struct str *out)
{
    struct node_tail tail;
    struct error err = ERROR_INIT;
    bool ok = true;

    node_tail_init(&tail, NONCE);
    for (size_t at = 0; ok && at < len; at += piece) {
        const char *body = NULL;
        size_t body_len = 0;
        ok = node_tail_feed(&tail, bytes + at, len - at < piece ? len - at : piece, &body, &body_len, &err) ==
             0;
        CHECK(ok == (err.kind == NULL));
        if (ok && body_len > 0) {
            str_add_mem(out, body, body_len);
        }
    }
    CHECK(!ok || tail.body_len == out->len);
    CHECK(!tail.header || !ok || tail.missing || tail.offset <= tail.size);
    err = ERROR_INIT;
    check_result(node_tail_end(&tail, false, &err), &err);
    node_tail_release(&tail);
    return ok;
}

static void check_tail(const char *bytes, size_t len, size_t piece)
{
    AUTO_STR struct str whole = STR_INIT;
    AUTO_STR struct str pieces = STR_INIT;

    /* noise before the header is bounded by what has come at that moment: short inputs only */
    if (len > 60000) {
        return;
    }
    bool ok = tail_body(bytes, len, len > 0 ? len : 1, &whole);
    CHECK(tail_body(bytes, len, piece, &pieces) == ok);
    CHECK(!ok || (whole.len == pieces.len && memcmp(str_text(&whole), str_text(&pieces), whole.len) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const char *bytes = (const char *)data + 1;
    size_t len = size - 1;

    check_checks(bytes, len);
    check_start(bytes, len);
    check_observe(bytes, len);
    check_stop(bytes, len);
    check_tail(bytes, len, (size_t)data[0] + 1);
    return 0;
}
