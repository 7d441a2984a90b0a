/* Checks a host's key against known_hosts files, and finds the key types that they know for a host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"
#include "model/kind.h"
#include "reach/known_hosts_internal.h"
#include "reach/pattern_internal.h"

#define SSH_PORT 22

static bool line_names(const struct known_hosts *known, const struct known_line *line, const char *name)
{
    if (line->hash) {
        return known_hash_matches(known->hasher, line->hash, name);
    }
    return ssh_pattern_list_matches(name, line->names.items, line->names.len);
}

struct known_name known_name_of(const struct endpoint *endpoint)
{
    return (struct known_name){.alias = endpoint->key_name,
                               .hostname = endpoint->hostname,
                               .port = endpoint->port,
                               .files = &endpoint->known_hosts};
}

void known_name_forms(const struct known_name *name, struct strlist *forms)
{
    AUTO_FREE char *host = xstrdup(name->alias ? name->alias : name->hostname);

    text_lower(host);
    if (!name->alias && name->port != SSH_PORT) {
        strlist_addf(forms, "[%s]:%u", host, name->port);
    }
    strlist_add(forms, host);
}

/* What the files say about one key of one name. */
struct verdict {
    bool known;
    const struct known_line *revoked, *other_key, *other_type;
    const char *revoked_file, *other_key_file, *other_type_file;
};

static void judge_line(struct verdict *verdict, const char *path, const struct known_line *line,
                       const struct known_key *key)
{
    bool same = strcmp(line->blob, key->blob) == 0;

    if (line->revoked) {
        if (same) {
            verdict->revoked = line;
            verdict->revoked_file = path;
        }
    } else if (same) {
        verdict->known = true;
    } else if (strcmp(line->type, key->type) == 0) {
        verdict->other_key = verdict->other_key ? verdict->other_key : line;
        verdict->other_key_file = verdict->other_key_file ? verdict->other_key_file : path;
    } else {
        verdict->other_type = verdict->other_type ? verdict->other_type : line;
        verdict->other_type_file = verdict->other_type_file ? verdict->other_type_file : path;
    }
}

/* Judge the name only by the lines that have this key. */
static int judge_by_key(struct known_hosts *known, const struct known_name *name, const char *form,
                        const struct known_key *key, struct verdict *verdict, struct error *err)
{
    uint64_t hash = known_text_hash(key->blob);

    for (size_t f = 0; f < name->files->len; f++) {
        const struct known_file *file = known_hosts_get(known, name->files->items[f], err);
        if (!file) {
            return -1;
        }
        for (size_t i = known_mark_find(file->by_key, file->by_key_len, hash);
             i < file->by_key_len && file->by_key[i].hash == hash; i++) {
            const struct known_line *line = &file->lines[file->by_key[i].line];
            if (verdict->known && !file->revokes) { /* cloned machines: thousands of lines may have one key */
                break;
            }
            if (strcmp(line->blob, key->blob) == 0 && line_names(known, line, form)) {
                judge_line(verdict, file->path, line, key);
            }
        }
        for (size_t i = file->by_key_len; i < file->len; i++) { /* added after the file was indexed */
            const struct known_line *line = &file->lines[i];
            if (strcmp(line->blob, key->blob) == 0 && line_names(known, line, form)) {
                judge_line(verdict, file->path, line, key);
            }
        }
    }
    return 0;
}

static int judge(struct known_hosts *known, const struct known_name *name, const char *form,
                 const struct known_key *key, struct verdict *verdict, struct error *err)
{
    for (size_t f = 0; f < name->files->len; f++) {
        const struct known_file *file = known_hosts_get(known, name->files->items[f], err);
        if (!file) {
            return -1;
        }
        for (size_t i = 0; i < file->len; i++) {
            if (line_names(known, &file->lines[i], form)) {
                judge_line(verdict, file->path, &file->lines[i], key);
            }
        }
    }
    return 0;
}

/* The text does not name the host, so that the same failure of many hosts is one message. */
static int report_unknown(const struct known_name *name, const struct known_key *key,
                          const struct verdict *verdict, struct error *err)
{
    AUTO_FREE char *files = strlist_join(name->files, " ");

    error_set(err, &kind_hostkey_unknown, "the host key is not known: %s %s is in none of: %s", key->type,
              key->fingerprint, files);
    if (verdict->other_type) {
        error_set(err, &kind_hostkey_unknown, "the host key is not known: it shows %s %s, known is %s",
                  key->type, key->fingerprint, verdict->other_type->type);
        error_at(err, verdict->other_type_file, verdict->other_type->line, 0);
    }
    return error_hint(err,
                      "compare the fingerprint with the host's own and add it: mtlaunch hosts --trust with"
                      " the same host list or job, or ssh to the host once, or ssh-keyscan");
}

