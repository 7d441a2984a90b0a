#include <ctype.h>
#include <errno.h>
#include <libssh/libssh.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "model/kind.h"
#include "transport/ssh_known_hosts_internal.h"
#include "transport/ssh_pattern_internal.h"

#define SSH_PORT       22
#define MAX_FILE_BYTES ((size_t)64 << 20)
#define MAX_FORMS      2 /* names a host is looked up by */

struct known_line {
    bool revoked;
    bool hashed;
    struct strlist names; /* patterns in lower case; hashed: the one field */
    char *type;
    char *blob;
    unsigned line;
};

struct known_file {
    char *path;
    struct known_line *lines;
    size_t len, cap;
};

struct known_hosts {
    struct known_file **files;
    size_t len, cap;
};

struct known_hosts *known_hosts_new(void)
{
    return xcalloc(1, sizeof(struct known_hosts));
}

void known_hosts_free(struct known_hosts *known)
{
    if (known == NULL)
        return;
    for (size_t f = 0; f < known->len; f++) {
        struct known_file *file = known->files[f];
        for (size_t i = 0; i < file->len; i++) {
            strlist_release(&file->lines[i].names);
            free(file->lines[i].type);
            free(file->lines[i].blob);
        }
        free(file->lines);
        free(file->path);
        free(file);
    }
    free(known->files);
    free(known);
}

static void lower(char *text)
{
    for (; *text != '\0'; text++)
        *text = (char)tolower((unsigned char)*text);
}

/* The next word of the line, NULL at its end; *at moves behind it. The caller frees. */
static char *take_word(const char **at, const char *end)
{
    const char *start = *at;

    while (start < end && (*start == ' ' || *start == '\t'))
        start++;
    *at = start;
    while (*at < end && **at != ' ' && **at != '\t')
        (*at)++;
    return *at > start ? xstrndup(start, (size_t)(*at - start)) : NULL;
}

static void split_names(struct known_line *line, char *field)
{
    line->hashed = field[0] == '|';
    if (line->hashed) {
        strlist_add(&line->names, field);
        return;
    }
    lower(field);
    for (char *save = NULL, *name = strtok_r(field, ",", &save); name != NULL;
         name = strtok_r(NULL, ",", &save))
        strlist_add(&line->names, name);
}

/* "[@marker] names type blob [comment]"; anything else is passed over, as ssh does. */
static void parse_line(struct known_file *file, const char *at, size_t len, unsigned number)
{
    const char *end = at + len;
    AUTO_FREE char *first = take_word(&at, end);
    struct known_line line = {.line = number};

    if (first == NULL || first[0] == '#')
        return;
    if (first[0] == '@') {
        if (strcmp(first, "@revoked") != 0)
            return;
        line.revoked = true;
        free(first);
        first = take_word(&at, end);
    }
    line.type = take_word(&at, end);
    line.blob = take_word(&at, end);
    if (first == NULL || line.type == NULL || line.blob == NULL) {
        free(line.type);
        free(line.blob);
        return;
    }
    split_names(&line, first);
    file->lines = xgrow(file->lines, file->len, &file->cap, sizeof(*file->lines));
    file->lines[file->len++] = line;
}

static int read_file(struct known_file *file, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    const char *at, *end;

    if (access(file->path, F_OK) != 0)
        return 0;
    if (file_read(file->path, MAX_FILE_BYTES, &text, err) != 0)
        return error_prefix(err, "known hosts");
    at = str_text(&text);
    end = at + text.len;
    for (unsigned number = 1; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop != NULL ? stop : end) - at);
        parse_line(file, at, len > 0 && at[len - 1] == '\r' ? len - 1 : len, number);
        at += len + 1;
    }
    return 0;
}

static struct known_file *get_file(struct known_hosts *known, const char *path, struct error *err)
{
    struct known_file *file;

    for (size_t i = 0; i < known->len; i++) {
        if (strcmp(known->files[i]->path, path) == 0)
            return known->files[i];
    }
    file = xcalloc(1, sizeof(*file));
    file->path = xstrdup(path);
    if (read_file(file, err) != 0) {
        free(file->path);
        free(file);
        return NULL;
    }
    known->files = xgrow(known->files, known->len, &known->cap, sizeof(*known->files));
    known->files[known->len++] = file;
    return file;
}

/* libssh does the HMAC: a line of the hashed name and no key "parses" no further when the name does not
 * match. */
static bool matches_hash(const char *name, const char *hash)
{
    struct ssh_knownhosts_entry *entry = NULL;
    int answer = ssh_known_hosts_parse_line(name, hash, &entry);

    SSH_KNOWNHOSTS_ENTRY_FREE(entry);
    return answer != SSH_AGAIN;
}

static bool line_names(const struct known_line *line, const char *name)
{
    if (line->hashed)
        return matches_hash(name, line->names.items[0]);
    return ssh_pattern_list_matches(name, line->names.items, line->names.len);
}

/*
 * The forms a host is looked up by: the alias alone; "[host]:port" for another port than 22, and then, as ssh
 * does, the bare name; for port 22 the bare name and "[host]:22", which patterns with a port may match.
 */
static void lookup_names(const struct known_name *name, struct strlist *forms)
{
    AUTO_FREE char *host = xstrdup(name->alias != NULL ? name->alias : name->hostname);

    lower(host);
    if (name->alias == NULL && name->port != SSH_PORT)
        strlist_addf(forms, "[%s]:%u", host, name->port);
    strlist_add(forms, host);
    if (name->alias == NULL && name->port == SSH_PORT)
        strlist_addf(forms, "[%s]:%u", host, name->port);
}

