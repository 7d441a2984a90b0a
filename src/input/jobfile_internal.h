/* Declarations that the files of the job file's reader share. */
#ifndef MTLAUNCH_INPUT_JOBFILE_INTERNAL_H
#define MTLAUNCH_INPUT_JOBFILE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "input/jobfile.h"
#include "input/yaml.h"
#include "launcher/launcher.h"

/*
 * The state of one reading: the tree that is built from file, profiles and options, and the job that it
 * becomes.
 */
struct job_reader {
    struct job *job;
    const struct job_request *request;
    struct strlist *warnings; /* may be NULL */
    struct error *err;
    struct yaml_node *root; /* a mapping */
    struct yaml_doc **docs; /* owned: texts of the file and of options */
    size_t docs_len, docs_cap;
    struct strlist origins;          /* owned texts that nodes borrow: "profile NAME" */
    const struct yaml_node *program; /* as read, NULL: not given */
    const struct yaml_node *hosts, *hostfile, *launcher_args;
};

/* A key of the job file: where its value goes and what it may be. */
enum field_type {
    FIELD_TEXT,     /* char *: a text that is not empty */
    FIELD_PATH,     /* char *: a path on this machine, "~" expanded, from the spec's folder */
    FIELD_LIST,     /* struct strlist: replaces the default; a text is a list of one item */
    FIELD_COUNT,    /* unsigned, min..max */
    FIELD_DURATION, /* unsigned long: seconds, min..max */
    FIELD_CHOICE,   /* an enum, by choices */
    FIELD_NAME,     /* char *: the name of one of choices */
    FIELD_FLAG,     /* bool: true or false */
    FIELD_MAP,      /* a mapping, read by table */
    FIELD_CUSTOM,   /* read by handle */
    FIELD_DONE      /* read elsewhere */
};

struct choice {
    const char *name;
    unsigned value;
};

struct field;

struct field_table {
    const struct field *fields;
    size_t count;
};

/* The text of the reference about a key. Every key has it: jobfile_reference.c. */
struct field_doc {
    const char *since;   /* the first version that has it */
    const char *about;   /* whole sentences */
    const char *normal;  /* its default value; NULL: there is none */
    const char *example; /* a value, as it is written after the colon */
};

#define FIELD_NOWHERE SIZE_MAX /* checked, not kept */

struct field {
    const char *key;
    enum field_type type;
    size_t offset; /* in struct job, or FIELD_NOWHERE */
    uint64_t min, max;
    bool auto_ok;  /* TEXT, COUNT: `auto` is allowed and leaves NULL or 0 */
    bool empty_ok; /* TEXT: an empty one is allowed and leaves NULL */
    const struct choice *choices;
    size_t choices_count;
    const struct field_table *table;
    const struct field_table *items; /* CUSTOM: the keys of each mapping in a list */
    const char *form;                /* CUSTOM, DONE: what the value is, for the reference */
    struct field_doc doc;
    const char *example; /* COUNT, DURATION: a value for hints; NULL: the nearest one that is allowed */
    /* TEXT: a further check before the value is stored. CUSTOM: reads the value. */
    int (*handle)(struct job_reader *reader, const struct yaml_node *node, const char *path);
    /* CUSTOM without a table: the value as a job file has it; NULL: nothing to write (jobfile_write.c). */
    json_t *(*write)(const struct job *job, const struct field *field);
};

/* Values as a job file has them; the first three are found by the row's offset. */
json_t *write_text(const struct job *job, const struct field *field);
json_t *write_list(const struct job *job, const struct field *field);
json_t *write_off_or_duration(const struct job *job, const struct field *field);
json_t *write_hosts(const struct job *job, const struct field *field);
json_t *write_hostfile(const struct job *job, const struct field *field);
json_t *write_program(const struct job *job, const struct field *field);
json_t *write_args(const struct job *job, const struct field *field);
json_t *write_env(const struct job *job, const struct field *field);
json_t *write_env_file(const struct job *job, const struct field *field);
json_t *write_secret_env(const struct job *job, const struct field *field);
json_t *write_run_env(const struct job *job, const struct field *field);
json_t *write_shm_size(const struct job *job, const struct field *field);
json_t *write_free_disk(const struct job *job, const struct field *field);
json_t *write_shm(const struct job *job, const struct field *field);
json_t *write_prepare(const struct job *job, const struct field *field);
json_t *write_notify(const struct job *job, const struct field *field);

/* All keys of a job file. */
extern const struct field_table job_fields;
extern const struct field_table container_table;
extern const struct field_table prepare_table; /* of each item of `prepare` */
extern const struct field_table notify_table;  /* of each item of `notify` */

/* Read every entry of map into the job. prefix: "" or "master.". */
int fields_read(struct job_reader *reader, const struct yaml_node *map, const struct field_table *table,
                const char *prefix);
/* Only check whether every key is known (for profiles and for items of `prepare`). */
int fields_check_keys(struct job_reader *reader, const struct yaml_node *map, const struct field_table *table,
                      const char *prefix);

/* require and checks. */
extern const struct field_table require_table, checks_table;

