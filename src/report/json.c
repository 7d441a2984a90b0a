#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "report/json_internal.h"

#define JSON_SCHEMA "mtlaunch/1"

json_t *js_answer(void)
{
    return json_pack("{s:s}", "schema", JSON_SCHEMA);
}

json_t *js_text(const char *text)
{
    AUTO_STR struct str clean = STR_INIT;
    if (!text) {
        return json_null();
    }
    text_add_utf8(&clean, text, strlen(text));
    return json_stringn(str_text(&clean), clean.len);
}

json_t *js_text_or_null(const char *text)
{
    return js_text(text && *text ? text : NULL);
}

json_t *js_time(int64_t epoch_ms)
{
    char buffer[CLOCK_TEXT_SIZE];
    return epoch_ms ? json_string(clock_format_utc(epoch_ms, buffer)) : json_null();
}

json_t *js_integer(int64_t value, int64_t unknown)
{
    return value == unknown ? json_null() : json_integer(value);
}

json_t *js_list(const struct strlist *list)
{
    json_t *array = json_array();
    for (size_t i = 0; list && i < list->len; i++) {
        json_array_append_new(array, js_text(list->items[i]));
    }
    return array;
}

/* The encoder escapes what is below a blank; DEL, the C1 controls and what ends a line or turns
 * its direction (U+2028 to U+202E, U+2066 to U+2069) would reach a terminal as they are. */
static void add_escaping_controls(struct str *out, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == 0x7f) {
            str_add(out, "\\u007f");
        } else if (*at == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f) {
            str_addf(out, "\\u00%02x", at[1]);
            at++;
        } else if (*at == 0xe2 && ((at[1] == 0x80 && at[2] >= 0xa8 && at[2] <= 0xae) ||
                                   (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9))) {
            str_addf(out, "\\u20%02x", (at[1] - 0x80) * 0x40 + at[2] - 0x80);
            at += 2;
        } else {
            str_add_char(out, (char)*at);
        }
    }
}

void js_add_line(struct str *out, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    if (!text) {
        abort(); /* values made by the functions above always encode */
    }
    add_escaping_controls(out, text);
    str_add_char(out, '\n');
    free(text);
    json_decref(value);
}
