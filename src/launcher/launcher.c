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
    *probe = (struct launch_probe){0};
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
    const char *names[ARRAY_LEN(launchers_all)];
    size_t count = 0;
    AUTO_STR struct str built = STR_INIT;
    const struct launcher *unbuilt = NULL;
    for (size_t i = 0; launchers_all[i]; i++) {
        const struct launcher *launcher = launchers_all[i];
        bool same = strcmp(launcher->name, name) == 0;
        if (same && launcher->build) {
            return launcher;
        }
        unbuilt = same ? launcher : unbuilt;
        names[count++] = launcher->name;
        if (launcher->build) {
            str_addf(&built, "%s'%s'", built.len ? ", " : "", launcher->name);
        }
    }
    const char *nearest = text_nearest(name, names, count);
    if (unbuilt) {
        error_set(err, &kind_not_supported, "launcher '%s' is not supported by this version", name);
        nearest = NULL;
    } else {
        error_set(err, &kind_plan, "unknown launcher '%s'", name);
    }
    if (nearest) {
        error_hint(err, "did you mean '%s'?", nearest);
    } else {
        error_hint(err, "use one of %s", str_text(&built));
    }
    return NULL;
}

/* An option word's name without dashes in front and value, spelt with underscores; caller frees. */
static char *option_name(const char *word)
{
    word += strspn(word, "-");
    char *name = xstrndup(word, strcspn(word, "="));
    for (char *at = name; *at; at++) {
        *at = *at == '-' ? '_' : *at;
    }
    return name;
}

const struct launcher_option *launcher_find_owned(const struct launcher *launcher, const char *word)
{
    bool is_module = strcmp(word, "-m") == 0; /* short for --module in every launcher that has it */
    if (!launcher->owned || (!is_module && !text_starts(word, "--"))) {
        return NULL;
    }
    AUTO_FREE char *name = is_module ? xstrdup("module") : option_name(word);
    for (const struct launcher_option *option = launcher->owned; *name && option->name; option++) {
        if (text_starts(option->name, name)) {
            return option;
        }
    }
    return NULL;
}

bool launcher_is_flag(const struct launcher *launcher, const char *word)
{
    AUTO_FREE char *name = option_name(word);
    for (size_t i = 0; launcher->flags && launcher->flags[i]; i++) {
        if (strcmp(launcher->flags[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void add_key(const char *key, struct strlist *out)
{
    strlist_addf(out, "%s%s", key[0] == '-' ? "" : "--", key);
}

void launcher_map_args(const struct job_args *args, struct strlist *out)
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
            break;
        case JOB_ARG_LIST:
            if (arg->values.len) {
                add_key(arg->key, out);
                strlist_copy(out, &arg->values);
            }
            break;
        case JOB_ARG_FALSE:
        case JOB_ARG_NULL:
            break;
        }
    }
}

/* The word at i, NULL behind the last one. */
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
