/* The topics of `help`, besides the commands. To add a topic: a row of the table in topics.c. */
#ifndef MTLAUNCH_CMD_TOPICS_INTERNAL_H
#define MTLAUNCH_CMD_TOPICS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/strlist.h"

/* Append the text of a topic, by its name or another word for it. Returns false if there is none. */
bool help_topic(const char *name, size_t columns, struct str *out);

/* The names of all topics, and a line each for the overview. */
void help_topic_names(struct strlist *names);
void help_topics(struct str *out);

/* The JSON Schema of every output: src/cmd/schema/mtlaunch.schema.json, embedded by the build. */
extern const char json_schema_text[];

#endif
