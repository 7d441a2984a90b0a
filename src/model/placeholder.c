/* Fills ${{name}} in text. */
#include "model/placeholder.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"

static const char *const names[PLACEHOLDER_COUNT] = {
#define PLACEHOLDER_NAME(identifier, name) name,
    PLACEHOLDER_TABLE(PLACEHOLDER_NAME)
#undef PLACEHOLDER_NAME
};

static const char *const open_texts[PLACEHOLDER_COUNT] = {
#define PLACEHOLDER_OPEN(identifier, name) "${{" name "}}",
    PLACEHOLDER_TABLE(PLACEHOLDER_OPEN)
#undef PLACEHOLDER_OPEN
};

void placeholders_release(struct placeholders *values)
{
    for (size_t i = 0; i < PLACEHOLDER_COUNT; i++) {
        free(values->value[i]);
    }
    *values = (struct placeholders)PLACEHOLDERS_INIT;
}

void placeholders_set(struct placeholders *values, enum placeholder_id id, const char *value)
{
    free(values->value[id]);
    values->value[id] = xstrdup(value);
}

void placeholders_set_count(struct placeholders *values, enum placeholder_id id, unsigned count)
{
    AUTO_FREE char *text = count ? xasprintf("%u", count) : NULL;
    placeholders_set(values, id, text);
}

const char *placeholders_text(const struct placeholders *values, enum placeholder_id id)
{
    return values->value[id] ? values->value[id] : open_texts[id];
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int unknown_name(const char *name, struct error *err)
{
    const char *nearest = text_nearest(name, names, PLACEHOLDER_COUNT);
    error_set(err, &kind_plan, "unknown placeholder '${{%s}}'", name);
    if (nearest) {
        return error_hint(err, "did you mean '${{%s}}'? a literal '${{' is written '$${{'", nearest);
    }
    AUTO_STR struct str all = STR_INIT;
    for (size_t i = 0; i < PLACEHOLDER_COUNT; i++) {
        str_addf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    return error_hint(err, "use one of %s; a literal '${{' is written '$${{'", str_text(&all));
}

/* Append the value of the name between the braces (len bytes at inside; blanks around it are dropped). */
static int fill_one(const struct placeholders *values, const char *inside, size_t len, struct str *out,
                    bool *open, struct error *err)
{
    while (len > 0 && is_blank(inside[0])) {
        inside++;
        len--;
    }
    while (len > 0 && is_blank(inside[len - 1])) {
        len--;
    }
    AUTO_FREE char *name = xstrndup(inside, len);
    for (size_t i = 0; i < PLACEHOLDER_COUNT; i++) {
        if (strcmp(name, names[i]) != 0) {
            continue;
        }
        if (values->refused[i]) {
            error_set(err, &kind_plan, "'%s' %s", open_texts[i], values->refused[i]);
            return error_hint(err, "leave it out here; a literal '${{' is written '$${{'");
        }
        if (!values->value[i] && open) {
            *open = true;
        }
        str_add(out, values->value[i] ? values->value[i] : open_texts[i]);
        return 0;
    }
    return unknown_name(name, err);
}

int placeholder_fill(const struct placeholders *values, const char *text, struct str *out, bool *open,
                     struct error *err)
{
    for (;;) {
        const char *dollar = strchr(text, '$');
        if (!dollar) {
            str_add(out, text);
            return 0;
        }
        str_add_mem(out, text, (size_t)(dollar - text));
        if (text_starts(dollar, "$${{")) {
            str_add(out, "${{");
            text = dollar + 4;
        } else if (text_starts(dollar, "${{")) {
            const char *end = strstr(dollar + 3, "}}");
            if (!end) {
                error_set(err, &kind_plan, "'${{' without '}}'");
                return error_hint(err, "close it, or write '$${{' for a literal '${{'");
            }
            if (fill_one(values, dollar + 3, (size_t)(end - dollar - 3), out, open, err)) {
                return -1;
            }
            text = end + 2;
        } else {
            str_add_char(out, '$');
            text = dollar + 1;
        }
    }
}
