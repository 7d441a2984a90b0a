/* Follows Python tracebacks through a log in which several ranks may print at once. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "reader_internal.h"

#define IDLE_MAX      60 /* lines from elsewhere between two lines of a traceback */
#define MESSAGE_LINES 12 /* of an exception's message, after its first */
#define DISTRIBUTED   "torch/distributed/"

static struct traceback *find(struct evidence_reader *reader, const struct clean_line *line)
{
    long rank = line->prefixed ? line->rank : -1;
    long local_rank = line->prefixed ? line->local_rank : -1;
    for (size_t i = 0; i < reader->tracebacks_len; i++) {
        struct traceback *one = &reader->tracebacks[i];
        if (one->rank == rank && one->local_rank == local_rank) {
            return one;
        }
    }
    if (reader->tracebacks_len == TRACEBACK_KEYS) {
        return NULL;
    }
    struct traceback *fresh = &reader->tracebacks[reader->tracebacks_len++];
    *fresh = (struct traceback){.rank = rank, .local_rank = local_rank};
    return fresh;
}

/* Files that came with Python or with a package are not the program's own. */
bool traceback_is_own_file(const char *path, size_t len)
{
    static const char *const foreign[] = {"/site-packages/", "/dist-packages/", "/lib/python",
                                          "<frozen ",        "<string>",        "bin/torchrun",
                                          "bin/deepspeed",   "bin/accelerate"};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        if (memmem(path, len, foreign[i], strlen(foreign[i]))) {
            return false;
        }
    }
    return true;
}

bool traceback_read_frame(const char *text, struct traceback_frame *frame)
{
    const char *at = text + strspn(text, " |+>");
    if (!text_starts(at, "File \"")) {
        return false;
    }
    const char *path = at + strlen("File \"");
    const char *end = strstr(path, "\", line ");
    if (!end) {
        return false;
    }
    char *rest = NULL;
    size_t len = (size_t)(end - path);
    const char *slash = memrchr(path, '/', len);
    frame->line = strtoul(end + strlen("\", line "), &rest, 10);
    frame->rest = rest;
    frame->name = slash ? slash + 1 : path;
    frame->name_len = (size_t)(end - frame->name);
    frame->own = traceback_is_own_file(path, len);
    frame->distributed = memmem(path, len, DISTRIBUTED, strlen(DISTRIBUTED));
    return true;
}

/* `│ /a/train.py:188 in main   │`, as rich prints it. Borrowed from the text. */
static bool read_rich_frame(const char *text, struct traceback_frame *frame)
{
    const char *in = strstr(text, " in ");
    const char *colon = in ? memrchr(text, ':', (size_t)(in - text)) : NULL;
    if (!colon || colon + 1 + strspn(colon + 1, "0123456789") != in || colon + 1 == in) {
        return false;
    }
    const char *slash = memrchr(text, '/', (size_t)(colon - text));
    frame->name = slash ? slash + 1 : text + strspn(text, " ");
    frame->name_len = (size_t)(colon - frame->name);
    frame->line = strtoul(colon + 1, NULL, 10);
    frame->rest = in;
    frame->own = traceback_is_own_file(text, (size_t)(colon - text));
    frame->distributed = memmem(text, (size_t)(colon - text), DISTRIBUTED, strlen(DISTRIBUTED));
    return true;
}

/* True when the text is a frame. */
static bool take_frame(struct traceback *traceback, const char *text)
{
    struct traceback_frame frame = {0};
    if (!(traceback->rich ? read_rich_frame : traceback_read_frame)(text, &frame)) {
        return false;
    }
    if (frame.own || !traceback->own) {
        snprintf(traceback->place, sizeof traceback->place, "%.*s:%lu", (int)frame.name_len, frame.name,
                 frame.line);
        traceback->own = frame.own;
    }
    traceback->distributed = frame.distributed;
    return true;
}

