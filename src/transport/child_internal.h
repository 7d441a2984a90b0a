/*
 * A command as a child process: the common part of the local transport and of the one that runs the system's
 * ssh. Streams are plain pipes, so that the command can open /dev/stdin, as it can behind sshd.
 */
#ifndef MTLAUNCH_TRANSPORT_CHILD_INTERNAL_H
#define MTLAUNCH_TRANSPORT_CHILD_INTERNAL_H

#include "base/list.h"
#include "transport/transport_internal.h"

#define CHILD_READ_BYTES 65536

struct child_shared {
    struct transport_setup setup;
    char buffer[CHILD_READ_BYTES]; /* used only during a read, so that all children can share it */
};

/* A link needs no connection: each command is its own process. */
struct child_link {
    struct child_shared *shared;
    const struct endpoint *endpoint;
    const struct transport_events *events;
    void *owner;
    struct deadline opening;
    struct list children;
};

struct child_stream {
    uv_pipe_t pipe;
    bool open; /* the handle has to be closed */
    bool ended;
};

struct child;

/* What differs between the transports. */
struct child_kind {
    /* Output of the process. */
    void (*data)(struct child *child, int stream, const char *bytes, size_t len);
    /* The process and its streams have ended; child->result may be changed. False: another child has taken
     * over the job. NULL: nothing to do. */
    bool (*finishing)(struct child *child);
    /* The child leaves its link: release what else it holds. NULL: nothing to do. */
    void (*leaving)(struct child *child);
    /* The memory is no longer needed. */
    void (*release)(struct child *child);
};

/* Embedded first in a transport's command; child_attach fills it. */
struct child {
    const struct child_kind *kind;
    struct child_link *link; /* NULL once finished or cancelled */
    struct transport_job *job;
    struct list_link link_item; /* of the link's children */
    uv_process_t process;
    struct child_stream streams[3]; /* 0: its input */
    uv_write_t write;
    bool writing;    /* the job's input is being written */
    bool input_held; /* no input may be written yet */
    bool spawned;    /* the process handle has to be closed */
    bool reaped;     /* the pid must no longer be signalled */
    int64_t ended_ms;
    struct exec_result result;
    struct deadline quiet;
    unsigned handles; /* number of open handles; the last close frees the child */
};

struct child_program {
    char **argv;
    char **env; /* NULL: that of this process */
    const char *folder;
};

/* Entries of transport_ops that all transports of child processes share. */
void *child_begin(const struct transport_setup *setup, struct error *err);
void child_end(void *shared);
void *child_open(void *shared, const struct endpoint *endpoint, const struct transport_events *events,
                 void *owner);
void child_input(void *link, struct transport_job *job);
void child_pause(void *link);
void child_cancel(void *link, struct transport_job *job);
void child_close(void *link);

/* Add a child, which is zero except for its kind, to the link, to run the job. */
void child_attach(struct child *child, struct child_link *link, struct transport_job *job);
/* Start the process; 0, or a libuv error: call child_fail then. */
int child_spawn(struct child *child, const struct child_program *program);
/* Start to read and write. The child may be freed by this call. */
void child_start_streams(struct child *child);
/* Write the input that was held back. */
void child_release_input(struct child *child);
/* End the job with the error. */
void child_fail(struct child *child, const struct error_kind *kind, const char *text, const char *hint);
/* The command has ended, though the process may still run: read its output until it is quiet. */
void child_note_end(struct child *child);
/* Leave the link without an event; a running process is killed. */
void child_discard(struct child *child);
/* Count one more handle, whose close callback is child_on_closed and whose data is the child. */
void child_hold(struct child *child);
void child_on_closed(uv_handle_t *handle);

#endif
