#include "launcher/launcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"
#include "launcher/launcher_internal.h"
#include "model/kind.h"

const struct launcher *const launchers_all[] = {
    &launcher_torchrun,
    &launcher_megatron,
    &launcher_script,
    NULL,
};

/* Names of the contract that are not built yet: refused as such, not as unknown. */
static const char *const unbuilt[] = {"deepspeed", "accelerate", "swift", "megatron-swift"};

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
    const char *names[ARRAY_LEN(launchers_all) + ARRAY_LEN(unbuilt)];
    size_t count = 0;
    AUTO_STR struct str known = STR_INIT;
    for (size_t i = 0; launchers_all[i]; i++) {
        if (strcmp(launchers_all[i]->name, name) == 0) {
            return launchers_all[i];
        }
        names[count++] = launchers_all[i]->name;
        str_addf(&known, "%s'%s'", i ? ", " : "", launchers_all[i]->name);
    }
    for (size_t i = 0; i < ARRAY_LEN(unbuilt); i++) {
        if (strcmp(unbuilt[i], name) == 0) {
            error_set(err, &kind_not_supported, "launcher '%s' is not supported by this version", name);
            error_hint(err, "use one of %s", str_text(&known));
            return NULL;
        }
        names[count++] = unbuilt[i];
    }
    const char *nearest = text_nearest(name, names, count);
    error_set(err, &kind_plan, "unknown launcher '%s'", name);
    if (nearest) {
        error_hint(err, "did you mean '%s'?", nearest);
    } else {
        error_hint(err, "use one of %s", str_text(&known));
    }
    return NULL;
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
