/* Builds calls of commands that do not belong to a run, and finds where the output of a command begins. */
#include "node/exec.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/quote.h"
#include "base/text.h"
#include "model/kind.h"
#include "node/node_internal.h"

#define FRAME_MAX (64u << 10) /* a longer line is not a frame */
#define SAID_MAX  40

/*
 * POSIX requires read to consume byte by byte, so what follows the lines stays in the pipe. Nothing runs
 * before all lines have arrived. The command means the same to every login shell: no "!" (csh), no backslash
 * before a quote (fish).
 */
#define COMMAND                                                                                              \
    "exec /bin/sh -c 'IFS= read -r mt_l && [ \"$mt_l\" = %s ] || exit 97; "                                  \
    "mt_n=$(printf \"\\nx\"); mt_n=${mt_n%%x}; mt_s=; "                                                      \
    "while :; do IFS= read -r mt_l || exit 97; [ \"$mt_l\" = %s ] && break; mt_s=$mt_s$mt_l$mt_n; done; "    \
    "mt_whole=1; eval \"$mt_s\"'"

/*
 * Like quote_sh, but with newlines as "$mt_n": bash in a UTF-8 locale would take a newline for the rest of a
 * truncated character.
 */
static void add_word(struct str *out, const char *word)
{
    for (;;) {
        size_t plain = strcspn(word, "\n");
        AUTO_FREE char *part = xstrndup(word, plain);
        quote_sh(out, part);
        word += plain;
        if (*word == '\0') {
            return;
        }
        str_add(out, "\"$mt_n\"");
        word++;
    }
}

static void add_command(struct str *out, const struct strlist *command)
{
    str_add(out, "set --");
    if (command->len == 1) {
        str_add(out, " /bin/sh -c --");
    }
    for (size_t i = 0; i < command->len; i++) {
        str_add_char(out, ' ');
        add_word(out, command->items[i]);
    }
    str_add_char(out, '\n');
}

static void begin(struct node_call *out, const char *nonce)
{
    *out = (struct node_call)NODE_CALL_INIT;
    for (size_t i = 0; i < NODE_NONCE_LEN && nonce[i] != '\0'; i++) {
        out->nonce[i] = nonce[i];
    }
    out->command = xasprintf(COMMAND, out->nonce, out->nonce);
    /*
     * If a start-up file execs another shell, that shell runs these lines and would pass the rest to the
     * command as input: hence the check of mt_whole.
     */
    str_addf(&out->input, "%s\n[ \"$mt_whole\" ] || exit 97\nmt_nonce=%s\n", out->nonce, out->nonce);
}

void node_request_exec(const struct node_exec_options *options, const char *nonce, struct node_call *out)
{
    static const char *const parts[] = {"15-stat", "85-exec", NULL};

    begin(out, nonce);
    str_addf(&out->input, "mt_input=%s\n", options->input ? "1" : "");
    if (options->limit_s != 0) {
        str_addf(&out->input, "mt_limit=%lu\n", options->limit_s);
    } else {
        str_add(&out->input, "mt_limit=\n");
    }
    str_addf(&out->input, "mt_mark=%s\n", options->mark);
    node_script_add_watchdog(&out->input);
    add_command(&out->input, options->command);
    node_script_add(&out->input, parts);
    str_addf(&out->input, "%s\n", out->nonce);
}

void node_request_exec_end(const char *target, const char *nonce, struct node_call *out)
{
    static const char *const parts[] = {"87-end", NULL};

    begin(out, nonce);
    str_addf(&out->input, "mt_target=%s\n", target);
    node_script_add(&out->input, parts);
    str_addf(&out->input, "%s\n", out->nonce);
}

void node_exec_stream_release(struct node_exec_stream *stream)
{
    node_reader_release(&stream->reader);
    facts_release(&stream->facts);
    free(stream->said);
    stream->said = NULL;
}

/* Handle a frame before the command's own output, which begins after the frame "runs". */
static void take_frame(struct node_exec_stream *stream)
{
    static const char runs[] = "runs";
    size_t len = 0;
    const char *frame = node_reader_frame(&stream->reader, &len);

    if (len == sizeof(runs) - 1 && memcmp(frame, runs, len) == 0) {
        stream->begun = true;
    } else if (!memchr(frame, '=', len)) {
        if (!stream->said) {
            stream->said = xstrndup(frame, len < SAID_MAX ? len : SAID_MAX);
        }
    } else if (!stream->ended) { /* a malformed frame is ignored */
        stream->ended = node_facts_add(&stream->facts, frame, len, "end", NULL) != 0;
    }
}

void node_exec_stream_take(struct node_exec_stream *stream, const char **bytes, size_t *len)
{
    stream->reader.nonce = stream->nonce;
    stream->reader.limit = FRAME_MAX;
    while (!stream->begun && *len > 0) {
        size_t used = 0;
        if (node_reader_take(&stream->reader, *bytes, *len, &used)) {
            take_frame(stream);
        }
        *bytes += used;
        *len -= used;
    }
    if (stream->begun) {
        node_exec_stream_release(stream);
    }
}

int node_exec_error(const struct node_exec_stream *out, int exit_status, struct error *err)
{
    AUTO_STR struct str shown = STR_INIT;
    size_t len = 0;

    /* 05-entry.sh answers in frames when the container cannot be entered */
    if (out->ended && node_facts_check(&out->facts, err) != 0) {
        return -1;
    }
    if (out->said) {
        error_set(err, &kind_node_unsupported, "the node %s", out->said);
        return error_hint(err, "nodes need Linux with /proc, and setsid of util-linux or busybox");
    }
    if (exit_status == 97) {
        error_set(err, &kind_node_answer, "the command did not reach its shell completely");
    } else {
        error_set(err, &kind_node_answer, "the login ended with status %d before the command ran",
                  exit_status);
    }
    const char *line = node_reader_last_line(&out->reader, &len);
    if (len == 0) {
        return error_hint(err,
                          "check whether one of the login's start-up files reads standard input or exits");
    }
    text_add_utf8(&shown, line, len);
    return error_hint(err, "look at the login's start-up files: the last output was '%s'", str_text(&shown));
}
