/* Patterns of ssh_config(5) and sshd(8) known_hosts: '*' and '?' only, '!' before one negates it. */
#ifndef MTLAUNCH_REACH_PATTERN_INTERNAL_H
#define MTLAUNCH_REACH_PATTERN_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strlist.h"

/* Does the whole text match the one pattern? Case counts. */
bool ssh_pattern_matches(const char *text, const char *pattern);

/* A list: one positive pattern matches and no negated one does. */
bool ssh_pattern_list_matches(const char *text, char *const *patterns, size_t count);

/* The patterns of a list with commas between them; empty ones are left out. */
void ssh_pattern_split(const char *text, bool lower, struct strlist *patterns);

#endif
