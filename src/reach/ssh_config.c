/* Reads ssh_config files into blocks and directives. */
#include "reach/ssh_config.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "model/kind.h"
#include "reach/pattern_internal.h"
#include "reach/ssh_config_internal.h"

#define SYSTEM_CONFIG  "/etc/ssh/ssh_config"
#define SYSTEM_FOLDER  "/etc/ssh"
#define MAX_FILE_BYTES ((size_t)4 << 20)
#define MAX_DEPTH      16 /* depth of Include, as in OpenSSH */

/* The state of reading. */
struct reader {
    struct ssh_config *config;
    const char *home;
    const char *folder; /* relative Includes are looked up there */
    bool check_mode;    /* refuse files that others may write to */
    struct strlist *warnings, *notes;
    struct strlist unknown; /* keywords already warned about, in lower case */
    struct strlist ignored; /* patterns of IgnoreUnknown */
};

/* A line that is being read. */
struct line {
    const char *file, *rest; /* rest: after the keyword */
    unsigned number;
    size_t parent, block; /* parent: of the Include of this file; block: the current one */
    unsigned depth;
};

static int read_file(struct reader *reader, const char *path, size_t parent, unsigned depth,
                     struct error *err);

/* Begin a block. A lookup evaluates its condition when it reaches this line. */
static size_t add_block(struct ssh_config *config, size_t parent)
{
    config->blocks = xgrow(config->blocks, config->blocks_len, &config->blocks_cap, sizeof(*config->blocks));
    config->blocks[config->blocks_len] = (struct ssh_block){.parent = parent};
    return config->blocks_len++;
}

static struct ssh_directive *add_directive(struct ssh_config *config, const struct ssh_keyword *keyword,
                                           size_t block, const char *file, unsigned line)
{
    struct ssh_directive *directive;

    config->directives = xgrow(config->directives, config->directives_len, &config->directives_cap,
                               sizeof(*config->directives));
    directive = &config->directives[config->directives_len++];
    *directive = (struct ssh_directive){.keyword = keyword, .block = block, .file = file, .line = line};
    return directive;
}

static int include_files(struct reader *reader, const struct strlist *words, size_t block, unsigned depth,
                         struct error *err)
{
    for (size_t i = 1; i < words->len; i++) {
        AUTO_FREE char *expanded = path_expand_home(words->items[i], reader->home);
        AUTO_FREE char *pattern = path_join(reader->folder, expanded);
        glob_t found = {0};
        int failed = 0;

        if (glob(pattern, 0, NULL, &found) == 0) {
            for (size_t f = 0; f < found.gl_pathc && failed == 0; f++) {
                failed = read_file(reader, found.gl_pathv[f], block, depth + 1, err);
            }
        }
        globfree(&found);
        if (failed != 0) {
            return -1;
        }
    }
    return 0;
}

static void warn_unknown(struct reader *reader, const char *keyword, const struct line *line)
{
    AUTO_FREE char *lower = xstrdup(keyword);

    text_lower(lower);
    if (strlist_has(&reader->unknown, lower) ||
        ssh_pattern_list_matches(lower, reader->ignored.items, reader->ignored.len)) {
        return;
    }
    strlist_add(&reader->unknown, lower);
    if (reader->warnings) {
        strlist_addf(reader->warnings, "%s:%u: unknown keyword '%s', ignored", line->file, line->number,
                     keyword);
    }
}

static void note_unjudged(struct reader *reader, const struct ssh_block *block, const struct line *line)
{
    for (size_t i = 0; i < block->len; i++) {
        if (block->criteria[i].subject == SSH_SUBJECT_OPENSSH && reader->notes) {
            strlist_addf(reader->notes, "%s:%u: '%s' is not evaluated here", line->file, line->number,
                         block->criteria[i].keyword);
        }
    }
}

