/* The table of launchers, and how arguments are read and written for all of them. */
#include "launcher/launcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"
#include "launcher/launcher_internal.h"
#include "model/kind.h"

#define LAUNCHER_POINTER(identifier) &launcher_##identifier,
const struct launcher *const launchers_all[] = {LAUNCHER_TABLE(LAUNCHER_POINTER) NULL};
#undef LAUNCHER_POINTER

void launch_probe_release(struct launch_probe *probe)
{
    free(probe->program);
    free(probe->interpreter);
    free(probe->module);
    free(probe->config);
    *probe = (struct launch_probe){0};
}

void launcher_reads(struct launch_probe *probe, const char *key, const char *file)
{
    probe->config = file ? xstrdup(file) : NULL;
    probe->config_key = key;
}

void launcher_add_named(struct strlist *argv, const char *word, struct launch_probe *probe)
{
    if (text_starts(word, "~/") && probe->home_words_len < ARRAY_LEN(probe->home_words)) {
        probe->home_words[probe->home_words_len++] = argv->len;
    }
    strlist_add(argv, word);
}

void launch_whole_release(struct launch_whole *whole)
{
    strlist_release(&whole->args);
    env_release(&whole->defaults);
    *whole = (struct launch_whole){0};
}

const struct launcher *launcher_find(const char *name, struct error *err)
{
    const char *names[ARRAY_LEN(launchers_all)] = {NULL};
    size_t count = 0;
    AUTO_STR struct str all = STR_INIT;
    for (; launchers_all[count]; count++) {
        names[count] = launchers_all[count]->name;
        if (strcmp(names[count], name) == 0) {
            return launchers_all[count];
        }
        str_addf(&all, "%s'%s'", count ? ", " : "", names[count]);
    }
    const char *nearest = text_nearest(name, names, count);
    error_set(err, &kind_plan, "unknown launcher '%s'", name);
    if (nearest) {
        error_hint(err, "did you mean '%s'?", nearest);
    } else {
        error_hint(err, "use one of %s", str_text(&all));
    }
    return NULL;
}

/* The name of an option word, without leading dashes and value, with underscores; caller frees. */
static char *option_name(const char *word)
{
    word += strspn(word, "-");
    char *name = xstrndup(word, strcspn(word, "="));
    for (char *at = name; *at; at++) {
        *at = *at == '-' ? '_' : *at;
    }
    return name;
}

const struct launcher_words *launcher_words(const struct launcher *launcher, const struct job *job)
{
    return launcher->choose_words ? launcher->choose_words(job) : launcher->words;
}

const struct launcher_option *launcher_find_owned(const struct launcher_words *words, const char *word)
{
    bool is_long = text_starts(word, "--");
    if (word[0] != '-') {
        return NULL;
    }
    AUTO_FREE char *name = is_long ? option_name(word) : xstrndup(word + 1, 1);
    for (const struct launcher_option *option = words->owned; *name && option->name; option++) {
        bool is_letter = option->name[1] == '\0';
        if (is_long ? !is_letter && text_starts(option->name, name) : strcmp(option->name, name) == 0) {
            return option;
        }
    }
    return NULL;
}

bool launcher_is_flag(const struct launcher_words *words, const char *word)
{
    AUTO_FREE char *name = option_name(word);
    for (size_t i = 0; words->flags[i]; i++) {
        if (strcmp(words->flags[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void add_key(const char *key, struct strlist *out)
{
    strlist_addf(out, "%s%s", key[0] == '-' ? "" : "--", key);
}

void launcher_map_args(const struct job_args *args, bool bool_values, struct strlist *out)
{
    for (size_t i = 0; i < args->len; i++) {
        const struct job_arg *arg = &args->items[i];
        switch (arg->type) {
        case JOB_ARG_WORD:
            strlist_copy(out, &arg->values);
            break;
        case JOB_ARG_PAIR:
            add_key(arg->key, out);
            strlist_copy(out, &arg->values);
            break;
        case JOB_ARG_TRUE:
            add_key(arg->key, out);
            if (bool_values) {
                strlist_add(out, "true");
            }
            break;
        case JOB_ARG_LIST:
            if (arg->values.len) {
                add_key(arg->key, out);
                strlist_copy(out, &arg->values);
            }
            break;
        case JOB_ARG_FALSE:
            if (bool_values) {
                add_key(arg->key, out);
                strlist_add(out, "false");
            }
            break;
        case JOB_ARG_NULL:
            break;
        }
    }
}

/* The word at i, NULL after the last one. */
static const char *word_at(const struct strlist *words, size_t i)
{
    return i < words->len ? words->items[i] : NULL;
}

bool launcher_find_option(const struct strlist *words, const char *name, const char **value)
{
    size_t len = strlen(name);
    bool found = false;
    const char *last = NULL, *word;
    for (size_t i = 0; (word = word_at(words, i)) && strcmp(word, "--") != 0; i++) {
        if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, len) != 0) {
            continue;
        }
        const char *behind = word + 2 + len;
        const char *next = word_at(words, i + 1);
        if (*behind && *behind != '=') {
            continue;
        }
        found = true;
        last = *behind ? behind + 1 : next && *next != '-' ? next : NULL;
    }
    if (value) {
        *value = last;
    }
    return found;
}
