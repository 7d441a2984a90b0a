/* What a person types on a terminal in non-canonical mode, as keys. Pure. */
#ifndef MTLAUNCH_BASE_KEYS_H
#define MTLAUNCH_BASE_KEYS_H

#include <stddef.h>

/* Below 256 a key is the byte that was typed. */
enum key {
    KEY_NONE = 0, /* a sequence without a meaning here */
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
 * Take the first key of what was read: its bytes are *used (0 only when len is 0). An escape that nothing
 * follows is the key itself: a terminal writes its sequences at once. Sequences are those of xterm, in both
 * of its modes, and of the Linux console.
 */
int key_take(const char *bytes, size_t len, size_t *used);

#endif
