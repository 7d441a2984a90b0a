/* Parses the criteria of Match lines. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/kind.h"
#include "reach/pattern_internal.h"
#include "reach/ssh_config_internal.h"

static const struct {
    const char *name;
    enum ssh_subject subject;
    const char *keyword; /* SSH_SUBJECT_OPENSSH */
    bool alone;          /* takes no argument */
} attributes[] = {
    {"canonical", SSH_SUBJECT_FINAL, NULL, true},
    {"final", SSH_SUBJECT_FINAL, NULL, true},
    {"host", SSH_SUBJECT_HOSTNAME, NULL, false},
    {"originalhost", SSH_SUBJECT_ORIGINAL, NULL, false},
    {"user", SSH_SUBJECT_USER, NULL, false},
    {"localuser", SSH_SUBJECT_LOCAL_USER, NULL, false},
    {"exec", SSH_SUBJECT_OPENSSH, "Match exec", false},
    /* newer than OpenSSH 9.2 */
    {"localnetwork", SSH_SUBJECT_OPENSSH, "Match localnetwork", false},
    {"tagged", SSH_SUBJECT_OPENSSH, "Match tagged", false},
    {"command", SSH_SUBJECT_OPENSSH, "Match command", false},
    {"sessiontype", SSH_SUBJECT_OPENSSH, "Match sessiontype", false},
    {"version", SSH_SUBJECT_OPENSSH, "Match version", false},
};

struct ssh_criterion *ssh_block_add(struct ssh_block *block, enum ssh_subject subject)
{
    block->criteria = xgrow(block->criteria, block->len, &block->cap, sizeof(*block->criteria));
    block->criteria[block->len] = (struct ssh_criterion){.subject = subject};
    return &block->criteria[block->len++];
}

void ssh_block_release(struct ssh_block *block)
{
    for (size_t i = 0; i < block->len; i++) {
        strlist_release(&block->criteria[i].patterns);
    }
    free(block->criteria);
}

/* The next word, cut as by OpenSSH's strdelim: at blanks, at one '=', or a text in double quotes. */
static bool next_word(const char **at, struct str *word)
{
    const char *p = *at + strspn(*at, " \t");

    str_reset(word);
    if (*p == '\0' || *p == '#') {
        return false;
    }
    while (*p != '\0' && !strchr(" \t=\"", *p)) {
        str_add_char(word, *p++);
    }
    if (*p == '"') {
        for (p++; *p != '\0' && *p != '"'; p++) {
            str_add_char(word, *p);
        }
        p += *p == '"';
    }
    p += strspn(p, " \t");
    if (*p == '=') {
        p++;
    }
    *at = p;
    return true;
}

static int add_all(struct ssh_block *block, bool negated, size_t others, const char *at, struct error *err)
{
    AUTO_STR struct str word = STR_INIT;

    if (others > 1 || next_word(&at, &word)) {
        return error_set(err, &kind_ssh_config, "'all' cannot be combined with other criteria of 'Match'");
    }
    ssh_block_add(block, SSH_SUBJECT_ALL)->negated = negated;
    return 0;
}

static int find_attribute(const char *name, size_t *found, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(attributes); i++) {
        if (strcasecmp(attributes[i].name, name) != 0) {
            continue;
        }
        *found = i;
        return 0;
    }
    return error_set(
        err, &kind_ssh_config,
        "'%s' is not a criterion of 'Match', allowed: all, final, canonical, host, originalhost, user,"
        " localuser, exec",
        name);
}

int ssh_match_parse(const char *rest, struct ssh_block *block, bool *wants_final, struct error *err)
{
    AUTO_STR struct str word = STR_INIT, argument = STR_INIT;
    size_t which = 0;

    while (next_word(&rest, &word)) {
        const char *name = str_text(&word);
        bool negated = name[0] == '!';
        struct ssh_criterion *criterion;
        name += negated ? 1 : 0;
        if (strcasecmp(name, "all") == 0) {
            return add_all(block, negated, block->len, rest, err);
        }
        if (find_attribute(name, &which, err) != 0) {
            return -1;
        }
        if (!attributes[which].alone && !next_word(&rest, &argument)) {
            return error_set(err, &kind_ssh_config, "'Match %s' has no argument", attributes[which].name);
        }
        criterion = ssh_block_add(block, attributes[which].subject);
        criterion->negated = negated;
        criterion->keyword = attributes[which].keyword;
        if (!attributes[which].alone) {
            ssh_pattern_split(str_text(&argument), false, &criterion->patterns);
        }
        if (strcasecmp(name, "final") == 0) {
            *wants_final = true;
        }
    }
    if (block->len == 0) {
        return error_set(err, &kind_ssh_config, "'Match' has no argument");
    }
    return 0;
}
