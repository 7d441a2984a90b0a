/* Builds the input of the node's copy program, and parses its answers. */
#include "node/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/quote.h"
#include "base/text.h"
#include "model/kind.h"
#include "node/exec.h"
#include "node/node_internal.h"

#define BLOCK      512
#define CALL_BYTES 65536 /* of one command line, well below the limit of every kernel */
#define FRAME_MAX  (64u << 10)
#define RECORD_MAX (16u << 10)

static const char *const verbs[] = {
    [NODE_COPY_OPEN] = "mt_open",
    [NODE_COPY_CHECK_DELETE] = "mt_check_delete",
    [NODE_COPY_BEGIN_LIST] = "mt_begin_list",
    [NODE_COPY_LIST] = "mt_list",
    [NODE_COPY_END_LIST] = "mt_end_list",
    [NODE_COPY_SUM] = "mt_sum",
    [NODE_COPY_MAKE_WRITABLE] = "mt_make_writable",
    [NODE_COPY_CLEAR] = "mt_clear",
    [NODE_COPY_MOVE] = "mt_move",
    [NODE_COPY_DROP] = "mt_drop",
    [NODE_COPY_EMPTY_ROOM] = "mt_empty_room",
    [NODE_COPY_SET_MODE] = "mt_set_mode",
    [NODE_COPY_CLOSE_FOLDER] = "mt_close_folder",
    [NODE_COPY_SET_TIME] = "mt_set_time",
    [NODE_COPY_REMOVE] = "mt_remove",
    [NODE_COPY_REMOVE_FOLDERS] = "mt_remove_folders",
    [NODE_COPY_CONTENTS] = "mt_contents",
    [NODE_COPY_SEND] = "mt_send",
    [NODE_COPY_SEND_FROM] = "mt_send_from",
    [NODE_COPY_TELL] = "mt_frame",
    [NODE_COPY_RELAY_OPEN] = "mt_relay_open",
    [NODE_COPY_ADMIT] = "mt_admit",
    [NODE_COPY_CONNECT] = "mt_connect",
    [NODE_COPY_FETCH] = "mt_fetch",
    [NODE_COPY_EXPECT] = "mt_expect",
    [NODE_COPY_UNPACK] = "mt_unpack_piece",
    [NODE_COPY_APPEND] = "mt_append",
    [NODE_COPY_PLACE] = "mt_place",
    [NODE_COPY_ABANDON] = "mt_abandon",
    [NODE_COPY_FORGET] = "mt_forget",
};

void node_request_copy(const char *base, bool relay, const char *mark, const char *nonce,
                       struct node_call *out)
{
    static const char *const plain[] = {"10-frame", "15-stat", "17-write", "88-copy", NULL};
    static const char *const relaying[] = {"10-frame", "15-stat", "17-write", "87-relay", "88-copy", NULL};
    AUTO_STRLIST struct strlist command = STRLIST_INIT;
    AUTO_STR struct str program = STR_INIT;

    node_script_add(&program, relay ? relaying : plain);
    strlist_add(&command, "/bin/sh");
    strlist_add(&command, "-c");
    strlist_add(&command, str_text(&program));
    strlist_add(&command, "mt_copy");
    strlist_add(&command, nonce);
    strlist_add(&command, base ? base : "");
    node_request_exec(&(struct node_exec_options){.command = &command, .input = true, .mark = mark}, nonce,
                      out);
}

void node_copy_call(struct str *text, enum node_copy_verb verb, const char *const *words, size_t count)
{
    str_add(text, verbs[verb]);
    for (size_t i = 0; i < count; i++) {
        str_add_char(text, ' ');
        quote_sh(text, words[i]);
    }
    str_add_char(text, '\n');
}

void node_copy_calls(struct str *text, enum node_copy_verb verb, const char *first, const char *const *paths,
                     size_t count)
{
    for (size_t i = 0; i < count;) {
        const size_t begin = text->len;
        str_add(text, verbs[verb]);
        if (first) {
            str_add_char(text, ' ');
            quote_sh(text, first);
        }
        for (; i < count && text->len - begin < CALL_BYTES; i++) {
            str_add_char(text, ' ');
            quote_sh(text, paths[i]);
        }
        str_add_char(text, '\n');
    }
}

