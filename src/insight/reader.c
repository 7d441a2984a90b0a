/* Reads the log of one node line by line into evidence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "reader_internal.h"

#define HITS_MAX   32 /* rows and formats whose literals are in one line */
#define LAST_LINES 60 /* before the end, or before the first report of a failed worker */

struct evidence_reader *evidence_reader_new(struct scanner *scanner, struct evidence *evidence)
{
    struct evidence_reader *reader = xcalloc(1, sizeof(*reader));
    reader->scanner = scanner;
    reader->evidence = evidence;
    reader->uses = xcalloc(scanner->rows_len + line_formats_len, sizeof(*reader->uses));
    reader->steps = xcalloc(line_formats_len, sizeof(*reader->steps));
    lines_init(&reader->lines);
    return reader;
}

/* Where to put an event of this signature and rank: a new slot, the slot of the last of many, or nowhere. */
static struct event *event_slot(struct evidence *evidence, const struct signature *signature, long rank,
                                long local_rank)
{
    struct event *last = NULL;
    size_t count = 0;
    for (size_t i = 0; i < evidence->events_len; i++) {
        struct event *event = &evidence->events[i];
        if (event->signature == signature && event->rank == rank && event->local_rank == local_rank) {
            last = event;
            count++;
        }
    }
    if (count <= EVIDENCE_REPEATS && evidence->events_len < EVIDENCE_EVENTS) {
        return evidence_add_event(evidence, signature);
    }
    if (!last) {
        return NULL;
    }
    free(last->text);
    free(last->file);
    free(last->place);
    for (size_t i = 0; i < SIGNATURE_GROUPS; i++) {
        free(last->groups[i]);
    }
    *last = (struct event){.signature = signature};
    return last;
}

/* Is the line in the log already? An error file repeats it, and adds whose it is. */
static bool is_said_before(const struct evidence_reader *reader, const struct signature *signature)
{
    const struct clean_line *line = &reader->line;
    for (size_t i = 0; reader->in_error_file && i < reader->evidence->events_len; i++) {
        struct event *event = &reader->evidence->events[i];
        bool nobodys = event->rank < 0 && event->local_rank < 0;
        bool same = event->signature == signature && strcmp(event->text, line->text) == 0;
        bool whose = nobodys || (event->rank >= 0 && event->rank == line->rank) ||
                     (event->local_rank >= 0 && event->local_rank == line->local_rank);
        if (same && whose) {
            event->rank = event->rank >= 0 ? event->rank : line->rank;
            event->local_rank = event->local_rank >= 0 ? event->local_rank : line->local_rank;
            event->time = event->time >= 0 ? event->time : line->time;
            return true;
        }
    }
    return false;
}

static void add_event(struct evidence_reader *reader, const struct signature *signature, unsigned long number,
                      const regmatch_t *groups, enum traceback_line kind, const struct traceback *traceback)
{
    const struct clean_line *line = &reader->line;
    if (is_said_before(reader, signature)) {
        return;
    }
    struct event *event = event_slot(reader->evidence, signature, line->rank, line->local_rank);
    if (!event) {
        return;
    }
    event->line = number;
    event->rank = line->rank;
    event->local_rank = line->local_rank;
    event->time = line->time;
    event->exception = kind == TRACEBACK_EXCEPTION;
    event->message = kind == TRACEBACK_MESSAGE;
    event->prefixed = line->prefixed;
    event->aside = event->exception && traceback && traceback->aside;
    event->chain = traceback && kind != TRACEBACK_NOTHING ? traceback->chain : 0;
    event->fatal = event->exception || event->message;
    event->warning = clean_is_warning(line->text);
    event->steps = reader->evidence->steps;
    event->text = xstrdup(line->text);
    bool placed = traceback && traceback->place[0] != '\0';
    if (event->fatal && placed && (traceback->own || strcmp(signature->id, "PY_EXCEPTION") == 0)) {
        event->place = xstrdup(traceback->place);
    }
    for (size_t i = 0; groups && i < SIGNATURE_GROUPS; i++) {
        if (groups[i].rm_so >= 0) {
            event->groups[i] =
                xstrndup(line->text + groups[i].rm_so, (size_t)(groups[i].rm_eo - groups[i].rm_so));
        }
    }
    evidence_note_rank(reader->evidence, line->rank);
}

