/*
 * Messages to people, on stderr, one write() per line. Control characters are replaced (see text_add_lines: a
 * newline breaks the line only before four blanks), and errno is unchanged. Only cmd and report call these;
 * lower layers return warnings as values.
 */
#ifndef MTLAUNCH_BASE_MSG_H
#define MTLAUNCH_BASE_MSG_H

#include <stddef.h>

enum msg_level { MSG_QUIET, MSG_NORMAL, MSG_VERBOSE };

void msg_set_level(enum msg_level level);
enum msg_level msg_get_level(void);
/* Called before a message is written (a progress bar clears its line there); NULL: none. */
void msg_set_before(void (*before)(void));
/* Send messages to take, one line with its line end at a time, instead of to stderr; NULL: back to stderr. */
void msg_set_taker(void (*take)(void *ctx, const char *line, size_t len), void *ctx);
/* Write lines made elsewhere, unchanged, to where messages go. */
void msg_write(const char *text, size_t len);
/* Call the callback of msg_set_before(). Needed before writing to the terminal without the functions here. */
void msg_make_room(void);

void msg_error(const char *format, ...) __attribute__((format(printf, 1, 2))); /* "mtlaunch: …" */
/* "mtlaunch: warning: …", not when quiet */
void msg_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "  hint: …", shown when the message before it was */
void msg_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));
void msg_info(const char *format, ...) __attribute__((format(printf, 1, 2)));    /* not when quiet */
void msg_verbose(const char *format, ...) __attribute__((format(printf, 1, 2))); /* only with -v */

#endif
