/* Known hosts in memory: known_hosts_read.c reads and indexes the files, known_hosts.c searches them. */
#ifndef MTLAUNCH_REACH_KNOWN_HOSTS_INTERNAL_H
#define MTLAUNCH_REACH_KNOWN_HOSTS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strlist.h"
#include "reach/known_hosts.h"

/* A hashed name, "|1|SALT|HASH": the HMAC-SHA1 of the name under the salt (sshd(8)). */
#define KNOWN_HASH_BYTES 20
struct known_hash {
    unsigned char salt[KNOWN_HASH_BYTES], hash[KNOWN_HASH_BYTES];
};

/* Matches names with hashes; one serves all files. */
struct known_hasher;
struct known_hasher *known_hasher_new(void);
void known_hasher_free(struct known_hasher *hasher);              /* NULL accepted */
bool known_hash_parse(const char *text, struct known_hash *hash); /* false: it is not of that form */
bool known_hash_matches(struct known_hasher *hasher, const struct known_hash *hash, const char *name);

struct known_line {
    bool revoked;
    struct strlist names;    /* patterns in lower case; empty when the name is hashed */
    struct known_hash *hash; /* NULL: the names are not hashed */
    char *type;
    char *blob;
    unsigned line;
};

/* A line, found by the hash of its key or of one of its names. */
struct known_mark {
    uint64_t hash;
    size_t line;
};

struct known_file {
    char *path;
    struct known_line *lines;
    size_t len, cap;
    struct known_mark *by_key;  /* of all lines that were read, sorted */
    struct known_mark *by_name; /* of names without '*', '?' and '!' that are not hashed, sorted */
    size_t by_key_len, by_name_len, by_name_cap;
    size_t *patterns; /* lines with patterns */
    size_t patterns_len, patterns_cap;
    const char *hashed_type; /* key type of the lines with hashed names; NULL: there is none */
    bool several_types;      /* the lines with hashed names have several key types */
    bool revokes;            /* it has a @revoked line */
};

struct known_hosts {
    struct known_hasher *hasher;
    struct known_file **files;
    size_t len, cap;
};

/* The file, read on first use; owned by known. NULL with err. */
struct known_file *known_hosts_get(struct known_hosts *known, const char *path, struct error *err);
/* Add one line of text; a line that is not valid is ignored, as ssh does. number: for messages. */
void known_file_add(struct known_file *file, const char *text, size_t len, unsigned number);
/* FNV-1a, the hash of by_key and by_name. */
uint64_t known_text_hash(const char *text);
/* The first mark with that hash, or the place where it would be. */
size_t known_mark_find(const struct known_mark *marks, size_t len, uint64_t hash);

#endif
