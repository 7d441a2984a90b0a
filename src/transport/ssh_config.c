#include "transport/ssh_config.h"

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
#include "transport/ssh_keyword_internal.h"
#include "transport/ssh_pattern_internal.h"

#define SYSTEM_CONFIG  "/etc/ssh/ssh_config"
#define SYSTEM_FOLDER  "/etc/ssh"
#define MAX_FILE_BYTES ((size_t)4 << 20)
#define MAX_DEPTH      16 /* of Include, as OpenSSH has it */

/* Lines that hold under one condition; an included file's lines hold only where its Include does. */
struct ssh_block {
    const struct ssh_block *parent; /* of the Include, NULL at the top */
    enum { BLOCK_ALWAYS, BLOCK_HOST, BLOCK_FINAL, BLOCK_NEVER } condition;
    struct strlist patterns; /* BLOCK_HOST */
};

struct ssh_config {
    struct ssh_block **blocks;
    size_t blocks_len, blocks_cap;
    struct ssh_directive *directives;
    size_t directives_len, directives_cap;
    struct strlist files; /* paths; directives borrow them */
};

/* What reading carries along. */
struct reader {
    struct ssh_config *config;
    const char *home;
    const char *folder; /* relative Includes stand for it */
    bool check_mode;    /* refuse files that others may write to */
    struct strlist *warnings, *notes;
    struct strlist unknown; /* keywords warned of already, lower case */
};

static int read_file(struct reader *reader, const char *path, const struct ssh_block *parent, unsigned depth,
                     struct error *err);

static struct ssh_block *add_block(struct ssh_config *config, const struct ssh_block *parent)
{
    struct ssh_block *block = xcalloc(1, sizeof(*block));

    block->parent = parent;
    config->blocks = xgrow(config->blocks, config->blocks_len, &config->blocks_cap, sizeof(*config->blocks));
    config->blocks[config->blocks_len++] = block;
    return block;
}

static void add_directive(struct ssh_config *config, const struct ssh_keyword *keyword, struct strlist *words,
                          const struct ssh_block *block, const char *file, unsigned line)
{
    struct ssh_directive *directive;

    config->directives = xgrow(config->directives, config->directives_len, &config->directives_cap,
                               sizeof(*config->directives));
    directive = &config->directives[config->directives_len++];
    *directive = (struct ssh_directive){.keyword = keyword, .block = block, .file = file, .line = line};
    for (size_t i = 1; i < words->len; i++)
        strlist_add(&directive->args, words->items[i]);
}

/*
 * One word from *at, with OpenSSH's quoting: "…" and '…' anywhere in a word, backslash before a quote or a
 * backslash. Returns 1 for a word, 0 at the end of the line or a comment, -1 for an open quote.
 */
static int next_word(const char **at, struct str *word)
{
    const char *p = *at;

    while (*p == ' ' || *p == '\t')
        p++;
    if (*p == '\0' || *p == '#')
        return 0;
    for (char quote = '\0'; *p != '\0' && (quote != '\0' || (*p != ' ' && *p != '\t')); p++) {
        if (*p == '\\' && (p[1] == '"' || p[1] == '\'' || p[1] == '\\'))
            str_add_char(word, *++p);
        else if (quote == '\0' && (*p == '"' || *p == '\''))
            quote = *p;
        else if (quote != '\0' && *p == quote)
            quote = '\0';
        else
            str_add_char(word, *p);
        if (p[1] == '\0' && quote != '\0')
            return -1;
    }
    *at = p;
    return 1;
}

/* keyword [=] args: words[0] is the keyword. */
static int split_line(const char *line, struct strlist *words, struct error *err)
{
    const char *at = line + strspn(line, " \t");
    size_t len = strcspn(at, " \t=\"");

    if (at[0] == '\0' || at[0] == '#')
        return 0;
    strlist_add_mem(words, at, len);
    at += len;
    at += strspn(at, " \t");
    if (*at == '=')
        at++;
    for (;;) {
        AUTO_STR struct str word = STR_INIT;
        int got = next_word(&at, &word);
        if (got < 0)
            return error_set(err, &kind_ssh_config, "a quote is not closed");
        if (got == 0)
            return 0;
        strlist_add(words, str_text(&word));
    }
}

/* Match: only "all" and "final all" are judged; every other block is passed over and said. */
static void start_match(struct reader *reader, struct ssh_block *block, const struct strlist *words,
                        const char *file, unsigned line)
{
    if (words->len == 2 && strcasecmp(words->items[1], "all") == 0) {
        block->condition = BLOCK_ALWAYS;
    } else if (words->len == 3 && strcasecmp(words->items[1], "final") == 0 &&
               strcasecmp(words->items[2], "all") == 0) {
        block->condition = BLOCK_FINAL;
    } else {
        block->condition = BLOCK_NEVER;
        if (reader->notes != NULL)
            strlist_addf(reader->notes, "%s:%u: a Match block other than 'all' is passed over", file, line);
    }
}

