/*
 * What each check makes of what a node says: the cases of tests/data/check/ID.facts (README.md there tells
 * their form). Every check must have a case in which it is well and one in which it is not.
 */

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/text.h"
#include "check/check.h"
#include "test.h"

struct case_file {
    const struct check *check;
    char *name; /* of the present case */
    struct check_subject subject;
    struct strlist setup, argv;
    struct strlist kept; /* texts that subject borrows */
    struct job_require require;
    struct env env;
    struct node {
        struct check_subject subject;
        struct facts facts;
        char label[8];
    } nodes[8]; /* of the present case; the last is being filled */
    size_t nodes_len;
    struct str wanted;
    bool has_good, has_bad;
    size_t failures, count;
};

static void forget_case(struct case_file *file)
{
    free(file->name);
    file->name = NULL;
    strlist_release(&file->setup);
    strlist_release(&file->argv);
    strlist_release(&file->kept);
    for (size_t i = 0; i < file->nodes_len; i++) {
        facts_release(&file->nodes[i].facts);
    }
    strlist_release(&file->require.paths);
    strlist_release(&file->require.same);
    strlist_release(&file->require.commands);
    env_release(&file->env);
    file->require = (struct job_require){0};
    file->nodes_len = 0;
    str_reset(&file->wanted);
    file->subject = (struct check_subject){
        .run = "r1",
        .nnodes = 2,
        .start_timeout_s = 120,
        .program = "train.py",
        .interpreter = "python3",
        .module = "torch",
        .config = "ds.json",
        .config_key = "deepspeed.config",
        .program_type = CHECK_PROGRAM_FILE,
        .needs_gpus = true,
        .counts_gpus = true,
        .master_addr = "g1",
        .setup = &file->setup,
        .argv = &file->argv,
        .require = &file->require,
        .env = &file->env,
        .token = "t",
        .probe_port = 41000,
        .next_addr = "10.0.0.9",
    };
}

static void add_node(struct case_file *file)
{
    assert_true(file->nodes_len < ARRAY_LEN(file->nodes));
    struct node *node = &file->nodes[file->nodes_len];
    *node = (struct node){.subject = file->subject};
    snprintf(node->label, sizeof(node->label), "g%zu", ++file->nodes_len);
    AUTO_FREE char *ran = xasprintf("%s.ran", file->check->id);
    facts_add(&node->facts, "node.host", node->label, NULL);
    facts_add(&node->facts, "node.artifacts", "/a", NULL);
    facts_add(&node->facts, "node.home", "/home/me", NULL);
    facts_add(&node->facts, ran, "1", NULL);
}

static void print_findings(const struct findings *found, struct str *out)
{
    for (size_t i = 0; i < found->len; i++) {
        const struct finding *finding = &found->items[i];
        AUTO_FREE char *hosts = strlist_join(&finding->hosts, " ");
        str_addf(out, "> %s%s%s: %s%s%s%s\n", finding_severity_name(finding->severity),
                 finding->kind ? " " : "", finding->kind ? finding->kind->name : "", finding->text,
                 hosts[0] ? " (" : "", hosts, hosts[0] ? ")" : "");
        if (finding->evidence) {
            str_addf(out, "= %s\n", finding->evidence);
        }
        if (finding->remedy) {
            str_addf(out, "! %s\n", finding->remedy);
        }
    }
    if (found->len == 0) {
        str_add(out, "> nothing\n");
    }
}

static void end_case(struct case_file *file)
{
    AUTO_FINDINGS struct findings found = FINDINGS_INIT;
    AUTO_STR struct str got = STR_INIT;
    struct error err = ERROR_INIT;
    if (!file->name) {
        return;
    }
    struct check_choice choice = {0};
    for (size_t i = 0; i < checks_count; i++) {
        choice.wanted[i] = checks_all[i] == file->check;
    }
    struct check_node all[ARRAY_LEN(file->nodes)];
    bool refused = false;
    for (size_t i = 0; i < file->nodes_len && !refused; i++) {
        struct node *node = &file->nodes[i];
        all[i] = (struct check_node){.label = node->label, .subject = &node->subject, .facts = &node->facts};
        refused = check_verify(&node->facts, &err) != 0;
        if (i == 0 && !refused) { /* the others are there to be compared with */
            check_judge(&node->subject, &choice, &node->facts, &found);
        }
    }
    if (refused) {
        str_addf(&got, "> refused: %s\n", err.text);
    } else {
        check_compare(&choice, all, file->nodes_len, &found);
        print_findings(&found, &got);
    }
    file->count++;
    file->has_good = file->has_good || (found.len > 0 && findings_worst(&found, NULL) == FINDING_OK);
    file->has_bad = file->has_bad || findings_worst(&found, NULL) > FINDING_OK;
    if (strcmp(str_text(&got), str_text(&file->wanted)) != 0) {
        print_error("%s, '%s': wanted\n%sgot\n%s", file->check->id, file->name, str_text(&file->wanted),
                    str_text(&got));
        file->failures++;
    }
}

static const char *keep(struct case_file *file, const char *text)
{
    strlist_add(&file->kept, text);
    return file->kept.items[file->kept.len - 1];
}

static unsigned to_number(const char *text)
{
    return (unsigned)strtoul(text, NULL, 10);
}

