/* Reads files of NAME=VALUE lines into an environment. */
#include "input/envfile.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "model/kind.h"

#define EXPORT_WORD "export"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Nothing but blanks, or a comment after them. */
static bool is_empty_line(const char *line)
{
    line += strspn(line, " \t");
    return *line == '\0' || *line == '#';
}

static const char *skip_export(const char *line)
{
    size_t len = strlen(EXPORT_WORD);
    if (!text_starts(line, EXPORT_WORD) || !is_blank(line[len])) {
        return line;
    }
    return line + len + strspn(line + len, " \t");
}

/* Remove one pair of quotes around the whole value. */
static char *unquote(const char *value)
{
    size_t len = strlen(value);
    bool quoted = len >= 2 && (value[0] == '"' || value[0] == '\'') && value[len - 1] == value[0];
    return quoted ? xstrndup(value + 1, len - 2) : xstrdup(value);
}

static int parse_line(struct env *env, const char *line, const char *source, struct error *err)
{
    if (is_empty_line(line)) {
        return 0;
    }
    const char *pair = skip_export(line);
    const char *equals = strchr(pair, '=');
    if (!equals) {
        error_set(err, &kind_env_file, "expected NAME=VALUE");
        return error_hint(err, "write one NAME=VALUE per line; a line that begins with '#' is a comment");
    }
    AUTO_FREE char *name = xstrndup(pair, (size_t)(equals - pair));
    if (!env_name_valid(name)) {
        error_set(
            err, &kind_env_file,
            "'%.80s' is not a valid variable name, allowed: letters, digits and '_', the first not a digit",
            name);
        return error_hint(err, "write NAME=VALUE without blanks around NAME");
    }
    AUTO_FREE char *value = unquote(equals + 1);
    if (env_check_settable(name, value, err) < 0) {
        err->kind = &kind_env_file;
        return -1;
    }
    env_set(env, name, value, source);
    return 0;
}

int envfile_parse(struct env *env, const char *text, size_t len, const char *path, const char *name,
                  struct error *err)
{
    struct error local = ERROR_INIT;
    err = err ? err : &local;
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        len -= 3;
    }
    unsigned number = 0;
    while (len > 0) {
        const char *end = memchr(text, '\n', len);
        size_t line_len = end ? (size_t)(end - text) : len;
        size_t step = end ? line_len + 1 : line_len;
        size_t kept = line_len > 0 && text[line_len - 1] == '\r' ? line_len - 1 : line_len;
        number++;
        if (memchr(text, '\0', kept)) {
            error_set(err, &kind_env_file, "the line contains a NUL byte");
            return error_at(err, path, number, 0);
        }
        AUTO_FREE char *line = xstrndup(text, kept);
        AUTO_FREE char *source = xasprintf("env_file %s:%u", name, number);
        if (parse_line(env, line, source, err) < 0) {
            return error_at(err, path, number, 0);
        }
        text += step;
        len -= step;
    }
    return 0;
}

int envfile_read(struct env *env, const char *path, const char *name, struct error *err)
{
    struct error local = ERROR_INIT;
    err = err ? err : &local;
    AUTO_STR struct str text = STR_INIT;
    if (file_read(path, ENVFILE_MAX_BYTES, &text, err) < 0) {
        err->kind = &kind_env_file;
        return error_hint(err, "a relative path starts from the job file's folder");
    }
    return envfile_parse(env, str_text(&text), text.len, path, name, err);
}
