/* Decodes what a terminal sends when keys are pressed (ECMA-48 control sequences, xterm's ctlseqs). */
#include "base/keys.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"

#define ESC '\033'

/* The bytes after ESC: "[A", "OA", "[5~". */
static const struct {
    const char *text;
    enum key key;
} sequences[] = {
    {"[A", KEY_UP},    {"OA", KEY_UP},   {"[B", KEY_DOWN},  {"OB", KEY_DOWN},     {"[C", KEY_RIGHT},
    {"OC", KEY_RIGHT}, {"[D", KEY_LEFT}, {"OD", KEY_LEFT},  {"[5~", KEY_PAGE_UP}, {"[6~", KEY_PAGE_DOWN},
    {"[H", KEY_HOME},  {"OH", KEY_HOME}, {"[1~", KEY_HOME}, {"[7~", KEY_HOME},    {"[F", KEY_END},
    {"OF", KEY_END},   {"[4~", KEY_END}, {"[8~", KEY_END},
};

/* Length of the sequence that begins with ESC: up to its final byte, or up to the end of the input. */
static size_t sequence_len(const char *bytes, size_t len)
{
    if (bytes[1] == 'O') {
        return len < 3 ? len : 3;
    }
    if (bytes[1] != '[') {
        return 2; /* Alt with another key */
    }
    size_t end = 2;
    while (end < len && (unsigned char)bytes[end] >= 0x20 && (unsigned char)bytes[end] < 0x40) {
        end++;
    }
    return end < len ? end + 1 : len;
}

int key_take(const char *bytes, size_t len, size_t *used)
{
    *used = len > 0;
    if (len == 0) {
        return KEY_NONE;
    }
    unsigned char first = (unsigned char)bytes[0];
    if (first == '\r') {
        return KEY_ENTER;
    }
    if (first == 0x7f) {
        return KEY_BACK;
    }
    if (first != ESC || len == 1) {
        return first;
    }
    if (bytes[1] == ESC) {
        return KEY_ESCAPE; /* pressed twice */
    }
    *used = sequence_len(bytes, len);
    for (size_t i = 0; i < ARRAY_LEN(sequences); i++) {
        if (strlen(sequences[i].text) == *used - 1 && memcmp(sequences[i].text, bytes + 1, *used - 1) == 0) {
            return sequences[i].key;
        }
    }
    return KEY_NONE;
}
