/* Finds the candidates for a word of the command line. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cmd/commands_internal.h"
#include "cmd/complete_internal.h"
#include "cmd/topics_internal.h"
#include "input/jobfile.h"
#include "launcher/launcher.h"
#include "model/job.h"

struct completing {
    const struct command *command;
    const struct option_group *groups[CMD_GROUPS_MAX];
    const char *word;   /* the last word; of "--option=VALUE" the part after '=' */
    const char *before; /* "--option=" or "" */
    const struct complete_names *names;
    struct str *out;
};

static void offer(struct completing *at, const char *candidate, const char *what)
{
    if (!text_starts(candidate, at->word)) {
        return;
    }
    str_addf(at->out, "%s%s", at->before, candidate);
    if (what) {
        str_addf(at->out, "\t%s", what);
    }
    str_add_char(at->out, '\n');
}

static void offer_list(struct completing *at, const struct strlist *names)
{
    for (size_t i = 0; i < names->len; i++) {
        offer(at, names->items[i], NULL);
    }
}

static void offer_files(struct completing *at)
{
    str_add(at->out, ":files\n");
}

static void offer_commands(struct completing *at)
{
    for (size_t i = 0; i < commands_count; i++) {
        offer(at, commands[i]->name, commands[i]->summary);
    }
}

/* --- options ------------------------------------------------------------------------------------------ */

/* The option that word (its first len bytes) names: --name, -n, or joined flags that end in one. */
static const struct option *find_option(const struct completing *at, const char *word, size_t len)
{
    bool is_long = len > 2 && word[1] == '-';
    for (size_t g = 0; at->groups[g]; g++) {
        for (size_t i = 0; i < at->groups[g]->count; i++) {
            const struct option *option = &at->groups[g]->options[i];
            bool same = is_long
                            ? strlen(option->name) == len - 2 && strncmp(option->name, word + 2, len - 2) == 0
                            : option->letter && len > 1 && word[len - 1] == option->letter;
            if (same && option->type != OPTION_UNBUILT) {
                return option;
            }
        }
    }
    return NULL;
}

/* The option whose value is the word after this one, or NULL. */
static const struct option *expects_value(const struct completing *at, const char *word)
{
    if (word[0] != '-' || word[1] == '\0' || strcmp(word, "--") == 0 ||
        (word[1] == '-' && strchr(word, '='))) {
        return NULL;
    }
    const struct option *option = find_option(at, word, strlen(word));
    return option && option->type != OPTION_FLAG ? option : NULL;
}

/* Offer the values of an option that are neither its choices nor files, if it has such values. */
static bool offer_named_value(struct completing *at, const struct option *option)
{
    const struct complete_names *names = at->names;
    const struct {
        const char *option;
        const struct strlist *names;
    } rows[] = {
        {"profile", &names->profiles}, {"container", &names->containers},
        {"node", &names->nodes},       {"job", &names->jobs},
        {"run", &names->runs},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(option->name, rows[i].option) == 0) {
            offer_list(at, rows[i].names);
            return true;
        }
    }
    for (size_t i = 0; strcmp(option->name, "set") == 0 && i < names->keys.len; i++) {
        AUTO_FREE char *key = xasprintf("%s=", names->keys.items[i]);
        offer(at, key, NULL);
    }
    for (size_t i = 0; strcmp(option->name, "launcher") == 0 && launchers_all[i]; i++) {
        offer(at, launchers_all[i]->name, NULL);
    }
    for (size_t i = 0; strcmp(option->name, "signal") == 0 && i < job_signal_names_count; i++) {
        offer(at, job_signal_names[i], NULL);
    }
    return false;
}

static void offer_value(struct completing *at, const struct option *option)
{
    if (option->type != OPTION_CHOICE && offer_named_value(at, option)) {
        return;
    }
    if (option->type == OPTION_CHOICE) {
        for (size_t i = 0; option->choices[i]; i++) {
            offer(at, option->choices[i], NULL);
        }
    } else if (strcmp(option->value, "FILE") == 0 || strcmp(option->value, "DIR") == 0) {
        offer_files(at);
    }
}

static void offer_options(struct completing *at)
{
    for (size_t g = 0; at->groups[g]; g++) {
        for (size_t i = 0; i < at->groups[g]->count; i++) {
            const struct option *option = &at->groups[g]->options[i];
            AUTO_FREE char *name = xasprintf("--%s", option->name);
            if (option->type != OPTION_UNBUILT) {
                offer(at, name, option->help);
            }
        }
    }
}

/* --- operands, as the command's usage names them -------------------------------------------------- */

/*
 * Copy operand `number` of a usage line such as "logs RUN [--node N|HOST]... [-f]" to out, without brackets.
 * Brackets with a dash or "OPTION" contain an option. "--" ends the operands. The last operand stands for all
 * further ones if "..." follows it.
 */
