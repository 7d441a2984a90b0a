/* run.json: a run as JSON text and back. */
#ifndef MTLAUNCH_RUN_RECORD_INTERNAL_H
#define MTLAUNCH_RUN_RECORD_INTERNAL_H

#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "model/run.h"

/* A host as an object and back; its env is left out (it may hold secrets). host is uninitialised. */
json_t *run_host_to_json(const struct host *host);
void run_host_from_json(const json_t *object, struct host *host);

/* The record's text; the caller frees it. */
char *run_record_write(const struct run *run);

/*
 * What a list of runs needs, from the record's first line (without its line break): run then has neither
 * nodes, attempts nor spec. false: another version wrote the line otherwise; read the whole record then.
 */
bool run_record_read_heading(const char *line, size_t len, struct run *run, size_t *node_count);

/* Errors: kind_record_newer, kind_record_damaged, naming path. run is initialised or left released. */
int run_record_read(const char *text, size_t len, const char *path, struct run *run, struct error *err);

#endif
