#include "reach/known_hosts.h"

#include <errno.h>
#include <libssh/libssh.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "model/kind.h"
#include "reach/pattern_internal.h"

#define SSH_PORT 22

struct known_line {
    bool revoked;
    bool hashed;
    struct strlist names; /* patterns in lower case; hashed: the one field */
    char *type;
    char *blob;
    unsigned line;
};

/* A line under the hash of its key, or of one of its names. */
struct known_mark {
    uint64_t hash;
    size_t line;
};

struct known_file {
    char *path;
    struct known_line *lines;
    size_t len, cap;
    struct known_mark *by_key;  /* of all lines that were read, sorted */
    struct known_mark *by_name; /* of names in clear without '*', '?' and '!', sorted */
    size_t by_key_len, by_name_len, by_name_cap;
    size_t *patterns; /* lines with such names */
    size_t patterns_len, patterns_cap;
    const char *hashed_type; /* the one type of all lines with hashed names; NULL: none, or several */
    bool several_types;
    bool revokes; /* some line does */
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
    if (!known) {
        return;
    }
    for (size_t f = 0; f < known->len; f++) {
        struct known_file *file = known->files[f];
        for (size_t i = 0; i < file->len; i++) {
            strlist_release(&file->lines[i].names);
            free(file->lines[i].type);
            free(file->lines[i].blob);
        }
        free(file->lines);
        free(file->by_key);
        free(file->by_name);
        free(file->patterns);
        free(file->path);
        free(file);
    }
    free(known->files);
    free(known);
}

/* The next word of the line, NULL at its end; *at moves behind it. The caller frees. */
static char *take_word(const char **at, const char *end)
{
    const char *start = *at;

    while (start < end && (*start == ' ' || *start == '\t')) {
        start++;
    }
    *at = start;
    while (*at < end && **at != ' ' && **at != '\t') {
        (*at)++;
    }
    return *at > start ? xstrndup(start, (size_t)(*at - start)) : NULL;
}

static void split_names(struct known_line *line, char *field)
{
    line->hashed = field[0] == '|';
    if (line->hashed) {
        strlist_add(&line->names, field);
        return;
    }
    text_lower(field);
    for (char *save = NULL, *name = strtok_r(field, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        strlist_add(&line->names, name);
    }
}

/* "[@marker] names type blob [comment]"; anything else is passed over, as ssh does. */
static void parse_line(struct known_file *file, const char *at, size_t len, unsigned number)
{
    const char *end = at + len;
    AUTO_FREE char *first = take_word(&at, end);
    struct known_line line = {.line = number};

    if (!first || first[0] == '#') {
        return;
    }
    if (first[0] == '@') {
        if (strcmp(first, "@revoked") != 0) {
            return;
        }
        line.revoked = true;
        free(first);
        first = take_word(&at, end);
    }
    line.type = take_word(&at, end);
    line.blob = take_word(&at, end);
    if (!first || !line.type || !line.blob) {
        free(line.type);
        free(line.blob);
        return;
    }
    split_names(&line, first);
    file->revokes |= line.revoked;
    file->lines = xgrow(file->lines, file->len, &file->cap, sizeof(*file->lines));
    file->lines[file->len++] = line;
}

static int read_file(struct known_file *file, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    const char *at, *end;

    if (access(file->path, F_OK) != 0) {
        return 0;
    }
    if (file_read(file->path, KNOWN_HOSTS_MAX_BYTES, &text, err) != 0) {
        return error_prefix(err, "known hosts");
    }
    at = str_text(&text);
    end = at + text.len;
    for (unsigned number = 1; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop ? stop : end) - at);
        parse_line(file, at, len > 0 && at[len - 1] == '\r' ? len - 1 : len, number);
        at += len + 1;
    }
    return 0;
}

/* FNV-1a */
static uint64_t hash_text(const char *text)
{
    uint64_t hash = 14695981039346656037u;

    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    }
    return hash;
}

static int compare_marks(const void *a, const void *b)
{
    const struct known_mark *left = a, *right = b;

    if (left->hash != right->hash) {
        return left->hash < right->hash ? -1 : 1;
    }
    return left->line < right->line ? -1 : left->line > right->line;
}

