/* Decodes the bytes of a terminal in non-canonical mode into keys. Pure. */
#ifndef MTLAUNCH_BASE_KEYS_H
#define MTLAUNCH_BASE_KEYS_H

#include <stddef.h>

/* Below 256 a key is the byte that was typed. */
enum key {
    KEY_NONE = 0, /* no input, or an unknown sequence */
    KEY_BACK = 8, /* Backspace */
    KEY_ENTER = 10,
    KEY_ESCAPE = 27,
    KEY_UP = 256,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END
};

/*
 * Return the first key in bytes. *used is the number of bytes it takes (0 only when len is 0). A lone ESC is
 * the Escape key, because a terminal writes a whole sequence at once. The sequences of xterm, in both
 * cursor-key modes, and of the Linux console are known.
 */
int key_take(const char *bytes, size_t len, size_t *used);

#endif
