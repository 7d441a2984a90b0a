/*
 * Writes results to a descriptor. Nothing is buffered by stdio, so that a full disk or a reader that has gone
 * away is noticed immediately and becomes the command's exit code.
 */
#ifndef MTLAUNCH_REPORT_OUTPUT_H
#define MTLAUNCH_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

/* "output-closed", 8: the reader of the output is gone (EPIPE); no message is printed for it. */
extern const struct error_kind kind_output_closed;

/*
 * Write all bytes; waits when fd is non-blocking and full. Errors: kind_output_closed, kind_local. SIGPIPE
 * must be ignored by the program.
 */
int output_write(int fd, const void *bytes, size_t len, struct error *err);

/*
 * Write what fd takes within wait_ms (0: at once), and remove it from text; a file takes all of it. Returns
 * the number of bytes, or -1 on an error (as output_write). last gets the last byte that was written, if any.
 */
long output_write_some(int fd, struct str *text, int wait_ms, char *last, struct error *err);

/* Are both descriptors of one pipe, terminal or file, so that their output is interleaved? */
bool output_is_shared(int fd, int other);

/* Is the reader of this pipe or socket gone? Works even while there is nothing to write. */
bool output_reader_is_gone(int fd);

/* Write text to standard output and empty it. */
int output_print(struct str *text, struct error *err);

/*
 * The same for the last output of work that ended with result (and err, when that is not 0). A failure of the
 * work takes precedence: returns result, or -1 with the output's err.
 */
int output_print_last(struct str *text, int result, struct error *err);

#endif
