/* Finds what differs between the specs of runs, by their records. */
#include "insight/differences.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"
#include "model/hostlist.h"

void differences_release(struct differences *differences)
{
    for (size_t i = 0; i < differences->len; i++) {
        for (size_t run = 0; run < differences->runs_len; run++) {
            free(differences->items[i].values[run]);
        }
        free(differences->items[i].values);
        free(differences->items[i].key);
    }
    free(differences->items);
    *differences = (struct differences){0};
}

/* --- the keys of a run ------------------------------------------------------------------------------- */

static void put(struct differences *all, size_t run, const char *key, const char *value)
{
    struct difference *item = NULL;
    for (size_t i = 0; i < all->len && !item; i++) {
        item = strcmp(all->items[i].key, key) == 0 ? &all->items[i] : NULL;
    }
    if (!item) {
        all->items = xgrow(all->items, all->len, &all->cap, sizeof(all->items[0]));
        item = &all->items[all->len++];
        *item = (struct difference){.key = xstrdup(key), .values = xcalloc(all->runs_len, sizeof(char *))};
    }
    char *known = item->values[run]; /* an option may be given twice */
    item->values[run] = known ? xasprintf("%s, %s", known, value) : xstrdup(value);
    free(known);
}

/* A string, a number, or the words of a list as text; the caller frees. NULL: no value. */
static char *value_text(const json_t *value)
{
    if (json_is_integer(value)) {
        return xasprintf("%lld", (long long)json_integer_value(value));
    }
    if (!json_is_array(value)) {
        return xstrdup(json_string_value(value));
    }
    AUTO_STRLIST struct strlist words = STRLIST_INIT;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *word = json_string_value(json_array_get(value, i));
        strlist_add(&words, word ? word : "");
    }
    return words.len > 0 ? strlist_join(&words, " ") : NULL;
}

static void put_keys(struct differences *all, size_t run, const json_t *spec)
{
    static const char *const keys[] = {
        "job",       "launcher",   "program",        "python", "zero_stage",    "workdir",
        "artifacts", "rendezvous", "nproc_per_node", "setup",  "launcher_args", "shell"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        AUTO_FREE char *text = value_text(json_object_get(spec, keys[i]));
        if (text) {
            put(all, run, keys[i], text);
        }
    }
}

/* "--lr" and "-x" are options; negative numbers are not. */
static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && !isdigit((unsigned char)word[1]) && word[1] != '.';
}

/* Read the words as most programs do: an option has the words up to the next option. */
static void put_args(struct differences *all, size_t run, const json_t *args)
{
    AUTO_FREE char *key = xstrdup("args");
    AUTO_STRLIST struct strlist values = STRLIST_INIT;
    for (size_t i = 0; i <= json_array_size(args); i++) {
        const char *word = json_string_value(json_array_get(args, i));
        if (word && !is_option(word)) {
            strlist_add(&values, word);
            continue;
        }
        bool bare = strcmp(key, "args") == 0;
        AUTO_FREE char *text = strlist_join(&values, " ");
        if (!bare || values.len > 0) {
            put(all, run, key, values.len > 0 ? text : "true");
        }
        strlist_release(&values);
        if (word) {
            const char *name = word + strspn(word, "-");
            const char *equals = strchr(name, '=');
            free(key);
            key = xasprintf("args.%.*s", (int)strcspn(name, "="), name);
            if (equals) {
                strlist_add(&values, equals + 1);
            }
        }
    }
}

static void put_env(struct differences *all, size_t run, const json_t *spec)
{
    const json_t *env = json_object_get(spec, "env");
    const json_t *given = json_object_get(spec, "given");
    for (size_t i = 0; i < json_array_size(given); i++) {
        const char *name = json_string_value(json_array_get(given, i));
        const char *value = name ? json_string_value(json_object_get(env, name)) : NULL;
        if (value) {
            AUTO_FREE char *key = xasprintf("env.%s", name);
            put(all, run, key, value);
        }
    }
}

static void put_hosts(struct differences *all, size_t number, const struct run *run)
{
    AUTO_FREE char **labels = xcalloc(run->nodes_len + 1, sizeof(*labels));
    AUTO_STR struct str folded = STR_INIT;
    for (size_t i = 0; i < run->nodes_len; i++) {
        labels[i] = run->nodes[i].label;
    }
    hostlist_fold_names(labels, run->nodes_len, &folded);
    put(all, number, "hosts", str_text(&folded));
}

static void put_run(struct differences *all, size_t number, const struct run *run)
{
    json_t *spec = run->spec ? json_loads(run->spec, 0, NULL) : NULL;
    put_keys(all, number, spec);
    if (run->place.container) {
        put(all, number, "container", run->place.container);
    }
    put_args(all, number, json_object_get(spec, "args"));
    put_env(all, number, spec);
    put_hosts(all, number, run);
    json_decref(spec);
}

/* --- what differs ------------------------------------------------------------------------------------- */

static bool is_name_letter(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

/* The text without the words that are the run's name or id; the caller frees. */
static char *without_run(const char *text, const struct run *run)
{
    struct str out = STR_INIT;
    while (*text != '\0') {
        size_t len = 0;
        while (is_name_letter(text[len])) {
            len++;
        }
        AUTO_FREE char *word = xstrndup(text, len > 0 ? len : 1);
        bool own = strcmp(word, run->name) == 0 || (run->id[0] != '\0' && strcmp(word, run->id) == 0);
        str_add(&out, own ? "" : word);
        text += len > 0 ? len : 1;
    }
    return str_detach(&out);
}

static bool is_same(const struct run *const *runs, const char *first, const char *value, size_t number)
{
    if (!first || !value) {
        return first == value;
    }
    if (strcmp(first, value) == 0) {
        return true;
    }
    AUTO_FREE char *left = without_run(first, runs[0]);
    AUTO_FREE char *right = without_run(value, runs[number]);
    return strcmp(left, right) == 0;
}

static bool differs(const struct run *const *runs, size_t runs_len, const struct difference *item)
{
    for (size_t run = 1; run < runs_len; run++) {
        if (!is_same(runs, item->values[0], item->values[run], run)) {
            return true;
        }
    }
    return false;
}

void differences_find(struct differences *out, const struct run *const *runs, size_t runs_len)
{
    struct differences all = {.runs_len = runs_len};
    for (size_t i = 0; i < runs_len; i++) {
        put_run(&all, i, runs[i]);
    }
    struct differences same = {.runs_len = runs_len};
    *out = (struct differences){.runs_len = runs_len};
    for (size_t i = 0; i < all.len; i++) {
        struct differences *to = differs(runs, runs_len, &all.items[i]) ? out : &same;
        to->items = xgrow(to->items, to->len, &to->cap, sizeof(to->items[0]));
        to->items[to->len++] = all.items[i];
    }
    free(all.items);
    differences_release(&same);
}
