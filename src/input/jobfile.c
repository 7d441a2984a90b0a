/* Reads a job file and the options that change it into a job. */
#include "input/jobfile.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "input/jobfile_internal.h"
#include "input/joblookup.h"
#include "model/kind.h"

/* The file's name without folder and suffix, which is the job's name unless the file sets one. */
static char *name_of_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t len = strlen(name);
    const char *const suffixes[] = {".yaml", ".yml"};
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        if (text_ends(name, suffixes[i]) && len > strlen(suffixes[i])) {
            return xstrndup(name, len - strlen(suffixes[i]));
        }
    }
    return xstrdup(name);
}

/* Add the names in secret_env of a mapping to secrets, before anything of the file can be shown. */
static void add_secrets(struct strlist *secrets, const struct yaml_node *map)
{
    const struct yaml_node *node = yaml_get(map, "secret_env");
    if (!node || node->type == YAML_MAP) {
        return;
    }
    if (node->type == YAML_TEXT) {
        strlist_add(secrets, node->text);
    }
    for (size_t i = 0; node->type == YAML_LIST && i < node->len; i++) {
        if (node->items[i]->type == YAML_TEXT) {
            strlist_add(secrets, node->items[i]->text);
        }
    }
}

static int read_tree(struct job_reader *reader, const char *path, const char *text, size_t len)
{
    struct yaml_doc *doc = reader_add_doc(reader, yaml_doc_new(path, text, len));
    strlist_copy(&doc->secrets, &reader->job->secret_env);
    strlist_add(&doc->secrets, "url"); /* of notify: it carries a token */
    reader->root = yaml_parse(doc, YAML_FORM_FILE, "spec", &kind_job_file, reader->err);
    if (!reader->root) {
        return -1;
    }
    if (yaml_is_null(reader->root)) {
        error_set(reader->err, &kind_job_file, "the job file is empty");
        error_hint(reader->err, "specify at least what to run: 'program: train.py'");
        return error_at(reader->err, path, 0, 0);
    }
    if (reader->root->type != YAML_MAP) {
        reader_fail(reader, reader->root, "a job file is a mapping of keys, this one is %s",
                    yaml_type_name(reader->root));
        return error_hint(reader->err,
                          "write keys and values: 'program: train.py'; `mtlaunch init` writes a job file");
    }
    add_secrets(&doc->secrets, reader->root);
    const struct yaml_node *profiles = yaml_get(reader->root, "profiles");
    for (size_t i = 0; profiles && profiles->type == YAML_MAP && i < profiles->len; i++) {
        add_secrets(&doc->secrets, profiles->entries[i].value);
    }
    return 0;
}

static int check_program(struct job_reader *reader)
{
    const struct job *job = reader->job;
    if (!reader->program) {
        error_set(reader->err, &kind_job_file, "'program' is missing");
        error_hint(reader->err, "specify what to run: 'program: train.py'");
        return error_at(reader->err, job->file, 0, 0);
    }
    if (job->program_is_list && reader_launcher(reader)->program != LAUNCHER_PROGRAM_SHELL) {
        reader_fail(reader, reader->program, "'program' is a list, expected a string for the launcher '%s'",
                    job->launcher);
        return error_hint(reader->err, "name the script or '-m MODULE' here and its arguments in 'args'");
    }
    return check_program_words(reader) < 0 ? -1 : check_launcher(reader);
}

static int check_hosts(struct job_reader *reader)
{
    if (!reader->hosts || !reader->hostfile) {
        return 0;
    }
    reader_fail(reader, reader->hostfile, "'hostfile' and 'hosts' cannot be used together");
    return error_hint(reader->err, "keep one of the two; in a profile, null removes one of them");
}

static int read_job(struct job_reader *reader, struct strlist *notes, const char *path, const char *text,
                    size_t len)
{
    struct job *job = reader->job;
    job->file = xstrdup(path);
    job->folder = path_folder(path);
    job->name = name_of_path(path);
    if (read_tree(reader, path, text, len) < 0 || profiles_apply(reader) < 0 || set_apply_all(reader) < 0 ||
        fields_read(reader, reader->root, &job_fields, "") < 0 || check_policy(reader) < 0 ||
        check_sync(reader) < 0 || check_program(reader) < 0 || check_hosts(reader) < 0 ||
        set_read_env(reader) < 0 || set_read_rest(reader) < 0) {
        return -1;
    }
    if (notes) {
        set_add_notes(reader, notes);
    }
    if (reader->warnings) {
        warn_unexpanded(reader);
    }
    return 0;
}

int jobfile_parse_text(struct job *out, const char *path, const char *text, size_t len,
                       const struct job_request *request, struct strlist *notes, struct strlist *warnings,
                       struct error *err)
{
    struct error local = ERROR_INIT;
    struct job_reader reader = {
        .job = out, .request = request, .warnings = warnings, .err = err ? err : &local};
    job_init(out);
    int result = read_job(&reader, notes, path, text, len);
    yaml_node_free(reader.root);
    for (size_t i = 0; i < reader.docs_len; i++) {
        yaml_doc_free(reader.docs[i]);
    }
    free(reader.docs);
    strlist_release(&reader.origins);
    if (result < 0) {
        job_release(out);
    }
    return result;
}

int jobfile_load(struct job *out, const struct job_request *request, struct strlist *notes,
                 struct strlist *warnings, struct error *err)
{
    struct error local = ERROR_INIT;
    err = err ? err : &local;
    *out = (struct job){0};
    AUTO_FREE char *path =
        joblookup_find(request->job, request_variable(request, "MTLAUNCH_JOBS"), request->home, err);
    if (!path) {
        return -1;
    }
    AUTO_STR struct str text = STR_INIT;
    if (file_read(path, YAML_MAX_BYTES, &text, err) < 0) {
        err->kind = &kind_job_file;
        error_hint(err, "a job file is a readable file of at most 1 MiB");
        return error_at(err, path, 0, 0);
    }
    return jobfile_parse_text(out, path, str_text(&text), text.len, request, notes, warnings, err);
}
