/* The launchers themselves, one file each; the table in launcher.c names them, and one may build on another.
 */
#ifndef MTLAUNCH_LAUNCHER_LAUNCHER_INTERNAL_H
#define MTLAUNCH_LAUNCHER_LAUNCHER_INTERNAL_H

#include "launcher/launcher.h"

extern const struct launcher launcher_torchrun;
extern const struct launcher launcher_megatron;
extern const struct launcher launcher_script;

/*
 * Look for the option --NAME among words as argparse reads them: "--NAME VALUE", "--NAME=VALUE"; the last one
 * wins, nothing behind "--" counts. name is without dashes in front. True when it is there; *value is
 * borrowed from words, NULL when it has none. value may be NULL.
 */
bool launcher_find_option(const struct strlist *words, const char *name, const char **value);

/* Append the word that is the interpreter or the program; one that starts with "~/" is noted in probe. */
void launcher_add_named(struct strlist *argv, const char *word, struct launch_probe *probe);

#endif
