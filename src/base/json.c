/* Writes and reads JSON values in the form that records and answers use. */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"

/* --- values ------------------------------------------------------------------------------------- */

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

json_t *js_exact(const char *text)
{
    if (!text) {
        return json_null();
    }
    json_t *string = json_string(text);
    if (string) {
        return string;
    }
    AUTO_STR struct str hex = STR_INIT;
    for (const char *at = text; *at != '\0'; at++) {
        str_addf(&hex, "%02x", (unsigned)(unsigned char)*at);
    }
    return json_pack("{s:s}", "hex", str_text(&hex));
}

json_t *js_list(const struct strlist *list)
{
    json_t *array = json_array();
    for (size_t i = 0; list && i < list->len; i++) {
        json_array_append_new(array, js_text(list->items[i]));
    }
    return array;
}

json_t *js_exact_list(const struct strlist *list)
{
    json_t *array = json_array();
    for (size_t i = 0; list && i < list->len; i++) {
        json_array_append_new(array, js_exact(list->items[i]));
    }
    return array;
}

/* --- members ------------------------------------------------------------------------------------ */

void js_put_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, js_exact(text));
}

void js_put_number(json_t *object, const char *key, int64_t number)
{
    json_object_set_new(object, key, json_integer(number));
}

void js_put_flag(json_t *object, const char *key, bool flag)
{
    json_object_set_new(object, key, json_boolean(flag));
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10) & 15U;
}

char *js_exact_text(const json_t *value)
{
    if (json_is_string(value)) {
        return xstrdup(json_string_value(value));
    }
    const char *hex = json_string_value(json_object_get(value, "hex"));
    if (!hex) {
        return NULL;
    }
    AUTO_STR struct str out = STR_INIT;
    for (; hex[0] != '\0' && hex[1] != '\0'; hex += 2) {
        str_add_char(&out, (char)(digit(hex[0]) * 16 + digit(hex[1])));
    }
    return str_detach(&out);
}

char *js_get_text(const json_t *object, const char *key)
{
    return js_exact_text(json_object_get(object, key));
}

int64_t js_get_number(const json_t *object, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

bool js_get_flag(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

void js_get_list(const json_t *object, const char *key, struct strlist *list)
{
    const json_t *array = json_object_get(object, key);
    for (size_t i = 0; i < json_array_size(array); i++) {
        AUTO_FREE char *text = js_exact_text(json_array_get(array, i));
        strlist_add(list, text ? text : "");
    }
}

/* --- text --------------------------------------------------------------------------------------- */

/* jansson escapes only the characters below U+0020. DEL, the C1 controls, line separators and directional
 * formatting characters (U+2028 to U+202E, U+2066 to U+2069) would reach a terminal as they are. */
static void add_escaping_controls(struct str *out, const char *text)
{
    static const char suspect[] = "\x7f\xc2\xe2"; /* their first bytes */
    const unsigned char *at = (const unsigned char *)text;
    for (;;) {
        size_t plain = strcspn((const char *)at, suspect);
        str_add_mem(out, at, plain);
        at += plain;
        if (*at == '\0') {
            return;
        }
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
        at++;
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