/* True when the line matches the signature. */
static bool try_row(struct evidence_reader *reader, size_t row, unsigned long number,
                    enum traceback_line kind, const struct traceback *traceback)
{
    const struct signature *signature = reader->scanner->rows[row];
    regmatch_t groups[SIGNATURE_GROUPS];
    if (signature->pattern &&
        regexec(&reader->scanner->patterns[row], reader->line.text, SIGNATURE_GROUPS, groups, 0) != 0) {
        return false;
    }
    if (signature->class != CLASS_NOISE) {
        add_event(reader, signature, number, signature->pattern ? groups : NULL, kind, traceback);
    }
    return true;
}

/* Add an exception that no row matches. */
static void add_exception(struct evidence_reader *reader, unsigned long number,
                          const struct traceback *traceback)
{
    const char *id = traceback->distributed ? "PY_DISTRIBUTED" : "PY_EXCEPTION";
    add_event(reader, signature_find(id), number, NULL, TRACEBACK_EXCEPTION, traceback);
}

/* Has an earlier row with this id matched? Only the first one counts; hits are ascending. */
static bool is_told(const struct evidence_reader *reader, const uint16_t *hits, size_t at,
                    const bool *matched)
{
    for (size_t i = 0; i < at; i++) {
        if (matched[i] &&
            strcmp(reader->scanner->rows[hits[i]]->id, reader->scanner->rows[hits[at]]->id) == 0) {
            return true;
        }
    }
    return false;
}

/* Is it a line of a row that is noise? Then it is nothing else. */
static bool is_noise(struct evidence_reader *reader, const uint16_t *hits, size_t hits_len)
{
    for (size_t i = 0; i < hits_len && hits[i] < reader->scanner->rows_len; i++) {
        if (reader->scanner->rows[hits[i]]->class == CLASS_NOISE && try_row(reader, hits[i], 0, 0, NULL)) {
            return true;
        }
    }
    return false;
}

/* True when a row matches the line. */
static bool read_rows(struct evidence_reader *reader, unsigned long number, enum traceback_line kind,
                      const struct traceback *traceback, const uint16_t *hits, size_t hits_len)
{
    bool matched[HITS_MAX] = {false};
    bool known = is_noise(reader, hits, hits_len);
    for (size_t i = 0; i < hits_len && !known && hits[i] < reader->scanner->rows_len; i++) {
        matched[i] = !is_told(reader, hits, i, matched) && try_row(reader, hits[i], number, kind, traceback);
    }
    for (size_t i = 0; i < hits_len; i++) {
        known = known || matched[i];
    }
    return known;
}

/*
 * "  traceback : Traceback (most recent call last):": the block quotes the error file of its child, each line
 * indented by two blanks. It is the child's own traceback, and often the only one in the log.
 */
static void follow_error_file(struct evidence_reader *reader)
{
    static const char begins[] = "  traceback : ";
    struct clean_line *line = &reader->line;
    size_t indent = 2;
    if (text_starts(line->text, begins) && strstr(line->text, "Traceback (most recent call last):")) {
        reader->in_error_file = true;
        indent = strlen(begins);
    }
    reader->in_error_file = reader->in_error_file && text_starts(line->text, "  ") &&
                            !text_starts(line->text, "  time      : "); /* of the next child */
    if (!reader->in_error_file) {
        return;
    }
    line->len -= indent;
    memmove(line->text, line->text + indent, line->len + 1);
    line->rank = reader->child.rank;
    line->local_rank = reader->child.local_rank;
    line->time = reader->child.time;
    line->prefixed = true;
}

/*
 * Loggers and containers put the same prefix before each line; the first line of a traceback shows it. A
 * progress bar that stands before a traceback is taken for a prefix too, but matches no other line.
 */
static void strip_learned(struct evidence_reader *reader)
{
    size_t len = reader->titled ? clean_title_prefix(&reader->line) : 0;
    if (len > 0) {
        snprintf(reader->prefix, sizeof reader->prefix, "%.*s", (int)len, reader->line.text);
        clean_strip_prefix(&reader->line, reader->line.text, len);
    } else if (reader->prefix[0] != '\0') {
        clean_strip_prefix(&reader->line, reader->prefix, strlen(reader->prefix));
    }
}

/* Does the line have the title of a traceback? The search has found it already. */
static bool has_title(const struct evidence_reader *reader, const uint16_t *hits, size_t hits_len)
{
    bool found = false;
    for (size_t i = 0; i < hits_len; i++) {
        size_t format = (size_t)hits[i] - reader->scanner->rows_len;
        found = found || (hits[i] >= reader->scanner->rows_len &&
                          strcmp(line_formats[format].literal, TRACEBACK_TITLE) == 0);
    }
    return found;
}

