/* Decodes frames: lines "@@NONCE key=value" among other output, with percent-encoded values. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "node/node_internal.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

/* Decode to *to and advance it past the terminating NUL; false for an invalid escape or an encoded NUL. */
static bool decode(const char *from, size_t len, char **to)
{
    for (size_t i = 0; i < len; i++) {
        char c = from[i];
        if (c == '%') {
            if (i + 2 >= len) {
                return false;
            }
            int high = hex_digit(from[i + 1]);
            int low = hex_digit(from[i + 2]);
            if (high < 0 || low < 0) {
                return false;
            }
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c == '\0') {
            return false;
        }
        *(*to)++ = c;
    }
    *(*to)++ = '\0';
    return true;
}

static bool key_is_valid(const char *key, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!((key[i] >= 'a' && key[i] <= 'z') || key[i] == '_' || key[i] == '.')) {
            return false;
        }
    }
    return len > 0;
}

int node_facts_add(struct facts *facts, const char *frame, size_t len, const char *last, struct error *err)
{
    const char *equals = memchr(frame, '=', len);
    size_t key_len = equals ? (size_t)(equals - frame) : 0;
    if (!equals || !key_is_valid(frame, key_len)) {
        return error_set(err, &kind_node_answer, "the node's answer contains a frame without a key");
    }
    AUTO_FREE char *text = xcalloc(len + 2, 1); /* a decoded value is never longer than its frame */
    char *value = text + key_len + 1, *end = value;
    memcpy(text, frame, key_len);
    if (!decode(equals + 1, len - key_len - 1, &end)) {
        return error_set(err, &kind_node_answer, "the node's answer contains a broken value for '%s'", text);
    }
    if (facts_add(facts, text, value, err) != 0) {
        return -1;
    }
    return strcmp(text, last) == 0 || strcmp(text, "end") == 0;
}

int node_unproven_error(const struct error_kind *kind, const char *why, struct error *err)
{
    error_set(err, kind, "the node could not list all its processes: %s", why);
    return error_hint(err, "%s",
                      strncmp(why, "cannot fork", strlen("cannot fork")) == 0
                          ? "end something there, or raise the limit (ulimit -u, TasksMax=, pids.max)"
                          : "look at the node's memory and at the log of its kernel (dmesg)");
}

int node_facts_check(const struct facts *facts, struct error *err)
{
    const char *kind = facts_text(facts, "error");
    const char *detail = facts_text(facts, "detail");

    if (!kind) {
        return 0;
    }
    if (!detail) {
        detail = "";
    }
    if (strcmp(kind, "unsupported") == 0) {
        error_set(err, &kind_node_unsupported, "this node lacks '%s'", detail);
        return error_hint(
            err, "a node needs Linux with /proc, a POSIX sh, setsid and the basic tools (coreutils or "
                 "busybox, with awk, grep, sed)");
    }
    if (strcmp(kind, "scan") == 0) {
        return node_unproven_error(&kind_scan_failed, detail, err);
    }
    if (strcmp(kind, "place") == 0) {
        return error_set(err, &kind_artifacts_unwritable, "the artifacts folder cannot be used: %s", detail);
    }
    if (node_entry_error(kind, detail, err)) {
        return -1;
    }
    return error_set(err, &kind_node_answer, "the node answers with an unknown error '%s': %s", kind, detail);
}
