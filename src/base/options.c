/* Parses command lines by tables of options. */
#include "base/options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

struct parser {
    const struct option_group *const *groups;
    int argc, next; /* next: index of the next word */
    char *const *argv;
    void *values;
    const char *unknown_hint; /* NULL: the usual one */
    struct error *err;
};

static const struct option *find_long(const struct parser *p, const char *name, size_t len)
{
    for (const struct option_group *const *group = p->groups; *group; group++) {
        for (size_t i = 0; i < (*group)->count; i++) {
            const struct option *option = &(*group)->options[i];
            if (strncmp(option->name, name, len) == 0 && option->name[len] == '\0') {
                return option;
            }
        }
    }
    return NULL;
}

static const struct option *find_letter(const struct parser *p, char letter)
{
    for (const struct option_group *const *group = p->groups; *group; group++) {
        for (size_t i = 0; i < (*group)->count; i++) {
            if ((*group)->options[i].letter == letter) {
                return &(*group)->options[i];
            }
        }
    }
    return NULL;
}

/* The option whose name is most similar to name, or NULL. An OPTION_UNBUILT is not suggested. */
static const char *nearest_name(const struct parser *p, const char *name)
{
    size_t total = 0, used = 0;

    for (const struct option_group *const *group = p->groups; *group; group++) {
        total += (*group)->count;
    }
    AUTO_FREE const char **names = xcalloc(total, sizeof *names);
    for (const struct option_group *const *group = p->groups; *group; group++) {
        for (size_t i = 0; i < (*group)->count; i++) {
            if ((*group)->options[i].type != OPTION_UNBUILT) {
                names[used++] = (*group)->options[i].name;
            }
        }
    }
    return text_nearest(name, names, used);
}

static int hint_unknown(const struct parser *p)
{
    return error_hint(p->err, "%s", p->unknown_hint ? p->unknown_hint : "see --help for the options");
}

static int refuse_long(const struct parser *p, const char *name, size_t len)
{
    AUTO_FREE char *word = xstrndup(name, len);
    const char *nearest = nearest_name(p, word);

    error_set(p->err, &kind_usage, "unknown option '--%s'", word);
    if (nearest) {
        return error_hint(p->err, "did you mean '--%s'?", nearest);
    }
    return hint_unknown(p);
}

/* word: the whole word as it was given, "-fx". letter: points at the unknown letter in it. */
static int refuse_letter(const struct parser *p, const char *word, const char *letter)
{
    unsigned char c = (unsigned char)*letter;
    char other = (char)(islower(c) ? toupper(c) : tolower(c));
    AUTO_FREE char *name = xstrndup(word + 1, strcspn(word + 1, "="));

    if (word[2] == '\0' || c >= 0x80) { /* one letter, or a byte of a longer character */
        error_set(p->err, &kind_usage, "unknown option '%s'", word);
    } else {
        error_set(p->err, &kind_usage, "unknown option '-%c' in '%s'", *letter, word);
    }
    if (word[2] != '\0' && find_long(p, name, strlen(name))) {
        return error_hint(p->err, "did you mean '--%s'?", name);
    }
    if (other != *letter && find_letter(p, other)) {
        return error_hint(p->err, "did you mean '-%c'?", other);
    }
    return hint_unknown(p);
}

static int store_uint(const struct parser *p, const struct option *option, const char *shown,
                      const char *text)
{
    struct option_uint *to = (struct option_uint *)((char *)p->values + option->offset);
    uint64_t value, max = option->max == 0 ? UINT64_MAX : option->max;

    if (text_to_uint(text, option->min, max, &value)) {
        *to = (struct option_uint){.given = true, .value = (unsigned long)value};
        return 0;
    }
    bool is_above = text_to_uint(text, 0, UINT64_MAX, &value) && value > max;
    if (option->max == 0) {
        error_set(p->err, &kind_usage, "'%s' must be a whole number of at least %lu, not '%s'", shown,
                  option->min, text);
    } else {
        error_set(p->err, &kind_usage, "'%s' must be a whole number from %lu to %lu, not '%s'", shown,
                  option->min, option->max, text);
    }
    return error_hint(p->err, "write %s %lu", shown, is_above ? option->max : option->min);
}

static int store_duration(const struct parser *p, const struct option *option, const char *shown,
                          const char *text)
{
    struct option_uint *to = (struct option_uint *)((char *)p->values + option->offset);
    uint64_t value;

    if (!text_to_duration(text, &value)) {
        AUTO_FREE char *meant = text_duration_meant(text);
        error_set(p->err, &kind_usage, "'%s' must be a duration, not '%s'", shown, text);
        return meant ? error_hint(p->err, "write %s %s", shown, meant)
                     : error_hint(
                           p->err,
                           "write whole seconds or a whole number with s, m, h or d, such as 90s or 10m");
    }
    if (value < option->min) {
        error_set(p->err, &kind_usage, "'%s' must be at least %lus, not '%s'", shown, option->min, text);
        return error_hint(p->err, "write %s %lus", shown, option->min);
    }
    if (option->max != 0 && value > option->max) {
        error_set(p->err, &kind_usage, "'%s' must be at most %lus, not '%s'", shown, option->max, text);
        return error_hint(p->err, "write %s %lus", shown, option->max);
    }
    *to = (struct option_uint){.given = true, .value = (unsigned long)value};
    return 0;
}

