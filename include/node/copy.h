/*
 * The node's side of push and pull: a program that receives its work piece by piece, and its answers. Pure.
 *
 * The program is a call of node/exec.h with input, so it runs on the host or inside a container. Its input is
 * pieces of shell text and archives (src/node/script/88-copy.sh describes the format); its standard output is
 * frames and lists of files. New files are unpacked beside the files they replace, then moved into place by
 * rename.
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
 * Build the call. base: the folder that relative folders are resolved against; NULL: the login folder. relay:
 * the program can pass pieces on to other nodes. mark: as in struct node_exec_options. The work follows on
 * standard input; the program ends when standard input ends.
 */
void node_request_copy(const char *base, bool relay, const char *mark, const char *nonce,
                       struct node_call *out);

/*
 * What the program can do, with the words of each call. Paths are relative to the open folder. The "room" is
 * the program's temporary folder, in which files are unpacked.
 */
enum node_copy_verb {
    NODE_COPY_OPEN, /* FOLDER, "1" to create it or "": frame missing=FOLDER when it does not exist */
    /* no word: refuses when the folder is or contains the home folder; frame folder=PATH */
    NODE_COPY_CHECK_DELETE,
    NODE_COPY_BEGIN_LIST, /* no word: entries follow, those of … */
    NODE_COPY_LIST,       /* PATH…: entries at and below these */
    NODE_COPY_END_LIST,   /* no word */
    NODE_COPY_SUM, /* PATH…: frames sum=SHA-256, one per readable file; then summed=number of paths */
    NODE_COPY_MAKE_WRITABLE,  /* FOLDER… */
    NODE_COPY_CLEAR,          /* PATH: remove what is there; a folder only when it is empty */
    NODE_COPY_MOVE,           /* FOLDER, PATH…: from the room into the folder ("." for the top) */
    NODE_COPY_DROP,           /* PATH…: remove from the room */
    NODE_COPY_EMPTY_ROOM,     /* no word: remove what was unpacked but not moved */
    NODE_COPY_SET_MODE,       /* MODE, PATH… */
    NODE_COPY_CLOSE_FOLDER,   /* MODE, PATH of a folder; a folder of another user is left unchanged */
    NODE_COPY_SET_TIME,       /* CCYYMMDDhhmm.SS in UTC, PATH */
    NODE_COPY_REMOVE,         /* PATH…: files and links */
    NODE_COPY_REMOVE_FOLDERS, /* PATH…: empty ones; others stay */
    /* no word: from now on standard output is for contents, answers go to standard error */
    NODE_COPY_CONTENTS,
    NODE_COPY_SEND,      /* PATH…: the content of these files, one after the other */
    NODE_COPY_SEND_FROM, /* OFFSET, PATH: the rest of one file */
    NODE_COPY_TELL,      /* KEY, VALUE: a frame, to report progress */
    /* only with relay (described in src/node/script/87-relay.sh) */
    NODE_COPY_RELAY_OPEN, /* SECONDS, ADDRESS, PORT…: frames relay_…, the last of them relay_open */
    NODE_COPY_ADMIT,      /* NUMBER, KEY: let a node fetch pieces from here; frame admitted=NUMBER */
    NODE_COPY_CONNECT,    /* ADDRESS, PORT, USER, KEY: of the node to fetch the next pieces from */
    NODE_COPY_FETCH,      /* NUMBER, RECORDS, SUM: frame have=NUMBER, or fetch_failed=REASON */
    NODE_COPY_EXPECT,     /* NUMBER, SUM: of the piece that follows; frame have=NUMBER */
    NODE_COPY_UNPACK,     /* NUMBER: unpack an archive into the room */
    NODE_COPY_APPEND,     /* NUMBER, BYTES: append to the large file that is being assembled */
    NODE_COPY_PLACE,      /* PATH, MODE, CCYYMMDDhhmm.SS: move the complete large file into the room */
    NODE_COPY_ABANDON,    /* no word: discard the large file */
    NODE_COPY_FORGET,     /* FIRST, END: delete the pieces FIRST to END-1 */
    NODE_COPY_VERBS
};

/* Append a call of the verb to a shell text. */
void node_copy_call(struct str *text, enum node_copy_verb verb, const char *const *words, size_t count);
/*
 * The same for a verb that takes PATH… after first (NULL: none). The paths are spread over as many calls as
 * the length limit of a command line requires.
 */
void node_copy_calls(struct str *text, enum node_copy_verb verb, const char *first, const char *const *paths,
                     size_t count);

/* Append pieces of the program's input. */
void node_copy_add_run(struct str *input, const struct str *text);
#define NODE_COPY_RECORD 10240 /* an archive is a multiple of this size */
/* the line that precedes an archive of that many bytes */
void node_copy_add_tar(struct str *input, uint64_t bytes);
void node_copy_add_folders(struct str *input, uint64_t bytes);
void node_copy_add_piece(struct str *input, uint64_t bytes);

enum node_copy_event {
    NODE_COPY_NOTHING, /* all bytes are consumed */
    NODE_COPY_ENTRY,   /* an entry of a list: entry */
    NODE_COPY_LISTED,  /* the end of a list */
    NODE_COPY_FRAME    /* a frame: key and value */
};

/* Parses what the program reports. Set it to zero, then set nonce. */
struct node_copy {
    const char *nonce; /* borrowed */
    bool in_list;
    bool has_head;             /* the first text of an entry is complete */
    struct node_reader reader; /* of frames */
    struct facts facts;        /* of the last frame, or of all frames of a failure */
    struct str record;         /* the part of an entry received so far */
    struct tree_entry entry;   /* borrows from record */
    const char *key, *value;   /* of the last frame; borrowed */
};

void node_copy_release(struct node_copy *copy);

/*
 * Consume bytes up to the next event. Errors: kind_file_failed (the program reports what it could not do),
 * and those of node/answer.h.
 */
int node_copy_take(struct node_copy *copy, const char **bytes, size_t *len, enum node_copy_event *event,
                   struct error *err);

#endif
