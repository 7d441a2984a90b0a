/* Patterns of ssh_config(5) and sshd(8) known_hosts: '*' and '?' are special, and a leading '!' negates the
 * pattern. */
#ifndef MTLAUNCH_REACH_PATTERN_INTERNAL_H
#define MTLAUNCH_REACH_PATTERN_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strlist.h"

/* Does the whole text match the pattern? Case matters. */
bool ssh_pattern_matches(const char *text, const char *pattern);

/* Does the text match a positive pattern of the list, and no negated one? */
bool ssh_pattern_list_matches(const char *text, char *const *patterns, size_t count);

/* Split a list at its commas; empty patterns are left out. */
void ssh_pattern_split(const char *text, bool lower, struct strlist *patterns);

#endif
