/* The keys below 'container'. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/jobfile_internal.h"
#include "model/kind.h"

#define CONTAINER(member) .offset = offsetof(struct job, container.member)
#define PLACE(member)     .offset = offsetof(struct job, place.member)

/* Allow what docker takes for a name (daemon/names of moby), which includes short ids but no options. */
static int check_name(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    if (job_check_container_name(node->text, NULL) == 0) {
        return 0;
    }
    reader_fail_value(reader, node, path, "letters, digits, '_', '.' and '-', the first a letter or digit");
    return error_hint(reader->err, "write a name that `docker ps` shows");
}

/* A word on the engine's command line that must not be taken for an option. */
static int check_word(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    if (node->text[0] != '-') {
        return 0;
    }
    reader_fail_value(reader, node, path, "a string that does not begin with '-'");
    return error_hint(reader->err, "options of the engine belong in 'container.run.extra'");
}

static int check_gpus(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    const char *text = node->text;
    uint64_t count = 0;
    if (strcmp(text, "all") == 0 || strcmp(text, "none") == 0 || text_to_uint(text, 1, 1024, &count) ||
        (text_starts(text, "device=") && text[7] != '\0' && !strpbrk(text, " \t\"'"))) {
        return 0;
    }
    reader_fail_value(reader, node, path, "all, none, a count, or device=0,2");
    return reader_hint_write(reader, node, path, "all");
}

static int read_shm_size(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    uint64_t bytes = 0;
    if (node->type != YAML_TEXT) {
        return reader_fail_type(reader, node, path, "a size");
    }
    AUTO_FREE char *text = xstrdup(node->text);
    size_t len = strlen(text);
    if (len > 0 && strchr("kmgt", text[len - 1])) {
        text[len - 1] = (char)(text[len - 1] - 'a' + 'A'); /* as docker writes it: 64g */
    }
    if (!text_to_size(text, &bytes) || bytes == 0) {
        reader_fail_value(reader, node, path, "whole bytes, or a whole number with K, M, G or T");
        return reader_hint_write(reader, node, path, "64g");
    }
    reader->job->container.run.shm_size_bytes = bytes;
    return 0;
}

/* The variables are passed to the engine one per line. */
static int read_run_env(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    if (node->type != YAML_MAP) {
        return reader_fail_type(reader, node, path, "a mapping of names to strings");
    }
    struct strlist *env = &reader->job->container.run.env;
    for (size_t i = 0; i < node->len; i++) {
        const struct yaml_node *key = node->entries[i].key;
        const struct yaml_node *value = node->entries[i].value;
        AUTO_FREE char *name = xasprintf("%s.%s", path, key->text);
        if (value->type != YAML_TEXT || yaml_is_null(value)) {
            return reader_fail_type(reader, value, name, "a string");
        }
        if (key->text[0] == '\0' || strpbrk(key->text, " \t\r\n=#")) {
            reader_fail(reader, key, "'%.100s' is not a valid variable name", key->text);
            return error_hint(reader->err, "write a name without blanks, '=' and '#'");
        }
        if (strpbrk(value->text, "\r\n")) {
            reader_fail(reader, value, "'%.100s' contains a line break", name);
            return error_hint(reader->err, "set it in 'env': the job's own variables may contain anything");
        }
        strlist_addf(env, "%s=%s", key->text, value->text);
    }
    return 0;
}

static int read_run(struct job_reader *reader, const struct yaml_node *node, const char *path);

static const struct choice engines[] = {{"docker", 0}, {"podman", 0}};

