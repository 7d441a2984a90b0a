/* Check: the files and folders that the spec requires (require.paths), the configuration that the launcher
 * reads, and the data and model files that arguments name can be read. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check/check_internal.h"
#include "model/kind.h"

/* Options of training programs whose value is a file, a folder, or a prefix of the names of files. */
static const char *const file_options[] = {
    "data-path",  "train-data-path", "valid-data-path", "test-data-path",     "tokenizer-model",
    "vocab-file", "merge-file",      "tokenizer-path",  "model_name_or_path", "tokenizer_name_or_path",
    "model",      "dataset",         "deepspeed",       "deepspeed_config",
};

static bool is_file_option(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(file_options); i++) {
        if (text_starts(word, "--") && strcmp(word + 2, file_options[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_path(const char *word)
{
    return word[0] == '/' || text_starts(word, "./") || text_starts(word, "../");
}

/* Paths that follow one of these options, up to the next option. */
static void find_named(const struct strlist *argv, struct strlist *out)
{
    bool wanted = false;
    for (size_t i = 0; argv && i < argv->len; i++) {
        const char *word = argv->items[i];
        if (text_starts(word, "--")) {
            wanted = is_file_option(word);
        } else if (wanted && is_path(word) && !strlist_has(out, word)) {
            strlist_add(out, word);
        }
    }
}

static bool ask(const struct check_subject *subject, struct env *values)
{
    AUTO_STRLIST struct strlist named = STRLIST_INIT;
    const struct strlist *required = &subject->require->paths;
    if (!subject->starting) {
        find_named(subject->argv, &named);
    }
    check_set_list(values, "paths_required", required);
    check_set_list(values, "paths_named", &named);
    check_set_text(values, "paths_config", subject->config);
    return required->len > 0 || named.len > 0 || subject->config;
}

static size_t tell(const struct facts *facts, const char *key, bool required, const char *what,
                   struct findings *out)
{
    const char *path = NULL;
    size_t at = 0, count = 0;
    while ((path = facts_next(facts, key, &at))) {
        struct finding *finding =
            required ? findings_fail(out, "paths", &kind_path_missing, "'%s' %s", path, what)
                     : findings_add(out, "paths", FINDING_WARN, "'%s' %s (an argument names it)", path, what);
        finding_set_remedy(finding, "put it there, mount it, or correct the path");
        count++;
    }
    return count;
}

/* Report a problem with the launcher's configuration, which would otherwise show only after the start. */
static size_t tell_config(const struct check_subject *subject, const struct facts *facts, const char *key,
                          const char *what, struct findings *out)
{
    if (!facts_text(facts, key) || !subject->config) {
        return 0;
    }
    struct finding *finding = findings_fail(out, "paths", &kind_path_missing, "%s '%s' %s",
                                            subject->config_key, subject->config, what);
    finding_set_remedy(finding, "put it there, or correct %s (relative to workdir)", subject->config_key);
    return 1;
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    if (!check_is_set_up(facts)) {
        return;
    }
    size_t bad = tell_config(subject, facts, "paths.config_missing", "is not there", out) +
                 tell_config(subject, facts, "paths.config_unreadable", "cannot be read by this user", out) +
                 tell(facts, "paths.missing", true, "is not there", out) +
                 tell(facts, "paths.unreadable", true, "cannot be read by this user", out) +
                 tell(facts, "paths.named_missing", false, "is not there", out) +
                 tell(facts, "paths.named_unreadable", false, "cannot be read by this user", out);
    if (bad == 0) {
        findings_add(out, "paths", FINDING_OK, "all exist");
    }
}

const struct check check_paths = {
    .id = "paths",
    .title = "required files and folders",
    .why = "if one node lacks data, a tokenizer or a mount, the job ends there after minutes",
    CHECK_AFTER_SETUP(CHECK_BEFORE_START),
    .apart = true,
    .late = &kind_path_missing,
    .ask = ask,
    .judge = judge,
};
