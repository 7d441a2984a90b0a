/* Check: the program's source knows the flags that it will be given. Finds misspelt flags, and flags of
 * another version. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check/check_internal.h"
#include "model/kind.h"

#define FLAGS_MAX 256
#define KNOWN_MAX 8192

/* Index of the first word that names a script, after the launcher's own words; argv->len: there is none. */
static size_t find_script(const struct strlist *argv)
{
    size_t i = 0;
    while (argv && i < argv->len && !text_ends(argv->items[i], ".py")) {
        i++;
    }
    return i;
}

/* "--flag" or "--flag=value" of plain letters. The caller frees; NULL: it is none. */
static char *take_flag(const char *word)
{
    size_t len = strcspn(word, "=");
    if (!text_starts(word, "--") || len < 4) {
        return NULL;
    }
    for (size_t i = 2; i < len; i++) {
        bool letter = (word[i] >= 'a' && word[i] <= 'z') || (word[i] >= 'A' && word[i] <= 'Z');
        if (!letter && (i == 2 || !strchr("0123456789_-", word[i]))) {
            return NULL;
        }
    }
    return xstrndup(word, len);
}

static bool ask(const struct check_subject *subject, struct env *values)
{
    AUTO_STRLIST struct strlist flags = STRLIST_INIT;
    const struct strlist *argv = subject->argv;
    size_t script = find_script(argv);
    for (size_t i = script + 1; argv && i < argv->len && flags.len < FLAGS_MAX; i++) {
        AUTO_FREE char *flag = take_flag(argv->items[i]);
        if (flag && !strlist_has(&flags, flag)) {
            strlist_add(&flags, flag);
        }
    }
    check_set_list(values, "flags", &flags);
    check_set_text(values, "flags_file", flags.len > 0 ? argv->items[script] : NULL);
    return !subject->starting && flags.len > 0;
}

/* Words between blanks. */
static void split_known(char *text, struct strlist *out)
{
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word && out->len < KNOWN_MAX;
         word = strtok_r(NULL, " ", &rest)) {
        strlist_add(out, word);
    }
}

static bool is_of_sharding(const char *flag)
{
    static const char *const flags[] = {"--use-megatron-fsdp", "--use-custom-fsdp",
                                        "--data-parallel-sharding-strategy"};
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        if (strcmp(flag, flags[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Set the remedy for a flag that is not known. */
static void advise(struct finding *finding, const char *flag, const struct strlist *known,
                   const char *version)
{
    const char *near = text_nearest(flag, (const char *const *)known->items, known->len);
    if (!is_of_sharding(flag)) {
        if (near) {
            finding_set_remedy(finding, "did you mean '%s'?", near);
        } else {
            finding_set_remedy(finding, "remove it from 'args', or use a version of the program that has it");
        }
    } else if (strlist_has(known, "--use-megatron-fsdp")) {
        finding_set_remedy(finding,
                           "this version has --use-megatron-fsdp: set megatron.sharding to megatron-fsdp");
    } else if (strlist_has(known, "--use-custom-fsdp")) {
        finding_set_remedy(finding,
                           "this version has --use-custom-fsdp: set megatron.sharding to custom-fsdp");
    } else {
        finding_set_remedy(finding,
                           "Megatron-LM%s%s shards no gradients or parameters: set zero_stage to 0 or 1, or "
                           "install 0.14 or later",
                           version ? " " : "", version ? version : "");
    }
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    AUTO_STRLIST struct strlist known = STRLIST_INIT;
    AUTO_FREE char *text = facts_copy(facts, "flags.known");
    const char *kind = facts_text(facts, "flags.kind");
    const char *flag = NULL;
    size_t at = 0, missing = 0;
    if (!check_is_set_up(facts)) {
        return;
    }
    if (text) {
        split_known(text, &known);
    }
    const char *script = subject->argv && find_script(subject->argv) < subject->argv->len
                             ? subject->argv->items[find_script(subject->argv)]
                             : "the program";
    while ((flag = facts_next(facts, "flags.missing", &at))) {
        struct finding *finding = NULL;
        if (kind && strcmp(kind, "megatron") == 0) {
            finding = findings_fail(out, "flags", &kind_program_missing,
                                    "Megatron-LM there does not know '%s'", flag);
        } else {
            finding = findings_add(out, "flags", FINDING_WARN, "'%s' knows no '%s'", script, flag);
        }
        advise(finding, flag, &known, facts_text(facts, "flags.version"));
        missing++;
    }
    if (missing == 0) {
        findings_add(out, "flags", FINDING_OK, "%s", kind ? "all known" : "its source does not show them");
    }
}

static void compare(const struct check_node *nodes, size_t count, struct findings *out)
{
    AUTO_FREE const char **values = xcalloc(count, sizeof(*values));
    AUTO_FREE char *majority = NULL;
    AUTO_STR struct str minority = STR_INIT;
    AUTO_STRLIST struct strlist odd = STRLIST_INIT;
    for (size_t i = 0; i < count; i++) {
        values[i] = facts_text(nodes[i].facts, "flags.version");
    }
    if (check_find_minority(nodes, count, values, &majority, &minority, &odd)) {
        struct finding *finding = findings_fail(out, "flags", &kind_nodes_differ,
                                                "its Megatron-LM differs from that of the other nodes");
        finding_set_evidence(finding, "%s; %s on the others", str_text(&minority), majority);
        finding_set_remedy(finding,
                           "copy the same tree to all nodes: `mtlaunch push`, or 'sync' in the spec");
        strlist_copy(&finding->hosts, &odd);
    }
}

const struct check check_flags = {
    .id = "flags",
    .title = "flags of the program",
    .why =
        "a misspelt flag, or one of another version, ends the program on all nodes once everything is loaded",
    CHECK_AFTER_SETUP(CHECK_ON_REQUEST),
    .apart = true,
    .ask = ask,
    .judge = judge,
    .compare = compare,
};