void node_copy_add_run(struct str *input, const struct str *text)
{
    const size_t blocks = (text->len + BLOCK - 1) / BLOCK;

    if (blocks == 0) {
        return;
    }
    str_addf(input, "run %zu\n", blocks);
    str_add_mem(input, text->data, text->len);
    for (size_t i = text->len; i < blocks * BLOCK; i++) {
        str_add_char(input, '\n');
    }
}

static void add_records(struct str *input, const char *word, uint64_t bytes)
{
    str_addf(input, "%s %llu\n", word, (unsigned long long)(bytes / NODE_COPY_RECORD));
}

void node_copy_add_tar(struct str *input, uint64_t bytes)
{
    add_records(input, "tar", bytes);
}

void node_copy_add_folders(struct str *input, uint64_t bytes)
{
    add_records(input, "folders", bytes);
}

void node_copy_add_piece(struct str *input, uint64_t bytes)
{
    add_records(input, "piece", bytes);
}

void node_copy_release(struct node_copy *copy)
{
    node_reader_release(&copy->reader);
    facts_release(&copy->facts);
    str_release(&copy->record);
}

/* --- entries --- */

static enum tree_kind kind_of_letter(char letter)
{
    switch (letter) {
    case 'f':
        return TREE_FILE;
    case 'd':
        return TREE_FOLDER;
    case 'l':
        return TREE_LINK;
    default:
        return TREE_OTHER;
    }
}

/* S_IFMT and its values are the same on every Linux (stat(2), inode(7)). */
static enum tree_kind kind_of_mode(unsigned long mode)
{
    switch (mode & 0170000) {
    case 0100000:
        return TREE_FILE;
    case 0040000:
        return TREE_FOLDER;
    case 0120000:
        return TREE_LINK;
    default:
        return TREE_OTHER;
    }
}

/* Parse the number at *at in the given base and the blank after it. */
static bool take_number(const char **at, int base, unsigned long long *out)
{
    char *end;

    if (**at == ' ' || **at == '+' || **at == '-') {
        return false;
    }
    *out = strtoull(*at, &end, base);
    if (end == *at || *end != ' ') {
        return false;
    }
    *at = end + 1;
    return true;
}

/* Parse seconds, with or without a fraction, and the blank after them. A time before 1970 has a sign. */
static bool take_time(const char **at, int64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoll(*at, &end, 10);
    if (end == *at || errno == ERANGE || *out == INT64_MIN) {
        return false;
    }
    if (*end == '.') {
        const size_t digits = strspn(end + 1, "0123456789");
        if (**at == '-' && strspn(end + 1, "0") < digits) {
            (*out)--; /* round down, as the kernel does */
        }
        end += 1 + digits;
    }
    if (*end != ' ') {
        return false;
    }
    *at = end + 1;
    return true;
}

/*
 * Parse "KIND MODE SIZE TIME PATH". KIND is f, d, l … with MODE in octal, or x with the full st_mode in
 * hexadecimal.
 */
static bool read_head(struct node_copy *copy)
{
    const char *at = str_text(&copy->record);
    unsigned long long mode = 0, size = 0;
    const char letter = *at;

    if (letter == '\0' || at[1] != ' ') {
        return false;
    }
    at += 2;
    if (!take_number(&at, letter == 'x' ? 16 : 8, &mode) || !take_number(&at, 10, &size) ||
        !take_time(&at, &copy->entry.mtime)) {
        return false;
    }
    copy->entry.kind = letter == 'x' ? kind_of_mode((unsigned long)mode) : kind_of_letter(letter);
    copy->entry.mode = (unsigned)mode & 07777;
    copy->entry.size = copy->entry.kind == TREE_FILE ? size : 0;
    while (at[0] == '.' && at[1] == '/') {
        at += 2;
    }
    copy->entry.path = copy->record.data + (at - copy->record.data);
    return true;
}