static bool find_operand(const char *usage, size_t number, struct str *out)
{
    bool in_option = false;
    const char *at = usage + strcspn(usage, " ");
    while (*(at += strspn(at, " ")) != '\0') {
        size_t len = strcspn(at, " ");
        const char *word = at;
        at += len;
        if (strncmp(word, "--", len) == 0 && len == 2) {
            return false;
        }
        bool is_option = word[0] == '-' || text_starts(word, "[-") || text_starts(word, "[HOST OPTION") ||
                         text_starts(word, "[JOB OPTION");
        bool closes = memchr(word, ']', len);
        if (in_option || is_option) {
            in_option = word[0] == '-' ? false : !closes;
            continue;
        }
        bool repeats = len > 3 && strncmp(word + len - 3, "...", 3) == 0;
        if (number > 0 && !repeats) {
            number--;
            continue;
        }
        for (size_t i = 0; i < len - (repeats ? 3 : 0); i++) {
            if (word[i] != '[' && word[i] != ']') {
                str_add_char(out, word[i]);
            }
        }
        return true;
    }
    return false;
}

/* The runs on which the command can work. */
static const struct strlist *fitting_runs(const struct completing *at)
{
    static const char *const on_live[] = {"stop", "wait", "signal", "stacks", "supervise"};
    for (size_t i = 0; i < ARRAY_LEN(on_live); i++) {
        if (strcmp(at->command->name, on_live[i]) == 0) {
            return &at->names->live;
        }
    }
    return strcmp(at->command->name, "remove") == 0 ? &at->names->ended : &at->names->runs;
}

/* Offer the literal words at this position of each usage line: "container up", "container down". */
static void offer_words(struct completing *at, size_t number)
{
    for (const char *const *usage = at->command->usage; *usage; usage++) {
        AUTO_STR struct str word = STR_INIT;
        if (find_operand(*usage, number, &word)) {
            offer(at, str_text(&word), NULL);
        }
    }
}

static void offer_operand(struct completing *at, size_t number)
{
    AUTO_STR struct str kind = STR_INIT;
    if (!find_operand(at->command->usage[0], number, &kind)) {
        return;
    }
    const char *name = str_text(&kind);
    if (strcmp(name, "RUN") == 0) {
        offer_list(at, fitting_runs(at));
    } else if (strcmp(name, "NAME") == 0 && at->command == &command_signal) {
        for (size_t i = 0; i < job_signal_names_count; i++) {
            offer(at, job_signal_names[i], NULL);
        }
    } else if (strcmp(name, "JOB") == 0) {
        offer_list(at, &at->names->jobs);
        str_add(at->out, ":specs\n");
    } else if (strcmp(name, "COMMAND|TOPIC|KEY") == 0) {
        AUTO_STRLIST struct strlist topics = STRLIST_INIT;
        help_topic_names(&topics);
        jobfile_key_names(&topics);
        offer_commands(at);
        offer_list(at, &topics);
    } else if (strcmp(name, "COMMAND") == 0) { /* of exec: a program of the hosts */
        offer_files(at);
    } else if (strcmp(name, "FILE") == 0) {
        offer_files(at);
    } else if (strchr(name, '|')) {
        char *rest = NULL;
        for (char *word = strtok_r(kind.data, "|", &rest); word; word = strtok_r(NULL, "|", &rest)) {
            offer(at, word, NULL);
        }
    } else if (name[0] >= 'a' && name[0] <= 'z') {
        offer_words(at, number);
    }
}

/* --- the whole line ------------------------------------------------------------------------------- */

static void complete_arguments(struct completing *at, char *const *words, size_t count)
{
    const struct option *option = NULL;
    size_t operands = 0;
    for (size_t i = 1; i + 1 < count; i++) {
        if (option) {
            option = NULL; /* this word was its value */
        } else if (strcmp(words[i], "--") == 0) {
            offer_files(at);
            return;
        } else if (words[i][0] == '-' && words[i][1] != '\0') {
            option = expects_value(at, words[i]);
        } else {
            operands++;
        }
    }
    const char *equals = strchr(at->word, '=');
    if (option) {
        offer_value(at, option);
    } else if (text_starts(at->word, "--") && equals) {
        AUTO_FREE char *before = xstrndup(at->word, (size_t)(equals - at->word) + 1);
        option = find_option(at, before, strlen(before) - 1);
        at->word = equals + 1;
        at->before = before;
        if (option && option->type != OPTION_FLAG) {
            offer_value(at, option);
        }
        at->before = "";
    } else if (at->word[0] == '-') {
        offer_options(at);
    } else {
        offer_operand(at, operands);
    }
}

void complete_names_release(struct complete_names *names)
{
    strlist_release(&names->runs);
    strlist_release(&names->live);
    strlist_release(&names->ended);
    strlist_release(&names->jobs);
    strlist_release(&names->keys);
    strlist_release(&names->profiles);
    strlist_release(&names->containers);
    strlist_release(&names->nodes);
}

void complete_words(char *const *words, size_t count, const struct complete_names *names, struct str *out)
{
    struct completing at = {
        .word = words[count - 1],
        .before = "",
        .names = names,
        .out = out,
    };
    if (count == 1) {
        offer_commands(&at);
        return;
    }
    at.command = command_find(words[0], NULL);
    if (!at.command) {
        return;
    }
    command_groups(at.command, at.groups);
    complete_arguments(&at, words, count);
}