static int report_changed(const struct known_key *key, const struct verdict *verdict, const char *form,
                          struct error *err)
{
    error_set(err, &kind_hostkey_changed,
              "the host key has changed: it shows %s %s, line %u of '%s' contains another one", key->type,
              key->fingerprint, verdict->other_key->line, verdict->other_key_file);
    error_at(err, verdict->other_key_file, verdict->other_key->line, 0);
    return error_hint(
        err,
        "someone may be intercepting the connection; if the host was reinstalled, remove the old key:"
        " ssh-keygen -R '%s' -f %s",
        form, verdict->other_key_file);
}

static int report_revoked(const struct known_key *key, const struct verdict *verdict, struct error *err)
{
    error_set(err, &kind_hostkey_revoked, "the host key is revoked: %s %s", key->type, key->fingerprint);
    error_at(err, verdict->revoked_file, verdict->revoked->line, 0);
    return error_hint(err, "do not log in to this host before its keys have been replaced");
}

int known_hosts_check(struct known_hosts *known, const struct known_name *name, const struct known_key *key,
                      struct error *err)
{
    AUTO_STRLIST struct strlist forms = STRLIST_INIT;
    struct verdict own = {0}, bare = {0};

    known_name_forms(name, &forms);
    if (judge_by_key(known, name, forms.items[0], key, &own, err) != 0 ||
        (forms.len > 1 && judge_by_key(known, name, forms.items[1], key, &bare, err) != 0)) {
        return -1;
    }
    if (own.revoked || bare.revoked) {
        return report_revoked(key, own.revoked ? &own : &bare, err);
    }
    if (own.known) {
        return 0;
    }
    if (judge(known, name, forms.items[0], key, &own, err) != 0) {
        return -1;
    }
    if (own.other_key) {
        return report_changed(key, &own, forms.items[0], err);
    }
    if (bare.known && !own.other_type) {
        return 0;
    }
    return report_unknown(name, key, &own, err);
}

static void add_type(const struct known_hosts *known, const struct known_line *line, const char *form,
                     struct strlist *types)
{
    if (!line->revoked && line_names(known, line, form) && !strlist_has(types, line->type)) {
        strlist_add(types, line->type);
    }
}

static void add_types_exactly(const struct known_hosts *known, const struct known_file *file,
                              const char *form, struct strlist *types)
{
    for (size_t i = 0; i < file->len; i++) {
        add_type(known, &file->lines[i], form, types);
    }
}

static void add_types(const struct known_hosts *known, const struct known_file *file, const char *form,
                      struct strlist *types)
{
    uint64_t hash = known_text_hash(form);

    for (size_t i = known_mark_find(file->by_name, file->by_name_len, hash);
         i < file->by_name_len && file->by_name[i].hash == hash; i++) {
        add_type(known, &file->lines[file->by_name[i].line], form, types);
    }
    for (size_t i = 0; i < file->patterns_len; i++) {
        add_type(known, &file->lines[file->patterns[i]], form, types);
    }
    for (size_t i = file->by_key_len; i < file->len; i++) {
        add_type(known, &file->lines[i], form, types);
    }
}

int known_hosts_types(struct known_hosts *known, const struct known_name *name, bool exactly,
                      struct strlist *types, struct error *err)
{
    AUTO_STRLIST struct strlist forms = STRLIST_INIT;

    known_name_forms(name, &forms);
    for (size_t form = 0; form < forms.len && types->len == 0; form++) {
        for (size_t f = 0; f < name->files->len; f++) {
            const struct known_file *file = known_hosts_get(known, name->files->items[f], err);
            if (!file) {
                return -1;
            }
            if (exactly) {
                add_types_exactly(known, file, forms.items[form], types);
            } else {
                add_types(known, file, forms.items[form], types);
            }
        }
    }
    for (size_t f = 0; f < name->files->len && types->len == 0 && !exactly; f++) {
        const struct known_file *file = known_hosts_get(known, name->files->items[f], err);
        if (file && file->hashed_type && !file->several_types) {
            strlist_add(types, file->hashed_type);
        }
    }
    return 0;
}

char *known_hosts_line(const struct known_name *name, const struct known_key *key)
{
    AUTO_STRLIST struct strlist forms = STRLIST_INIT;

    known_name_forms(name, &forms);
    return xasprintf("%s %s %s\n", forms.items[0], key->type, key->blob);
}

int known_hosts_add(struct known_hosts *known, const struct known_name *name, const struct known_key *key,
                    const char *path, struct error *err)
{
    AUTO_FREE char *text = known_hosts_line(name, key);
    struct known_file *file = known_hosts_get(known, path, err);
    struct error trouble = ERROR_INIT;

    if (!file) {
        return -1;
    }
    if (known_hosts_append(path, text, NULL, &trouble) != 0 && !known_hosts_is_unwritable(errno)) {
        if (err) {
            *err = trouble;
        }
        return error_prefix(err, "known hosts");
    }
    known_file_add(file, text, strlen(text) - 1, 0);
    return 0;
}
