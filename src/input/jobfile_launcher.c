/* `launcher_args`: words for torchrun itself. What mtlaunch sets there is refused, with the key that says it.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/jobfile_internal.h"

/* Options of torch/distributed/run.py that mtlaunch sets, by their names with underscores. */
static const struct {
    const char *name, *hint;
} owned[] = {
    {"nnodes", "it is the number of hosts: use --nodes or change the host list"},
    {"nproc_per_node", "use 'nproc_per_node' of the spec or --nproc-per-node"},
    {"node_rank", "it is the place in the host list: change the order there"},
    {"master_addr", "use 'master.addr' of the spec or --master-addr"},
    {"master_port", "use 'master.port' of the spec or --master-port"},
    {"rdzv_backend", "use 'rendezvous: static' or 'rendezvous: c10d'"},
    {"rdzv_endpoint", "use 'master.addr' and 'master.port'"},
    {"rdzv_id", "mtlaunch gives each attempt an id of its own: leave it out"},
    {"rdzv_conf", "mtlaunch sets it with 'rendezvous': leave it out"},
    {"standalone", "leave it out: one host needs nothing for it"},
    {"no_python", "use 'python: none'"},
    {"module", "use 'program: -m pkg.mod'"},
};

/* The owned option that a word names, whole or cut short as argparse allows; -1 for none. */
static int find_owned(const char *word)
{
    if (strcmp(word, "-m") == 0) {
        return (int)ARRAY_LEN(owned) - 1;
    }
    if (!text_starts(word, "--")) {
        return -1;
    }
    AUTO_FREE char *name = xstrndup(word + 2, strcspn(word + 2, "="));
    for (char *at = name; *at != '\0'; at++) {
        *at = *at == '-' ? '_' : *at;
    }
    for (size_t i = 0; i < ARRAY_LEN(owned) && name[0] != '\0'; i++) {
        if (text_starts(owned[i].name, name)) {
            return (int)i;
        }
    }
    return -1;
}

/* Options of torchrun without a value, by their names with underscores. */
static bool is_flag(const char *word)
{
    return strcmp(word, "--run_path") == 0 || strcmp(word, "--run-path") == 0 ||
           strcmp(word, "--virtual_local_rank") == 0 || strcmp(word, "--virtual-local-rank") == 0;
}

/* Would torchrun take this word for the script? It is no option, nor the value of the one before it. */
static bool is_positional(char *const *words, size_t at)
{
    if (strcmp(words[at], "--") == 0) {
        return true;
    }
    if (words[at][0] == '-') {
        return false;
    }
    const char *before = at > 0 ? words[at - 1] : "";
    return before[0] != '-' || strchr(before, '=') || is_flag(before);
}

int read_launcher_args(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    struct strlist *words = &reader->job->launcher_args;
    strlist_release(words);
    reader->launcher_args = node;
    if (check_words(reader, node, path) < 0 || reader_list(reader, node, path, words) < 0) {
        return -1;
    }
    for (size_t i = 0; i < words->len; i++) {
        const struct yaml_node *at = node->type == YAML_LIST ? node->items[i] : node;
        int which = find_owned(words->items[i]);
        if (which >= 0) {
            reader_fail(reader, at, "'%s' holds '%.80s', which mtlaunch sets", path, words->items[i]);
            return error_hint(reader->err, "%s", owned[which].hint);
        }
        if (is_positional(words->items, i)) {
            reader_fail(reader, at, "'%s' holds '%.80s', which would end the options of the launcher", path,
                        words->items[i]);
            return error_hint(reader->err, "name the program in 'program' and its arguments in 'args'");
        }
    }
    return 0;
}

int check_launcher_args(struct job_reader *reader)
{
    if (reader->job->launcher_args.len == 0 || strcmp(reader->job->launcher, "script") != 0) {
        return 0;
    }
    reader_fail(reader, reader->launcher_args,
                "'launcher_args' with 'launcher: script', which has no launcher");
    return error_hint(reader->err, "leave it out, or put the words into 'program'");
}
