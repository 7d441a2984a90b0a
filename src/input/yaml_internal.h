/* What yaml.c (reading) and yaml_tree.c (the tree and its places) share. */
#ifndef MTLAUNCH_INPUT_YAML_INTERNAL_H
#define MTLAUNCH_INPUT_YAML_INTERNAL_H

#include "input/yaml.h"

struct yaml_node *yaml_node_new(enum yaml_type type, const struct yaml_doc *doc, const char *origin);
void yaml_list_add(struct yaml_node *list, struct yaml_node *item);                       /* takes item */
void yaml_map_add(struct yaml_node *map, struct yaml_node *key, struct yaml_node *value); /* takes both */
const struct yaml_node *yaml_get_key(const struct yaml_node *map, const char *key);

/*
 * Lines as libyaml counts them (YAML 1.1: CR LF, LF, CR, NEL, LS, PS). yaml_line_next gives the beginning of
 * the line after the one at `line`, NULL when that is the last, and the line's length without its break.
 * yaml_line_find gives the beginning of a line, counted from 0, or NULL.
 */
const char *yaml_line_next(const struct yaml_doc *doc, const char *line, size_t *len);
const char *yaml_line_find(const struct yaml_doc *doc, size_t number);

/* Characters in the first len bytes of a line. */
size_t yaml_line_column(const char *line, size_t len);

#endif
