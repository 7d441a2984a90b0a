/*
 * Parses the answers of nodes. An answer consists of framed lines "\n@@NONCE key=value\n" with
 * percent-encoded values; the last one is an end frame. Anything that a login shell prints around the frames
 * is skipped. Pure; bytes are hostile until parsed.
 *
 * Every node_answer_* function takes all bytes of standard output of one call (at most NODE_ANSWER_MAX) and
 * the call's nonce. They return 0 and fill out, or return -1 and set err. In both cases release out with the
 * matching release function. Errors:
 * - kind_node_answer: no frame, no end frame, or an invalid value (the hint quotes what came instead)
 * - kind_node_unsupported: the node lacks /proc, setsid or a basic tool (named)
 * - kind_scan_failed: the node could not list all its processes (cannot fork, awk was killed …)
 * - kind_artifacts_unwritable: the folder is missing and cannot be created, is not writable, is a symlink or
 *   has another owner
 *
 * Texts in results are unchanged from what the node sent: they may contain any byte except NUL.
 */
#ifndef MTLAUNCH_NODE_ANSWER_H
#define MTLAUNCH_NODE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"
#include "model/facts.h"
#include "node/reader.h"

/* A process of the run. state is the letter in /proc/PID/stat (S, R, D …). */
struct node_process {
    int64_t pid;
    char state;
    char *command;
};

struct node_processes {
    struct node_process *items; /* at most 64 are listed */
    size_t len, cap;
    uint64_t total; /* how many there were */
};

/*
 * A .state file that belongs to another run whose process is alive or cannot be proven dead. run_id NULL:
 * there is none.
 */
struct node_foreign {
    char *run_id, *host, *user;
    char *head; /* the machine that it was started from; NULL: unknown */
    int64_t pid;
    /* false: not proven dead (it belongs to another user, or to another host of a shared folder) */
    bool lives;
};

enum node_start_stage {
    NODE_START_STARTED,
    NODE_START_FOREIGN, /* refused: foreign names the owner of the .state file; nothing was started */
    NODE_START_LIVE,    /* refused: this run is already live here; nothing was started */
    NODE_START_PORT,    /* refused: another run here claims the master port; nothing was started */
    NODE_START_CLAIM,   /* files could not be written (problem says which); nothing runs */
    NODE_START_SETUP,   /* a setup line failed, or the working folder could not be entered (line 0) */
    NODE_START_EXEC,    /* the command cannot be executed (status 126, 127) */
    NODE_START_COMMAND, /* the command ended non-zero before it counted as started */
    NODE_START_TIMEOUT  /* start_timeout passed; it may still be running: stop it */
};

struct node_start {
    enum node_start_stage stage;
    int64_t pid; /* 0: none */
    char *log;   /* absolute path; NULL: none yet */
    char *host;  /* uname -n */
    bool ended;  /* STARTED: it has already ended with 0 */
    unsigned setup_line;
    char *setup_text;  /* the text of that line, set by a caller that knows the job; else NULL */
    int status;        /* -1: unknown */
    char *signal;      /* NULL */
    char *output;      /* end of the log; NULL */
    char *problem;     /* NULL */
    int64_t started_s; /* epoch */
    struct node_foreign foreign;
};

enum node_life {
    NODE_LIFE_NONE,     /* no .state of this run here, or only of an earlier attempt (found_attempt) */
    NODE_LIFE_STARTING, /* claimed, or running its setup lines */
    NODE_LIFE_RUNNING,
    NODE_LIFE_EXITED, /* status says how */
    /*
     * not alive and no exit file: it was killed with its keeper, the machine rebooted, or the pid was reused
     */
    NODE_LIFE_GONE,
    NODE_LIFE_ELSEWHERE, /* .state was written by another host on this shared folder */
    NODE_LIFE_UNRECORDED /* no .state, but processes with the mark of this attempt are alive */
};

