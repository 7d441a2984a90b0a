/* Help that is not of one command: job files, host lists, exit codes and the like. */
#ifndef MTLAUNCH_CMD_TOPICS_INTERNAL_H
#define MTLAUNCH_CMD_TOPICS_INTERNAL_H

#include <stdbool.h>

#include "base/str.h"
#include "base/strlist.h"

/* Append the text of a topic; false: there is none of that name. */
bool help_topic(const char *name, struct str *out);

/* The names of all topics, and a line each for the overview. */
void help_topic_names(struct strlist *names);
void help_topics(struct str *out);

#endif
