/*
 * Parses what a node answers: framed lines "\n@@NONCE key=value\n" with percent-encoded values, an end frame
 * last, regardless of what a login shell printed around them. Pure; bytes are hostile until parsed.
 *
 * Every node_answer_* function takes all bytes of standard output of one call (at most NODE_ANSWER_MAX) and
 * the call's nonce. 0: out is filled (release it with the function of its name, whatever came back). -1, err:
 * - kind_node_answer: no frame, no end frame, or an invalid value (the hint quotes what came instead)
 * - kind_node_unsupported: the node lacks /proc, setsid or a basic tool (named)
 * - kind_scan_failed: the node could not list all its processes (cannot fork, awk was killed …)
 * - kind_artifacts_unwritable: the folder is missing and cannot be created, is not writable, is a symlink or
 *   has another owner
 *
 * Texts in results are as the node sent them: they may contain any byte but NUL.
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

/* A process of the run. state: the letter of /proc (S, R, D …). */
struct node_process {
    int64_t pid;
    char state;
    char *command;
};

struct node_processes {
    struct node_process *items; /* at most 64 are named */
    size_t len, cap;
    uint64_t total; /* how many there were */
};

/* A .state here that belongs to another run (run_id NULL: none): its process lives, or cannot be shown dead.
 */
struct node_foreign {
    char *run_id, *host, *user;
    char *head; /* the machine it was started from; NULL: unknown */
    int64_t pid;
    bool lives; /* false: it cannot be shown dead (another user, another host on a shared folder) */
};

enum node_start_stage {
    NODE_START_STARTED,
    NODE_START_FOREIGN, /* refused: foreign says whose .state is there; nothing was started */
    NODE_START_LIVE,    /* refused: this run is already live here; nothing was started */
    NODE_START_PORT,    /* refused: another run here claims the master port; nothing was started */
    NODE_START_CLAIM,   /* files could not be written (problem says which); nothing runs */
    NODE_START_SETUP,   /* a setup line, or the working folder (line 0) */
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
    char *setup_text;  /* that line, when the caller knows the job: set by the caller; NULL */
    int status;        /* -1: unknown */
    char *signal;      /* NULL */
    char *output;      /* end of the log; NULL */
    char *problem;     /* NULL */
    int64_t started_s; /* epoch */
    struct node_foreign foreign;
};

enum node_life {
    NODE_LIFE_NONE,     /* no .state of this run here (or of an earlier attempt only: found_attempt) */
    NODE_LIFE_STARTING, /* claimed, or in its setup lines */
    NODE_LIFE_RUNNING,
    NODE_LIFE_EXITED,    /* status says how */
    NODE_LIFE_GONE,      /* not alive and no exit file: killed with its keeper, the machine rebooted, the pid
                            reused */
    NODE_LIFE_ELSEWHERE, /* .state was written by another host on this shared folder */
    NODE_LIFE_UNRECORDED /* no .state, but processes with the mark of this attempt live */
};

/* A GPU as nvidia-smi shows it. */
struct node_gpu {
    unsigned index;
    int utilization;      /* percent; -1: unknown */
    int64_t memory_used;  /* bytes; -1: unknown */
    int64_t memory_total; /* bytes; -1: unknown */
    bool own;             /* the job sees it */
};

struct node_gpus {
    struct node_gpu *items; /* at most 64 */
    size_t len, cap;
    bool known; /* nvidia-smi answered */
};

struct node_observation {
    enum node_life life;
    bool rebooted;   /* GONE: boot_id differs */
    bool pid_reused; /* GONE: the pid is somebody else's now */
    bool keeper_alive;
    int64_t pid;    /* 0: unknown */
    int status;     /* -1: unknown */
    char *signal;   /* NULL */
    bool never_ran; /* EXITED: a setup line ended it (setup_line), the command did not run */
    unsigned setup_line;
    int64_t started_s, ended_s; /* epoch; 0: unknown */
    int64_t ended_uptime_ms;    /* of the node's /proc/uptime; 0: unknown */
    int64_t now_s;              /* the node's clock */
    int64_t uptime_ms;          /* the node's now */
    char *host;                 /* uname -n */
    char *found_run_id;         /* in .state; NULL: no .state */
    unsigned found_attempt;     /* 0: no .state */
    char *log;                  /* path; NULL: no log */
    uint64_t log_size;
    int64_t log_s; /* epoch: when it was last written to; 0: unknown */
    struct node_gpus gpus;
    char *own_gpus; /* numbers of those that the job's processes see; NULL: not known, or all */
    char *ending; /* RUNNING: the command has ended, its keeper lives and cannot write down how: why; NULL */
    char *container_lost; /* GONE: "CLASS: text", its container is no longer the one it was; NULL */
    bool scanned;         /* the node proved that it looked at all processes: leftovers is all there is */
    char *unproven;       /* why not; NULL: it did, or was not asked */
    struct node_processes
        leftovers; /* asked for, and the command is not alive: what of the run still lives */
};