/* A GPU as nvidia-smi reports it. */
struct node_gpu {
    unsigned index;
    int utilization;      /* percent; -1: unknown */
    int64_t memory_used;  /* bytes; -1: unknown */
    int64_t memory_total; /* bytes; -1: unknown */
    bool own;             /* visible to the job */
};

struct node_gpus {
    struct node_gpu *items; /* at most 64 */
    size_t len, cap;
    bool known; /* nvidia-smi answered */
};

struct node_observation {
    enum node_life life;
    bool rebooted;   /* GONE: boot_id differs */
    bool pid_reused; /* GONE: the pid now belongs to another process */
    bool keeper_alive;
    int64_t pid;  /* 0: unknown */
    int status;   /* -1: unknown */
    char *signal; /* NULL */
    /* EXITED: it ended in setup line setup_line (0: at the working folder); the command did not run */
    bool never_ran;
    unsigned setup_line;
    int64_t started_s, ended_s; /* epoch; 0: unknown */
    int64_t ended_uptime_ms;    /* of the node's /proc/uptime; 0: unknown */
    int64_t now_s;              /* the node's clock, epoch */
    int64_t uptime_ms;          /* of the node, now */
    char *host;                 /* uname -n */
    char *found_run_id;         /* in .state; NULL: no .state */
    unsigned found_attempt;     /* 0: no .state */
    char *log;                  /* path; NULL: no log */
    uint64_t log_size;
    int64_t log_s; /* epoch: its last modification; 0: unknown */
    struct node_gpus gpus;
    char *own_gpus; /* indexes of the GPUs visible to the job's processes; NULL: unknown, or all */
    /* RUNNING: the command has ended, but its keeper cannot record the exit: the reason; else NULL */
    char *ending;
    /* GONE: "CLASS: text" when its container was stopped, removed or replaced; else NULL */
    char *container_lost;
    bool scanned;   /* the node proved that its scan was complete: leftovers is the whole list */
    char *unproven; /* why the scan was not proven complete; NULL: it was, or none was requested */
    /* processes of the run that are still alive; filled on request, once the command has ended */
    struct node_processes leftovers;
};

struct node_stop {
    bool was_alive;                  /* the job's command was alive when the stop began */
    uint64_t signalled;              /* processes that were alive when the stop began */
    uint64_t killed;                 /* processes that were sent KILL */
    struct node_processes leftovers; /* alive although the command had ended before the stop */
    struct node_processes survivors; /* still alive; an empty list is the proof */
    int status;                      /* from .exit; -1: none */
    char *signal;                    /* from .exit; NULL */
    int64_t ended_s;                 /* from .exit; 0: none */
    char *container_lost;            /* as in node_observation: nothing was signalled */
    char *unproven;       /* why an empty list of survivors is no proof (cannot fork …); NULL: it is one */
    struct strlist inner; /* ids of runs that were started inside this one; they continue */
    int64_t ended_uptime_ms;
};

/* The outcome of a signal. life: RUNNING if it was sent, else why there was no process to send it to. */
struct node_signal {
    enum node_life life;
    bool delivered;
    int64_t pid;   /* of the job's command; 0: unknown */
    char *problem; /* why the signal could not be sent to a live job; else NULL */
};

struct node_removal {
    bool removed;
    struct node_processes live; /* the processes that prevented it */
};

/* Lines "index, utilization, used MiB, total MiB" of nvidia-smi; other lines are skipped. */
void node_gpus_parse(const char *text, struct node_gpus *out);

/*
 * Set own of each GPU. The argument lists the indexes of the job's GPUs, separated by blanks or commas;
 * "none": none; NULL: all.
 */
void node_gpus_set_own(struct node_gpus *gpus, const char *own);

/* Remove, in place, the position that the job's shell puts before its own messages. NULL is accepted. */
void node_drop_shell_place(char *text);

/*
 * Set the error of a node that could not prove its scan complete. why is the reason; the hint says what to do
 * about it. Returns -1.
 */
int node_unproven_error(const struct error_kind *kind, const char *why, struct error *err);