/* Errors at a node; an option's mistake is kind_usage, the file's kind_job_file. All return -1. */
int reader_fail(struct job_reader *reader, const struct yaml_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* With a hint that shows the type's form. */
int reader_fail_type(struct job_reader *reader, const struct yaml_node *node, const char *path,
                     const char *expected); /* "'setup' is a mapping, expected …" */
int reader_fail_value(struct job_reader *reader, const struct yaml_node *node, const char *path,
                      const char *allowed); /* "'zero_stage' is '7', allowed: …" */
/*
 * jobfile_hint.c: hints that show what to write, as the value was given (in the file, by an option, by a
 * variable). All return -1.
 */
int reader_hint_write(struct job_reader *reader, const struct yaml_node *node, const char *path,
                      const char *value);
int reader_hint_type(struct job_reader *reader, const struct yaml_node *node, const char *path,
                     const char *expected);
/* The duration that was most likely meant, else otherwise. */
int reader_hint_duration(struct job_reader *reader, const struct yaml_node *node, const char *path,
                         const char *otherwise);
int reader_hint_flag(struct job_reader *reader, const struct yaml_node *node, const char *path);
int reader_hint_count(struct job_reader *reader, const struct yaml_node *node, const char *path,
                      const struct field *field);
/* Add the node's place to an error that another module has set. */
int reader_place(struct job_reader *reader, const struct yaml_node *node);

/* The node as a text that is not empty; NULL after an error. Borrowed. */
const char *reader_text(struct job_reader *reader, const struct yaml_node *node, const char *path);
/* Append the items of a list, or a text as a single item, to list. */
int reader_list(struct job_reader *reader, const struct yaml_node *node, const char *path,
                struct strlist *list);
/* Check that a word of the command line fits into one argument and that its placeholders are known. Its text
 * is never shown. */
int reader_check_word(struct job_reader *reader, const struct yaml_node *node, const char *path,
                      const char *word);
/* The index of the node's text in choices; -1 after an error, which names them. */
int reader_choice(struct job_reader *reader, const struct yaml_node *node, const char *path,
                  const struct choice *choices, size_t count);
/* A path on this machine: "~" expanded, a relative one from the spec's folder. Caller frees. */
char *reader_path(const struct job_reader *reader, const char *text);
/* The same as an absolute path: later commands may run in another folder. Caller frees. */
char *reader_absolute_path(const struct job_reader *reader, const char *text);

/* The readers of FIELD_CUSTOM values. */
int read_job_name(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_hosts(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_hostfile(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_shell(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_program(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_args(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_launcher(struct job_reader *reader, const struct yaml_node *node, const char *path);
void launcher_names(struct str *out); /* appended as "torchrun | script" */
int read_launcher_args(struct job_reader *reader, const struct yaml_node *node, const char *path);
/* The row of the job's launcher. */
const struct launcher *reader_launcher(const struct job_reader *reader);
/* When the launcher is known: check that it takes launcher_args, and that mtlaunch sets none of them. */
int check_launcher(struct job_reader *reader);
/* Refuse one string with blanks as a list of words, and an option with its value in one item. */
int check_words(struct job_reader *reader, const struct yaml_node *node, const char *path);
/* Warn about values that look as if a shell were to expand them. */
void warn_unexpanded(const struct job_reader *reader);
/* When launcher and python are known: check that the program is one script or module, if it has to be. */
int check_program_words(struct job_reader *reader);
int read_env(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_env_file(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_pass_env(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_secret_env(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_identity(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_signal(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_spares(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_container(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_prepare(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_notify(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_time_limit(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_exclude(struct job_reader *reader, const struct yaml_node *node, const char *path);
/* jobfile_sync.c: check that sync says where the files are, and does not delete in the login folder. */
int check_sync(struct job_reader *reader);
int read_stall(struct job_reader *reader, const struct yaml_node *node, const char *path);
int read_progress_pattern(struct job_reader *reader, const struct yaml_node *node, const char *path);
int check_placeholders(struct job_reader *reader, const struct yaml_node *node, const char *path);
int check_address(struct job_reader *reader, const struct yaml_node *node, const char *path);
int check_interface(struct job_reader *reader, const struct yaml_node *node, const char *path);
int check_jump(struct job_reader *reader, const struct yaml_node *node, const char *path);
int check_user(struct job_reader *reader, const struct yaml_node *node, const char *path);

/* jobfile_policy.c: check that the settings about failures fit together. */
#define STALL_MAX_S (365UL * 24 * 60 * 60)
int check_policy(struct job_reader *reader);

/* profile.c: check all profiles and merge those that were asked for. */
int profiles_apply(struct job_reader *reader);

/* jobfile_set.c: values from the command line and the caller's environment, into the tree. */
struct yaml_doc *reader_add_doc(struct job_reader *reader, struct yaml_doc *doc); /* takes doc, returns it */
/* A variable of the caller's environment, or NULL. Borrowed. */
const char *request_variable(const struct job_request *request, const char *name);
int set_apply_all(struct job_reader *reader);
/* A line for each variable whose value is still in the tree. */
void set_add_notes(const struct job_reader *reader, struct strlist *notes);
int set_read_env(struct job_reader *reader);  /* -e */
int set_read_rest(struct job_reader *reader); /* after "--" */

#endif
