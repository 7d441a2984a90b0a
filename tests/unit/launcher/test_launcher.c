/* The table of launchers: every row is complete, and a name that is none is refused with the nearest one. */
#include "launcher/launcher.h"
#include "launcher/launcher_internal.h"
#include "test.h"

static bool has_text(const char *text)
{
    return text && *text;
}

/* Lines end, and are comments: the job file that holds them must load (tests/unit/cmd/test_spec.c). */
static bool is_comment(const char *text)
{
    return text && (!*text || (*text == '#' && text[strlen(text) - 1] == '\n'));
}

/* What the row lacks; NULL for a whole one. */
static const char *lacking(const struct launcher *row)
{
    bool python = row->program == LAUNCHER_PROGRAM_PYTHON;
    if (!has_text(row->name) || !has_text(row->summary)) {
        return "name or summary";
    }
    if (!row->build) {
        return "its command";
    }
    if (!has_text(row->example.program) || !has_text(row->example.about) || !is_comment(row->example.about) ||
        !is_comment(row->example.settings)) {
        return "its part of the file that init writes";
    }
    if (python && (!row->words || !row->judge)) {
        return "the options it sets, or a judge of the job";
    }
    const struct launcher_option *option = row->words ? row->words->owned : NULL;
    for (; option && option->name; option++) {
        if (!has_text(option->hint) || strchr(option->name, '-')) {
            return "a hint, or underscores, in an option it sets";
        }
    }
    return NULL;
}

/* A launcher that lacks a part, or a name that stands twice, fails here. */
static void test_table(void **state)
{
    (void)state;
    size_t count = 0;
    for (; launchers_all[count]; count++) {
        const struct launcher *row = launchers_all[count];
        const char *what = lacking(row);
        if (what) {
            fail_msg("row %zu of the launchers ('%s') lacks %s", count, row->name ? row->name : "", what);
        }
        for (size_t i = 0; i < count; i++) {
            assert_string_not_equal(launchers_all[i]->name, row->name);
        }
        assert_ptr_equal(launcher_find(row->name, NULL), row);
    }
    assert_int_equal(count, 7);
    assert_string_equal(launchers_all[0]->name, "torchrun");
}

/* The judge of the table can fail: every part, when it lacks, is named. */
static void test_table_judge(void **state)
{
    (void)state;
    static const struct launcher_option bare[] = {{"node_rank", NULL}, {NULL, NULL}};
    static const struct launcher_option dashed[] = {{"node-rank", "x"}, {NULL, NULL}};
    static const char *const flags[] = {NULL};
    static const struct launcher_words bare_words = {bare, flags}, dashed_words = {dashed, flags};
    const struct launcher whole = launcher_torchrun;
    struct launcher rows[10];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        memcpy(&rows[i], &whole, sizeof whole);
    }
    rows[0].name = "";
    rows[1].summary = NULL;
    rows[2].build = NULL;
    rows[3].name = NULL;
    rows[4].example.program = NULL;
    rows[5].example.about = "no comment";
    rows[6].example.settings = NULL;
    rows[7].judge = NULL;
    rows[8].words = &bare_words;
    rows[9].words = &dashed_words;
    assert_null(lacking(&whole));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_non_null(lacking(&rows[i]));
    }
}

static const char *owned_by(const struct launcher *launcher, const char *word)
{
    const struct launcher_option *option = launcher_find_owned(launcher->words, word);
    return option ? option->name : NULL;
}

static void test_owned(void **state)
{
    (void)state;
    assert_string_equal(owned_by(&launcher_torchrun, "--node_rank=3"), "node_rank");
    assert_string_equal(owned_by(&launcher_megatron, "--node-rank"), "node_rank");
    assert_string_equal(owned_by(&launcher_torchrun, "--nno"), "nnodes");
    assert_string_equal(owned_by(&launcher_torchrun, "-m"), "m");
    assert_string_equal(owned_by(&launcher_torchrun, "--module"), "module");
    assert_string_equal(owned_by(&launcher_accelerate, "--num-processes=4"), "num_processes");
    assert_null(owned_by(&launcher_accelerate, "--role"));
    assert_null(owned_by(&launcher_torchrun, "--tee"));
    assert_null(owned_by(&launcher_torchrun, "--"));
    assert_null(owned_by(&launcher_torchrun, "node_rank"));
    assert_null(launcher_words(&launcher_script, NULL));
    assert_true(launcher_is_flag(launcher_torchrun.words, "--run-path"));
    assert_false(launcher_is_flag(launcher_torchrun.words, "--tee"));
}