/* What the files say about one key. */
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
        verdict->other_key = verdict->other_key != NULL ? verdict->other_key : line;
        verdict->other_key_file = verdict->other_key_file != NULL ? verdict->other_key_file : path;
    } else {
        verdict->other_type = verdict->other_type != NULL ? verdict->other_type : line;
        verdict->other_type_file = verdict->other_type_file != NULL ? verdict->other_type_file : path;
    }
}

static int judge(struct known_hosts *known, const struct known_name *name, const char *form,
                 const struct known_key *key, struct verdict *verdict, struct error *err)
{
    for (size_t f = 0; f < name->files->len; f++) {
        const struct known_file *file = get_file(known, name->files->items[f], err);
        if (file == NULL)
            return -1;
        for (size_t i = 0; i < file->len; i++) {
            if (line_names(&file->lines[i], form))
                judge_line(verdict, file->path, &file->lines[i], key);
        }
    }
    return 0;
}

static int report_unknown(const struct known_name *name, const struct known_key *key,
                          const struct verdict *verdict, struct error *err)
{
    AUTO_FREE char *files = strlist_join(name->files, " ");
    const char *host = name->alias != NULL ? name->alias : name->hostname;
    const char *user_file = name->files->len > 0 ? name->files->items[0] : "~/.ssh/known_hosts";

    error_set(err, &kind_hostkey_unknown, "host key of '%s' port %u is not known: %s %s is in none of: %s",
              host, name->port, key->type, key->fingerprint, files);
    if (verdict->other_type != NULL) {
        error_set(err, &kind_hostkey_unknown,
                  "host key of '%s' port %u is not known: it shows %s %s, known is %s", host, name->port,
                  key->type, key->fingerprint, verdict->other_type->type);
        error_at(err, verdict->other_type_file, verdict->other_type->line, 0);
    }
    if (name->port == SSH_PORT)
        return error_hint(err,
                          "compare the fingerprint with the host's own, then add it: run 'ssh %s' once, or"
                          " 'ssh-keyscan %s >>%s'",
                          name->hostname, name->hostname, user_file);
    return error_hint(err,
                      "compare the fingerprint with the host's own, then add it: run 'ssh -p %u %s' once, or"
                      " 'ssh-keyscan -p %u %s >>%s'",
                      name->port, name->hostname, name->port, name->hostname, user_file);
}

static int report_changed(const struct known_name *name, const struct known_key *key,
                          const struct verdict *verdict, const char *form, struct error *err)
{
    error_set(err, &kind_hostkey_changed,
              "host key of '%s' port %u has changed: it shows %s %s, line %u of '%s' holds another one",
              name->alias != NULL ? name->alias : name->hostname, name->port, key->type, key->fingerprint,
              verdict->other_key->line, verdict->other_key_file);
    error_at(err, verdict->other_key_file, verdict->other_key->line, 0);
    return error_hint(err,
                      "somebody may sit in between; if the host was reinstalled, remove the old key:"
                      " ssh-keygen -R '%s' -f %s",
                      form, verdict->other_key_file);
}

static int report_revoked(const struct known_name *name, const struct known_key *key,
                          const struct verdict *verdict, struct error *err)
{
    error_set(err, &kind_hostkey_revoked, "host key of '%s' port %u is revoked: %s %s",
              name->alias != NULL ? name->alias : name->hostname, name->port, key->type, key->fingerprint);
    error_at(err, verdict->revoked_file, verdict->revoked->line, 0);
    return error_hint(err, "do not log in to this host before its keys were replaced");
}

int known_hosts_check(struct known_hosts *known, const struct known_name *name, const struct known_key *key,
                      struct error *err)
{
    AUTO_STRLIST struct strlist forms = STRLIST_INIT;
    struct verdict verdicts[MAX_FORMS] = {0};

    lookup_names(name, &forms);
    for (size_t i = 0; i < forms.len; i++) {
        if (judge(known, name, forms.items[i], key, &verdicts[i], err) != 0)
            return -1;
        if (verdicts[i].revoked != NULL)
            return report_revoked(name, key, &verdicts[i], err);
    }
    for (size_t i = 0; i < forms.len; i++) {
        if (verdicts[i].known)
            return 0;
        if (verdicts[i].other_key != NULL)
            return report_changed(name, key, &verdicts[i], forms.items[i], err);
    }
    return report_unknown(name, key, &verdicts[verdicts[0].other_type == NULL ? forms.len - 1 : 0], err);
}

int known_hosts_types(struct known_hosts *known, const struct known_name *name, struct strlist *types,
                      struct error *err)
{
    AUTO_STRLIST struct strlist forms = STRLIST_INIT;

    lookup_names(name, &forms);
    for (size_t form = 0; form < forms.len && types->len == 0; form++) {
        for (size_t f = 0; f < name->files->len; f++) {
            const struct known_file *file = get_file(known, name->files->items[f], err);
            if (file == NULL)
                return -1;
            for (size_t i = 0; i < file->len; i++) {
                if (!file->lines[i].revoked && line_names(&file->lines[i], forms.items[form]) &&
                    !strlist_has(types, file->lines[i].type))
                    strlist_add(types, file->lines[i].type);
            }
        }
    }
    return 0;
}
