/*
 * Where the processes of a run are: the Python stack of each rank, or what the kernel shows about it. Ranks
 * at the same place form one group. Pure: no clock, no I/O.
 *
 * When a collective hangs, most ranks wait in it. A rank that is elsewhere has the fault.
 */
#ifndef MTLAUNCH_INSIGHT_STACKS_H
#define MTLAUNCH_INSIGHT_STACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define STACK_FRAMES_MAX 100

struct stack_frame {
    char *function, *file;
    unsigned line; /* 0: unknown */
    bool own;      /* a file of the program, not of Python or of a package */
};

/* One rank. */
struct stack {
    unsigned rank; /* of torch, global */
    char *host;
    long pid;
    char state;                 /* the letter of /proc/PID/stat */
    int cpu;                    /* percent of a core */
    long syscall;               /* the number of the system call it is in; -1: none, or unknown */
    char *wchan;                /* where it sleeps in the kernel; NULL: unknown */
    struct stack_frame *frames; /* innermost first */
    size_t frames_len;          /* 0: no Python stack is known */
};

struct stack_list {
    struct stack *items;
    size_t len, cap;
};

void stack_list_release(struct stack_list *list);

/*
 * Add what a node reports about a worker: "RANK PID STATE CPU SYSCALL WCHAN", with "-" for what is unknown
 * (host is copied). Returns NULL if the text is anything else. The result is valid until the next call.
 */
struct stack *stack_list_add(struct stack_list *list, const char *host, const char *text);

/*
 * Read the frames of a stack: a JSON array of {name, filename, line}, innermost first, as `py-spy dump
 * --json` prints them for a thread. Returns false if it is not one; the stack then has no frames.
 */
bool stack_read_frames(struct stack *stack, const char *text);

/* Ranks at one place. */
struct stack_group {
    const struct stack **stacks; /* borrowed from the list, by rank; the first stands for all */
    size_t len, cap;
    bool odd; /* at another place than most ranks */
    char *key;
};

struct stack_groups {
    struct stack_group *items; /* the odd ones first, the smaller before the larger */
    size_t len, cap;
};

/* Group stacks by the frames of the program's own files and the innermost function; those without a Python
 * stack by what the kernel shows. The list has to outlive the groups. */
void stack_groups_make(struct stack_groups *groups, struct stack_list *list);
void stack_groups_release(struct stack_groups *groups);

/* Append where a stack is: "at data.py:41 in load_batch", "sleeping in hrtimer_nanosleep". */
void stack_add_place(const struct stack *stack, struct str *out);
/* Append its state in words: "running", "stopped by a signal", "sleeping in futex_wait_queue". */
void stack_add_state(const struct stack *stack, struct str *out);
/* Append the ranks of a group: "rank 7", "ranks 0-3,5". */
void stack_group_add_ranks(const struct stack_group *group, struct str *out);
/*
 * Append all groups in one line, most ranks first, at most four of them: "31 ranks at train.py:88 in
 * all_reduce; rank 7 at data.py:41 in load_batch". Appends nothing when there is no group.
 */
void stack_groups_add_summary(const struct stack_groups *groups, struct str *out);

#endif