static void refused(const char *name, const struct error_kind *kind, const char *text, const char *hint)
{
    struct error err = ERROR_INIT;
    assert_null(launcher_find(name, &err));
    assert_ptr_equal(err.kind, kind);
    assert_string_equal(err.text, text);
    assert_string_equal(err.hint, hint);
}

static void test_find(void **state)
{
    (void)state;
    static const char all[] = "use one of 'torchrun', 'megatron', 'deepspeed', 'accelerate', 'swift', "
                              "'megatron-swift', 'script'";
    refused("torchrum", &kind_plan, "unknown launcher 'torchrum'", "did you mean 'torchrun'?");
    refused("slurm-of-old", &kind_plan, "unknown launcher 'slurm-of-old'", all);
}

/* As argparse reads them: the last one wins, nothing after "--" counts, a word with a dash is no value. */
static void test_find_option(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        bool found;
        const char *value;
    } cases[] = {
        {"", false, NULL},
        {"--size 4", true, "4"},
        {"--size=4", true, "4"},
        {"--size=", true, ""},
        {"--size 4 --size 8", true, "8"},
        {"--size 4 --size=8", true, "8"},
        {"--size", true, NULL},
        {"--size --other", true, NULL},
        {"--sizes 4", false, NULL},
        {"-size 4", false, NULL},
        {"size 4", false, NULL},
        {"-- --size 4", false, NULL},
        {"--size 4 -- --size 8", true, "4"},
    };
    FOR_ROWS(i, cases, cases[i].words) {
        AUTO_FREE char *text = xstrdup(cases[i].words);
        struct strlist words = STRLIST_INIT;
        for (char *rest = text, *word; (word = strsep(&rest, " "));) {
            strlist_add(&words, word);
        }
        const char *value = "unset";
        assert_int_equal(launcher_find_option(&words, "size", &value), cases[i].found);
        assert_int_equal(launcher_find_option(&words, "size", NULL), cases[i].found);
        if (cases[i].value) {
            assert_string_equal(value, cases[i].value);
        } else {
            assert_null(value);
        }
        strlist_release(&words);
    }
}

static struct job_arg *add(struct job_args *args, int type, const char *key)
{
    args->items = xgrow(args->items, args->len, &args->cap, sizeof args->items[0]);
    struct job_arg *arg = &args->items[args->len++];
    memset(arg, 0, sizeof *arg);
    arg->type = type;
    arg->key = xstrdup(key);
    return arg;
}

static void test_map_args(void **state)
{
    (void)state;
    struct job_args args = {0};
    strlist_add(&add(&args, JOB_ARG_PAIR, "micro-batch-size")->values, "16");
    strlist_add(&add(&args, JOB_ARG_PAIR, "prompt")->values, "a b");
    strlist_add(&add(&args, JOB_ARG_PAIR, "-x")->values, "");
    strlist_add(&add(&args, JOB_ARG_PAIR, "under_score")->values, "--y");
    add(&args, JOB_ARG_TRUE, "bf16");
    add(&args, JOB_ARG_FALSE, "fp16");
    add(&args, JOB_ARG_NULL, "gone");
    struct job_arg *list = add(&args, JOB_ARG_LIST, "data-path");
    strlist_add(&list->values, "1");
    strlist_add(&list->values, "/d/a b");
    add(&args, JOB_ARG_LIST, "empty");
    strlist_add(&add(&args, JOB_ARG_WORD, NULL)->values, "--word=$HOME *");

    static const char *const wanted[] = {
        "--micro-batch-size", "16", "--prompt", "a b",           "-x", "", "--under_score", "--y", "--bf16",
        "--data-path",        "1",  "/d/a b",   "--word=$HOME *"};
    struct strlist words = STRLIST_INIT;
    launcher_map_args(&args, false, &words);
    assert_int_equal(words.len, ARRAY_LEN(wanted));
    for (size_t i = 0; i < words.len; i++) {
        assert_string_equal(words.items[i], wanted[i]);
    }
    strlist_release(&words);
    launcher_map_args(&args, true, &words);
    AUTO_FREE char *line = strlist_join(&words, " ");
    assert_non_null(strstr(line, "--bf16 true --fp16 false --data-path"));
    strlist_release(&words);
    job_args_release(&args);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table), cmocka_unit_test(test_table_judge), cmocka_unit_test(test_owned),
        cmocka_unit_test(test_find),  cmocka_unit_test(test_map_args),    cmocka_unit_test(test_find_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
