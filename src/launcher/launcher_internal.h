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

/* Seconds that a node waits for the others. With torch's default of 900, a missing node is noticed late. */
#define LAUNCHER_RENDEZVOUS_TIMEOUT_S 300

extern const struct launcher_words torchrun_words;

/* The interpreter of this node: "python3". Borrowed. */
const char *launcher_python(const struct launch_input *in);

/* Check that `program` is one script or module, and begin argv with "PYTHON -m MODULE". Errors: kind_plan. */
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
 * Read the option --name of args, a whole number from 1 to max. *size is 0 if the option is not given (*given
 * says so) or still contains a placeholder. Errors: kind_plan.
 */
int launcher_read_size(const struct strlist *args, const char *name, unsigned max, unsigned *size,
                       bool *given, struct error *err);

/* The defaults of a trainer for sizes that args do not give. */
struct device_batch {
    unsigned micro; /* per_device_train_batch_size */
    unsigned fill;  /* it accumulates up to this many samples per step; 0: it does not accumulate */
};

/*
 * Work out the batch sizes if args give per_device_train_batch_size or gradient_accumulation_steps. Errors:
 * kind_plan.
 */
int launcher_device_batch(const struct launch_job *in, const struct device_batch *defaults,
                          struct launch_whole *out, struct error *err);

/* The defaults and the parser of a program with Megatron-LM's options. */
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
 * wins, nothing after "--" counts. name has no leading dashes. True if the option is there; *value is
 * borrowed from words, NULL if the option has no value. value may be NULL.
 */
bool launcher_find_option(const struct strlist *words, const char *name, const char **value);

/* Set in probe the file that the launcher reads and the key of the spec that names it. file NULL: none. */
void launcher_reads(struct launch_probe *probe, const char *key, const char *file);

/* Append the interpreter or the program to argv. If it starts with "~/", its index is added to probe. */
void launcher_add_named(struct strlist *argv, const char *word, struct launch_probe *probe);

#endif
