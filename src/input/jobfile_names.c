/* Names for completion: all keys, and the profiles and the container of one file. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "input/jobfile_internal.h"
#include "model/kind.h"

static void add_keys(const struct field_table *table, const char *prefix, struct strlist *keys)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct field *field = &table->fields[i];
        if (field->table) {
            AUTO_FREE char *below = xasprintf("%s%s.", prefix, field->key);
            add_keys(field->table, below, keys);
        } else {
            strlist_addf(keys, "%s%s", prefix, field->key);
        }
    }
}

void jobfile_key_names(struct strlist *keys)
{
    add_keys(&job_fields, "", keys);
}

static void add_names(const struct yaml_node *root, struct strlist *profiles, struct strlist *containers)
{
    const struct yaml_node *map = yaml_get(root, "profiles");
    for (size_t i = 0; map && map->type == YAML_MAP && i < map->len; i++) {
        strlist_add(profiles, map->entries[i].key->text);
    }
    const struct yaml_node *container = yaml_get(root, "container");
    const struct yaml_node *name =
        container && container->type == YAML_MAP ? yaml_get(container, "name") : container;
    if (name && name->type == YAML_TEXT && name->text) {
        strlist_add(containers, name->text);
    }
}

void jobfile_names(const char *path, struct strlist *profiles, struct strlist *containers)
{
    AUTO_STR struct str text = STR_INIT;
    struct error err = ERROR_INIT; /* a file that cannot be read has no names */
    if (file_read(path, YAML_MAX_BYTES, &text, &err) < 0) {
        return;
    }
    struct yaml_doc *doc = yaml_doc_new(path, str_text(&text), text.len);
    struct yaml_node *root = yaml_parse(doc, YAML_FORM_FILE, "spec", &kind_job_file, &err);
    if (root && root->type == YAML_MAP) {
        add_names(root, profiles, containers);
    }
    yaml_node_free(root);
    yaml_doc_free(doc);
}