/* Host or Match: the following lines belong to a new block. */
static int begin_block(struct reader *reader, const struct strlist *words, bool is_match, struct line *line,
                       struct error *err)
{
    struct ssh_block *block;

    line->block = add_block(reader->config, line->parent);
    add_directive(reader->config, NULL, line->block, line->file, line->number);
    block = &reader->config->blocks[line->block];
    if (is_match) {
        int failed = ssh_match_parse(line->rest, block, &reader->config->wants_final, err);
        note_unjudged(reader, block, line);
        return failed;
    }
    struct ssh_criterion *criterion = ssh_block_add(block, SSH_SUBJECT_HOST);
    for (size_t i = 1; i < words->len; i++) {
        strlist_add(&criterion->patterns, words->items[i]);
    }
    return 0;
}

static int read_keyword(struct reader *reader, const struct ssh_keyword *keyword, const struct strlist *words,
                        const struct line *line, struct error *err)
{
    struct ssh_directive *directive;

    if (keyword->max_args != 0 && words->len - 1 > keyword->max_args) {
        return error_set(err, &kind_ssh_config, "'%s' takes one argument, %zu are given", words->items[0],
                         words->len - 1);
    }
    directive = add_directive(reader->config, keyword, line->block, line->file, line->number);
    directive->rest = xstrdup(line->rest);
    for (size_t i = 1; i < words->len; i++) {
        strlist_add(&directive->args, words->items[i]);
    }
    if (strcmp(keyword->name, "IgnoreUnknown") == 0) {
        ssh_pattern_split(words->items[1], true, &reader->ignored);
    }
    return keyword->check ? keyword->check(&directive->args, err) : 0;
}

static int read_words(struct reader *reader, const struct strlist *words, struct line *line,
                      struct error *err)
{
    const char *name = words->items[0];
    const struct ssh_keyword *keyword = ssh_keyword_find(name);
    bool is_host = strcasecmp(name, "Host") == 0, is_match = strcasecmp(name, "Match") == 0;
    bool is_include = strcasecmp(name, "Include") == 0;

    if (!keyword && !is_host && !is_match && !is_include) {
        warn_unknown(reader, name, line);
        return 0;
    }
    if (words->len < 2 || words->items[1][0] == '\0') {
        return error_set(err, &kind_ssh_config, "'%s' has no argument", name);
    }
    if (is_include) {
        return include_files(reader, words, line->block, line->depth, err);
    }
    if (is_host || is_match) {
        return begin_block(reader, words, is_match, line, err);
    }
    return read_keyword(reader, keyword, words, line, err);
}

static int read_line(struct reader *reader, const char *text, struct line *line, struct error *err)
{
    AUTO_STRLIST struct strlist words = STRLIST_INIT;

    if (ssh_config_split(text, &words, &line->rest, err) == 0 &&
        (words.len == 0 || read_words(reader, &words, line, err) == 0)) {
        return 0;
    }
    if (err && err->line == 0) { /* an included file has set its own line already */
        error_at(err, line->file, line->number, 0);
        error_source(err, text, strlen(text));
        if (!err->hint[0]) {
            error_hint(err, "correct or remove this line; to check the file: ssh -F %s -G HOST", line->file);
        }
    }
    return -1;
}

static int read_lines(struct reader *reader, const struct str *text, const char *file, size_t parent,
                      unsigned depth, struct error *err)
{
    struct line line = {.file = file, .parent = parent, .block = parent, .depth = depth};
    const char *at = str_text(text), *end = at + text->len;

    if (memchr(at, '\0', text->len)) {
        error_set(err, &kind_ssh_config, "the file contains a NUL byte");
        return error_at(err, file, 0, 0);
    }
    for (line.number = 1; at < end; line.number++) {
        size_t len = strcspn(at, "\n");
        size_t kept = len;
        while (kept > 0 && strchr(" \t\r\f", at[kept - 1])) {
            kept--;
        }
        AUTO_FREE char *copy = xstrndup(at, kept);
        if (read_line(reader, copy, &line, err) != 0) {
            return -1;
        }
        at += len + (at[len] == '\n' ? 1 : 0);
    }
    return 0;
}

