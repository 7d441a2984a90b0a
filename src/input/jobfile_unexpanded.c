/* Warnings about values written as for a shell: nothing in a job file is expanded except ${{name}} and a
 * leading "~/". */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/jobfile_internal.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* "$NAME" or "${NAME}" as written in text; caller frees, NULL for none. */
static char *find_reference(const char *text)
{
    for (const char *at = strchr(text, '$'); at; at = strchr(at + 1, '$')) {
        bool brace = at[1] == '{';
        const char *name = at + (brace ? 2 : 1);
        const char *end = name;
        while (is_letter(*end) || (end > name && *end >= '0' && *end <= '9')) {
            end++;
        }
        if (end > name && (!brace || *end == '}')) {
            return xstrndup(at, (size_t)(end - at) + (brace ? 1 : 0));
        }
    }
    return NULL;
}

/* A value that refers to a variable was probably meant to be expanded by a shell. */
static void warn_env(const struct job_reader *reader, const struct env *env)
{
    const struct strlist *secrets = &reader->job->secret_env;
    for (size_t i = 0; i < env->len; i++) {
        const struct env_var *var = &env->items[i];
        AUTO_FREE char *reference = var->value ? find_reference(var->value) : NULL;
        if (!reference || text_matches_any(var->name, secrets->items, secrets->len)) {
            continue;
        }
        strlist_addf(
            reader->warnings,
            "'%.80s' (%s) contains '%.80s', and nothing is expanded: to put it together on the node write "
            "a line of 'setup': export %.80s=...",
            var->name, var->source ? var->source : "env", reference, var->name);
    }
}

/* The secrets in a job file that `show` printed are masked. */
static void warn_masked(const struct job_reader *reader, const struct env *env)
{
    for (size_t i = 0; i < env->len; i++) {
        const struct env_var *var = &env->items[i];
        if (var->value && strcmp(var->value, "***") == 0 && !env_get(&reader->job->env_options, var->name)) {
            strlist_addf(reader->warnings,
                         "'%.80s' is '***', as a secret is shown: give its value, or -e %.80s", var->name,
                         var->name);
        }
    }
}

static void warn_path(const struct job_reader *reader, const char *key, const char *text)
{
    AUTO_FREE char *reference = text ? find_reference(text) : NULL;
    if (!reference) {
        return;
    }
    bool home = text_starts(text, "$HOME/") || text_starts(text, "${HOME}/");
    strlist_addf(reader->warnings, "'%s' contains '%.80s', and nothing is expanded: write %s", key, reference,
                 home ? "'~/' for the home folder" : "the path itself");
}

void warn_unexpanded(const struct job_reader *reader)
{
    const struct job *job = reader->job;
    warn_env(reader, &job->env_files);
    warn_env(reader, &job->env);
    warn_env(reader, &job->env_options);
    warn_masked(reader, &job->env);
    warn_path(reader, "workdir", job->workdir);
    warn_path(reader, "artifacts", job->artifacts);
    warn_path(reader, "python", job->python);
    if (reader_launcher(reader)->program == LAUNCHER_PROGRAM_PYTHON) {
        warn_path(reader, "program", job->program.items[0]);
    }
}