/* The first mark with that hash, or behind where it would stand. */
static size_t find_mark(const struct known_mark *marks, size_t len, uint64_t hash)
{
    size_t low = 0, high = len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (marks[middle].hash < hash) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void mark_names(struct known_file *file, size_t at)
{
    const struct known_line *line = &file->lines[at];
    bool pattern = false;

    for (size_t i = 0; i < line->names.len; i++) {
        pattern = pattern || strpbrk(line->names.items[i], "*?!");
    }
    if (pattern) {
        file->patterns =
            xgrow(file->patterns, file->patterns_len, &file->patterns_cap, sizeof(*file->patterns));
        file->patterns[file->patterns_len++] = at;
        return;
    }
    for (size_t i = 0; i < line->names.len; i++) {
        file->by_name = xgrow(file->by_name, file->by_name_len, &file->by_name_cap, sizeof(*file->by_name));
        file->by_name[file->by_name_len++] =
            (struct known_mark){.hash = hash_text(line->names.items[i]), .line = at};
    }
}

/* A hashed name can only be found by trying each line's salt; so lines are found by the key that is shown. */
static void make_index(struct known_file *file)
{
    file->by_key = xcalloc(file->len + 1, sizeof(*file->by_key));
    for (size_t i = 0; i < file->len; i++) {
        const struct known_line *line = &file->lines[i];
        file->by_key[i] = (struct known_mark){.hash = hash_text(line->blob), .line = i};
        if (!line->hashed) {
            mark_names(file, i);
            continue;
        }
        file->several_types |= file->hashed_type && strcmp(file->hashed_type, line->type) != 0;
        file->hashed_type = line->type;
    }
    file->by_key_len = file->len;
    qsort(file->by_key, file->by_key_len, sizeof(*file->by_key), compare_marks);
    if (file->by_name_len > 0) {
        qsort(file->by_name, file->by_name_len, sizeof(*file->by_name), compare_marks);
    }
}

static struct known_file *get_file(struct known_hosts *known, const char *path, struct error *err)
{
    struct known_file *file;

    for (size_t i = 0; i < known->len; i++) {
        if (strcmp(known->files[i]->path, path) == 0) {
            return known->files[i];
        }
    }
    file = xcalloc(1, sizeof(*file));
    file->path = xstrdup(path);
    if (read_file(file, err) != 0) {
        free(file->path);
        free(file);
        return NULL;
    }
    make_index(file);
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
    if (line->hashed) {
        return matches_hash(name, line->names.items[0]);
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
        verdict->other_key = verdict->other_key ? verdict->other_key : line;
        verdict->other_key_file = verdict->other_key_file ? verdict->other_key_file : path;
    } else {
        verdict->other_type = verdict->other_type ? verdict->other_type : line;
        verdict->other_type_file = verdict->other_type_file ? verdict->other_type_file : path;
    }
}

/* What the lines with the very key say about that name, without looking at any other line. */
static int judge_by_key(struct known_hosts *known, const struct known_name *name, const char *form,
                        const struct known_key *key, struct verdict *verdict, struct error *err)
{
    uint64_t hash = hash_text(key->blob);

    for (size_t f = 0; f < name->files->len; f++) {
        const struct known_file *file = get_file(known, name->files->items[f], err);
        if (!file) {
            return -1;
        }
        for (size_t i = find_mark(file->by_key, file->by_key_len, hash);
             i < file->by_key_len && file->by_key[i].hash == hash; i++) {
            const struct known_line *line = &file->lines[file->by_key[i].line];
            if (verdict->known && !file->revokes) { /* of cloned machines thousands of lines have one key */
                break;
            }
            if (strcmp(line->blob, key->blob) == 0 && line_names(line, form)) {
                judge_line(verdict, file->path, line, key);
            }
        }
        for (size_t i = file->by_key_len; i < file->len; i++) { /* added since */
            const struct known_line *line = &file->lines[i];
            if (strcmp(line->blob, key->blob) == 0 && line_names(line, form)) {
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
        const struct known_file *file = get_file(known, name->files->items[f], err);
        if (!file) {
            return -1;
        }
        for (size_t i = 0; i < file->len; i++) {
            if (line_names(&file->lines[i], form)) {
                judge_line(verdict, file->path, &file->lines[i], key);
            }
        }
    }
    return 0;
}

/* No name of the host in the text: the same failure of many hosts is one message. */
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
              "the host key has changed: it shows %s %s, line %u of '%s' holds another one", key->type,
              key->fingerprint, verdict->other_key->line, verdict->other_key_file);
    error_at(err, verdict->other_key_file, verdict->other_key->line, 0);
    return error_hint(err,
                      "somebody may sit in between; if the host was reinstalled, remove the old key:"
                      " ssh-keygen -R '%s' -f %s",
                      form, verdict->other_key_file);
}

static int report_revoked(const struct known_key *key, const struct verdict *verdict, struct error *err)
{
    error_set(err, &kind_hostkey_revoked, "the host key is revoked: %s %s", key->type, key->fingerprint);
    error_at(err, verdict->revoked_file, verdict->revoked->line, 0);
    return error_hint(err, "do not log in to this host before its keys were replaced");
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

static void add_type(const struct known_line *line, const char *form, struct strlist *types)
{
    if (!line->revoked && line_names(line, form) && !strlist_has(types, line->type)) {
        strlist_add(types, line->type);
    }
}

static void add_types_exactly(const struct known_file *file, const char *form, struct strlist *types)
{
    for (size_t i = 0; i < file->len; i++) {
        add_type(&file->lines[i], form, types);
    }
}

static void add_types(const struct known_file *file, const char *form, struct strlist *types)
{
    uint64_t hash = hash_text(form);

    for (size_t i = find_mark(file->by_name, file->by_name_len, hash);
         i < file->by_name_len && file->by_name[i].hash == hash; i++) {
        add_type(&file->lines[file->by_name[i].line], form, types);
    }
    for (size_t i = 0; i < file->patterns_len; i++) {
        add_type(&file->lines[file->patterns[i]], form, types);
    }
    for (size_t i = file->by_key_len; i < file->len; i++) {
        add_type(&file->lines[i], form, types);
    }
}

int known_hosts_types(struct known_hosts *known, const struct known_name *name, bool exactly,
                      struct strlist *types, struct error *err)
{
    AUTO_STRLIST struct strlist forms = STRLIST_INIT;

    known_name_forms(name, &forms);
    for (size_t form = 0; form < forms.len && types->len == 0; form++) {
        for (size_t f = 0; f < name->files->len; f++) {
            const struct known_file *file = get_file(known, name->files->items[f], err);
            if (!file) {
                return -1;
            }
            if (exactly) {
                add_types_exactly(file, forms.items[form], types);
            } else {
                add_types(file, forms.items[form], types);
            }
        }
    }
    for (size_t f = 0; f < name->files->len && types->len == 0 && !exactly; f++) {
        const struct known_file *file = get_file(known, name->files->items[f], err);
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
    struct known_file *file = get_file(known, path, err);
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
    parse_line(file, text, strlen(text) - 1, 0);
    return 0;
}
