/* Reads numbers in the ssh wire format (RFC 4251 5), which keys, certificates and agents use. */
#ifndef MTLAUNCH_TRANSPORT_SSH_WIRE_INTERNAL_H
#define MTLAUNCH_TRANSPORT_SSH_WIRE_INTERNAL_H

#include <stddef.h>

/* Read a uint32 from four bytes. */
static inline size_t ssh_wire_uint32(const char *bytes)
{
    const unsigned char *at = (const unsigned char *)bytes;

    return (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

#endif
