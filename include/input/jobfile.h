/*
 * Reads the job file, and everything that changes it on the command line, into a struct job. Later values
 * win: the file, profiles in the order given, the caller's variables (ZERO_STAGE, CONTAINER_NAME,
 * NPROC_PER_NODE, MASTER_ADDR, MASTER_PORT, ARTIFACT_ROOT), --set in order, named options.
 */
#ifndef MTLAUNCH_INPUT_JOBFILE_H
#define MTLAUNCH_INPUT_JOBFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "base/strlist.h"
#include "model/hostlist.h"
#include "model/job.h"

/* What the command line gave; everything is borrowed. NULL: not given; texts are as typed. */
struct job_request {
    const char *job;                /* JOB: a path or a name (input/joblookup.h) */
    const struct strlist *profiles; /* --profile NAME */
    const struct strlist *sets;     /* --set KEY.PATH=VALUE */
    const struct strlist *env;      /* -e NAME=VALUE or NAME */
    const char *container;
    const char *zero_stage, *nproc_per_node, *master_addr, *master_port, *artifacts;
    const struct strlist *rest;  /* after "--" */
    const char *const *environ_; /* the caller's environment: NAME=VALUE, NULL at the end */
    const char *home;            /* for "~" in local paths */
};

/*
 * Find, read and check the job. out is uninitialised or zero; on success the caller owns it (job_release), on
 * failure it is empty. notes gets a line for each of the caller's variables that has an effect, warnings a
 * line for whatever deserves attention; both may be NULL. Errors: kind_job_not_found, kind_job_file,
 * kind_env_file, kind_host_list, kind_identity_missing, kind_not_supported, kind_usage; with the place in the
 * file, or the option as the file.
 */
int jobfile_load(struct job *out, const struct job_request *request, struct strlist *notes,
                 struct strlist *warnings, struct error *err);

/* The same for a text in memory; path is the file's name for messages, the job's name and relative paths. */
int jobfile_parse_text(struct job *out, const char *path, const char *text, size_t len,
                       const struct job_request *request, struct strlist *notes, struct strlist *warnings,
                       struct error *err);

/*
 * The job as a job file with the same meaning, without default values, as an object (JSON is YAML). hosts:
 * the hosts in use, in place of those that the file names; NULL: as in the file. Secrets are "***": the
 * values of secret variables and of the container's variables, and the part of a URL that carries a token.
 * The caller owns the object.
 */
json_t *jobfile_to_json(const struct job *job, const struct hostlist *hosts);

/*
 * Append the keys ("args", "env.NCCL_DEBUG") whose values differ between a run's recorded job file, as JSON
 * text (NULL: none is recorded, so nothing differs), and a job as jobfile_to_json writes it. Keys that change
 * neither what is trained nor how fast (time_limit, notify) are left out, and so is an nproc_per_node that
 * the start filled in. Masked secrets never differ.
 */
void jobfile_changes(const char *before, json_t *now, struct strlist *keys);

/* For completion: every key as --set takes it ("stop.grace"), appended. */
void jobfile_key_names(struct strlist *keys);
/*
 * For the reference: every key that this version reads, sections before their keys ("stop", "stop.grace"),
 * the keys of a list's mappings as "notify[].url". All texts but path and type are static. Caller releases.
 */
struct jobfile_key {
    char *path;
    char *type;          /* what the value is: "whole number, 1 to 1024, or auto" */
    const char *since;   /* the first version that has it */
    const char *about;   /* whole sentences */
    const char *normal;  /* its default value; NULL: there is none */
    const char *example; /* a value, as it is written after the colon */
    bool is_section;     /* a mapping of keys that are listed too */
};

struct jobfile_keys {
    struct jobfile_key *items;
    size_t len, cap;
};

#define AUTO_JOBFILE_KEYS __attribute__((cleanup(jobfile_keys_release)))
void jobfile_keys_list(struct jobfile_keys *keys);
void jobfile_keys_release(struct jobfile_keys *keys);

/* Append the names of the profiles and of the container of the file at path; a file that is not a job file
 * has none. */
void jobfile_names(const char *path, struct strlist *profiles, struct strlist *containers);

#endif
