/* Splits a line into words and writes words as a YAML list, for hints that show what was meant. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/words_internal.h"

#define LIST_BYTES_MAX 300 /* a hint holds 500 */

static bool is_blank(char c)
{
    return c != '\0' && strchr(" \t\r\n", c);
}

/* Bytes of the placeholder that begins here, 0 when none does. */
static size_t placeholder_len(const char *text)
{
    const char *end = text_starts(text, "${{") ? strstr(text, "}}") : NULL;
    return end ? (size_t)(end - text) + 2 : 0;
}

size_t words_first_len(const char *text)
{
    size_t at = 0;
    while (text[at] != '\0' && !is_blank(text[at])) {
        size_t skip = placeholder_len(text + at);
        at += skip > 0 ? skip : 1;
    }
    return at;
}

bool words_has_blank(const char *text)
{
    return text[words_first_len(text)] != '\0';
}

/* Append one word and return the place after it. An unclosed quote stands for itself. */
static const char *read_word(const char *at, struct str *word)
{
    while (*at != '\0' && !is_blank(*at)) {
        size_t skip = placeholder_len(at);
        const char *close = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;
        if (skip > 0) {
            str_add_mem(word, at, skip);
            at += skip;
        } else if (close) {
            str_add_mem(word, at + 1, (size_t)(close - at) - 1);
            at = close + 1;
        } else {
            str_add_char(word, *at++);
        }
    }
    return at;
}

void words_split(const char *line, struct strlist *out)
{
    for (;;) {
        while (is_blank(*line)) {
            line++;
        }
        if (*line == '\0') {
            return;
        }
        AUTO_STR struct str word = STR_INIT;
        line = read_word(line, &word);
        strlist_add(out, str_text(&word));
    }
}

/* Does text consist of characters that YAML never treats specially, and is it no special word? */
static bool is_plain(const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/=+";
    static const char *const special[] = {"true", "false", "null", "-", "=", "---"};
    for (size_t i = 0; i < ARRAY_LEN(special); i++) {
        if (strcmp(text, special[i]) == 0) {
            return false;
        }
    }
    return text[0] != '\0' && text[strspn(text, safe)] == '\0';
}

void words_add_scalar(const char *text, struct str *out)
{
    if (is_plain(text)) {
        str_add(out, text);
        return;
    }
    str_add_char(out, '"');
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\') {
            str_addf(out, "\\%c", *at);
        } else if (*at == '\n') {
            str_add(out, "\\n");
        } else if ((unsigned char)*at < ' ' || *at == 0x7f) {
            str_addf(out, "\\x%02x", (unsigned)(unsigned char)*at);
        } else {
            str_add_char(out, *at);
        }
    }
    str_add_char(out, '"');
}

void words_add_list(char *const *words, size_t count, struct str *out)
{
    size_t start = out->len;
    str_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (out->len - start > LIST_BYTES_MAX) {
            str_add(out, ", ...");
            break;
        }
        str_add(out, i > 0 ? ", " : "");
        words_add_scalar(words[i], out);
    }
    str_add_char(out, ']');
}
