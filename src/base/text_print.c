/* Safe printing, masking, wrapping and widths of text (base/text.h). */
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "utf8_internal.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/*
 * C0 and C1 controls and DEL, except newline and tab; and characters that end a line or change the order in
 * which text is shown (Unicode 15: LINE and PARAGRAPH SEPARATOR, explicit directional formatting).
 */
static bool is_unsafe(uint32_t character)
{
    if (character == '\n' || character == '\t') {
        return false;
    }
    return character < 0x20 || (character >= 0x7F && character < 0xA0) ||
           (character >= 0x2028 && character <= 0x202E) || (character >= 0x2066 && character <= 0x2069);
}

#define EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (value))

/* Number of printable ASCII bytes at the start, in steps of eight bytes: the last few may be left out. */
static size_t printable_run(const char *bytes, size_t len)
{
    size_t run = 0;
    uint64_t word;
    for (; len - run >= sizeof word; run += sizeof word) {
        memcpy(&word, bytes + run, sizeof word);
        uint64_t below = word - EACH_BYTE(0x20), above = word + EACH_BYTE(1); /* < 0x20; > 0x7E */
        if ((word | below | above) & EACH_BYTE(0x80)) {
            break;
        }
    }
    return run;
}

static void add_checked(struct str *out, const char *bytes, size_t len, bool safe)
{
    size_t used, done = 0; /* the bytes from done to i are to be copied unchanged */

    for (size_t i = printable_run(bytes, len); i < len; i += used) {
        uint32_t character = utf8_read(bytes + i, len - i, &used);
        bool invalid = character == UTF8_INVALID;
        if (!invalid && !(safe && is_unsafe(character))) {
            used += character < 0x80 ? printable_run(bytes + i + used, len - i - used) : 0;
            continue;
        }
        str_add_mem(out, bytes + done, i - done);
        str_add(out, invalid ? REPLACEMENT : "?");
        done = i + used;
    }
    if (done < len) {
        str_add_mem(out, bytes + done, len - done);
    }
}

void text_add_safe(struct str *out, const char *bytes, size_t len)
{
    add_checked(out, bytes, len, true);
}

void text_add_line(struct str *out, const char *bytes, size_t len)
{
    size_t from = out->len;

    text_add_safe(out, bytes, len);
    for (size_t i = from; i < out->len; i++) {
        if (out->data[i] == '\n' || out->data[i] == '\t') {
            out->data[i] = ' ';
        }
    }
}

void text_add_lines(struct str *out, const char *bytes, size_t len)
{
    size_t from = out->len, indent = strlen(TEXT_QUOTE_INDENT);

    text_add_safe(out, bytes, len);
    for (size_t i = from; i < out->len; i++) {
        bool quotes = out->len - i > indent && memcmp(out->data + i + 1, TEXT_QUOTE_INDENT, indent) == 0;
        if (out->data[i] == '\t' || (out->data[i] == '\n' && !quotes)) {
            out->data[i] = ' ';
        }
    }
}

void text_add_utf8(struct str *out, const char *bytes, size_t len)
{
    add_checked(out, bytes, len, false);
}

size_t text_columns(const char *text)
{
    size_t len = strlen(text), used, columns = 0;

    for (size_t i = 0; i < len; i += used) {
        uint32_t character = utf8_read(text + i, len - i, &used);
        columns += utf8_columns(character);
    }
    return columns;
}

/* Length of the longest secret at the start of text; 0: none. */
static size_t secret_at(const char *text, const struct strlist *secrets)
{
    size_t longest = 0;
    for (size_t i = 0; secrets && i < secrets->len; i++) {
        size_t len = strlen(secrets->items[i]);
        if (len >= TEXT_SECRET_MIN && len > longest && strncmp(text, secrets->items[i], len) == 0) {
            longest = len;
        }
    }
    return longest;
}

void text_add_masked(struct str *out, const char *text, const struct strlist *secrets)
{
    while (*text) {
        size_t len = secret_at(text, secrets);
        if (len) {
            str_add(out, "***");
        } else {
            str_add_char(out, *text);
        }
        text += len ? len : 1;
    }
}

void text_add_wrapped(struct str *out, const char *text, size_t at, size_t indent, size_t columns)
{
    while (*(text += strspn(text, " ")) != '\0') {
        size_t len = strcspn(text, " ");
        AUTO_STR struct str word = STR_INIT;

        str_add_mem(&word, text, len);
        size_t width = text_columns(str_text(&word));
        if (at > indent && at + 1 + width > columns) {
            str_add_char(out, '\n');
            str_addf(out, "%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            str_add_char(out, ' ');
            at++;
        }
        str_add(out, str_text(&word));
        at += width;
        text += len;
    }
    str_add_char(out, '\n');
}
