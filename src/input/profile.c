/* Profiles: named changes to a job, kept in the job file. Mappings merge, lists and texts replace. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "input/jobfile_internal.h"
#include "model/kind.h"

static int check_profile(struct job_reader *reader, const struct yaml_node *key,
                         const struct yaml_node *value)
{
    AUTO_FREE char *path = xasprintf("profiles.%s", key->text);
    if (yaml_is_null(value)) {
        return 0;
    }
    if (value->type != YAML_MAP) {
        return reader_fail_type(reader, value, path, "a mapping of keys of the job file");
    }
    for (size_t i = 0; i < value->len; i++) {
        if (strcmp(value->entries[i].key->text, "profiles") == 0) {
            reader_fail(reader, value->entries[i].key, "'%s.profiles': a profile cannot contain profiles",
                        path);
            return error_hint(reader->err, "give several: --profile A --profile B");
        }
    }
    AUTO_FREE char *prefix = xasprintf("%s.", path);
    return fields_check_keys(reader, value, &job_fields, prefix);
}

static int fail_unknown(struct job_reader *reader, const struct yaml_node *profiles, const char *name)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    for (size_t i = 0; profiles && i < profiles->len; i++) {
        strlist_add(&names, profiles->entries[i].key->text);
    }
    error_set(reader->err, &kind_usage, "no profile '%.80s' in '%s'", name, reader->job->file);
    const char *near = text_nearest(name, (const char *const *)names.items, names.len);
    AUTO_FREE char *known = strlist_join(&names, ", ");
    if (near) {
        error_hint(reader->err, "did you mean '%s'?", near);
    } else if (names.len > 0) {
        error_hint(reader->err, "choose one of: %s", known);
    } else {
        error_hint(reader->err, "write it below 'profiles:' in the job file");
    }
    AUTO_FREE char *option = xasprintf("--profile %.80s", name);
    return error_at(reader->err, option, 0, 0);
}

static int merge_profile(struct job_reader *reader, const struct yaml_node *profiles, const char *name)
{
    const struct yaml_node *profile = yaml_get(profiles, name);
    if (!profile) {
        return fail_unknown(reader, profiles, name);
    }
    strlist_addf(&reader->origins, "profile %s", name);
    if (profile->type == YAML_MAP) {
        yaml_merge(reader->root, profile, reader->origins.items[reader->origins.len - 1]);
    }
    return 0;
}

int profiles_apply(struct job_reader *reader)
{
    const struct yaml_node *profiles = yaml_get(reader->root, "profiles");
    if (profiles && yaml_is_null(profiles)) {
        profiles = NULL;
    }
    if (profiles && profiles->type != YAML_MAP) {
        return reader_fail_type(reader, profiles, "profiles", "a mapping of names to keys of the job file");
    }
    for (size_t i = 0; profiles && i < profiles->len; i++) {
        if (check_profile(reader, profiles->entries[i].key, profiles->entries[i].value) < 0) {
            return -1;
        }
    }
    const struct strlist *wanted = reader->request->profiles;
    for (size_t i = 0; wanted && i < wanted->len; i++) {
        if (merge_profile(reader, profiles, wanted->items[i]) < 0) {
            return -1;
        }
    }
    return 0;
}