static int read_file(struct reader *reader, const char *path, size_t parent, unsigned depth,
                     struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    struct error trouble = ERROR_INIT;
    struct stat st;
    const char *file;

    if (depth > MAX_DEPTH) {
        return error_set(err, &kind_ssh_config, "Include is nested more than %d deep", MAX_DEPTH);
    }
    int problem = stat(path, &st) != 0 ? errno : 0;
    if (problem == 0 && !S_ISREG(st.st_mode)) {
        problem = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    }
    if (problem != 0) {
        if (depth > 0) { /* as in OpenSSH, an included file that cannot be read is ignored */
            return 0;
        }
        return error_set(err, &kind_ssh_config, "ssh configuration '%s' cannot be read: %s", path,
                         strerror(problem));
    }
    if ((reader->check_mode || depth > 0) &&
        ((st.st_uid != 0 && st.st_uid != getuid()) || (st.st_mode & 022) != 0)) {
        error_set(err, &kind_ssh_config, "ssh configuration '%s' is writable by others (mode %04o)", path,
                  (unsigned)(st.st_mode & 07777));
        error_at(err, path, 0, 0);
        return error_hint(err, "chmod go-w %s", path);
    }
    if (file_read(path, MAX_FILE_BYTES, &text, &trouble) != 0) {
        if (depth > 0 && errno == EACCES) {
            return 0;
        }
        return error_set(err, &kind_ssh_config, "%s", trouble.text);
    }
    strlist_add(&reader->config->files, path);
    file = reader->config->files.items[reader->config->files.len - 1];
    return read_lines(reader, &text, file, parent, depth, err);
}

static int read_default_files(struct reader *reader, struct error *err)
{
    AUTO_FREE char *folder = path_join(reader->home, ".ssh");
    AUTO_FREE char *path = path_join(folder, "config");

    reader->folder = folder;
    reader->check_mode = true;
    if (access(path, F_OK) == 0 && read_file(reader, path, SSH_NO_BLOCK, 0, err) != 0) {
        return -1;
    }
    reader->folder = SYSTEM_FOLDER;
    reader->check_mode = false;
    if (access(SYSTEM_CONFIG, R_OK) == 0) {
        return read_file(reader, SYSTEM_CONFIG, SSH_NO_BLOCK, 0, err);
    }
    return 0;
}

struct ssh_config *ssh_config_load(const char *path, const char *home, struct strlist *warnings,
                                   struct strlist *notes, struct error *err)
{
    struct reader reader = {
        .config = xcalloc(1, sizeof(struct ssh_config)), .home = home, .warnings = warnings, .notes = notes};
    int failed;

    if (!path) {
        failed = read_default_files(&reader, err);
    } else if (strcmp(path, "none") == 0) {
        failed = 0;
    } else {
        AUTO_FREE char *folder = path_join(home, ".ssh");
        AUTO_FREE char *expanded = path_expand_home(path, home);
        reader.folder = folder;
        failed = read_file(&reader, expanded, SSH_NO_BLOCK, 0, err);
    }
    strlist_release(&reader.unknown);
    strlist_release(&reader.ignored);
    if (failed != 0) {
        ssh_config_free(reader.config);
        return NULL;
    }
    return reader.config;
}

void ssh_config_free(struct ssh_config *config)
{
    if (!config) {
        return;
    }
    for (size_t i = 0; i < config->blocks_len; i++) {
        ssh_block_release(&config->blocks[i]);
    }
    for (size_t i = 0; i < config->directives_len; i++) {
        strlist_release(&config->directives[i].args);
        free(config->directives[i].rest);
    }
    free(config->blocks);
    free(config->directives);
    strlist_release(&config->files);
    free(config);
}