/* Parse an answer that consists of facts, such as that to node_request_check. */
int node_answer_facts(const char *bytes, size_t len, const char *nonce, struct facts *out, struct error *err);

int node_answer_start(const char *bytes, size_t len, const char *nonce, struct node_start *out,
                      struct error *err);
int node_answer_observe(const char *bytes, size_t len, const char *nonce, struct node_observation *out,
                        struct error *err);
int node_answer_stop(const char *bytes, size_t len, const char *nonce, struct node_stop *out,
                     struct error *err);
int node_answer_signal(const char *bytes, size_t len, const char *nonce, struct node_signal *out,
                       struct error *err);
int node_answer_remove(const char *bytes, size_t len, const char *nonce, struct node_removal *out,
                       struct error *err);
void node_start_release(struct node_start *start);
void node_observation_release(struct node_observation *observation);
void node_stop_release(struct node_stop *stop);
void node_signal_release(struct node_signal *signal);
void node_removal_release(struct node_removal *removal);

/*
 * Parses the messages of a watch as they arrive. Each call of node_watch_take returns at most one: 1 with an
 * observation or a heartbeat (is_beat: only log_size and the GPUs are set), which the caller releases; 0 when
 * all bytes are consumed and no message is complete yet; -1 with err as above, also after more than 256 KiB
 * without a message. bytes and len are advanced to the rest.
 */
struct node_watch {
    char nonce[40];
    struct node_reader reader;
    struct facts facts; /* of the observation that is being received */
};

void node_watch_init(struct node_watch *watch, const char *nonce);
void node_watch_release(struct node_watch *watch);
int node_watch_take(struct node_watch *watch, const char **bytes, size_t *len, struct node_observation *out,
                    bool *is_beat, struct error *err);

/*
 * Parses the answer of a tail as it arrives: noise, a header in frames, then the log's bytes until the
 * channel closes. Without follow, body_len must reach size - offset by then; otherwise the answer was cut
 * off. A filtered body ends with a frame instead.
 */
struct node_tail {
    bool header;     /* the header is complete: the fields below are known, and the body follows */
    bool missing;    /* there is no such log; no body follows */
    bool filtered;   /* the body is the lines that match the request's filter */
    char *log;       /* path; NULL while unknown */
    uint64_t offset; /* of the first byte of the body in the log */
    uint64_t size;   /* of the log when the tail began */
    uint64_t body_len;
    char nonce[40];
    struct node_reader reader; /* of the header */
    struct facts facts;
    /* filtered: received bytes; the first given ones were handed out, the rest may be the last frame */
    struct str held;
    size_t given;
};

void node_tail_init(struct node_tail *tail, const char *nonce);
void node_tail_release(struct node_tail *tail);
/*
 * Consume bytes as they arrive. body and body_len are set to the log's bytes among them, possibly none; they
 * are borrowed from bytes or from tail until the next call. -1: the bytes cannot be an answer (kinds as
 * above), for example more than 64 KiB of noise before the header.
 */
int node_tail_feed(struct node_tail *tail, const char *bytes, size_t len, const char **body, size_t *body_len,
                   struct error *err);
/* Whether everything that the log held when the tail began has arrived. */
bool node_tail_is_whole(const struct node_tail *tail);
/*
 * Check the answer once the channel has closed: -1 (kind_node_answer) when the header is incomplete, filtered
 * lines lack their last frame, or, without follow, the body is too short.
 */
int node_tail_end(const struct node_tail *tail, bool follow, struct error *err);

/* The part of a log that the answer of a tail or a search contains, as far as it has arrived. */
struct node_log {
    char *path; /* NULL: there is no such log, and text is NULL too */
    char *text; /* text_len bytes and a NUL */
    size_t text_len;
};

#define AUTO_NODE_LOG __attribute__((cleanup(node_log_release)))
void node_log_release(struct node_log *log);

/* Fill log, which the caller releases in any case. -1: the bytes cannot be an answer (kinds as above). */
int node_answer_log(const char *bytes, size_t len, const char *nonce, struct node_log *log,
                    struct error *err);

#endif
