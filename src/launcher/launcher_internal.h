/* The table of launchers, and what they share: one may build on another. */
#ifndef MTLAUNCH_LAUNCHER_LAUNCHER_INTERNAL_H
#define MTLAUNCH_LAUNCHER_LAUNCHER_INTERNAL_H

#include "launcher/launcher.h"

/* A line a launcher; launcher_<name> is defined in the file that implements it. */
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

/* Of torchrun: what mtlaunch sets there, and its options without a value. */
extern const struct launcher_option torchrun_owned[];
extern const char *const torchrun_flags[];

/*
 * Look for the option --NAME among words as argparse reads them: "--NAME VALUE", "--NAME=VALUE"; the last one
 * wins, nothing behind "--" counts. name is without dashes in front. True when it is there; *value is
 * borrowed from words, NULL when it has none. value may be NULL.
 */
bool launcher_find_option(const struct strlist *words, const char *name, const char **value);

/* Append the word that is the interpreter or the program; one that starts with "~/" is noted in probe. */
void launcher_add_named(struct strlist *argv, const char *word, struct launch_probe *probe);

#endif
