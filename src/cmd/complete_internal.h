/*
 * What may be typed at the cursor of a shell. The scripts of the shells (cmd/completion/) pass the words of
 * the command line. Everything about commands and options comes from their tables.
 */
#ifndef MTLAUNCH_CMD_COMPLETE_INTERNAL_H
#define MTLAUNCH_CMD_COMPLETE_INTERNAL_H

#include <stddef.h>

#include "base/str.h"
#include "base/strlist.h"

/* The scripts, made from cmd/completion/mtlaunch.* by the build. */
extern const char completion_bash[], completion_zsh[], completion_fish[];

/* The existing names; a list that cannot be read is empty. */
struct complete_names {
    struct strlist runs, live, ended; /* runs: all of them */
    struct strlist jobs;
    struct strlist keys, profiles, containers; /* of a spec; profiles of the JOB on the line */
    struct strlist nodes;                      /* of the RUN on the line */
};
void complete_names_release(struct complete_names *names);

/*
 * Append the candidates for the last of words (those after "mtlaunch", at least one, which may be empty), one
 * per line: WORD, or WORD, a tab and its description. A candidate for "--color=a" begins with "--color=". The
 * line ":files" means that file names fit too, ":specs" that names of YAML files do.
 */
void complete_words(char *const *words, size_t count, const struct complete_names *names, struct str *out);

#endif
