/*
 * Values that come from the command line and from the caller's environment. Each becomes a node of the tree
 * that remembers the option as its text, so that one set of rules reads them all and errors name the option.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/jobfile_internal.h"
#include "model/kind.h"

#define SHOWN_MAX 100 /* longer options are named only by their key */

/* Options with a name of their own, and the caller's variables that act as them. */
static const struct shortcut {
    const char *option, *variable, *path;
    size_t offset; /* in struct job_request */
} shortcuts[] = {
    {"--container", "CONTAINER_NAME", "container.name", offsetof(struct job_request, container)},
    {"--zero-stage", "ZERO_STAGE", "zero_stage", offsetof(struct job_request, zero_stage)},
    {"--nproc-per-node", "NPROC_PER_NODE", "nproc_per_node", offsetof(struct job_request, nproc_per_node)},
    {"--master-addr", "MASTER_ADDR", "master.addr", offsetof(struct job_request, master_addr)},
    {"--master-port", "MASTER_PORT", "master.port", offsetof(struct job_request, master_port)},
    {"--artifacts", "ARTIFACT_ROOT", "artifacts", offsetof(struct job_request, artifacts)},
};

struct yaml_doc *reader_add_doc(struct job_reader *reader, struct yaml_doc *doc)
{
    reader->docs = xgrow(reader->docs, reader->docs_len, &reader->docs_cap, sizeof(struct yaml_doc *));
    reader->docs[reader->docs_len++] = doc;
    return doc;
}

static struct yaml_doc *add_option(struct job_reader *reader, const char *name, const char *value)
{
    struct yaml_doc *doc = reader_add_doc(reader, yaml_doc_new(name, value, strlen(value)));
    strlist_copy(&doc->secrets, &reader->docs[0]->secrets);
    doc->is_option = true;
    return doc;
}

const char *request_variable(const struct job_request *request, const char *name)
{
    size_t len = strlen(name);
    for (const char *const *at = request->environ_; at && *at; at++) {
        if (strncmp(*at, name, len) == 0 && (*at)[len] == '=') {
            return *at + len + 1;
        }
    }
    return NULL;
}

static void split_path(const char *path, struct strlist *keys)
{
    for (;;) {
        size_t len = strcspn(path, ".");
        strlist_add_mem(keys, path, len);
        if (path[len] == '\0') {
            return;
        }
        path += len + 1;
    }
}

/* The mapping that holds the last key; missing mappings are added. NULL after an error. */
static struct yaml_node *find_parent(struct job_reader *reader, const struct strlist *keys,
                                     const struct yaml_node *value)
{
    struct yaml_node *map = reader->root;
    AUTO_STR struct str path = STR_INIT;
    for (size_t i = 0; i + 1 < keys->len; i++) {
        str_addf(&path, "%s%s", i > 0 ? "." : "", keys->items[i]);
        struct yaml_node *child = yaml_get(map, keys->items[i]);
        if (!child || yaml_is_null(child)) {
            child = yaml_new_map(value->doc, value->origin);
            yaml_put(map, yaml_new_text(value->doc, value->origin, keys->items[i]), child);
        } else if (child->type != YAML_MAP) {
            reader_fail(reader, value, "'%.80s' is %s, a path can only go through mappings", str_text(&path),
                        yaml_type_name(child));
            error_hint(reader->err, "set '%.80s' as a whole", str_text(&path));
            return NULL;
        }
        map = child;
    }
    return map;
}

/* Put value (taken) at the path. */
static int assign(struct job_reader *reader, const struct strlist *keys, struct yaml_node *value)
{
    struct yaml_node *map = find_parent(reader, keys, value);
    if (!map) {
        yaml_node_free(value);
        return -1;
    }
    yaml_put(map, yaml_new_text(value->doc, value->origin, keys->items[keys->len - 1]), value);
    return 0;
}

static int assign_text(struct job_reader *reader, const char *path, const char *option, const char *origin,
                       const char *text)
{
    AUTO_STRLIST struct strlist keys = STRLIST_INIT;
    split_path(path, &keys);
    return assign(reader, &keys, yaml_new_text(add_option(reader, option, text), origin, text));
}

/* How an error names a --set: with its value, unless that is long or may be a secret. */
static char *name_of_set(const struct job_reader *reader, const char *option, const struct strlist *keys,
                         size_t path_len)
{
    const char *last = keys->items[keys->len - 1];
    const struct strlist *secrets = &reader->docs[0]->secrets;
    bool secret = strcmp(keys->items[0], "env") == 0 || strcmp(keys->items[0], "notify") == 0 ||
                  text_matches_any(last, secrets->items, secrets->len) ||
                  yaml_has_secret(reader->docs[0], option + path_len + 1);
    if (secret || strlen(option) > SHOWN_MAX) {
        return xasprintf("--set %.*s", path_len > SHOWN_MAX ? SHOWN_MAX : (int)path_len, option);
    }
    return xasprintf("--set %s", option);
}

static int fail_set(struct job_reader *reader, const char *name, const char *text, const char *hint)
{
    error_set(reader->err, &kind_usage, "%s", text);
    error_hint(reader->err, "%s", hint);
    return error_at(reader->err, name, 0, 0);
}