/* Read a stretch of a line, up to a line end or a carriage return. */
static void read_stretch(struct evidence_reader *reader, unsigned long number, const char *bytes, size_t len,
                         const uint16_t *hits, size_t hits_len)
{
    const struct traceback *traceback = NULL;
    clean_line(bytes, len, &reader->line);
    reader->titled = has_title(reader, hits, hits_len);
    strip_learned(reader);
    follow_error_file(reader);
    enum traceback_line kind = traceback_feed(reader, number, &reader->line, &traceback);
    if (traceback && traceback->ignored && (kind == TRACEBACK_EXCEPTION || kind == TRACEBACK_MESSAGE)) {
        return;
    }
    for (size_t i = 0; i < hits_len; i++) {
        if (hits[i] >= reader->scanner->rows_len) {
            line_formats[hits[i] - reader->scanner->rows_len].take(reader, number, &reader->line);
        }
    }
    if (!read_rows(reader, number, kind, traceback, hits, hits_len) && kind == TRACEBACK_EXCEPTION) {
        add_exception(reader, number, traceback);
    }
}

/*
 * Drop the hits that were seen often enough, so that a flood of one message costs no more than its search.
 * Hits of tracebacks always count. Returns how many hits are left.
 */
static size_t drop_floods(struct evidence_reader *reader, uint16_t *hits, size_t len)
{
    size_t kept = 0;
    for (size_t i = 0; i < len; i++) {
        size_t format = (size_t)hits[i] - reader->scanner->rows_len;
        bool always = hits[i] >= reader->scanner->rows_len && line_formats[format].use == LINE_ALL;
        unsigned use = reader->uses[hits[i]]++;
        if (always || use < LINE_USES || use % LINE_LATER == 0) {
            hits[kept++] = hits[i];
        }
    }
    return kept;
}

static void read_line(struct evidence_reader *reader, unsigned long number, const char *bytes, size_t len)
{
    uint16_t hits[HITS_MAX];
    size_t hits_len = literals_find(reader->scanner->literals, bytes, len, hits, HITS_MAX);
    hits_len = steps_count(reader, number, hits, hits_len, bytes, len);
    hits_len = drop_floods(reader, hits, hits_len);
    if (hits_len == 0 && reader->tracebacks_open == 0) {
        return;
    }
    while (len > 0 && bytes[len - 1] == '\r') {
        len--;
    }
    if (!memchr(bytes, '\r', len)) {
        read_stretch(reader, number, bytes, len, hits, hits_len);
        return;
    }
    const char *end = bytes + len;
    while (bytes <= end) {
        const char *cr = memchr(bytes, '\r', (size_t)(end - bytes));
        size_t part = cr ? (size_t)(cr - bytes) : (size_t)(end - bytes);
        hits_len = literals_find(reader->scanner->literals, bytes, part, hits, HITS_MAX);
        hits_len = steps_count(reader, number, hits, hits_len, bytes, part);
        if (hits_len > 0 || (reader->tracebacks_open > 0 && part > 0)) {
            read_stretch(reader, number, bytes, part, hits, hits_len);
        }
        bytes += part + 1;
    }
}

static void take_piece(void *ctx, const struct line_piece *piece)
{
    struct evidence_reader *reader = ctx;
    if (!piece->continued) {
        reader->number++;
    }
    read_line(reader, reader->number, piece->bytes, piece->len);
}

void evidence_reader_feed(struct evidence_reader *reader, const char *bytes, size_t len)
{
    lines_feed(&reader->lines, bytes, len, take_piece, reader);
}

void evidence_reader_line(struct evidence_reader *reader, unsigned long number, const char *bytes, size_t len)
{
    reader->number = number;
    read_line(reader, number, bytes, len < LINES_PIECE_MAX ? len : LINES_PIECE_MAX);
}

/* Messages shortly before the end count as what ended the program. */
static void mark_last_lines(struct evidence *evidence)
{
    unsigned long end = evidence->failed_line ? evidence->failed_line : evidence->lines;
    for (size_t i = 0; i < evidence->events_len; i++) {
        struct event *event = &evidence->events[i];
        event->late = (event->line <= end && end - event->line < LAST_LINES) || event->file;
        event->fatal = event->fatal || event->late;
    }
}

void evidence_reader_end(struct evidence_reader *reader)
{
    lines_end(&reader->lines, true, take_piece, reader);
    if (reader->evidence->lines < reader->number) {
        reader->evidence->lines = reader->number; /* a search may have set more, from its last record */
    }
    mark_last_lines(reader->evidence);
    lines_release(&reader->lines);
    free(reader->uses);
    free(reader->steps);
    free(reader);
}