/* Is it "Name: message" or "package.Name", as in the last line of a traceback? */
static bool is_exception(const char *text)
{
    size_t len = 0;
    bool lower = false;
    bool dotted = false;
    while (isalnum((unsigned char)text[len]) || text[len] == '_' || text[len] == '.') {
        lower = lower || islower((unsigned char)text[len]);
        dotted = dotted || text[len] == '.';
        len++;
    }
    if (len < 2 || !lower || text[len - 1] == '.' || isdigit((unsigned char)text[0])) {
        return false;
    }
    bool named = dotted || text[0] == '_' || isupper((unsigned char)text[0]);
    return named &&
           (text[len] == '\0' || (text[len] == ':' && (text[len + 1] == ' ' || text[len + 1] == '\0')));
}

static void begin(struct evidence_reader *reader, struct traceback *traceback)
{
    reader->tracebacks_open += traceback->open == 0;
    traceback->open++;
    traceback->idle = 0;
    traceback->message_to = 0;
    traceback->chain = traceback->chained ? traceback->chain : ++reader->chains;
    traceback->chained = false;
    traceback->ignored = traceback->announced;
    traceback->aside = traceback->aside_next;
    traceback->aside_next = false;
    traceback->own = traceback->distributed = traceback->announced = traceback->rich = false;
    traceback->place[0] = '\0';
}

static void end(struct evidence_reader *reader, struct traceback *traceback, bool all)
{
    if (traceback->open > 0) {
        traceback->open = all ? 0 : traceback->open - 1;
        reader->tracebacks_open -= traceback->open == 0;
    }
}

/* The text after the side of rich's box; NULL: the line is outside. */
static const char *skip_side(const char *text)
{
    static const char *const sides[] = {"│", "┃", "╰", "└", "|", "+"};
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        if (text_starts(text, sides[i])) {
            return text + strlen(sides[i]);
        }
    }
    return NULL;
}

static enum traceback_line follow(struct evidence_reader *reader, unsigned long number,
                                  struct traceback *traceback, const char *text)
{
    const char *inside = traceback->rich ? skip_side(text) : NULL;
    if (take_frame(traceback, inside ? inside : text) || inside) {
        traceback->idle = 0;
        return TRACEBACK_PART;
    }
    if (text[0] == ' ' || text[0] == '\0') {
        traceback->idle++;
        return TRACEBACK_PART;
    }
    if (is_exception(text)) {
        end(reader, traceback, false);
        traceback->idle = 0;
        traceback->message_to = number + MESSAGE_LINES;
        return TRACEBACK_EXCEPTION;
    }
    if (++traceback->idle > IDLE_MAX) {
        end(reader, traceback, true);
    }
    return TRACEBACK_NOTHING;
}

/* `  File "/a/train.py", line 4` alone: the program itself has a syntax error. */
static bool begins_without_title(const char *text)
{
    struct traceback_frame frame;
    return text_starts(text, "  File \"") && traceback_read_frame(text, &frame) && *frame.rest == '\0';
}

/* Python's threading, atexit and logging print the exceptions of what they call, and go on. */
static bool is_aside(const char *text)
{
    return text_starts(text, TRACEBACK_THREAD) || text_starts(text, TRACEBACK_ATEXIT) ||
           text_starts(text, TRACEBACK_LOGGING);
}

enum traceback_line traceback_feed(struct evidence_reader *reader, unsigned long number,
                                   const struct clean_line *line, const struct traceback **found)
{
    struct traceback *traceback = find(reader, line);
    *found = traceback;
    if (!traceback) {
        return TRACEBACK_NOTHING;
    }
    const char *title = reader->titled ? strstr(line->text, TRACEBACK_TITLE) : NULL;
    if (text_starts(line->text, TRACEBACK_DURING) || text_starts(line->text, TRACEBACK_CAUSE)) {
        traceback->chained = true;
    }
    if (title) {
        traceback->chained = traceback->chained || text_starts(line->text, "Original ");
        begin(reader, traceback);
        traceback->rich = title[strlen(TRACEBACK_TITLE)] != ':';
        return TRACEBACK_PART;
    }
    if (traceback->open == 0 && begins_without_title(line->text)) {
        begin(reader, traceback);
    }
    traceback->announced = text_starts(line->text, "Exception ignored in");
    traceback->aside_next = is_aside(line->text);
    if (traceback->open > 0) {
        return follow(reader, number, traceback, line->text);
    }
    if (line->len == 0) {
        traceback->message_to = 0;
    }
    return number <= traceback->message_to ? TRACEBACK_MESSAGE : TRACEBACK_NOTHING;
}