static int include_files(struct reader *reader, const struct strlist *words, const struct ssh_block *block,
                         unsigned depth, struct error *err)
{
    for (size_t i = 1; i < words->len; i++) {
        AUTO_FREE char *expanded = path_expand_home(words->items[i], reader->home);
        AUTO_FREE char *pattern = path_join(reader->folder, expanded);
        glob_t found = {0};
        int failed = 0;

        if (glob(pattern, 0, NULL, &found) == 0) {
            for (size_t f = 0; f < found.gl_pathc && failed == 0; f++)
                failed = read_file(reader, found.gl_pathv[f], block, depth + 1, err);
        }
        globfree(&found);
        if (failed != 0)
            return -1;
    }
    return 0;
}

static void warn_unknown(struct reader *reader, const char *keyword, const char *file, unsigned line)
{
    AUTO_FREE char *lower = xstrdup(keyword);

    for (char *p = lower; *p != '\0'; p++)
        *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
    if (strlist_has(&reader->unknown, lower))
        return;
    strlist_add(&reader->unknown, lower);
    if (reader->warnings != NULL)
        strlist_addf(reader->warnings, "%s:%u: unknown keyword '%s', ignored", file, line, keyword);
}

/* One split line; *block moves on at Host and Match. */
static int read_words(struct reader *reader, struct strlist *words, const struct ssh_block *parent,
                      const struct ssh_block **block, const char *file, unsigned line, unsigned depth,
                      struct error *err)
{
    const char *name = words->items[0];
    const struct ssh_keyword *keyword = ssh_keyword_find(name);
    bool is_host = strcasecmp(name, "Host") == 0, is_match = strcasecmp(name, "Match") == 0;
    bool is_include = strcasecmp(name, "Include") == 0;

    if (keyword == NULL && !is_host && !is_match && !is_include) {
        warn_unknown(reader, name, file, line);
        return 0;
    }
    if (words->len < 2 || words->items[1][0] == '\0')
        return error_set(err, &kind_ssh_config, "'%s' has no argument", name);
    if (is_include)
        return include_files(reader, words, *block, depth, err);
    if (is_host || is_match) {
        struct ssh_block *made = add_block(reader->config, parent);
        *block = made;
        if (is_match) {
            start_match(reader, made, words, file, line);
        } else {
            made->condition = BLOCK_HOST;
            for (size_t i = 1; i < words->len; i++)
                strlist_add(&made->patterns, words->items[i]);
        }
        return 0;
    }
    if (keyword->max_args != 0 && words->len - 1 > keyword->max_args)
        return error_set(err, &kind_ssh_config, "'%s' takes one argument, %zu are given", name,
                         words->len - 1);
    add_directive(reader->config, keyword, words, *block, file, line);
    if (keyword->check != NULL)
        return keyword->check(&reader->config->directives[reader->config->directives_len - 1].args, err);
    return 0;
}

static int read_lines(struct reader *reader, const struct str *text, const char *file,
                      const struct ssh_block *parent, unsigned depth, struct error *err)
{
    const struct ssh_block *block = parent;
    const char *at = str_text(text), *end = at + text->len;

    if (memchr(at, '\0', text->len) != NULL) {
        error_set(err, &kind_ssh_config, "the file holds a NUL byte");
        return error_at(err, file, 0, 0);
    }
    for (unsigned line = 1; at < end; line++) {
        size_t len = strcspn(at, "\n");
        size_t kept = len;
        while (kept > 0 && (at[kept - 1] == '\r' || at[kept - 1] == ' ' || at[kept - 1] == '\t'))
            kept--;
        AUTO_FREE char *copy = xstrndup(at, kept);
        AUTO_STRLIST struct strlist words = STRLIST_INIT;
        if (split_line(copy, &words, err) != 0 ||
            (words.len > 0 && read_words(reader, &words, parent, &block, file, line, depth, err) != 0)) {
            if (err != NULL && err->line == 0) { /* an included file has named its own line already */
                error_at(err, file, line, 0);
                error_source(err, copy, kept);
            }
            return -1;
        }
        at += len + (at[len] == '\n' ? 1 : 0);
    }
    return 0;
}