/* Both texts of an entry are complete. */
static int finish_entry(struct node_copy *copy, enum node_copy_event *event, struct error *err)
{
    const char *head = str_text(&copy->record);

    if (strcmp(head, "E") == 0) {
        copy->in_list = false;
        *event = NODE_COPY_LISTED;
        return 0;
    }
    if (!read_head(copy)) {
        return error_set(err, &kind_node_answer,
                         "the node's list of files contains an entry that cannot be read");
    }
    copy->entry.link = copy->entry.kind == TREE_LINK ? copy->record.data + strlen(head) + 1 : NULL;
    /* skip the folder itself, and paths that are too long to be used here */
    if (tree_path_is_safe(copy->entry.path)) {
        *event = NODE_COPY_ENTRY;
    } else if (strcmp(copy->entry.path, ".") != 0 && strlen(copy->entry.path) <= TREE_PATH_MAX) {
        return error_set(err, &kind_node_answer, "the node's list of files names one outside the folder");
    }
    return 0;
}

static int take_list(struct node_copy *copy, const char **bytes, size_t *len, enum node_copy_event *event,
                     struct error *err)
{
    while (*len > 0 && copy->in_list && *event == NODE_COPY_NOTHING) {
        const char *end = memchr(*bytes, '\0', *len);
        const size_t part = end ? (size_t)(end - *bytes) + 1 : *len;
        if (copy->record.len + part > RECORD_MAX) {
            return error_set(err, &kind_node_answer,
                             "the node's list of files contains an entry of more than %u bytes", RECORD_MAX);
        }
        str_add_mem(&copy->record, *bytes, part);
        *bytes += part;
        *len -= part;
        if (!end) {
            return 0;
        }
        if (!copy->has_head) {
            copy->has_head = true;
            continue;
        }
        copy->has_head = false;
        if (finish_entry(copy, event, err) != 0) {
            return -1;
        }
        copy->record.len = 0; /* the bytes that entry borrows stay valid until more are added */
    }
    return 0;
}

/* --- frames --- */

/* A failure is reported as two frames, followed by the end frame. */
static int check_failure(const struct node_copy *copy, struct error *err)
{
    const char *kind = facts_text(&copy->facts, "error");
    const char *detail = facts_text(&copy->facts, "detail");

    if (kind && strcmp(kind, "copy") == 0) {
        error_set(err, &kind_file_failed, "%s", detail ? detail : "a file could not be written");
        if (detail && (strstr(detail, "no space left") || strstr(detail, "quota exceeded"))) {
            error_hint(err, "free some space there and repeat the command: files that are already there are "
                            "not sent again");
        }
        return -1;
    }
    return node_facts_check(&copy->facts, err);
}

static int take_frame(struct node_copy *copy, enum node_copy_event *event, struct error *err)
{
    size_t len = 0;
    const char *frame = node_reader_frame(&copy->reader, &len);

    if (!facts_text(&copy->facts, "error")) {
        facts_release(&copy->facts);
    }
    if (node_facts_add(&copy->facts, frame, len, "end", err) < 0) {
        return -1;
    }
    const struct fact *field = &copy->facts.items[copy->facts.len - 1];
    copy->key = field->key;
    copy->value = field->value;
    if (strcmp(field->key, "list") == 0) {
        copy->in_list = true;
        return 0;
    }
    if (strcmp(field->key, "end") == 0 && check_failure(copy, err) != 0) {
        return -1;
    }
    if (strcmp(field->key, "error") != 0 && strcmp(field->key, "detail") != 0) {
        *event = NODE_COPY_FRAME;
    }
    return 0;
}

int node_copy_take(struct node_copy *copy, const char **bytes, size_t *len, enum node_copy_event *event,
                   struct error *err)
{
    *event = NODE_COPY_NOTHING;
    copy->reader.nonce = copy->nonce;
    copy->reader.limit = FRAME_MAX;
    while (*len > 0 && *event == NODE_COPY_NOTHING) {
        size_t used = 0;
        if (copy->in_list) {
            if (take_list(copy, bytes, len, event, err) != 0) {
                return -1;
            }
            continue;
        }
        const bool ended = node_reader_take(&copy->reader, *bytes, *len, &used);
        *bytes += used;
        *len -= used;
        if (ended && take_frame(copy, event, err) != 0) {
            return -1;
        }
    }
    return 0;
}
