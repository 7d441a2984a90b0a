/*
 * The node's side of push and pull: a program that is sent its work piece by piece, and its answers.
 * Pure.
 *
 * The program is a call of node/exec.h with input, so it runs on the host or inside a container. Its input is
 * pieces of shell text and archives (src/node/script/88-copy.sh says how they are cut), its standard output
 * frames and lists of files. New files are unpacked beside what they replace and moved by a rename.
 */
#ifndef MTLAUNCH_NODE_COPY_H
#define MTLAUNCH_NODE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "model/facts.h"
#include "model/tree.h"
#include "node/reader.h"
#include "node/request.h"

/*
 * The call. base: the folder that relative ones are in; NULL: the login's. relay: it can pass on pieces. mark
 * as of struct node_exec_options. What is to be done follows on its standard input; the program ends with
 * that.
 */
void node_request_copy(const char *base, bool relay, const char *mark, const char *nonce,
                       struct node_call *out);

/* What the program can do, with the words each takes. Paths are relative to the folder that was opened. */
enum node_copy_verb {
    NODE_COPY_OPEN,         /* FOLDER, "1" to make it or "": frame missing=FOLDER when it lacks */
    NODE_COPY_CHECK_DELETE, /* no word: refuses to empty what holds the home folder; frame folder=PATH */
    NODE_COPY_BEGIN_LIST,   /* no word: entries follow, of … */
    NODE_COPY_LIST,         /* PATH…: entries at and below these */
    NODE_COPY_END_LIST,     /* no word */
    NODE_COPY_SUM, /* PATH…: frames sum=SHA-256, one per file that can be read; then summed=how many words */
    NODE_COPY_MAKE_WRITABLE,  /* FOLDER… */
    NODE_COPY_CLEAR,          /* PATH: remove what is there, including an empty folder */
    NODE_COPY_MOVE,           /* FOLDER, PATH…: from the room into the folder ("." for the top) */
    NODE_COPY_DROP,           /* PATH…: out of the room again */
    NODE_COPY_EMPTY_ROOM,     /* no word: remove what was unpacked and not moved */
    NODE_COPY_SET_MODE,       /* MODE, PATH… */
    NODE_COPY_CLOSE_FOLDER,   /* MODE, PATH: a folder; one that is not ours is left unchanged */
    NODE_COPY_SET_TIME,       /* CCYYMMDDhhmm.SS in UTC, PATH */
    NODE_COPY_REMOVE,         /* PATH…: files and links */
    NODE_COPY_REMOVE_FOLDERS, /* PATH…: empty ones; others stay */
    NODE_COPY_CONTENTS,       /* no word: standard output is for contents now, answers go to standard error */
    NODE_COPY_SEND,           /* PATH…: the content of these files, one after the other */
    NODE_COPY_SEND_FROM,      /* OFFSET, PATH: the rest of one file */
    NODE_COPY_TELL,           /* KEY, VALUE: a frame, to know how far it came */
    /* only with relay (src/node/script/87-relay.sh says more) */
    NODE_COPY_RELAY_OPEN, /* SECONDS, ADDRESS, PORT…: frames relay_…, the last of them relay_open */
    NODE_COPY_ADMIT,      /* NUMBER, KEY: a node may fetch pieces here; frame admitted=NUMBER */
    NODE_COPY_CONNECT,    /* ADDRESS, PORT, USER, KEY: where the next pieces are fetched */
    NODE_COPY_FETCH,      /* NUMBER, RECORDS, SUM: frame have=NUMBER, or fetch_failed=why */
    NODE_COPY_EXPECT,     /* NUMBER, SUM: of the piece that follows; frame have=NUMBER */
    NODE_COPY_UNPACK,     /* NUMBER: an archive, into the room */
    NODE_COPY_APPEND,     /* NUMBER, BYTES: to the large file that grows */
    NODE_COPY_PLACE,      /* PATH, MODE, CCYYMMDDhhmm.SS: the large file is whole: into the room */
    NODE_COPY_ABANDON,    /* no word: the large file is not wanted */
    NODE_COPY_FORGET,     /* FIRST, END: these pieces are not kept any more */
    NODE_COPY_VERBS
};

/* Append a call of the verb to shell text. */
void node_copy_call(struct str *text, enum node_copy_verb verb, const char *const *words, size_t count);
/* The same for a verb that takes PATH… after first (NULL: none): as many calls as the limit of a command line
 * requires.
 */
void node_copy_calls(struct str *text, enum node_copy_verb verb, const char *first, const char *const *paths,
                     size_t count);

/* Append pieces of the program's input. */
void node_copy_add_run(struct str *input, const struct str *text);
#define NODE_COPY_RECORD 10240                             /* an archive is whole records */
void node_copy_add_tar(struct str *input, uint64_t bytes); /* the line before an archive of that many bytes */
void node_copy_add_folders(struct str *input, uint64_t bytes);
void node_copy_add_piece(struct str *input, uint64_t bytes);

enum node_copy_event {
    NODE_COPY_NOTHING, /* all bytes are taken */
    NODE_COPY_ENTRY,   /* an entry of a list: entry */
    NODE_COPY_LISTED,  /* the end of a list */
    NODE_COPY_FRAME    /* a frame: key and value */
};

/* What the program reports. Must be zero before, except for nonce. */
struct node_copy {
    const char *nonce; /* borrowed */
    bool in_list;
    bool has_head;             /* the first text of an entry is whole */
    struct node_reader reader; /* of frames */
    struct facts facts;        /* the last frame; those of a failure */
    struct str record;         /* an entry, as far as it has come */
    struct tree_entry entry;   /* borrows from record */
    const char *key, *value;   /* of the last frame; borrowed */
};

void node_copy_release(struct node_copy *copy);

/*
 * Take bytes up to the next event. Errors: kind_file_failed (the program says what it could not do), and
 * those of node/answer.h.
 */
int node_copy_take(struct node_copy *copy, const char **bytes, size_t *len, enum node_copy_event *event,
                   struct error *err);

#endif
