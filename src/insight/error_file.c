/* Reads the error file of a worker: torch/distributed/elastic/multiprocessing/errors/error_handler.py. */
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "reader_internal.h"

#define LINES_READ 400

/*
 * The message or traceback in {"message": {"message": "ValueError: x", "extraInfo": {"py_callstack":
 * "Traceback …"}}}. The outer message may also be a plain text. NULL: it is something else. Borrowed.
 */
static const char *message_of(const json_t *root, bool *is_traceback)
{
    const json_t *message = json_object_get(root, "message");
    const json_t *extra = json_object_get(message, "extraInfo");
    const char *stack = json_string_value(json_object_get(extra, "py_callstack"));
    *is_traceback = stack && strncmp(stack, "Traceback (most recent call last):", 34) == 0;
    if (*is_traceback) {
        return stack;
    }
    const char *inner = json_string_value(json_object_get(message, "message"));
    return inner ? inner : json_string_value(message);
}

/* Pass the lines to the reader as torchrun's failure block would quote them. */
static void read_lines(struct evidence_reader *reader, const char *text, bool is_traceback)
{
    static const char begins[] = "  traceback : Traceback (most recent call last):";
    evidence_reader_line(reader, 0, begins, strlen(begins));
    const char *line = is_traceback ? text + strcspn(text, "\n") : text;
    for (int i = 0; *line != '\0' && i < LINES_READ; i++) {
        line += *line == '\n' ? 1 : 0;
        size_t len = strcspn(line, "\n");
        AUTO_FREE char *quoted = xasprintf("  %.*s", (int)len, line);
        evidence_reader_line(reader, 0, quoted, strlen(quoted));
        line += len;
    }
}

void evidence_reader_error_file(struct evidence_reader *reader, const char *path, long local_rank,
                                const char *when, const char *text)
{
    struct evidence *evidence = reader->evidence;
    const size_t before = evidence->events_len;
    const unsigned long number = reader->number;
    bool is_traceback = false;
    json_t *root = json_loads(text, 0, NULL);
    const char *message = message_of(root, &is_traceback);
    reader->child = (struct child_end){.rank = -1, .local_rank = local_rank, .time = clean_time(when)};
    if (message) {
        read_lines(reader, message, is_traceback);
    }
    reader->in_error_file = false;
    reader->number = number;
    json_decref(root);
    for (size_t i = before; i < evidence->events_len; i++) {
        evidence->events[i].file = xstrdup(path);
    }
}