static int store_choice(const struct parser *p, const struct option *option, const char *shown,
                        const char *text)
{
    AUTO_STR struct str allowed = STR_INIT;
    size_t count = 0;

    for (; option->choices[count]; count++) {
        if (strcmp(option->choices[count], text) == 0) {
            *(const char **)(void *)((char *)p->values + option->offset) = option->choices[count];
            return 0;
        }
    }
    for (size_t i = 0; i < count; i++) {
        str_addf(&allowed, "%s'%s'", i == 0 ? "" : i + 1 == count ? " or " : ", ", option->choices[i]);
    }
    error_set(p->err, &kind_usage, "'%s' must be %s, not '%s'", shown, str_text(&allowed), text);
    const char *nearest = text_nearest(text, option->choices, count);
    return nearest ? error_hint(p->err, "did you mean '%s'?", nearest)
                   : error_hint(p->err, "write %s %s", shown, option->choices[0]);
}

/*
 * The word after the option; NULL if there is none, or if it is "--" or a known option (the value is
 * missing).
 */
static const char *next_value(struct parser *p)
{
    if (p->next >= p->argc) {
        return NULL;
    }
    const char *word = p->argv[p->next];
    if (text_starts(word, "--") && (word[2] == '\0' || find_long(p, word + 2, strlen(word + 2)))) {
        return NULL;
    }
    p->next++;
    return word;
}

/* Act on one option. shown: its name as it was given; attached: the value joined to it, or NULL. */
static int apply(struct parser *p, const struct option *option, const char *shown, const char *attached)
{
    void *to = (char *)p->values + option->offset;
    const char *value = attached;

    if (option->type == OPTION_UNBUILT) {
        return error_set(p->err, &kind_not_supported, "'--%s' is not supported by this version",
                         option->name);
    }
    if (option->type == OPTION_FLAG) {
        if (attached) {
            error_set(p->err, &kind_usage, "'%s' takes no value, but '%s' was given", shown, attached);
            return error_hint(p->err, "write %s alone", shown);
        }
        *(bool *)to = true;
        return 0;
    }
    if (!value) {
        value = next_value(p);
    }
    if (!value) {
        error_set(p->err, &kind_usage, "'%s' needs a value", shown);
        return error_hint(p->err, "write %s %s", shown, option->value ? option->value : "VALUE");
    }
    switch (option->type) {
    case OPTION_TEXT:
        *(const char **)to = value;
        return 0;
    case OPTION_UINT:
        return store_uint(p, option, shown, value);
    case OPTION_DURATION:
        return store_duration(p, option, shown, value);
    case OPTION_CHOICE:
        return store_choice(p, option, shown, value);
    case OPTION_LIST:
        strlist_add((struct strlist *)to, value);
        return 0;
    case OPTION_FLAG:
    case OPTION_UNBUILT:
        break;
    }
    abort(); /* every type is handled above */
}

/* "--name" or "--name=VALUE" */
static int parse_long(struct parser *p, const char *word)
{
    size_t len = strcspn(word + 2, "=");
    const struct option *option = find_long(p, word + 2, len);

    if (!option) {
        return refuse_long(p, word + 2, len);
    }
    AUTO_FREE char *shown = xasprintf("--%s", option->name);
    return apply(p, option, shown, word[2 + len] == '=' ? word + 2 + len + 1 : NULL);
}

/* "-f", "-fv", "-n VALUE", "-nVALUE", "-fnVALUE" */
static int parse_letters(struct parser *p, const char *word)
{
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const struct option *option = find_letter(p, *letter);
        const char shown[] = {'-', *letter, '\0'};

        if (!option) {
            return refuse_letter(p, word, letter);
        }
        bool alone = option->type == OPTION_FLAG || letter[1] == '\0';
        if (apply(p, option, shown, alone ? NULL : letter + 1) != 0) {
            return -1;
        }
        if (option->type != OPTION_FLAG) {
            break;
        }
    }
    return 0;
}

int options_parse(const struct option_group *const *groups, int argc, char *const *argv, void *values,
                  struct options_words *words, struct error *err)
{
    struct parser p = {.groups = groups,
                       .argc = argc,
                       .argv = argv,
                       .values = values,
                       .unknown_hint = words->unknown_hint,
                       .err = err};

    words->saw_rest = false;
    while (p.next < argc) {
        const char *word = argv[p.next++];
        int result = 0;

        if (strcmp(word, "--") == 0) {
            words->saw_rest = true;
            break;
        }
        if (text_starts(word, "--")) {
            result = parse_long(&p, word);
        } else if (word[0] == '-' && word[1] != '\0') {
            result = parse_letters(&p, word);
        } else if (words->end_at_operand) {
            p.next--;
            break;
        } else {
            strlist_add(words->operands, word);
        }
        if (result != 0) {
            return -1;
        }
    }
    while (p.next < argc) {
        strlist_add(words->rest, argv[p.next++]);
    }
    return 0;
}