static const struct field run_fields[] = {
    {.key = "image",
     .type = FIELD_TEXT,
     CONTAINER(run.image),
     .handle = check_word,
     .doc = {"0.1", "The image to create it from. Required within run.", NULL,
             "\"nvcr.io/nvidia/pytorch:25.04-py3\""}},
    {.key = "command",
     .type = FIELD_LIST,
     CONTAINER(run.command),
     .doc = {"0.1", "What runs in the container instead of the image's own command.", "the image's own",
             "[bash]"}},
    {.key = "gpus",
     .type = FIELD_TEXT,
     CONTAINER(run.gpus),
     .handle = check_gpus,
     .doc = {"0.1", "Its GPUs: all, none, a count, or device=0,2.", "none", "all"}},
    {.key = "network",
     .type = FIELD_TEXT,
     CONTAINER(run.network),
     .doc = {"0.1", "Its network, as the engine names it.", "the engine's own", "host"}},
    {.key = "ipc",
     .type = FIELD_TEXT,
     CONTAINER(run.ipc),
     .doc = {"0.1", "Its IPC namespace, as the engine names it.", "the engine's own", "host"}},
    {.key = "shm_size",
     .type = FIELD_CUSTOM,
     .handle = read_shm_size,
     .write = write_shm_size,
     .form = "size: bytes, or with K, M, G or T",
     .doc = {"0.1", "The size of /dev/shm.", "the engine's own", "64g"}},
    {.key = "privileged",
     .type = FIELD_FLAG,
     CONTAINER(run.privileged),
     .doc = {"0.1", "Give the container all rights on the host.", "false", "true"}},
    {.key = "cap_add",
     .type = FIELD_LIST,
     CONTAINER(run.cap_add),
     .doc = {"0.1", "Capabilities to add.", "[]", "[IPC_LOCK]"}},
    {.key = "ulimit",
     .type = FIELD_LIST,
     CONTAINER(run.ulimit),
     .doc = {"0.1", "Limits to set.", "[]", "[memlock=-1]"}},
    {.key = "devices",
     .type = FIELD_LIST,
     CONTAINER(run.devices),
     .doc = {"0.1", "Devices of the host to pass to the container.", "[]", "[/dev/infiniband]"}},
    {.key = "volumes",
     .type = FIELD_LIST,
     CONTAINER(run.volumes),
     .doc = {"0.1", "Folders of the host to mount in the container.", "[]", "[/ssd1:/ssd1]"}},
    {.key = "env",
     .type = FIELD_CUSTOM,
     .handle = read_run_env,
     .write = write_run_env,
     .form = "mapping of names to strings",
     .doc = {"0.1", "Variables of the container. Their values never appear on a command line.", "{}",
             "{HF_HOME: /ssd1/hf}"}},
    {.key = "user",
     .type = FIELD_TEXT,
     CONTAINER(run.user),
     .empty_ok = true,
     .doc = {"0.1", "The user the container runs as.", "the image's own", "1000:1000"}},
    {.key = "workdir",
     .type = FIELD_TEXT,
     CONTAINER(run.workdir),
     .empty_ok = true,
     .doc = {"0.1", "The container's working folder.", "the image's own", "/workspace"}},
    {.key = "extra",
     .type = FIELD_LIST,
     CONTAINER(run.extra),
     .doc = {"0.1", "Further words for the engine's 'run' command, as they are.", "[]", "[--init]"}},
};
static const struct field_table run_table = {run_fields, ARRAY_LEN(run_fields)};

static const struct field container_fields[] = {
    {.key = "name",
     .type = FIELD_TEXT,
     PLACE(container),
     .handle = check_name,
     .doc = {"0.1",
             "The container's name. The container already runs on every node, or 'mtlaunch container up' "
             "creates it. "
             "Required within container.",
             NULL, "megatron"}},
    {.key = "engine",
     .type = FIELD_NAME,
     PLACE(engine),
     .choices = engines,
     .choices_count = ARRAY_LEN(engines),
     .doc = {"0.1", "The program that manages containers.", "docker", "podman"}},
    {.key = "user",
     .type = FIELD_TEXT,
     PLACE(user),
     .empty_ok = true,
     .handle = check_word,
     .doc = {"0.1", "The user inside.", "the container's own", "1000:1000"}},
    {.key = "workdir",
     .type = FIELD_TEXT,
     CONTAINER(workdir),
     .empty_ok = true,
     .doc = {"0.1", "The folder inside in which the program starts, if workdir is not set.",
             "the container's own", "/workspace"}},
    {.key = "sudo",
     .type = FIELD_FLAG,
     PLACE(sudo),
     .doc = {"0.1", "Call the engine through 'sudo -n'.", "false", "true"}},
    {.key = "run",
     .type = FIELD_CUSTOM,
     .table = &run_table,
     .handle = read_run,
     .form = "mapping",
     .doc = {"0.1", "How 'mtlaunch container up' creates the container.", NULL,
             "{image: \"nvcr.io/nvidia/pytorch:25.04-py3\", gpus: all}"}},
};
const struct field_table container_table = {container_fields, ARRAY_LEN(container_fields)};

static int read_run(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    if (node->type != YAML_MAP) {
        reader_fail_type(reader, node, path, "a mapping");
        return error_hint(reader->err, "write 'run: {image: IMAGE}'");
    }
    if (fields_read(reader, node, &run_table, "container.run.") < 0) {
        return -1;
    }
    if (node->len > 0 && !reader->job->container.run.image) {
        reader_fail(reader, node, "'%s.image' is missing", path);
        return error_hint(reader->err, "name the image that the container is made of");
    }
    return 0;
}

int read_container(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    if (node->type != YAML_MAP) {
        reader_fail_type(reader, node, path, "a mapping");
        return error_hint(reader->err, "write 'container: {name: NAME}' with a name that `docker ps` shows");
    }
    if (fields_read(reader, node, &container_table, "container.") < 0) {
        return -1;
    }
    if (node->len > 0 && !reader->job->place.container) {
        reader_fail(reader, node, "'%s.name' is missing", path);
        return error_hint(reader->err, "name the container here or with --container");
    }
    return 0;
}
