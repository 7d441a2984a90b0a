/* Follows Python tracebacks through a log in which several ranks may print at once. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "reader_internal.h"

#define IDLE_MAX      60 /* lines of others between two of a traceback */
#define MESSAGE_LINES 12 /* of an exception, below its first */

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
    const char *at = text + strspn(text, " |+");
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
    frame->distributed = memmem(path, len, "torch/distributed/", strlen("torch/distributed/"));
    return true;
}

/* True when the text is a frame. */
static bool take_frame(struct traceback *traceback, const char *text)
{
    struct traceback_frame frame;
    if (!traceback_read_frame(text, &frame)) {
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

/* "Name: message" or "package.Name", as the last line of a traceback has it. */
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
    traceback->ignored = traceback->announced;
    traceback->own = traceback->distributed = traceback->announced = false;
    traceback->place[0] = '\0';
}

static void end(struct evidence_reader *reader, struct traceback *traceback, bool all)
{
    if (traceback->open > 0) {
        traceback->open = all ? 0 : traceback->open - 1;
        reader->tracebacks_open -= traceback->open == 0;
    }
}

static enum traceback_line follow(struct evidence_reader *reader, unsigned long number,
                                  struct traceback *traceback, const char *text)
{
    if (take_frame(traceback, text)) {
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

enum traceback_line traceback_feed(struct evidence_reader *reader, unsigned long number,
                                   const struct clean_line *line, const struct traceback **found)
{
    struct traceback *traceback = find(reader, line);
    *found = traceback;
    if (!traceback) {
        return TRACEBACK_NOTHING;
    }
    if (strstr(line->text, "Traceback (most recent call last):")) {
        begin(reader, traceback);
        return TRACEBACK_PART;
    }
    traceback->announced = text_starts(line->text, "Exception ignored in");
    if (traceback->open > 0) {
        return follow(reader, number, traceback, line->text);
    }
    if (line->len == 0) {
        traceback->message_to = 0;
    }
    return number <= traceback->message_to ? TRACEBACK_MESSAGE : TRACEBACK_NOTHING;
}
