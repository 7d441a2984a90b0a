/* Computes SHA-256 and the CRC of POSIX cksum. */
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "push_sum_internal.h"

#define CRC_POLYNOMIAL 0x04c11db7u

struct push_sum {
    EVP_MD_CTX *sha256; /* NULL: the sum is a CRC */
    uint32_t crc;
    uint64_t len;
    uint32_t table[256];
};

static void make_table(uint32_t table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i << 24;
        for (unsigned bit = 0; bit < 8; bit++) {
            value = (value << 1) ^ ((value & 0x80000000u) != 0 ? CRC_POLYNOMIAL : 0);
        }
        table[i] = value;
    }
}

struct push_sum *push_sum_new(enum push_sum_kind kind)
{
    struct push_sum *sum = xcalloc(1, sizeof(*sum));

    if (kind == PUSH_SUM_SHA256) {
        sum->sha256 = EVP_MD_CTX_new();
        if (!sum->sha256 || EVP_DigestInit_ex(sum->sha256, EVP_sha256(), NULL) != 1) {
            abort(); /* fails only if memory runs out */
        }
    } else {
        make_table(sum->table);
    }
    return sum;
}

static void add_byte(struct push_sum *sum, unsigned char byte)
{
    sum->crc = (sum->crc << 8) ^ sum->table[(sum->crc >> 24) ^ byte];
}

void push_sum_add(struct push_sum *sum, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;

    if (sum->sha256) {
        EVP_DigestUpdate(sum->sha256, bytes, len);
        return;
    }
    for (size_t i = 0; i < len; i++) {
        add_byte(sum, at[i]);
    }
    sum->len += len;
}

void push_sum_end(struct push_sum *sum, char text[65])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned digest_len = 0;

    if (sum->sha256) {
        EVP_DigestFinal_ex(sum->sha256, digest, &digest_len);
        for (unsigned i = 0; i < 32; i++) {
            text[2 * i] = digits[digest[i] >> 4];
            text[2 * i + 1] = digits[digest[i] & 15];
        }
        text[64] = '\0';
        EVP_MD_CTX_free(sum->sha256);
    } else {
        /* POSIX cksum adds the length, lowest byte first */
        for (uint64_t len = sum->len; len != 0; len >>= 8) {
            add_byte(sum, (unsigned char)len);
        }
        snprintf(text, 65, "%u", ~sum->crc);
    }
    free(sum);
}
