/* Reads known_hosts files, each once, and indexes their lines by key and by name. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "reach/known_hosts_internal.h"

static void release_line(struct known_line *line)
{
    strlist_release(&line->names);
    free(line->hash);
    free(line->type);
    free(line->blob);
}

struct known_hosts *known_hosts_new(void)
{
    struct known_hosts *known = xcalloc(1, sizeof(*known));

    known->hasher = known_hasher_new();
    return known;
}

void known_hosts_free(struct known_hosts *known)
{
    if (!known) {
        return;
    }
    for (size_t f = 0; f < known->len; f++) {
        struct known_file *file = known->files[f];
        for (size_t i = 0; i < file->len; i++) {
            release_line(&file->lines[i]);
        }
        free(file->lines);
        free(file->by_key);
        free(file->by_name);
        free(file->patterns);
        free(file->path);
        free(file);
    }
    free(known->files);
    known_hasher_free(known->hasher);
    free(known);
}

/* The next word of the line; NULL at its end. *at moves past the word. The caller frees. */
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

/* "host,[host]:2222,*.example" or one hashed name. False: the hash has an unknown form. */
static bool take_names(struct known_line *line, char *field)
{
    if (field[0] == '|') {
        line->hash = xcalloc(1, sizeof(*line->hash));
        return known_hash_parse(field, line->hash);
    }
    text_lower(field);
    for (char *save = NULL, *name = strtok_r(field, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        strlist_add(&line->names, name);
    }
    return true;
}

/* "[@marker] names type blob [comment]" */
void known_file_add(struct known_file *file, const char *text, size_t len, unsigned number)
{
    const char *at = text, *end = text + len;
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
    if (!first || !line.type || !line.blob || !take_names(&line, first)) {
        release_line(&line);
        return;
    }
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
        known_file_add(file, at, len > 0 && at[len - 1] == '\r' ? len - 1 : len, number);
        at += len + 1;
    }
    return 0;
}

uint64_t known_text_hash(const char *text)
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

size_t known_mark_find(const struct known_mark *marks, size_t len, uint64_t hash)
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
            (struct known_mark){.hash = known_text_hash(line->names.items[i]), .line = at};
    }
}

/* A hashed name can only be found by trying the salt of every line, so lines are indexed by their keys as
 * well. */
static void make_index(struct known_file *file)
{
    file->by_key = xcalloc(file->len + 1, sizeof(*file->by_key));
    for (size_t i = 0; i < file->len; i++) {
        const struct known_line *line = &file->lines[i];
        file->by_key[i] = (struct known_mark){.hash = known_text_hash(line->blob), .line = i};
        if (!line->hash) {
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

struct known_file *known_hosts_get(struct known_hosts *known, const char *path, struct error *err)
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
