#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cmd/commands_internal.h"
#include "cmd/complete_internal.h"
#include "input/joblookup.h"
#include "model/kind.h"
#include "report/output.h"
#include "run/store.h"

/* One row a shell. */
static const struct {
    const char *shell, *script;
} shells[] = {
    {"bash", completion_bash},
    {"zsh", completion_zsh},
    {"fish", completion_fish},
};

/* A candidate is put on the command line as it is: no name of a file shall mean something to the shell. */
static void add_plain(const struct strlist *names, struct strlist *plain)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+@";
    for (size_t i = 0; i < names->len; i++) {
        const char *name = names->items[i];
        if (name[0] != '-' && name[strspn(name, letters)] == '\0')
            strlist_add(plain, name);
    }
}

/* What the scripts call: names that cannot be read are no reason to disturb who types. */
static int print_candidates(struct cmd_call *call, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    AUTO_STRLIST struct strlist runs = STRLIST_INIT;
    AUTO_STRLIST struct strlist files = STRLIST_INIT;
    AUTO_STRLIST struct strlist jobs = STRLIST_INIT;
    struct run_store store;
    const char *home = getenv("HOME");
    if (call->rest.len == 0)
        return error_set(err, &kind_usage, "'candidates' needs the words of a command line after '--'");
    if (run_store_open(&store, getenv("XDG_STATE_HOME"), home ? home : "/", NULL) == 0) {
        run_store_names(&store, &runs, NULL);
        run_store_release(&store);
    }
    joblookup_names(getenv("MTLAUNCH_JOBS"), home, &files);
    add_plain(&files, &jobs);
    complete_words(call->rest.items, call->rest.len, &runs, &jobs, &text);
    return output_print(&text, err);
}

static int run_completion(struct cmd_call *call, struct error *err)
{
    const char *name = call->operands.items[0];
    if (strcmp(name, "candidates") == 0)
        return print_candidates(call, err);
    for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
        if (strcmp(shells[i].shell, name) == 0) {
            AUTO_STR struct str text = STR_INIT;
            str_add(&text, shells[i].script);
            return output_print(&text, err);
        }
    }
    error_set(err, &kind_usage, "unknown shell '%s'", name);
    return error_hint(err, "completion is there for bash, zsh and fish");
}

static const char *const usage[] = {"completion bash|zsh|fish", NULL};
static const char notes[] = "'make install' puts the scripts where the shells look for them. By hand:\n"
                            "  bash  source <(mtlaunch completion bash)\n"
                            "  zsh   source <(mtlaunch completion zsh)     # after compinit\n"
                            "  fish  mtlaunch completion fish | source\n";
const struct command command_completion = {
    .name = "completion",
    .summary = "print the completion script of a shell",
    .usage = usage,
    .notes = notes,
    .min_operands = 1,
    .max_operands = 1,
    .operands = "bash, zsh or fish",
    .takes_rest = true,
    .no_json = true,
    .run = run_completion,
};
