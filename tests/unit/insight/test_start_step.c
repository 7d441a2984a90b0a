/* The step from which a node went on, from lines as a search of the log gives them. */
#include "insight/evidence.h"
#include "insight/start_step.h"
#include "test.h"

struct line {
    unsigned long number;
    const char *text;
};

static void note(struct evidence *evidence, const struct line *lines, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        start_step_note(evidence, lines[i].number, lines[i].text, strlen(lines[i].text));
    }
}

/* Hits far behind the start are no start, and lines that come twice count once. */
static void test_lines_of_a_search(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {10, "step 0 loss 2.2"},          {11, "step 1 loss 2.1"},      {10, "step 0 loss 2.2"},
        {90000, "resumed from step 900"}, {90001, "step 901 loss 0.1"},
    };
    struct evidence evidence;
    evidence_init(&evidence);
    note(&evidence, lines, ARRAY_LEN(lines));
    assert_int_equal(evidence.start.number, 0);
    assert_int_equal(evidence.start.line, 10);
    assert_int_equal(evidence.start.shown, 2);
    assert_false(evidence.start.said);
    evidence_release(&evidence);
}

static void test_what_a_line_says(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        long long number; /* -1: no step */
        bool said;
    } rows[] = {
        {"resumed from step 50 of /ckpt/last.pt", 50, true},
        {"successfully loaded checkpoint from /ckpt [ t 1/1, p 1/1 ] at iteration 40", 40, true},
        {"Loading state of optimizer, step: 7", 7, true},
        {"no checkpoint, starting from step 0", 0, true},
        {"[rank0]:\033[32mContinuing at \033[1mepoch 3\033[0m", 3, true},
        {"step 12 loss 0.1", 12, false},
        {"\033[32mstep 5\033[0m loss 0.1", 5, false},
        {"[dataloader] epoch 3", 3, false},
        {"loading batch for step 9", 9, false},
        {"start_step=40", 40, false},
        {"restarts: 2, step 9", 9, false},
        {"uploading checkpoint of step 4", 4, false},
        {"timestep 4 of footstep 5", -1, false},
        {"step 1.5 of the plan", -1, false},
    };
    FOR_ROWS(i, rows, rows[i].text) {
        struct evidence evidence;
        evidence_init(&evidence);
        start_step_note(&evidence, 1, rows[i].text, strlen(rows[i].text));
        assert_int_equal(evidence.start.unit ? evidence.start.number : -1, rows[i].number);
        assert_int_equal(evidence.start.said, rows[i].said);
        evidence_release(&evidence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_a_search),
        cmocka_unit_test(test_what_a_line_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