static void set_subject(struct case_file *file, const char *key, const char *value)
{
    struct check_subject *subject = &file->nodes[file->nodes_len - 1].subject;
    const char *kept = value[0] == '\0' ? NULL : keep(file, value);
    if (strcmp(key, "container") == 0) {
        subject->container = kept;
    } else if (strcmp(key, "workdir") == 0) {
        subject->workdir = kept;
    } else if (strcmp(key, "program") == 0) {
        subject->program = kept;
    } else if (strcmp(key, "command") == 0) {
        subject->program = kept;
        subject->program_type = CHECK_PROGRAM_COMMAND;
    } else if (strcmp(key, "setup") == 0) {
        strlist_add(&file->setup, value);
    } else if (strcmp(key, "master_port") == 0) {
        subject->master_port = to_number(value);
    } else if (strcmp(key, "free_disk") == 0) {
        file->require.free_disk_bytes = strtoull(value, NULL, 10);
    } else if (strcmp(key, "shm") == 0) {
        file->require.shm_bytes = strtoull(value, NULL, 10);
    } else if (strcmp(key, "gpus") == 0) {
        file->require.gpus = to_number(value);
    } else if (strcmp(key, "ib") == 0) {
        file->require.ib = to_number(value) != 0;
    } else if (strcmp(key, "same") == 0) {
        strlist_add(&file->require.same, value);
    } else if (strcmp(key, "argv") == 0) {
        strlist_add(&file->argv, value);
    } else if (strcmp(key, "starting") == 0) {
        subject->starting = to_number(value) != 0;
    } else if (strcmp(key, "nproc") == 0) {
        subject->nproc = to_number(value);
    } else if (strcmp(key, "rank") == 0) {
        subject->rank = to_number(value);
    } else if (strcmp(key, "next") == 0) {
        subject->next_addr = kept;
    } else if (strcmp(key, "env") == 0) {
        const char *equals = strchr(value, '=');
        AUTO_FREE char *name = xstrndup(value, (size_t)(equals - value));
        env_set(&file->env, name, equals + 1, "spec");
    } else if (strcmp(key, "needs_gpus") == 0) {
        subject->needs_gpus = to_number(value) != 0;
    } else if (strcmp(key, "outer") == 0) {
        subject->outer_run_id = kept;
    } else {
        fail_msg("%s: unknown subject '%s'", file->check->id, key);
    }
}

/* "KEY=VALUE", in VALUE a "\n" is a line's end. */
static char *split(char *line)
{
    char *value = strchr(line, '=');
    assert_non_null(value);
    *value++ = '\0';
    for (char *at = value; (at = strstr(at, "\\n"));) {
        *at = '\n';
        memmove(at + 1, at + 2, strlen(at + 2) + 1);
    }
    return value;
}

static void take_line(struct case_file *file, char *line)
{
    if (text_starts(line, "case ")) {
        end_case(file);
        forget_case(file);
        file->name = xstrdup(line + strlen("case "));
        add_node(file);
    } else if (text_starts(line, "node ")) {
        add_node(file);
    } else if (line[0] == '@') {
        char *value = split(line + 2);
        set_subject(file, line + 2, value);
    } else if (strchr(">!=", line[0]) && line[0] != '\0') {
        str_addf(&file->wanted, "%s\n", line);
    } else if (line[0] != '\0' && line[0] != '#') {
        char *value = split(line);
        assert_int_equal(facts_add(&file->nodes[file->nodes_len - 1].facts, line, value, NULL), 0);
    }
}

static void run_file(const struct check *check)
{
    struct case_file file = {.check = check};
    AUTO_FREE char *path = xasprintf("tests/data/check/%s.facts", check->id);
    AUTO_STR struct str text = STR_INIT;
    struct error err = ERROR_INIT;
    if (file_read(path, 1 << 20, &text, &err) != 0) {
        fail_msg("the check '%s' lacks its good and bad facts: %s", check->id, err.text);
    }
    char *rest = NULL;
    for (char *line = strtok_r(text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        take_line(&file, line);
    }
    end_case(&file);
    if (!file.has_good || !file.has_bad) {
        print_error("%s: no case in which it is %s\n", path, file.has_good ? "unwell" : "well");
        file.failures++;
    }
    assert_int_equal(file.failures, 0);
    forget_case(&file);
    str_release(&file.wanted);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < checks_count; i++) {
        run_file(checks_all[i]);
    }
}

/* What a check that did not end in time means. */
static void test_late(void **state)
{
    (void)state;
    struct check_choice choice = {0};
    AUTO_FACTS struct facts facts = FACTS_INIT;
    AUTO_FINDINGS struct findings found = FINDINGS_INIT;
    const struct job_require require = {0};
    const struct check_subject subject = {.run = "r", .start_timeout_s = 5, .require = &require};
    for (size_t i = 0; i < checks_count; i++) {
        choice.wanted[i] = true;
    }
    check_judge(&subject, &choice, &facts, &found);
    assert_int_equal(found.len, checks_count);
    for (size_t i = 0; i < found.len; i++) {
        const struct check *check = check_find(found.items[i].id);
        assert_int_equal(found.items[i].severity, check->late ? FINDING_FAIL : FINDING_WARN);
        assert_non_null(found.items[i].remedy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
