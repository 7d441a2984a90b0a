/* What the job file says about files that are pushed before each start. */
#include "base/alloc.h"
#include "input/jobfile_internal.h"
#include "model/skip.h"

int read_exclude(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    struct strlist *exclude = &reader->job->sync.exclude;

    strlist_release(exclude);
    if (reader_list(reader, node, path, exclude) < 0) {
        return -1;
    }
    for (size_t i = 0; i < exclude->len; i++) {
        if (skip_check(exclude->items[i], reader->err) != 0) {
            return reader_place(reader, node->type == YAML_LIST ? node->items[i] : node);
        }
    }
    return 0;
}

int check_sync(struct job_reader *reader)
{
    const struct job_sync *sync = &reader->job->sync;
    const struct yaml_node *node = yaml_get(reader->root, "sync");

    if (!node || yaml_is_null(node)) {
        return 0;
    }
    if (!sync->from) {
        reader_fail(reader, node, "'sync' does not say where the files are");
        return error_hint(reader->err, "name a folder here: 'sync: {from: src/}'");
    }
    if (sync->delete_ && !sync->to && !reader->job->workdir && !reader->job->container.workdir) {
        reader_fail(reader, node, "'sync.delete' would remove what is in the login folder");
        return error_hint(reader->err, "name the folder on the nodes: 'workdir: /data/code', or 'sync.to'");
    }
    return 0;
}
