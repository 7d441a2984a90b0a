/* The containers of a job, as `mtlaunch container` shows them. */
#ifndef MTLAUNCH_REPORT_CONTAINER_H
#define MTLAUNCH_REPORT_CONTAINER_H

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"
#include "model/job.h"
#include "report/style.h"
#include "run/container.h"

/* Append a table with a line per host. */
void report_containers_text(const struct run_containers *containers, const struct report_style *style,
                            struct str *out);

/*
 * Append {schema, job, container, engine, hosts: [{rank, host, state, id, image, job, differences, runs,
 * action}]}; with "error" when failure (may be NULL) holds one, on hosts.
 */
void report_containers_json(const struct run_containers *containers, const struct job *job,
                            const struct error *failure, const struct strlist *hosts, struct str *out);

#endif
