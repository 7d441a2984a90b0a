#include "node/exec.h"

#include <string.h>

#include "base/alloc.h"
#include "base/quote.h"
#include "base/text.h"
#include "model/kind.h"
#include "node/node_internal.h"

/*
 * Read byte by byte, as POSIX wants it of read, so what follows stays in the pipe; nothing runs before all of
 * it has come. Every login shell understands this line alike: no "!" (csh), no backslash before a quote
 * (fish).
 */
#define COMMAND                                                                                              \
    "exec /bin/sh -c 'IFS= read -r mt_l && [ \"$mt_l\" = %s ] || exit 97; "                                  \
    "mt_n=$(printf \"\\nx\"); mt_n=${mt_n%%x}; mt_s=; "                                                      \
    "while :; do IFS= read -r mt_l || exit 97; [ \"$mt_l\" = %s ] && break; mt_s=$mt_s$mt_l$mt_n; done; "    \
    "mt_whole=1; eval \"$mt_s\"'"

/* As quote_sh, with line ends as "$mt_n": bash in a UTF-8 locale would take one for the rest of a cut
 * character. */
static void add_word(struct str *out, const char *word)
{
    for (;;) {
        size_t plain = strcspn(word, "\n");
        AUTO_FREE char *part = xstrndup(word, plain);
        quote_sh(out, part);
        word += plain;
        if (*word == '\0')
            return;
        str_add(out, "\"$mt_n\"");
        word++;
    }
}

static void add_guard(struct str *out)
{
    static const char *const parts[] = {"15-stat", "86-guard", NULL};
    AUTO_STR struct str text = STR_INIT;

    node_script_add(&text, parts);
    str_add(out, "mt_guard=");
    quote_sh(out, str_text(&text));
    str_add_char(out, '\n');
}

static void add_command(struct str *out, const struct strlist *command)
{
    str_add(out, "set --");
    if (command->len == 1)
        str_add(out, " /bin/sh -c --");
    for (size_t i = 0; i < command->len; i++) {
        str_add_char(out, ' ');
        add_word(out, command->items[i]);
    }
    str_add_char(out, '\n');
}

static void begin(struct node_call *out, const char *nonce)
{
    *out = (struct node_call)NODE_CALL_INIT;
    for (size_t i = 0; i < NODE_NONCE_LEN && nonce[i] != '\0'; i++)
        out->nonce[i] = nonce[i];
    out->command = xasprintf(COMMAND, out->nonce, out->nonce);
    /* A start-up file that execs another shell leaves it these lines to run, and the rest as the command's
     * input.
     */
    str_addf(&out->input, "%s\n[ \"$mt_whole\" ] || exit 97\nmt_nonce=%s\n", out->nonce, out->nonce);
}

void node_request_exec(const struct node_exec_wish *wish, const char *nonce, struct node_call *out)
{
    static const char *const parts[] = {"15-stat", "85-exec", NULL};

    begin(out, nonce);
    str_addf(&out->input, "mt_input=%s\n", wish->input ? "1" : "");
    if (wish->limit_s != 0)
        str_addf(&out->input, "mt_limit=%lu\n", wish->limit_s);
    else
        str_add(&out->input, "mt_limit=\n");
    str_addf(&out->input, "mt_mark=%s\n", wish->mark);
    add_guard(&out->input);
    add_command(&out->input, wish->command);
    node_script_add(&out->input, parts);
    str_addf(&out->input, "%s\n", out->nonce);
}

void node_request_exec_end(const char *target, const char *nonce, struct node_call *out)
{
    static const char *const parts[] = {"87-end", NULL};

    begin(out, nonce);
    str_addf(&out->input, "mt_pattern='[%c]%s'\n", target[0], target + 1);
    node_script_add(&out->input, parts);
    str_addf(&out->input, "%s\n", out->nonce);
}

void node_exec_stream_release(struct node_exec_stream *stream)
{
    str_release(&stream->noise);
}

/* Where "\n@@NONCE " stands in what has come, or NULL. */
static const char *find_mark(const struct node_exec_stream *stream)
{
    AUTO_FREE char *mark = xasprintf("\n@@%s ", stream->nonce);

    return memmem(str_text(&stream->noise), stream->noise.len, mark, strlen(mark));
}

void node_exec_stream_take(struct node_exec_stream *stream, const char **bytes, size_t *len)
{
    static const char runs[] = "runs\n";
    const char *at = *bytes, *mark, *word = NULL;
    size_t left = *len;

    if (stream->begun)
        return;
    *len = 0;
    while (left > 0) {
        size_t piece = left < NODE_EXEC_NOISE_MAX ? left : NODE_EXEC_NOISE_MAX;
        if (stream->noise.len > NODE_EXEC_NOISE_MAX)
            str_consume(&stream->noise, stream->noise.len - NODE_EXEC_NOISE_MAX);
        str_add_mem(&stream->noise, at, piece);
        at += piece;
        left -= piece;
        mark = find_mark(stream);
        if (mark != NULL)
            word = strchr(mark + 1, ' ') + 1;
        if (word == NULL || strncmp(word, runs, sizeof(runs) - 1) != 0)
            continue;
        /* What was taken beyond the mark belongs to the command. */
        size_t over = stream->noise.len - (size_t)(word + sizeof(runs) - 1 - stream->noise.data);
        *bytes = at - over;
        *len = left + over;
        stream->begun = true;
        str_release(&stream->noise);
        return;
    }
}

int node_exec_error(const struct node_exec_stream *out, int exit_status, struct error *err)
{
    const char *mark = find_mark(out), *text = str_text(&out->noise);
    size_t end = out->noise.len, begin;
    AUTO_STR struct str shown = STR_INIT;
    struct node_fields fields = {0};
    size_t used = 0;

    /* the way into a container answers in frames */
    bool refused = node_fields_parse(&fields, text, out->noise.len, out->nonce, "end", &used, NULL) == 1 &&
                   node_fields_check(&fields, err) != 0;
    node_fields_release(&fields);
    if (refused)
        return -1;
    if (mark != NULL) {
        AUTO_FREE char *word = xstrndup(strchr(mark + 1, ' ') + 1, 40);
        word[strcspn(word, "\n")] = '\0';
        error_set(err, &kind_node_unsupported, "the node %s", word);
        return error_hint(err, "nodes need Linux with /proc, and setsid of util-linux or busybox");
    }
    if (exit_status == 97)
        error_set(err, &kind_node_answer, "the command did not reach its shell whole");
    else
        error_set(err, &kind_node_answer, "the login ended with status %d before the command ran",
                  exit_status);
    while (end > 0 && strchr("\r\n ", text[end - 1]) != NULL)
        end--;
    if (end == 0)
        return error_hint(err, "look at the login's start-up files: does one read standard input, or exit");
    begin = end;
    while (begin > 0 && text[begin - 1] != '\n' && end - begin < 200)
        begin--;
    text_add_utf8(&shown, text + begin, end - begin);
    return error_hint(err, "look at the login's start-up files: what came last was '%s'", str_text(&shown));
}