static int read_file(struct reader *reader, const char *path, const struct ssh_block *parent, unsigned depth,
                     struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    struct error trouble = ERROR_INIT;
    struct stat st;
    const char *file;

    if (depth > MAX_DEPTH)
        return error_set(err, &kind_ssh_config, "Include is nested more than %d deep", MAX_DEPTH);
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        if (depth > 0) /* as OpenSSH: an included name that cannot be read is passed over */
            return 0;
        return error_set(err, &kind_ssh_config, "ssh configuration '%s' cannot be read: %s", path,
                         strerror(errno == 0 ? EINVAL : errno));
    }
    if (reader->check_mode && ((st.st_uid != 0 && st.st_uid != getuid()) || (st.st_mode & 022) != 0)) {
        error_set(err, &kind_ssh_config, "ssh configuration '%s' may be written by others (mode %04o)", path,
                  (unsigned)(st.st_mode & 07777));
        error_at(err, path, 0, 0);
        return error_hint(err, "chmod go-w %s", path);
    }
    if (file_read(path, MAX_FILE_BYTES, &text, &trouble) != 0) {
        if (depth > 0 && errno == EACCES)
            return 0;
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
    if (access(path, F_OK) == 0 && read_file(reader, path, NULL, 0, err) != 0)
        return -1;
    reader->folder = SYSTEM_FOLDER;
    reader->check_mode = false;
    if (access(SYSTEM_CONFIG, R_OK) == 0)
        return read_file(reader, SYSTEM_CONFIG, NULL, 0, err);
    return 0;
}

struct ssh_config *ssh_config_load(const char *path, const char *home, struct strlist *warnings,
                                   struct strlist *notes, struct error *err)
{
    struct reader reader = {
        .config = xcalloc(1, sizeof(struct ssh_config)), .home = home, .warnings = warnings, .notes = notes};
    int failed;

    if (path == NULL) {
        failed = read_default_files(&reader, err);
    } else if (strcmp(path, "none") == 0) {
        failed = 0;
    } else {
        AUTO_FREE char *folder = path_join(home, ".ssh");
        AUTO_FREE char *expanded = path_expand_home(path, home);
        reader.folder = folder;
        failed = read_file(&reader, expanded, NULL, 0, err);
    }
    strlist_release(&reader.unknown);
    if (failed != 0) {
        ssh_config_free(reader.config);
        return NULL;
    }
    return reader.config;
}

void ssh_config_free(struct ssh_config *config)
{
    if (config == NULL)
        return;
    for (size_t i = 0; i < config->blocks_len; i++) {
        strlist_release(&config->blocks[i]->patterns);
        free(config->blocks[i]);
    }
    for (size_t i = 0; i < config->directives_len; i++)
        strlist_release(&config->directives[i].args);
    free(config->blocks);
    free(config->directives);
    strlist_release(&config->files);
    free(config);
}

static bool block_holds(const struct ssh_block *block, const char *name, bool final_pass)
{
    for (; block != NULL; block = block->parent) {
        switch (block->condition) {
        case BLOCK_ALWAYS:
            break;
        case BLOCK_HOST:
            if (!ssh_pattern_list_matches(name, block->patterns.items, block->patterns.len))
                return false;
            break;
        case BLOCK_FINAL:
            if (!final_pass)
                return false;
            break;
        case BLOCK_NEVER:
            return false;
        }
    }
    return true;
}

static char *expand_hostname(const char *text, const char *name)
{
    struct str out = STR_INIT;

    for (; *text != '\0'; text++) {
        if (text[0] == '%' && text[1] == 'h')
            str_add(&out, name);
        else
            str_add_char(&out, text[0]);
        if (text[0] == '%')
            text++; /* only %h and %% passed the check */
    }
    return str_detach(&out);
}

/* As OpenSSH, the whole is walked twice: what stands under "Match final" is weaker than all else. */
void ssh_config_lookup(const struct ssh_config *config, const char *name, struct ssh_config_values *out)
{
    *out = (struct ssh_config_values){0};
    for (int final_pass = 0; config != NULL && final_pass < 2; final_pass++) {
        for (size_t i = 0; i < config->directives_len; i++) {
            const struct ssh_directive *directive = &config->directives[i];
            if (directive->keyword->apply != NULL && block_holds(directive->block, name, final_pass == 1))
                directive->keyword->apply(out, directive);
        }
    }
    if (out->hostname != NULL) {
        char *expanded = expand_hostname(out->hostname, name);
        free(out->hostname);
        out->hostname = expanded;
    }
}

void ssh_config_values_release(struct ssh_config_values *values)
{
    free(values->hostname);
    free(values->user);
    free(values->host_key_alias);
    free(values->unsupported);
    strlist_release(&values->identity_files);
    strlist_release(&values->user_known_hosts);
    strlist_release(&values->global_known_hosts);
    *values = (struct ssh_config_values){0};
}
