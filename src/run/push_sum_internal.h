/* Checksums of contents, as sha256sum and cksum print them. */
#ifndef MTLAUNCH_RUN_PUSH_SUM_INTERNAL_H
#define MTLAUNCH_RUN_PUSH_SUM_INTERNAL_H

#include <stddef.h>

enum push_sum_kind {
    PUSH_SUM_SHA256,
    PUSH_SUM_CKSUM, /* POSIX cksum: a CRC, for hosts that lack sha256sum */
    PUSH_SUM_KINDS
};

struct push_sum; /* a checksum that is being computed */

struct push_sum *push_sum_new(enum push_sum_kind kind);
void push_sum_add(struct push_sum *sum, const void *bytes, size_t len);
/* Write the checksum as text: hexadecimal digits, or decimal ones for cksum. Frees sum. */
void push_sum_end(struct push_sum *sum, char text[65]);

#endif
