/* Counts the steps of a training in a log, roughly: enough to see that a program went on after a message. */
#include <ctype.h>
#include <string.h>

#include "reader_internal.h"

struct number {
    const char *at;
    size_t len; /* 0: there is none */
};

static bool is_digit(const char *at, const char *end)
{
    return at < end && (isdigit((unsigned char)*at) || *at == '.');
}

/* The percentage before "%|" of a bar without a name. Bars with a name do not show the training. */
static struct number read_percents(const char *bytes, const char *percent)
{
    const char *at = percent;
    while (at > bytes && isdigit((unsigned char)at[-1])) {
        at--;
    }
    const char *before = at;
    while (before > bytes && before[-1] == ' ') {
        before--;
    }
    bool named = before > bytes && before[-1] != '\r';
    return (struct number){.at = at, .len = named ? 0 : (size_t)(percent - at)};
}

/* What distinguishes a step from the next: the number after the literal, or a bar's percentage. */
static struct number find_number(const char *bytes, const char *end, const char *literal)
{
    const char *at = memmem(bytes, (size_t)(end - bytes), literal, strlen(literal));
    if (!at) {
        return (struct number){0};
    }
    if (*at == '%') {
        return read_percents(bytes, at);
    }
    struct number number = {.at = at + strlen(literal)};
    while (number.at < end && strchr(" :='", *number.at)) {
        number.at++;
    }
    while (is_digit(number.at + number.len, end)) {
        number.len++;
    }
    return number;
}

/* "60/60", "8/ 8", "100%": was it the last step? Lines without a total do not say. */
static void note_completion(struct evidence *evidence, struct number number, const char *end)
{
    const char *at = number.at + number.len;
    if (at < end && *at == '%') {
        evidence->completed = number.len == 3 && memcmp(number.at, "100", 3) == 0;
    } else if (at < end && *at == '/') {
        do {
            at++;
        } while (at < end && *at == ' ');
        evidence->completed = (size_t)(end - at) >= number.len && memcmp(at, number.at, number.len) == 0 &&
                              !is_digit(at + number.len, end);
    }
}

/* True when the line shows a different training step than the line before. */
static bool take_step(struct evidence_reader *reader, size_t format, const char *bytes, size_t len)
{
    struct number number = find_number(bytes, bytes + len, line_formats[format].literal);
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (size_t i = 0; i < number.len; i++) {
        hash = (hash ^ (unsigned char)number.at[i]) * 16777619U;
    }
    if (number.len == 0) {
        return false;
    }
    note_completion(reader->evidence, number, bytes + len);
    bool next = hash != reader->steps[format];
    reader->steps[format] = hash;
    return next;
}

size_t steps_count(struct evidence_reader *reader, unsigned long number, uint16_t *hits, size_t hits_len,
                   const char *bytes, size_t len)
{
    size_t kept = 0;
    bool next = false;
    bool noted = false;
    for (size_t i = 0; i < hits_len; i++) {
        size_t format = (size_t)hits[i] - reader->scanner->rows_len;
        if (hits[i] < reader->scanner->rows_len || line_formats[format].use != LINE_STEP) {
            hits[kept++] = hits[i];
        } else {
            if (!noted) {
                start_step_note(reader->evidence, number, bytes, len);
            }
            noted = true;
            next = take_step(reader, format, bytes, len) || next;
        }
    }
    reader->evidence->steps += next;
    return kept;
}
