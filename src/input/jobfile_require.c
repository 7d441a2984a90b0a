/* What the job file requires of the hosts, and which checks it skips. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/jobfile_internal.h"

#define REQUIRE(member) .offset = offsetof(struct job, require.member)

/* A size, at least one byte. */
static int read_size(struct job_reader *reader, const struct yaml_node *node, const char *path,
                     const char *example, uint64_t *out)
{
    if (node->type != YAML_TEXT) {
        return reader_fail_type(reader, node, path, "a size");
    }
    if (!text_to_size(node->text, out) || *out == 0) {
        reader_fail_value(reader, node, path, "whole bytes, or a whole number with K, M, G or T");
        return reader_hint_write(reader, node, path, example);
    }
    return 0;
}

static int read_free_disk(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    return read_size(reader, node, path, "100G", &reader->job->require.free_disk_bytes);
}

static int read_shm(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    return read_size(reader, node, path, "16G", &reader->job->require.shm_bytes);
}

static const struct field require_fields[] = {
    {.key = "paths",
     .type = FIELD_LIST,
     REQUIRE(paths),
     .doc = {"0.1", "Files and folders that must exist and be readable; relative to workdir.", NULL,
             "[/data, tokenizer.json]"}},
    {.key = "same",
     .type = FIELD_LIST,
     REQUIRE(same),
     .doc = {"0.1",
             "Files and folders with the same content on all nodes: the commit of a git tree, a hash of all "
             "files of "
             "another folder, or a file's content. Only 'check' compares them.",
             NULL, "[src, /ckpt/latest_checkpointed_iteration.txt]"}},
    {.key = "gpus",
     .type = FIELD_COUNT,
     REQUIRE(gpus),
     .min = 1,
     .max = 1024,
     .example = "8",
     .doc = {"0.1", "The minimum number of GPUs.", NULL, "8"}},
    {.key = "free_disk",
     .type = FIELD_CUSTOM,
     .handle = read_free_disk,
     .write = write_free_disk,
     .form = "size: bytes, or with K, M, G or T",
     .doc = {"0.1", "The minimum free space where the artifacts folder is.", NULL, "100G"}},
    {.key = "ib",
     .type = FIELD_FLAG,
     REQUIRE(ib),
     .doc = {"0.1", "An active InfiniBand or RoCE port.", "false", "true"}},
    {.key = "shm",
     .type = FIELD_CUSTOM,
     .handle = read_shm,
     .write = write_shm,
     .form = "size: bytes, or with K, M, G or T",
     .doc = {"0.1", "The minimum size of /dev/shm.", NULL, "16G"}},
    {.key = "commands",
     .type = FIELD_LIST,
     REQUIRE(commands),
     .doc = {"0.1", "Commands that must be in PATH after the setup lines.", NULL, "[git, ffmpeg]"}},
};
const struct field_table require_table = {require_fields, ARRAY_LEN(require_fields)};

static const struct field checks_fields[] = {
    {.key = "skip",
     .type = FIELD_LIST,
     .offset = offsetof(struct job, checks_skip),
     .doc = {"0.1", "Checks to skip, by id: 'mtlaunch check --list' prints the ids.", NULL,
             "[clock, memory]"}},
};
const struct field_table checks_table = {checks_fields, ARRAY_LEN(checks_fields)};
