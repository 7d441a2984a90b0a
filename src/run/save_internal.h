/*
 * Saves a node's log in a file on this machine. A file that contains the beginning of the log is continued,
 * after its last bytes were compared with the log. Any other file is moved out of the way, never overwritten.
 */
#ifndef MTLAUNCH_RUN_SAVE_INTERNAL_H
#define MTLAUNCH_RUN_SAVE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "run/store.h"

/* Why an existing file is not continued. */
enum save_reason {
    SAVE_CONTINUED, /* it is continued, or there was none */
    SAVE_UNKNOWN,   /* it was not saved from this run */
    SAVE_ATTEMPT,   /* it contains another attempt */
    SAVE_SHORTER,   /* the log is shorter than the file */
    SAVE_CHANGED,   /* its last bytes are not those of the log */
    SAVE_REASONS
};

struct save_file {
    char *path;
    char *older; /* the path to which an existing file was moved; NULL: none was */
    int fd;      /* -1: not open */
    enum save_reason reason;
    uint64_t had;      /* bytes of the existing file that are kept */
    uint64_t check;    /* how many of the last ones are compared with the log */
    uint64_t compared; /* how many of these were compared so far */
    uint64_t added;    /* bytes written */
    bool ended;        /* nothing more arrives, for whatever reason */
};

/* Inspect the file at path (taken over). known: what was saved there, from save_record_get; NULL: nothing. */
void save_file_init(struct save_file *file, char *path, const char *known, const char *identity);
void save_file_release(struct save_file *file); /* also closes the file */

/* The offset in the log from which bytes are needed. */
uint64_t save_file_offset(const struct save_file *file);

/*
 * Prepare for a log of size bytes, which will be fed from save_file_offset on. Opens the file, and moves
 * another one out of the way. 0: feed the log; 1: the saved file does not match, so ask for the offset again;
 * -1: kind_local.
 */
int save_file_begin(struct save_file *file, uint64_t size, struct error *err);
int save_file_feed(struct save_file *file, const char *bytes, size_t len,
                   struct error *err);                        /* returns 0, 1 or -1 likewise */
int save_file_end(struct save_file *file, struct error *err); /* 0 or -1 */

/*
 * The record of saved files, in the run's folder: an object "absolute path": "RUN_ID.ATTEMPT", which names
 * the attempt that each file contains. A record that cannot be read counts as empty.
 */
json_t *save_record_load(const struct run_store *store, const char *run);
const char *save_record_get(const json_t *record, const char *path); /* borrowed; NULL: unknown */
int save_record_write(const struct run_store *store, const char *run, const json_t *record,
                      struct error *err);

#endif
