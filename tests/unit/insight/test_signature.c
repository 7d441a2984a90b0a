/* Each row of the signature tables has a line that matches, a line that does not, and sound words. */
#include <regex.h>
#include <time.h>

#include "insight/signature.h"
#include "insight_test.h"

/* Rows that no line gives; test_diagnosis shows each of them. */
static const char *const made[] = {
    "PY_EXCEPTION",      "PY_DISTRIBUTED", "EXIT_SIGKILL",   "EXIT_SIGSEGV",        "EXIT_SIGBUS",
    "EXIT_SIGABRT",      "EXIT_SIGNAL",    "EXIT_SIGTERM",   "EXIT_STATUS",         "NODE_UNREACHABLE",
    "STEPS_DIFFER",      "NODE_SILENT",    "RDZV_UNMET",     "COLLECTIVE_UNJOINED", "NCCL_HANG",
    "STOPPED_BY_SIGNAL", "RERUN_EXIT",     "RDZV_SAME_RANK", "NCCL_INIT_ABSENT",    "LEFT_EARLY",
};

static bool is_made(const char *id)
{
    for (size_t i = 0; i < ARRAY_LEN(made); i++) {
        if (strcmp(made[i], id) == 0) {
            return true;
        }
    }
    return false;
}

/* Does the row itself match the line, without the scanner's help? */
static bool matches(const struct signature *row, const char *line)
{
    bool found = false;
    for (size_t i = 0; row->literals[i]; i++) {
        found = found || strstr(line, row->literals[i]);
    }
    if (found && row->pattern) {
        regex_t pattern;
        assert_int_equal(regcomp(&pattern, row->pattern, REG_EXTENDED | REG_NOSUB), 0);
        found = regexec(&pattern, line, 0, NULL, 0) == 0;
        regfree(&pattern);
    }
    return found;
}

/* Rows of an id that match the line. */
static const struct signature *find_matching(const char *id, const char *line)
{
    for (size_t i = 0; i < signature_tables_len; i++) {
        for (size_t j = 0; j < signature_tables[i]->len; j++) {
            const struct signature *row = &signature_tables[i]->rows[j];
            if (strcmp(row->id, id) == 0 && matches(row, line)) {
                return row;
            }
        }
    }
    return NULL;
}

struct block {
    char id[40];
    size_t good, bad;
};

/* What a line of the samples says about the block of its id. */
static void check_sample(struct scanner *scanner, struct block *block, const char *line, const char *summary)
{
    const struct signature *row = find_matching(block->id, line + 2);
    if (line[0] == '-') {
        block->bad++;
        if (row) {
            fail_msg("%s matches '%s'", block->id, line + 2);
        }
        return;
    }
    block->good++;
    if (!row) {
        fail_msg("%s does not match '%s'", block->id, line + 2);
        return;
    }
    struct evidence evidence;
    AUTO_FREE char *log =
        xasprintf("Traceback (most recent call last):\n  File \"/a/t.py\", line 3, in f\n%s\n", line + 2);
    read_log(scanner, row->generic ? log : line + 2, 0, &evidence);
    struct event *event = NULL;
    for (size_t i = 0; i < evidence.events_len; i++) {
        bool same = strcmp(evidence.events[i].signature->id, block->id) == 0;
        event = same ? &evidence.events[i] : event;
    }
    if (!event && row->class != CLASS_NOISE) {
        fail_msg("the scanner finds no %s in '%s'", block->id, line + 2);
    }
    if (summary) {
        const struct node_end node = {.host = "n", .evidence = &evidence, .exit_status = -1, .ended = -1};
        struct diagnosis diagnosis;
        diagnosis_make(&diagnosis, &node, 1, 1);
        const char *got = row->class == CLASS_VICTIM ? row->summary : diagnosis.cause.summary;
        assert_non_null(got);
        if (row->class != CLASS_VICTIM) {
            AUTO_FREE char *placed = xasprintf("%s%s", summary, row->generic ? " (t.py:3)" : "");
            assert_string_equal(got, placed);
        }
        diagnosis_release(&diagnosis);
    }
    evidence_release(&evidence);
}

static char *next_line(char **at)
{
    char *line = *at;
    char *end = line ? strchr(line, '\n') : NULL;
    if (!line || line[0] == '\0') {
        return NULL;
    }
    if (end) {
        *end = '\0';
    }
    *at = end ? end + 1 : NULL;
    return line;
}

static size_t read_blocks(struct scanner *scanner, struct block *blocks, size_t max)
{
    AUTO_FREE char *text = read_data("signatures.txt");
    char *at = text;
    size_t len = 0;
    struct block *block = NULL;
    for (char *line = next_line(&at); line; line = next_line(&at)) {
        if (line[0] == '#' || line[0] == '\0' || line[0] == '=') {
            continue;
        }
        if (line[0] == '+' || line[0] == '-') {
            assert_non_null(block);
            bool has_summary = at && at[0] == '=';
            AUTO_FREE char *summary = has_summary ? xstrndup(at + 2, strcspn(at + 2, "\n")) : NULL;
            check_sample(scanner, block, line, summary);
            continue;
        }
        assert_true(len < max);
        block = &blocks[len++];
        *block = (struct block){0};
        snprintf(block->id, sizeof block->id, "%s", line);
    }
    return len;
}

