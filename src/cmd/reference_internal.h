/*
 * The parts of the reference. Each is a topic of `help`, and a manual page or a section of one, as topics.c
 * and man.c say. Keys, options, exit codes and launchers come from the tables that the parsers use.
 */
#ifndef MTLAUNCH_CMD_REFERENCE_INTERNAL_H
#define MTLAUNCH_CMD_REFERENCE_INTERNAL_H

#include "cmd/page_internal.h"

void reference_job(struct page *page);
void reference_hosts(struct page *page);
void reference_environment(struct page *page);
void reference_exit_codes(struct page *page);
void reference_json(struct page *page);
void reference_troubleshooting(struct page *page);

/* The last sections of reference_job and reference_hosts. */
void reference_job_subjects(struct page *page);
void reference_hosts_subjects(struct page *page);

/*
 * Add the keys of the job file with this name as items: "stop.grace", or "grace" for each key that ends with
 * it; with exact, only whole paths. Returns how many there are.
 */
size_t reference_job_key(struct page *page, const char *name, bool exact);

#endif
