/* run.json: converts a run to JSON text, and back. */
#ifndef MTLAUNCH_RUN_RECORD_INTERNAL_H
#define MTLAUNCH_RUN_RECORD_INTERNAL_H

#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "model/run.h"

/*
 * Convert a host to an object, and back. Its env is left out, as it may contain secrets. from_json takes an
 * uninitialised host.
 */
json_t *run_host_to_json(const struct host *host);
void run_host_from_json(const json_t *object, struct host *host);

/* The record's text; the caller frees it. */
char *run_record_write(const struct run *run);

/*
 * Read what a list of runs needs from the record's first line (without its newline). run then has no nodes,
 * attempts or spec. false: another version wrote the line in a different form; read the whole record.
 */
bool run_record_read_heading(const char *line, size_t len, struct run *run, size_t *node_count);

/*
 * Read a record. Errors, which name path: kind_record_newer, kind_record_damaged. run is initialised, or
 * released on error.
 */
int run_record_read(const char *text, size_t len, const char *path, struct run *run, struct error *err);

#endif