struct node_stop {
    bool was_alive;                  /* the job's command lived when the stop came */
    uint64_t signalled;              /* processes that lived when the stop came */
    uint64_t killed;                 /* processes that were sent KILL */
    struct node_processes leftovers; /* lived although the command had ended before the stop came */
    struct node_processes survivors; /* still live: empty is the proof */
    int status;                      /* of .exit, -1: none */
    char *signal;                    /* of .exit; NULL */
    int64_t ended_s;                 /* of .exit; 0: none */
    char *container_lost;            /* as in node_observation: nothing was signalled */
    char *unproven; /* why the absence of survivors proves nothing (cannot fork …); NULL: it does prove it */
    struct strlist inner; /* ids of runs that were started inside this one and continue */
    int64_t ended_uptime_ms;
};

/* The outcome of a signal. life: RUNNING if it was sent, else why there was no process to send it to. */
struct node_signal {
    enum node_life life;
    bool delivered;
    int64_t pid;   /* of the job's command; 0: unknown */
    char *problem; /* the job lives, and the signal could not be sent: why; NULL */
};

struct node_removal {
    bool removed;
    struct node_processes live; /* why not */
};

/* Lines "index, utilization, used MiB, total MiB" of nvidia-smi; other lines are skipped. */
void node_gpus_parse(const char *text, struct node_gpus *out);

/* Which of them are the job's: their numbers, between blanks or commas; "none". NULL: all. */
void node_gpus_set_own(struct node_gpus *gpus, const char *own);

/* Remove from a text, in place, the position that the job's shell puts before its own messages. NULL is
 * accepted.
 */
void node_drop_shell_place(char *text);

/* The error of a node whose scan could not prove that it was complete: what prevented it, and what to do.
 * Returns -1. */
int node_unproven_error(const struct error_kind *kind, const char *why, struct error *err);

/* The answer to any question whose answer is facts, such as that of node_request_check. */
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
 * A watch's messages as they come in. node_watch_take gives one message after the other: 1 with an
 * observation or a beat (is_beat; only log_size and GPUs are set), which is to be released, 0 when all bytes
 * are taken and no whole message has come yet, -1 with err as above (after more than 256 KiB without a
 * message, too). bytes and len move on to what is left.
 */
struct node_watch {
    char nonce[40];
    struct node_reader reader;
    struct facts facts; /* of the observation that has begun */
};

void node_watch_init(struct node_watch *watch, const char *nonce);
void node_watch_release(struct node_watch *watch);
int node_watch_take(struct node_watch *watch, const char **bytes, size_t *len, struct node_observation *out,
                    bool *is_beat, struct error *err);

/*
 * A tail's answer as it comes in: noise, a header frame, then the log's bytes up to the channel's end.
 * Without follow, body_len counts up to size - offset: fewer at the channel's end means a cut answer. What is
 * filtered ends with a frame instead.
 */
struct node_tail {
    bool header;     /* the fields below are known; what follows is body */
    bool missing;    /* there is no such log; no body follows */
    bool filtered;   /* the body is the lines that hold the request's filter */
    char *log;       /* path; NULL while unknown */
    uint64_t offset; /* of the first byte of the body in the log */
    uint64_t size;   /* of the log when the tail began */
    uint64_t body_len;
    char nonce[40];
    struct node_reader reader; /* of the header */
    struct facts facts;
    struct str
        held; /* filtered: what has come; given bytes of it were handed out, the rest may be the last frame */
    size_t given;
};

void node_tail_init(struct node_tail *tail, const char *nonce);
void node_tail_release(struct node_tail *tail);
/*
 * Take bytes as they arrive. body/body_len: the log's bytes among them, possibly none; borrowed until the
 * next call, from bytes or from tail. -1: what came cannot be an answer (kinds as above); more than 64 KiB of
 * noise before the header is one such case.
 */
int node_tail_feed(struct node_tail *tail, const char *bytes, size_t len, const char **body, size_t *body_len,
                   struct error *err);
/* Has all arrived that was there when the tail began? */
bool node_tail_is_whole(const struct node_tail *tail);
/* The channel has ended: -1 when no whole header came (kind_node_answer), or, without follow, the body is too
 * short. */
int node_tail_end(const struct node_tail *tail, bool follow, struct error *err);

/* The part of a log that the answer of a tail or a search contains: as much as has arrived. */
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
