/* Finds the file of a JOB. */
#ifndef MTLAUNCH_INPUT_JOBLOOKUP_H
#define MTLAUNCH_INPUT_JOBLOOKUP_H

#include "base/error.h"
#include "base/strlist.h"

/*
 * A JOB that ends in .yaml or .yml is a path; any other is a name, looked up as NAME.yaml in ./, ./jobs/,
 * each folder of jobs_path ($MTLAUNCH_JOBS: separated by colons) and HOME/.config/mtlaunch/jobs/. jobs_path
 * and home may be NULL. Returns the path (caller frees), or NULL: kind_job_not_found, listing where it
 * looked, with the nearest existing name as hint.
 */
char *joblookup_find(const char *job, const char *jobs_path, const char *home, struct error *err);

/* Append the names that joblookup_find would find there now, sorted, each once. */
void joblookup_names(const char *jobs_path, const char *home, struct strlist *names);

#endif