static void test_each_row_has_a_line_that_matches_and_one_that_does_not(void **state)
{
    struct block *blocks = xcalloc(400, sizeof(*blocks));
    size_t len = read_blocks(*state, blocks, 400);
    for (size_t i = 0; i < signature_tables_len; i++) {
        for (size_t j = 0; j < signature_tables[i]->len; j++) {
            const char *id = signature_tables[i]->rows[j].id;
            size_t good = 0;
            size_t bad = 0;
            for (size_t k = 0; k < len; k++) {
                good += strcmp(blocks[k].id, id) == 0 ? blocks[k].good : 0;
                bad += strcmp(blocks[k].id, id) == 0 ? blocks[k].bad : 0;
            }
            if (!is_made(id) && (good == 0 || bad == 0)) {
                fail_msg("%s: %zu lines that match and %zu that do not in tests/data/logs/signatures.txt", id,
                         good, bad);
            }
        }
    }
    for (size_t i = 0; i < len; i++) {
        if (!signature_find(blocks[i].id)) {
            fail_msg("signatures.txt has lines of %s, which no table has", blocks[i].id);
        }
    }
    free(blocks);
}

static void check_template(const struct signature *row, const char *template)
{
    for (const char *at = strchr(template, '%'); at; at = strchr(at + 1, '%')) {
        const char *digit = at[1] == '[' ? at + 2 : at + 1;
        if (*digit >= '0' && *digit <= '9') {
            assert_true(*digit - '0' < SIGNATURE_GROUPS);
            assert_true(row->pattern || is_made(row->id));
        }
    }
}

static void test_rows_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < signature_tables_len; i++) {
        for (size_t j = 0; j < signature_tables[i]->len; j++) {
            const struct signature *row = &signature_tables[i]->rows[j];
            assert_non_null(signature_class_name(row->class));
            assert_true(row->literals[0] || is_made(row->id));
            assert_null(row->literals[SIGNATURE_LITERALS]);
            for (size_t k = 0; row->literals[k]; k++) {
                assert_true(strlen(row->literals[k]) >= 5);
                assert_null(strpbrk(row->literals[k], "\n\r"));
            }
            if (row->summary) {
                check_template(row, row->summary);
            }
            for (size_t k = 0; row->remedies[k]; k++) {
                check_template(row, row->remedies[k]);
            }
        }
    }
}

/* What NCCL says of its transport; the lines of 2.27 and 2.28. */
static void test_the_transport(void **state)
{
    static const struct {
        const char *text, *network, *ib_link, *interface;
    } cases[] = {
        {"g1:1:2 [0] NCCL INFO Bootstrap: Using bond0:10.0.0.1<0>\n"
         "g1:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB bond0:10.0.0.1<0>\n"
         "g1:1:2 [0] NCCL INFO Using network IB\n",
         "IB", "RoCE", "bond0"},
        {"g1:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB; OOB eth0:10.0.0.1<0>\n"
         "g1:1:2 [0] NCCL INFO Using network IB\n",
         "IB", "IB", NULL},
        {"g1:1:2 [0] NCCL INFO NET/IB : No device found.\n"
         "g1:1:2 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n"
         "g1:1:2 [0] NCCL INFO Using network Socket\n",
         "Socket", NULL, NULL},
        {"nothing of it\n", NULL, NULL, NULL},
    };
    FOR_ROWS(i, cases, cases[i].text) {
        struct evidence evidence;
        read_log(*state, cases[i].text, 0, &evidence);
        const char *const seen[] = {evidence.network, evidence.ib_link, evidence.interface};
        const char *const wanted[] = {cases[i].network, cases[i].ib_link, cases[i].interface};
        for (size_t n = 0; n < 3; n++) {
            assert_int_equal(!seen[n], !wanted[n]);
            if (wanted[n]) {
                assert_string_equal(seen[n], wanted[n]);
            }
        }
        evidence_release(&evidence);
    }
}

/* --- cost --------------------------------------------------------------------------------------- */

#define LINE_COST_MS 40 /* of the CPU; a line that is matched at once takes some microseconds */

static double match_ms(const struct signature *row, const char *line)
{
    regex_t pattern;
    assert_int_equal(regcomp(&pattern, row->pattern, REG_EXTENDED), 0);
    assert_true(pattern.re_nsub < SIGNATURE_GROUPS);
    regmatch_t groups[SIGNATURE_GROUPS];
    clock_t begun = clock();
    regexec(&pattern, line, SIGNATURE_GROUPS, groups, 0);
    double ms = (double)(clock() - begun) * 1000 / CLOCKS_PER_SEC;
    regfree(&pattern);
    return ms;
}

/* Lines of the largest size made of what a pattern looks for: its literal, with numbers, blanks and brackets
 * behind. */
static void test_no_pattern_runs_away(void **state)
{
    (void)state;
    static const char *const fillers[] = {"", "1", " ", "a", "(", ") ", "'x", "1 23<4> "};
    for (size_t i = 0; i < signature_tables_len; i++) {
        for (size_t j = 0; j < signature_tables[i]->len; j++) {
            const struct signature *row = &signature_tables[i]->rows[j];
            for (size_t k = 0; row->pattern && k < ARRAY_LEN(fillers); k++) {
                AUTO_STR struct str line = STR_INIT;
                while (line.len < SIGNATURE_TEXT_MAX) {
                    str_add(&line, row->literals[0]);
                    str_add(&line, fillers[k]);
                }
                str_truncate(&line, SIGNATURE_TEXT_MAX);
                double ms = match_ms(row, str_text(&line));
                if (ms > LINE_COST_MS && (ms = match_ms(row, str_text(&line))) > LINE_COST_MS) {
                    fail_msg("%s takes %.1f ms for a line of '%s%s'", row->id, ms, row->literals[0],
                             fillers[k]);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_row_has_a_line_that_matches_and_one_that_does_not),
        cmocka_unit_test(test_rows_are_sound),
        cmocka_unit_test(test_no_pattern_runs_away),
        cmocka_unit_test(test_the_transport),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
