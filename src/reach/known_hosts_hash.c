/* Matches hashed names of known hosts, with libcrypto, which libssh needs anyway. */
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "reach/known_hosts_internal.h"

#define BLOCK_BYTES  64 /* of SHA-1 */
#define BASE64_CHARS 28 /* of KNOWN_HASH_BYTES, with one '=' */
#define INNER_PAD    0x36
#define OUTER_PAD    0x5c

/* HMAC (RFC 2104) with a digest that is fetched once: libcrypto's own HMAC takes four times as long for a
 * line.
 */
struct known_hasher {
    EVP_MD *digest;
    EVP_MD_CTX *context;
};

struct known_hasher *known_hasher_new(void)
{
    struct known_hasher *hasher = xcalloc(1, sizeof(*hasher));

    hasher->digest = EVP_MD_fetch(NULL, "SHA1", NULL);
    hasher->context = EVP_MD_CTX_new();
    return hasher;
}

void known_hasher_free(struct known_hasher *hasher)
{
    if (hasher) {
        EVP_MD_free(hasher->digest);
        EVP_MD_CTX_free(hasher->context);
    }
    free(hasher);
}

/* The decoder returns a multiple of three bytes: the last one stands for the '=' and is dropped. */
static bool decode(const char *text, unsigned char *out)
{
    unsigned char bytes[KNOWN_HASH_BYTES + 1];

    if (EVP_DecodeBlock(bytes, (const unsigned char *)text, BASE64_CHARS) != (int)sizeof(bytes)) {
        return false;
    }
    memcpy(out, bytes, KNOWN_HASH_BYTES);
    return true;
}

bool known_hash_parse(const char *text, struct known_hash *hash)
{
    const char *salt = text + strlen("|1|"), *end;

    if (!text_starts(text, "|1|") || strlen(salt) != 2 * BASE64_CHARS + 1) {
        return false;
    }
    end = salt + BASE64_CHARS;
    return *end == '|' && decode(salt, hash->salt) && decode(end + 1, hash->hash);
}

/* The digest of the padded key followed by the data. */
static bool digest(struct known_hasher *hasher, const unsigned char *key, unsigned char pad, const void *data,
                   size_t len, unsigned char *out)
{
    unsigned char block[BLOCK_BYTES];

    memset(block, pad, sizeof(block));
    for (size_t i = 0; i < KNOWN_HASH_BYTES; i++) {
        block[i] ^= key[i];
    }
    return EVP_DigestInit_ex(hasher->context, hasher->digest, NULL) == 1 &&
           EVP_DigestUpdate(hasher->context, block, sizeof(block)) == 1 &&
           EVP_DigestUpdate(hasher->context, data, len) == 1 &&
           EVP_DigestFinal_ex(hasher->context, out, NULL) == 1;
}

bool known_hash_matches(struct known_hasher *hasher, const struct known_hash *hash, const char *name)
{
    unsigned char inner[KNOWN_HASH_BYTES], outer[KNOWN_HASH_BYTES];

    return hasher->digest && digest(hasher, hash->salt, INNER_PAD, name, strlen(name), inner) &&
           digest(hasher, hash->salt, OUTER_PAD, inner, sizeof(inner), outer) &&
           memcmp(outer, hash->hash, sizeof(outer)) == 0;
}