static int apply_set(struct job_reader *reader, const char *option)
{
    const char *equals = strchr(option, '=');
    if (!equals) {
        AUTO_FREE char *shown = xasprintf("--set %.*s", SHOWN_MAX, option);
        return fail_set(reader, shown, "it has no '='", "write --set KEY.PATH=VALUE");
    }
    size_t path_len = (size_t)(equals - option);
    AUTO_FREE char *path = xstrndup(option, path_len);
    AUTO_STRLIST struct strlist keys = STRLIST_INIT;
    split_path(path, &keys);
    AUTO_FREE char *name = name_of_set(reader, option, &keys, path_len);
    if (strlist_has(&keys, "")) {
        return fail_set(reader, name, "an empty key in the path", "write --set KEY.PATH=VALUE");
    }
    if (keys.len > YAML_MAX_DEPTH) {
        return fail_set(reader, name, "the path is too long", "name a key of the job file");
    }
    if (strcmp(keys.items[0], "profiles") == 0) {
        return fail_set(reader, name, "'profiles' cannot be set: profiles are merged first",
                        "set the key itself: it is applied after the profiles");
    }
    struct yaml_node *value =
        yaml_parse(add_option(reader, name, equals + 1), YAML_FORM_VALUE, "--set", &kind_usage, reader->err);
    return value ? assign(reader, &keys, value) : -1;
}

/*
 * Does the variable have an effect? Pods and cloud shells set CONTAINER_NAME for their own purposes, so it
 * only renames a container that the spec has.
 */
static bool variable_acts(const struct job_reader *reader, const struct shortcut *shortcut)
{
    if (strcmp(shortcut->variable, "CONTAINER_NAME") != 0) {
        return true;
    }
    const struct yaml_node *container = yaml_get(reader->root, "container");
    return container && container->type == YAML_MAP && container->len > 0;
}

int set_apply_all(struct job_reader *reader)
{
    const struct job_request *request = reader->request;
    for (size_t i = 0; i < ARRAY_LEN(shortcuts); i++) {
        const char *text = request_variable(request, shortcuts[i].variable);
        AUTO_FREE char *name = xasprintf("%s of the environment", shortcuts[i].variable);
        if (text && text[0] != '\0' && variable_acts(reader, &shortcuts[i]) &&
            assign_text(reader, shortcuts[i].path, name, shortcuts[i].variable, text) < 0) {
            return -1;
        }
    }
    for (size_t i = 0; request->sets && i < request->sets->len; i++) {
        if (apply_set(reader, request->sets->items[i]) < 0) {
            return -1;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(shortcuts); i++) {
        const char *text = *(const char *const *)((const char *)request + shortcuts[i].offset);
        if (text &&
            assign_text(reader, shortcuts[i].path, shortcuts[i].option, shortcuts[i].option, text) < 0) {
            return -1;
        }
    }
    return 0;
}

void set_add_notes(const struct job_reader *reader, struct strlist *notes)
{
    for (size_t i = 0; i < ARRAY_LEN(shortcuts); i++) {
        AUTO_STRLIST struct strlist keys = STRLIST_INIT;
        split_path(shortcuts[i].path, &keys);
        const struct yaml_node *node = reader->root;
        for (size_t k = 0; k < keys.len; k++) {
            node = yaml_get(node, keys.items[k]);
        }
        if (node && strcmp(node->origin, shortcuts[i].variable) == 0) {
            strlist_addf(notes, "%s=%s of the environment acts as %s", shortcuts[i].variable, node->text,
                         shortcuts[i].option);
        }
    }
}

/* Length of the part of text that can be a name. What follows it ("-e A_KEY:secret") may be a secret. */
static size_t name_len(const char *text)
{
    return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
}

static int refuse_env_name(struct job_reader *reader, const char *text)
{
    size_t len = name_len(text);
    int shown = len > SHOWN_MAX ? SHOWN_MAX : (int)len;
    AUTO_FREE char *option = xasprintf("-e %.*s…", shown, text);
    error_set(reader->err, &kind_usage, "expected NAME or NAME=VALUE, with letters, digits and '_' in NAME");
    if (shown > 0) {
        error_hint(reader->err, "write -e %.*s=VALUE", shown, text);
    } else {
        error_hint(reader->err, "write -e NAME=VALUE");
    }
    return error_at(reader->err, option, 0, 0);
}

static int read_env_option(struct job_reader *reader, const char *text)
{
    const char *equals = strchr(text, '=');
    AUTO_FREE char *name = equals ? xstrndup(text, (size_t)(equals - text)) : xstrdup(text);
    AUTO_FREE char *option = xasprintf("-e %.80s", name);
    size_t odd = name_len(name);
    if (name[odd] != '\0' && (!equals || !strchr(".-", name[odd]))) {
        return refuse_env_name(reader, text);
    }
    const char *value = equals ? equals + 1 : request_variable(reader->request, name);
    if (env_check_settable(name, value ? value : "", reader->err) < 0) {
        return error_at(reader->err, option, 0, 0);
    }
    if (!value) {
        error_set(reader->err, &kind_usage, "'%.80s' is not set here", name);
        error_hint(reader->err, "write -e %.80s=VALUE", name);
        return error_at(reader->err, option, 0, 0);
    }
    env_set(&reader->job->env_options, name, value, "-e");
    return 0;
}

int set_read_env(struct job_reader *reader)
{
    const struct strlist *env = reader->request->env;
    for (size_t i = 0; env && i < env->len; i++) {
        if (read_env_option(reader, env->items[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

int set_read_rest(struct job_reader *reader)
{
    const struct strlist *rest = reader->request->rest;
    for (size_t i = 0; rest && i < rest->len; i++) {
        size_t len = strlen(rest->items[i]);
        if (len > ENV_VALUE_MAX) {
            error_set(reader->err, &kind_usage, "argument %zu after '--' is %zu bytes long, allowed: %d",
                      i + 1, len, ENV_VALUE_MAX);
            return error_hint(reader->err, "put the text into a file and name the file");
        }
        strlist_add(&reader->job->extra_args, rest->items[i]);
    }
    return 0;
}
