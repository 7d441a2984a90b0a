/* The table of launchers, and what they share: one may build on another. */
#ifndef MTLAUNCH_LAUNCHER_LAUNCHER_INTERNAL_H
#define MTLAUNCH_LAUNCHER_LAUNCHER_INTERNAL_H

#include "launcher/launcher.h"

/* A line per launcher; launcher_<name> is defined in the file that implements it. */
#define LAUNCHER_TABLE(X)                                                                                    \
    X(torchrun)                                                                                              \
    X(megatron)                                                                                              \
    X(deepspeed)                                                                                             \
    X(accelerate)                                                                                            \
    X(swift)                                                                                                 \
    X(megatron_swift)                                                                                        \
    X(script)

#define LAUNCHER_EXTERN(identifier) extern const struct launcher launcher_##identifier;
LAUNCHER_TABLE(LAUNCHER_EXTERN)
#undef LAUNCHER_EXTERN

/* Seconds a node waits for the others; torch's own 900 let a node that never came go unseen for long. */
#define LAUNCHER_RENDEZVOUS_TIMEOUT_S 300

extern const struct launcher_words torchrun_words;

/* The interpreter of this node: "python3". Borrowed. */
const char *launcher_python(const struct launch_input *in);

/* Begin argv with "PYTHON -m MODULE", once `program` has proved to be one script or module. Errors:
 * kind_plan. */
int launcher_begin_module(const struct launch_input *in, const char *module, struct strlist *argv,
                          struct launch_probe *probe, struct error *err);

/*
 * Append the program as argparse-based launchers take it ([--no_python] [MODULE_OPTION] PROGRAM ARGS) and
 * note program and interpreter in probe.
 */
void launcher_add_program(const struct launch_input *in, const char *module_option, struct strlist *argv,
                          struct launch_probe *probe);

#define LAUNCHER_BATCH_MAX (1u << 30)

/* name with one character for another: "node-rank" for "node_rank". Caller frees. */
char *launcher_respell(const char *name, char from, char to);

/*
 * A whole number among args, 1 to max: 0 while it is open or not given (*given tells). Errors: kind_plan.
 */
int launcher_read_size(const struct strlist *args, const char *name, unsigned max, unsigned *size,
                       bool *given, struct error *err);

/* What a trainer takes where args are silent. */
struct device_batch {
    unsigned micro; /* per_device_train_batch_size */
    unsigned fill;  /* it accumulates up to so many samples a step; 0: it does not accumulate */
};

/* Work out what per_device_train_batch_size and gradient_accumulation_steps in args come to, if they do. */
int launcher_device_batch(const struct launch_job *in, const struct device_batch *defaults,
                          struct launch_whole *out, struct error *err);

/* What a program with Megatron-LM's sizes takes where args are silent. */
struct megatron_batch {
    unsigned micro;       /* 0: none */
    unsigned global;      /* 0: micro * data_parallel */
    bool any_spelling;    /* its parser takes underscores as well as dashes */
    bool model_elsewhere; /* the model's own sizes are not in args */
};

/* Work out Megatron-LM's parallel and batch sizes. Errors: kind_plan. */
int launcher_megatron_batch(const struct launch_job *in, const struct megatron_batch *defaults,
                            struct launch_whole *out, struct strlist *warnings, struct error *err);

/*
 * Look for the option --NAME among words as argparse reads them: "--NAME VALUE", "--NAME=VALUE"; the last one
 * wins, nothing after "--" counts. name is without dashes in front. True when it is there; *value is
 * borrowed from words, NULL when it has none. value may be NULL.
 */
bool launcher_find_option(const struct strlist *words, const char *name, const char **value);

/* The launcher reads that file, which a key of the spec names. file NULL: none. */
void launcher_reads(struct launch_probe *probe, const char *key, const char *file);

/* Append the word that is the interpreter or the program; one that starts with "~/" is noted in probe. */
void launcher_add_named(struct strlist *argv, const char *word, struct launch_probe *probe);

#endif
