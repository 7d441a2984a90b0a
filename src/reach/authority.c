/* Reads the certificate authorities of known_hosts files. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "reach/authority_internal.h"
#include "reach/pattern_internal.h"

#define MARKER "@cert-authority"

struct authority {
    struct strlist names; /* patterns in lower case */
    unsigned line;
};

struct authority_file {
    char *path;
    struct authority *items;
    size_t len, cap;
};

struct ssh_authorities {
    struct authority_file *files;
    size_t len, cap;
};

struct ssh_authorities *ssh_authorities_new(void)
{
    return xcalloc(1, sizeof(struct ssh_authorities));
}

void ssh_authorities_free(struct ssh_authorities *authorities)
{
    if (!authorities) {
        return;
    }
    for (size_t f = 0; f < authorities->len; f++) {
        for (size_t i = 0; i < authorities->files[f].len; i++) {
            strlist_release(&authorities->files[f].items[i].names);
        }
        free(authorities->files[f].items);
        free(authorities->files[f].path);
    }
    free(authorities->files);
    free(authorities);
}

/* text: the whole line; it is modified. */
static void read_line(struct authority_file *file, char *text, unsigned number)
{
    char *save = NULL, *word = strtok_r(text, " \t\r", &save);

    if (!word || strcmp(word, MARKER) != 0) {
        return;
    }
    word = strtok_r(NULL, " \t\r", &save);
    if (!word) {
        return;
    }
    file->items = xgrow(file->items, file->len, &file->cap, sizeof(*file->items));
    struct authority *authority = &file->items[file->len++];
    *authority = (struct authority){.line = number};
    ssh_pattern_split(word, true, &authority->names);
}

static void read_file(struct authority_file *file)
{
    AUTO_STR struct str text = STR_INIT;
    unsigned number = 1;

    if (!file_exists(file->path) || file_read(file->path, KNOWN_HOSTS_MAX_BYTES, &text, NULL) != 0 ||
        !strstr(str_text(&text), MARKER)) {
        return;
    }
    for (char *at = text.data, *stop; at; at = stop, number++) {
        stop = strchr(at, '\n');
        if (stop) {
            *stop++ = '\0';
        }
        read_line(file, at, number);
    }
}

static const struct authority_file *get_file(struct ssh_authorities *authorities, const char *path)
{
    for (size_t i = 0; i < authorities->len; i++) {
        if (strcmp(authorities->files[i].path, path) == 0) {
            return &authorities->files[i];
        }
    }
    authorities->files =
        xgrow(authorities->files, authorities->len, &authorities->cap, sizeof(*authorities->files));
    struct authority_file *file = &authorities->files[authorities->len++];
    *file = (struct authority_file){.path = xstrdup(path)};
    read_file(file);
    return file;
}

char *ssh_authorities_find(struct ssh_authorities *authorities, const struct known_name *name)
{
    AUTO_STRLIST struct strlist forms = STRLIST_INIT;

    if (!authorities) {
        return NULL;
    }
    known_name_forms(name, &forms);
    for (size_t f = 0; f < name->files->len; f++) {
        const struct authority_file *file = get_file(authorities, name->files->items[f]);
        for (size_t i = 0; i < file->len; i++) {
            const struct strlist *names = &file->items[i].names;
            for (size_t form = 0; form < forms.len; form++) {
                if (ssh_pattern_list_matches(forms.items[form], names->items, names->len)) {
                    return xasprintf("%s:%u", file->path, file->items[i].line);
                }
            }
        }
    }
    return NULL;
}
