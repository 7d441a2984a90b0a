/*
 * Quoting and safe printing of any bytes: what is quoted is read back, what is printed is valid UTF-8
 * without control characters.
 */
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/str.h"
#include "base/strlist.h"
#include "base/text.h"
#include "fuzz.h"

/* Characters that may stand outside of quotes. */
static bool is_bare(char c)
{
    return c != '\0' &&
           strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=@%+,", c) != NULL;
}

/*
 * Read one word of a shell's line (POSIX XCU 2.2.1 and 2.2.2: backslash and single quotes only) up to a
 * blank or the end. Returns where it ends, or NULL when it holds anything else.
 */
static const char *read_word(const char *line, bool bare, struct str *word)
{
    while (*line != '\0' && *line != ' ') {
        if (*line == '\'') {
            const char *end = strchr(line + 1, '\'');
            if (end == NULL) {
                return NULL;
            }
            str_add_mem(word, line + 1, (size_t)(end - line - 1));
            line = end + 1;
        } else if (line[0] == '\\' && line[1] == '\'') {
            str_add_char(word, '\'');
            line += 2;
        } else if (bare && is_bare(*line)) {
            str_add_char(word, *line++);
        } else {
            return NULL;
        }
    }
    return line;
}

static void check_word(const char *text)
{
    AUTO_STR struct str always = STR_INIT;
    AUTO_STR struct str pretty = STR_INIT;
    AUTO_STR struct str back = STR_INIT;

    quote_sh(&always, text);
    CHECK(always.len >= 2);
    const char *end = read_word(always.data, false, &back);
    CHECK(end != NULL && *end == '\0');
    CHECK(strcmp(str_text(&back), text) == 0);

    str_reset(&back);
    quote_sh_pretty(&pretty, text);
    CHECK(pretty.len >= 1 && pretty.len <= always.len);
    end = read_word(pretty.data, true, &back);
    CHECK(end != NULL && *end == '\0');
    CHECK(strcmp(str_text(&back), text) == 0);
}

static void check_argv(const char *text)
{
    AUTO_STRLIST struct strlist argv = STRLIST_INIT;
    AUTO_STR struct str line = STR_INIT;

    for (;;) {
        size_t len = strcspn(text, "\n");
        strlist_add_mem(&argv, text, len);
        if (text[len] == '\0') {
            break;
        }
        text += len + 1;
    }
    quote_argv_pretty(&line, argv.items, argv.len);
    const char *at = line.data;
    for (size_t i = 0; i < argv.len; i++) {
        AUTO_STR struct str word = STR_INIT;
        CHECK(i == 0 || *at++ == ' ');
        at = read_word(at, true, &word);
        CHECK(at != NULL);
        CHECK(strcmp(str_text(&word), argv.items[i]) == 0);
    }
    CHECK(*at == '\0');
}

/*
 * Length of the valid UTF-8 character at p, 0 when it is none (RFC 3629). Written apart from the code
 * under test: it decodes first and judges the value afterwards.
 */
static size_t character_at(const unsigned char *p, size_t len, uint32_t *value)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t need = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;

    if (need == 0 || need > len) {
        return 0;
    }
    *value = need == 1 ? p[0] : p[0] & (0xFFU >> (need + 1));
    for (size_t i = 1; i < need; i++) {
        if (p[i] >> 6 != 2) {
            return 0;
        }
        *value = *value << 6 | (p[i] & 0x3FU);
    }
    bool valid = *value >= least[need] && *value <= 0x10FFFF && (*value < 0xD800 || *value > 0xDFFF);
    return valid ? need : 0;
}

/* All of it is valid UTF-8; with safe also without control characters but newline and tab. */
static bool is_clean(const char *bytes, size_t len, bool safe)
{
    const unsigned char *p = (const unsigned char *)bytes;

    for (size_t i = 0, step; i < len; i += step) {
        uint32_t value = 0;
        step = character_at(p + i, len - i, &value);
        if (step == 0) {
            return false;
        }
        if (safe && value != '\n' && value != '\t' && (value < 0x20 || (value >= 0x7F && value < 0xA0))) {
            return false;
        }
        if (safe && ((value >= 0x2028 && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069))) {
            return false;
        }
    }
    return true;
}

static void check_print(const char *bytes, size_t len, void (*add)(struct str *, const char *, size_t),
                        bool safe)
{
    AUTO_STR struct str once = STR_INIT;
    AUTO_STR struct str twice = STR_INIT;

    add(&once, bytes, len);
    CHECK(is_clean(str_text(&once), once.len, safe));
    CHECK(once.len <= 3 * len);
    if (is_clean(bytes, len, safe)) {
        CHECK(once.len == len);
        CHECK(len == 0 || memcmp(once.data, bytes, len) == 0);
    }
    add(&twice, str_text(&once), once.len);
    CHECK(twice.len == once.len);
    CHECK(once.len == 0 || memcmp(twice.data, once.data, once.len) == 0);
}

/* A text that is cut to fit an error is not cut inside a character. */
static void check_error(const char *text)
{
    AUTO_STR struct str clean = STR_INIT;
    struct error err = ERROR_INIT;

    text_add_utf8(&clean, text, strlen(text));
    error_set(&err, &kind_usage, "%s", str_text(&clean));
    error_at(&err, str_text(&clean), 1, 1);
    error_source(&err, str_text(&clean), clean.len);
    error_hint(&err, "%s", str_text(&clean));
    CHECK(is_clean(err.text, strlen(err.text), false));
    CHECK(is_clean(err.file, strlen(err.file), false));
    CHECK(is_clean(err.source, strlen(err.source), false));
    CHECK(is_clean(err.hint, strlen(err.hint), false));
    CHECK(text_columns(str_text(&clean)) <= 2 * clean.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    AUTO_FREE char *text = size > 0 ? xstrndup(bytes, size) : xstrdup(""); /* up to the first NUL */

    check_word(text);
    check_argv(text);
    check_print(bytes, size, text_add_safe, true);
    check_print(bytes, size, text_add_utf8, false);
    check_error(text);
    return 0;
}
