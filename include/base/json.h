/*
 * Writes and reads JSON values with jansson: an unknown value is null, times are UTC, text is always valid
 * UTF-8. The functions below never fail: the process aborts when memory runs out, and a member that is
 * missing or of another type reads as unknown.
 */
#ifndef MTLAUNCH_BASE_JSON_H
#define MTLAUNCH_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strlist.h"

/* --- values; the caller owns them --- */

json_t *js_text(const char *text);         /* invalid UTF-8 becomes U+FFFD; NULL: null */
json_t *js_text_or_null(const char *text); /* NULL or "": null */
json_t *js_exact(
    const char *text); /* {"hex": …} for invalid UTF-8, so that js_get_text restores every byte */
json_t *js_time(int64_t epoch_ms); /* RFC 3339; 0: null */
json_t *js_integer(int64_t value, int64_t unknown);
json_t *js_list(const struct strlist *list);       /* of js_text; NULL: empty */
json_t *js_exact_list(const struct strlist *list); /* of js_exact; NULL: empty */

/* --- members of an object --- */

void js_put_text(json_t *object, const char *key, const char *text); /* as js_exact */
void js_put_number(json_t *object, const char *key, int64_t number);
void js_put_flag(json_t *object, const char *key, bool flag);

char *js_get_text(const json_t *object, const char *key); /* NULL: no such text; the caller frees */
int64_t js_get_number(const json_t *object, const char *key, int64_t fallback);
bool js_get_flag(const json_t *object, const char *key);
void js_get_list(const json_t *object, const char *key,
                 struct strlist *list); /* appends; an item that is not a text is "" */

/* The text that js_exact encoded; NULL if value is not one. The caller frees it. */
char *js_exact_text(const json_t *value);

/* --- text --- */

/* Append value on one line, with its line end, and release value. Control characters are escaped, including
 * the non-ASCII ones and those that change the direction of text. */
void js_add_line(struct str *out, json_t *value);

#endif
