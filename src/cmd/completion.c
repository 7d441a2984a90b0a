/* The command `completion`: prints a shell's completion script, and the candidates for it. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cmd/commands_internal.h"
#include "cmd/complete_internal.h"
#include "input/jobfile.h"
#include "input/joblookup.h"
#include "model/kind.h"
#include "report/output.h"
#include "run/store.h"

/* One row per shell. */
static const struct {
    const char *shell, *script;
} shells[] = {
    {"bash", completion_bash},
    {"zsh", completion_zsh},
    {"fish", completion_fish},
};

/* A candidate is put on the command line unquoted, so only names without special characters are added. */
static void add_plain(const struct strlist *names, struct strlist *plain)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+@";
    for (size_t i = 0; i < names->len; i++) {
        const char *name = names->items[i];
        if (name[0] != '-' && name[strspn(name, letters)] == '\0') {
            strlist_add(plain, name);
        }
    }
}

/* Add a run by its state, its container, and its nodes if the run is on the line. */
static void add_run(const struct run_store *store, const char *name, const struct strlist *words,
                    struct complete_names *names)
{
    struct run run;
    run_init(&run);
    if (run_store_load(store, name, &run, NULL) == 0) {
        strlist_add(run_state_is_live(run.state) ? &names->live : &names->ended, name);
        if (run.place.container && !strlist_has(&names->containers, run.place.container)) {
            strlist_add(&names->containers, run.place.container);
        }
        for (size_t i = 0; strlist_has(words, name) && i < run.nodes_len; i++) {
            strlist_add(&names->nodes, run.nodes[i].label);
        }
    } else { /* damaged, or of a newer version: its state is unknown */
        strlist_add(&names->live, name);
        strlist_add(&names->ended, name);
    }
    run_release(&run);
}

static void add_specs(const struct strlist *words, const char *home, struct complete_names *names)
{
    AUTO_STRLIST struct strlist profiles = STRLIST_INIT, containers = STRLIST_INIT, jobs = STRLIST_INIT;
    const char *path = getenv("MTLAUNCH_JOBS");
    joblookup_names(path, home, &jobs);
    add_plain(&jobs, &names->jobs);
    for (size_t i = 1; i + 1 < words->len; i++) {
        struct error err = ERROR_INIT; /* most words do not name a job */
        AUTO_FREE char *file = joblookup_find(words->items[i], path, home, &err);
        if (file) {
            jobfile_names(file, &profiles, &containers);
        }
    }
    add_plain(&profiles, &names->profiles);
    add_plain(&containers, &names->containers);
    jobfile_key_names(&names->keys);
}

/* Called by the scripts. Names that cannot be read must not disturb the user. */
static int print_candidates(struct cmd_call *call, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    struct complete_names names = {0};
    struct run_store store;
    const char *home = getenv("HOME");
    if (call->rest.len == 0) {
        return error_set(err, &kind_usage, "'candidates' needs the words of a command line after '--'");
    }
    if (run_store_open(&store, getenv("XDG_STATE_HOME"), home ? home : "/", NULL) == 0) {
        run_store_names(&store, &names.runs, NULL);
        for (size_t i = 0; i < names.runs.len; i++) {
            add_run(&store, names.runs.items[i], &call->rest, &names);
        }
        run_store_release(&store);
    }
    add_specs(&call->rest, home, &names);
    complete_words(call->rest.items, call->rest.len, &names, &text);
    complete_names_release(&names);
    return output_print(&text, err);
}

static int run_completion(struct cmd_call *call, struct error *err)
{
    const char *name = call->operands.items[0];
    if (strcmp(name, "candidates") == 0) {
        return print_candidates(call, err);
    }
    for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
        if (strcmp(shells[i].shell, name) == 0) {
            AUTO_STR struct str text = STR_INIT;
            str_add(&text, shells[i].script);
            return output_print(&text, err);
        }
    }
    error_set(err, &kind_usage, "unknown shell '%s'", name);
    return error_hint(err, "completion is available for bash, zsh and fish");
}

static const char *const usage[] = {"completion bash|zsh|fish", NULL};
static const char notes[] = "'make install' puts the scripts where the shells look for them. By hand:\n"
                            "  bash  source <(mtlaunch completion bash)\n"
                            "  zsh   source <(mtlaunch completion zsh)     # after compinit\n"
                            "  fish  mtlaunch completion fish | source\n";
const struct command command_completion = {
    .name = "completion",
    .summary = "print the completion script for a shell",
    .usage = usage,
    .notes = notes,
    .min_operands = 1,
    .max_operands = 1,
    .operands = "bash, zsh or fish",
    .takes_rest = true,
    .no_json = true,
    .run = run_completion,
};
