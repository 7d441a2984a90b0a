/* Finds the folder in which a job works, for each host. */
#include "run/workdir.h"

#include <string.h>

#include "base/json.h"
#include "model/kind.h"
#include "model/placeholder.h"

/* The values of a job that a folder depends on, whatever they are read from. */
struct places {
    const char *job, *run, *run_id; /* NULL: only a start knows */
    const char *workdir;            /* NULL: not given */
};

static int add(const struct places *places, const struct host *host, const char *label, struct strlist *out,
               struct error *err)
{
    struct placeholders values = PLACEHOLDERS_INIT;
    AUTO_STR struct str folder = STR_INIT;
    const char *text = host->workdir ? host->workdir : places->workdir;
    bool open = false;

    placeholders_set(&values, PLACEHOLDER_JOB, places->job);
    placeholders_set(&values, PLACEHOLDER_RUN, places->run);
    placeholders_set(&values, PLACEHOLDER_RUN_ID, places->run_id);
    placeholders_set(&values, PLACEHOLDER_HOST, label);
    int result = placeholder_fill(&values, text ? text : "", &folder, &open, err);
    placeholders_release(&values);
    if (result != 0) {
        return error_prefix(err, "workdir");
    }
    if (open) {
        error_set(err, &kind_usage, "the job's workdir '%s' is known only on start", text);
        return error_hint(err, "give a path that begins with '/', or name a run with --run");
    }
    strlist_add(out, str_text(&folder));
    return 0;
}

static int add_all(const struct places *places, const struct hostlist *hosts, struct strlist *out,
                   struct error *err)
{
    AUTO_STRLIST struct strlist labels = STRLIST_INIT;
    int result = 0;

    hostlist_labels(hosts, &labels);
    for (size_t i = 0; i < hosts->len && result == 0; i++) {
        result = add(places, &hosts->items[i], labels.items[i], out, err);
    }
    return result;
}

int workdir_of_job(const struct job *job, const struct hostlist *hosts, const struct run *run,
                   struct strlist *out, struct error *err)
{
    struct places places = {.job = job->name, .workdir = job->workdir};

    if (run) {
        places.run = run->name;
        places.run_id = run->id;
    }
    if (!places.workdir && job->place.container) {
        places.workdir = job->container.workdir;
    }
    return add_all(&places, hosts, out, err);
}

int workdir_of_run(const struct run *run, const struct hostlist *hosts, struct strlist *out,
                   struct error *err)
{
    const char *text = run->job_spec ? run->job_spec : run->spec;
    json_t *spec = text ? json_loads(text, 0, NULL) : NULL;
    struct places places = {.job = run->job, .run = run->name, .run_id = run->id};

    places.workdir = json_string_value(json_object_get(spec, "workdir"));
    if (!places.workdir) {
        places.workdir = json_string_value(json_object_get(json_object_get(spec, "container"), "workdir"));
    }
    const int result = add_all(&places, hosts, out, err);
    json_decref(spec);
    return result;
}
