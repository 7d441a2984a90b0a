/* program, args, env, env_file, pass_env, secret_env, setup: texts reach the job as they were written. */
#include "job_dump.h"
#include "jobfile_test.h"

static void assert_args(const char *spec, const char *want)
{
    AUTO_FREE char *whole = xasprintf("program: x\n%s", spec);
    AUTO_OUTCOME struct outcome got = read_spec(whole, NULL);
    assert_read(&got);
    static const char *const types[] = {"word", "pair", "true", "false", "null", "list"};
    AUTO_STR struct str text = STR_INIT;
    for (size_t i = 0; i < got.job.args.len; i++) {
        const struct job_arg *arg = &got.job.args.items[i];
        str_addf(&text, "%s%s %s", i > 0 ? "|" : "", types[arg->type], arg->key != NULL ? arg->key : "-");
        for (size_t v = 0; v < arg->values.len; v++) {
            str_addf(&text, " <%s>", arg->values.items[v]);
        }
    }
    assert_string_equal(str_text(&text), want);
}

static void test_args(void **state)
{
    (void)state;
    assert_args("args: {b: NO, a: 012, c: 1e-5, d: 12:30, e: on}\n",
                "pair b <NO>|pair a <012>|pair c <1e-5>|pair d <12:30>|pair e <on>");
    assert_args("args:\n  a: true\n  b: false\n  c: null\n", "true a|false b|null c");
    assert_args("args: {a: 'true', b: \"false\", c: 'null', d: True, e: ~, f: ''}\n",
                "pair a <true>|pair b <false>|pair c <null>|pair d <True>|pair e <~>|pair f <>");
    assert_args("args: {a: [1, true, ''], b: []}\n", "list a <1> <true> <>|list b");
    assert_args("args: {-x: 1, --y: 2}\n", "pair -x <1>|pair --y <2>");
    assert_args("args: [--a, 'b c', true, NO]\n", "word - <--a>|word - <b c>|word - <true>|word - <NO>");
    assert_args("args: --bf16\n", "word - <--bf16>");
    assert_args("args: '${{ run }}'\n", "word - <${{ run }}>");
    assert_args("args: ['--x=a b', -1 2, '- a', 'a --b', '--${{ run }}']\n",
                "word - <--x=a b>|word - <-1 2>|word - <- a>|word - <a --b>|word - <--${{ run }}>");
    assert_args("args: {flags: '--lr 1', l: [--lr 1]}\n", "pair flags <--lr 1>|list l <--lr 1>");
    assert_args("args: []\n", "");
    assert_args("args: {}\n", "");
    assert_args("args: null\n", "");
    assert_args(
        "args: {j: '{\"a\": [1]}', n: \"a\\nb\", h: $HOME, s: '*', p: '${{run}}', q: \"it's\"}\n",
        "pair j <{\"a\": [1]}>|pair n <a\nb>|pair h <$HOME>|pair s <*>|pair p <${{run}}>|pair q <it's>");
}

#define NO_VALUE(key)                                                                                        \
    "write '" key ": true' for an option without a value, '" key ": null' to leave it out, or put quotes "   \
    "around a value that contains a comma"
#define ONE_TEXT "'args' is one string that contains blanks, expected a list of words"

/* U1: what would vanish or reach the program as one word is refused with what was meant. */
static void test_u1_args(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"program: x\nargs:\n  lr: 1\n  bf16:\n  a: 1\n", 4, 3, "'args.bf16' has no value", NO_VALUE("bf16")},
        {"program: x\nargs: {bf16, lr: 1}\n", 2, 8, "'args.bf16' has no value", NO_VALUE("bf16")},
        {"program: x\nargs: {betas: 0.9,0.95}\n", 2, 19, "'args.0.95' has no value",
         "write 'betas: \"0.9,0.95\"' if the comma belongs to the value, or '0.95: true' for an option "
         "without a value"},
        {"program: x\nargs: {lr 1e-4}\n", 2, 8, "'args.lr 1e-4' has no value",
         "write 'lr: 1e-4', with a colon and a blank"},
        {"program: x\nargs: {lr=1e-4}\n", 2, 8, "'args.lr=1e-4' has no value",
         "write 'lr: 1e-4', with a colon and a blank"},
        {"program: x\nargs: {lr:1e-4}\n", 2, 8, "'args.lr:1e-4' has no value",
         "write 'lr: 1e-4', with a colon and a blank"},
        {"program: x\nenv: {A:1}\n", 2, 10, "'env.A:1' is null, expected a string",
         "write 'A: 1', with a colon and a blank"},
        {"program: x\nenv: {A_KEY:geheim}\n", 2, 19, "'env.A_KEY:***' is null, expected a string",
         "write 'NAME: VALUE', with a colon and a blank"},
        {"program: x\nA_KEY=geheim: 1\n", 2, 1, "unknown key 'A_KEY=***'",
         "leave it out; arguments of the program belong in 'args', variables in 'env'"},
        {"program: x\nargs: {A_KEY:geheim}\n", 2, 8, "'args.A_KEY:***' has no value",
         "write 'NAME: VALUE', with a colon and a blank"},
        {"program: x\nargs: {A_KEY=geheim a: 1}\n", 2, 8,
         "'args.A_KEY=***': the name of an option cannot contain blanks",
         "write 'name: value', with the value after the colon"},
        {"program: x\nargs: {l r: 1}\n", 2, 8, "'args.l r': the name of an option cannot contain blanks",
         "write 'name: value', with the value after the colon"},
        {"program: x\nargs: --lr 1e-5 --bs 4\n", 2, 7, ONE_TEXT, "write 'args: [--lr, 1e-5, --bs, 4]'"},
        {"program: x\nargs: '--name \"a b\" --x'\n", 2, 7, ONE_TEXT, "write 'args: [--name, \"a b\", --x]'"},
        {"program: x\nargs: |\n  --lr 1\n  --bs 4\n", 2, 7, ONE_TEXT, "write 'args: [--lr, 1, --bs, 4]'"},
        {"program: x\nargs:\n  lr:1e-4\n  bs:4\n", 3, 3, ONE_TEXT,
         "write 'lr: 1e-4', with a blank after the colon, or the list [\"lr:1e-4\", \"bs:4\"]"},
        {"program: x\nargs: '--API_KEY=geheim --x 1'\n", 2, 7, ONE_TEXT,
         "write the words as a list: 'args: [--lr, 1e-5]'"},
        {"program: x\nargs: [--bf16, --lr 1e-4]\n", 2, 16, "'args[1]' is an option and its value in one word",
         "write two items: [--lr, 1e-4]"},
        {"program: x\nargs:\n  - '-n a b'\n", 3, 5, "'args[0]' is an option and its value in one word",
         "write two items: [-n, \"a b\"]"},
        /* U20: a mapping's mistake is shown at its key */
        {"program: x\nargs:\n  a: 1\n  lr:\n    b: 1\n", 4, 3,
         "'args.lr' is a mapping, expected a string or a list of strings",
         "write 'lr: VALUE', or put quotes around a value in braces"},
    };
    FOR_ROWS(i, cases, cases[i].spec) {
        AUTO_OUTCOME struct outcome got = read_spec(cases[i].spec, NULL);
        assert_refused(&got, &kind_job_file, SPEC_FILE, &cases[i]);
        assert_null(strstr(got.err.source, "geheim"));
    }
    static const struct refusal name = {"program: x\nenv: {A_KEY=geheim: 1}\n", 2, 7,
                                        "'A_KEY=***' is not a valid environment variable name",
                                        "use letters, digits and '_', not beginning with a digit"};
    AUTO_OUTCOME struct outcome got = read_spec(name.spec, NULL);
    assert_refused(&got, &kind_usage, SPEC_FILE, &name);
}

#define ENDS_OPTIONS(word) "'launcher_args' contains '" word "', which would end the options of the launcher"
#define NAME_PROGRAM       "name the program in 'program' and its arguments in 'args'"
#define ONE_SCRIPT         "; for the launcher 'torchrun' it is one script or module"

/* U1: a command line where one script or module belongs. */
static void test_u1_program(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"program: python train.py --lr 1e-4\n", 1, 10,
         "'program' begins with an interpreter: 'python train.py --lr 1e-4'" ONE_SCRIPT,
         "write 'program: train.py' and 'args: [--lr, 1e-4]'; the interpreter is named by 'python'"},
        {"program: /usr/bin/python3.11 -u train.py\n", 1, 10,
         "'program' begins with an interpreter: '/usr/bin/python3.11 -u train.py'" ONE_SCRIPT,
         "write 'program: train.py'; the interpreter is named by 'python'"},
        {"program: python -m pkg.mod --x\n", 1, 10,
         "'program' begins with an interpreter: 'python -m pkg.mod --x'" ONE_SCRIPT,
         "write 'program: -m pkg.mod' and 'args: [--x]'; the interpreter is named by 'python'"},
        {"program: python3\n", 1, 10, "'program' begins with an interpreter: 'python3'" ONE_SCRIPT,
         "write 'program: train.py', or 'launcher: script' for a command line"},
        {"program: torchrun --nproc_per_node 8 train.py\n", 1, 10,
         "'program' begins with an interpreter: 'torchrun --nproc_per_node 8 train.py'" ONE_SCRIPT,
         "write 'program: train.py'; mtlaunch starts torchrun itself"},
        {"program: python -m torch.distributed.run --nnodes=2 train.py --lr 1\n", 1, 10,
         "'program' begins with an interpreter: 'python -m torch.distributed.run --nnodes=2 train.py --lr "
         "1'" ONE_SCRIPT,
         "write 'program: train.py' and 'args: [--lr, 1]'; the interpreter is named by 'python'"},
        {"program: |\n  train.py\n", 1, 10,
         "'program' has a blank or a line end around it: 'train.py\n'" ONE_SCRIPT,
         "write 'program: train.py'"},
        {"program: 'train.py '\n", 1, 10,
         "'program' has a blank or a line end around it: 'train.py '" ONE_SCRIPT,
         "write 'program: train.py'"},
        {"program: bash run.sh 8\n", 1, 10,
         "'program' begins with an interpreter: 'bash run.sh 8'" ONE_SCRIPT,
         "write 'program: run.sh' and 'args: [8]'; a shell line needs 'launcher: script'"},
        {"program: train.py --lr 1\n", 1, 10, "'program' contains options: 'train.py --lr 1'" ONE_SCRIPT,
         "write 'program: train.py' and 'args: [--lr, 1]'"},
        {"program: train.py a.yaml\n", 1, 10, "'program' contains arguments: 'train.py a.yaml'" ONE_SCRIPT,
         "write 'program: train.py' and 'args: [a.yaml]'"},
        {"program: -m pkg.mod --x 1\n", 1, 10, "'program' contains arguments: '-m pkg.mod --x 1'" ONE_SCRIPT,
         "write 'program: -m pkg.mod' and 'args: [--x, 1]'"},
        {"program: -m\n", 1, 10, "'program' names no module: '-m'" ONE_SCRIPT,
         "write 'program: train.py', or 'launcher: script' for a command line"},
        {"program: A=1 python train.py\n", 1, 10,
         "'program' begins with a variable: 'A=1 python train.py'" ONE_SCRIPT,
         "write 'program: train.py'; variables belong in 'env'"},
    };
    FOR_ROWS(i, cases, cases[i].spec) {
        AUTO_OUTCOME struct outcome got = read_spec(cases[i].spec, NULL);
        assert_refused(&got, &kind_job_file, SPEC_FILE, &cases[i]);
    }
    static const char *const good[] = {
        "program: my train.py\n",
        "program: -m pkg.mod\n",
        "program: '${{ artifacts }}/x.py'\n",
        "program: python train.py --lr 1\nlauncher: script\n",
        "program: bash run.sh\npython: none\n",
        "program: python/train.py\n",
        "program: pythonic.py\n",
    };
    FOR_ROWS(i, good, good[i]) {
        AUTO_OUTCOME struct outcome got = read_spec(good[i], NULL);
        assert_read(&got);
    }
}

/* What torchrun would take for the script is no word for torchrun. */
static void test_launcher_args(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"program: x\nlauncher_args: [y.py]\n", 2, 17, ENDS_OPTIONS("y.py"), NAME_PROGRAM},
        {"program: x\nlauncher_args: [--tee, 3, y.py]\n", 2, 27, ENDS_OPTIONS("y.py"), NAME_PROGRAM},
        {"program: x\nlauncher_args: [--tee=3, y.py]\n", 2, 26, ENDS_OPTIONS("y.py"), NAME_PROGRAM},
        {"program: x\nlauncher_args: [--run-path, y.py]\n", 2, 29, ENDS_OPTIONS("y.py"), NAME_PROGRAM},
        {"program: x\nlauncher_args: [--tee, 3, --]\n", 2, 27, ENDS_OPTIONS("--"), NAME_PROGRAM},
    };
    FOR_ROWS(i, cases, cases[i].spec) {
        AUTO_OUTCOME struct outcome got = read_spec(cases[i].spec, NULL);
        assert_refused(&got, &kind_job_file, SPEC_FILE, &cases[i]);
    }
    AUTO_OUTCOME struct outcome good =
        read_spec("program: x\nlauncher_args: [--tee, 3, --log-dir=/x, -r, 1, --run-path]\n", NULL);
    assert_read(&good);
}

static void test_setup_keeps_its_lines(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_spec("program: x\n"
                                                "setup:\n"
                                                "  - source a.sh  # note\n"
                                                "  - 'export A=1;'\n"
                                                "  - |\n"
                                                "    b  # kept\n"
                                                "    c\n",
                                                NULL);
    assert_read(&got);
    AUTO_FREE char *lines = strlist_join(&got.job.setup, "|");
    assert_string_equal(lines, "source a.sh|export A=1;|b  # kept\nc\n");
    AUTO_OUTCOME struct outcome one = read_spec("program: x\nsetup: source a.sh && b\n", NULL);
    assert_read(&one);
    assert_int_equal(one.job.setup.len, 1);
    assert_string_equal(one.job.setup.items[0], "source a.sh && b");
}

static void test_program(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome module = read_spec("program: -m pkg.mod\n", NULL);
    assert_read(&module);
    assert_string_equal(module.job.program.items[0], "-m pkg.mod");
    AUTO_OUTCOME struct outcome line = read_spec("launcher: script\nprogram: a && b | c\n", NULL);
    assert_read(&line);
    assert_false(line.job.program_is_list);
    assert_string_equal(line.job.program.items[0], "a && b | c");
    /* the launcher may stand behind */
    AUTO_OUTCOME struct outcome argv = read_spec("program: [a, '', 012]\nlauncher: script\n", NULL);
    assert_read(&argv);
    assert_true(argv.job.program_is_list);
    assert_int_equal(argv.job.program.len, 3);
    assert_string_equal(argv.job.program.items[1], "");
    assert_string_equal(argv.job.program.items[2], "012");
    AUTO_OUTCOME struct outcome no = read_spec("launcher: script\nprogram: 'no'\n", NULL);
    assert_string_equal(no.job.program.items[0], "no");
}

static void test_env(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got =
        read_spec("program: x\n"
                  "env: {A: NO, B: 012, C: 1e-5, D: 12:30, E: on, F: '', G: true, H: ~, I: ' a\\n',\n"
                  "      J: \"a\\n\\tb\", K: '{\"a\": \"b\"}', L: $HOME `x`;(y), M: é日本, N: 'null'}\n",
                  NULL);
    assert_read(&got);
    static const char *const want[][2] = {
        {"A", "NO"},    {"B", "012"},    {"C", "1e-5"},           {"D", "12:30"},
        {"E", "on"},    {"F", ""},       {"G", "true"},           {"H", "~"},
        {"I", " a\\n"}, {"J", "a\n\tb"}, {"K", "{\"a\": \"b\"}"}, {"L", "$HOME `x`;(y)"},
        {"M", "é日本"}, {"N", "null"},
    };
    assert_int_equal(got.job.env.len, ARRAY_LEN(want));
    FOR_ROWS(i, want, want[i][0]) {
        assert_string_equal(got.job.env.items[i].name, want[i][0]);
        assert_string_equal(got.job.env.items[i].value, want[i][1]);
        assert_string_equal(got.job.env.items[i].source, "spec");
    }
}

static void test_patterns(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_spec("program: x\npass_env: A_*\nsecret_env: [X, 'Y*']\n", NULL);
    assert_read(&got);
    AUTO_FREE char *pass = strlist_join(&got.job.pass_env, " ");
    assert_string_equal(pass, "A_*"); /* replaces */
    AUTO_FREE char *secret = strlist_join(&got.job.secret_env, " ");
    assert_string_equal(secret, "*_TOKEN *_KEY *_SECRET *PASSWORD* X Y*"); /* adds */
}

static void test_env_files(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_spec("program: x\nenv_file: [cluster.env, two.env]\n", NULL);
    assert_read(&got);
    assert_int_equal(got.job.env_files.len, 3);
    assert_string_equal(env_get(&got.job.env_files, "NCCL_IB_HCA")->value, "mlx5_2"); /* later files win */
    assert_string_equal(env_get(&got.job.env_files, "NCCL_IB_HCA")->source, "env_file two.env:1");
    assert_string_equal(env_get(&got.job.env_files, "UCX_TLS")->source, "env_file cluster.env:3");
    AUTO_OUTCOME struct outcome one = read_spec("program: x\nenv_file: two.env\n", NULL);
    assert_read(&one);
    assert_int_equal(one.job.env_files.len, 2);
}

static const struct refusal wrong[] = {
    {"program: ''\n", 1, 10, "'program' is empty", "specify what to run: 'program: train.py'"},
    {"program: []\n", 1, 10, "'program' is empty", "specify what to run: 'program: train.py'"},
    {"program: ['', a]\n", 1, 10, "'program' is empty", "specify what to run: 'program: train.py'"},
    {"program: {a: b}\n", 1, 10, "'program' is a mapping, expected a list of strings",
     "specify what to run: 'program: train.py'"},
    {"program: [train.py, --lr, 1]\n", 1, 10,
     "'program' is a list, expected a string for the launcher 'torchrun'",
     "name the script or '-m MODULE' here and its arguments in 'args'"},
    {"args: {a: {b: 1}}\n", 1, 11, "'args.a' is a mapping, expected a string or a list of strings",
     "write 'a: VALUE', or put quotes around a value in braces"},
    {"args: {a: [b, {c: 1}]}\n", 1, 15, "'args.a[1]' is a mapping, expected a string",
     "write one text, in quotes if the brackets belong to it"},
    {"args: {a: [null]}\n", 1, 12, "'args.a[0]' is null, expected a string",
     "put quotes around an empty text or the word null"},
    {"args: [a, null]\n", 1, 11, "'args[1]' is null, expected a string",
     "put quotes around an empty text or the word null"},
    {"args: {a: 1, a: 2}\n", 1, 14, "'a' is given twice, first on line 1", "keep one of the two"},
    {"env: [A=1]\n", 1, 6, "'env' is a list, expected a mapping of names to strings",
     "write 'env: {NAME: VALUE}'"},
    {"env: A=1\n", 1, 6, "'env' is a string, expected a mapping of names to strings",
     "write 'env: {NAME: VALUE}'"},
    {"env:\n  A: null\n", 2, 6, "'env.A' is null, expected a string",
     "write \"\" for an empty value, or leave the name out"},
    {"env:\n  A:\n", 2, 5, "'env.A' is null, expected a string",
     "write \"\" for an empty value, or leave the name out"},
    {"env: {A: {B: 1}}\n", 1, 10, "'env.A' is a mapping, expected a string",
     "write one text, in quotes if the brackets belong to it"},
    {"env: {A: [1]}\n", 1, 10, "'env.A' is a list, expected a string",
     "write one text, in quotes if the brackets belong to it"},
    {"env_file: {a: b}\n", 1, 11, "'env_file' is a mapping, expected a list of paths",
     "write 'env_file: [FILE, FILE]'"},
    {"env_file: ['']\n", 1, 12, "'env_file[0]' is empty", "give a value, or leave it out"},
    {"pass_env: ['']\n", 1, 11, "'pass_env' contains '', allowed: patterns of names",
     "write patterns such as \"NCCL_*\""},
    {"pass_env: [A=1]\n", 1, 11, "'pass_env' contains 'A=1', allowed: patterns of names",
     "write patterns such as \"NCCL_*\""},
    {"secret_env: {A: 1}\n", 1, 13, "'secret_env' is a mapping, expected a list of strings",
     "write 'secret_env: [VALUE, VALUE]'"},
};

static void test_wrong_values(void **state)
{
    (void)state;
    FOR_ROWS(i, wrong, wrong[i].spec) {
        AUTO_OUTCOME struct outcome got = read_spec(wrong[i].spec, NULL);
        assert_refused(&got, &kind_job_file, SPEC_FILE, &wrong[i]);
    }
}

static void test_wrong_names(void **state)
{
    (void)state;
    static const struct refusal names[] = {
        {"env: {A: 1, RANK: 0}\n", 1, 13, "'RANK' may not be set",
         "the launcher gives it to each process: leave it out"},
        {"env: {MASTER_ADDR: g1}\n", 1, 7, "'MASTER_ADDR' may not be set",
         "use master.addr of the spec or --master-addr"},
        {"env: {PPID: 1}\n", 1, 7, "'PPID' may not be set: the shell reserves it", "choose another name"},
        {"env: {a-b: 1}\n", 1, 7, "'a-b' is not a valid environment variable name",
         "use letters, digits and '_', not beginning with a digit"},
    };
    FOR_ROWS(i, names, names[i].spec) {
        AUTO_OUTCOME struct outcome got = read_spec(names[i].spec, NULL);
        assert_refused(&got, &kind_usage, SPEC_FILE, &names[i]);
    }
}

static void test_wrong_env_files(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome missing =
        read_spec("program: x\nenv_file:\n  - cluster.env\n  - nope.env\n", NULL);
    assert_refused(&missing, &kind_env_file, SPEC_FILE,
                   &(struct refusal){"missing", 4, 5,
                                     "cannot read '" SPEC_FOLDER "/nope.env': no such file or directory",
                                     "a relative path starts from the job file's folder"});
    AUTO_OUTCOME struct outcome bad = read_spec("program: x\nenv_file: hosts.txt\n", NULL);
    assert_refused(&bad, &kind_env_file, SPEC_FOLDER "/hosts.txt",
                   &(struct refusal){"bad", 1, 0,
                                     "'g0033 slots' is not a valid variable name, allowed: letters, digits "
                                     "and '_', the first not a digit",
                                     "write NAME=VALUE without blanks around NAME"});
}

/* A text of len bytes in a spec, between before and after. */
static struct outcome read_long(const char *before, size_t len, const char *after)
{
    AUTO_STR struct str spec = STR_INIT;
    str_add(&spec, before);
    for (size_t i = 0; i < len; i++) {
        str_add_char(&spec, 'x');
    }
    str_add(&spec, after);
    return read_spec(str_text(&spec), NULL);
}

static void test_long_arguments(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after, *text;
        size_t fits, line, column;
    } cases[] = {
        {"program: x\nargs: [", "]\n", "'args[0]' makes an argument of 131072 bytes, allowed: 131071", 131071,
         2, 8},
        {"program: x\nargs: {a: ", "}\n", "'args.a' makes an argument of 131072 bytes, allowed: 131071",
         131071, 2, 11},
        {"program: x\nargs:\n  a:\n    - y\n    - ", "\n",
         "'args.a' makes an argument of 131072 bytes, allowed: 131071", 131071, 4, 5},
        {"program: x\nargs:\n  ? ", "\n  : 1\n", "'args' makes an argument of 131072 bytes, allowed: 131071",
         131069, 3, 5},
        {"program: ", "\n", "'program' makes an argument of 131072 bytes, allowed: 131071", 131071, 1, 10},
        {"program: x\nenv: {A: ", "}\n",
         "'A' with its value is 131072 bytes long; at most 131071 can be handed to a program", 131069, 2, 7},
    };
    FOR_ROWS(i, cases, cases[i].before) {
        AUTO_OUTCOME struct outcome fits = read_long(cases[i].before, cases[i].fits, cases[i].after);
        assert_read(&fits);
        AUTO_OUTCOME struct outcome over = read_long(cases[i].before, cases[i].fits + 1, cases[i].after);
        assert_int_equal(over.result, -1);
        assert_string_equal(over.err.text, cases[i].text);
        assert_string_not_equal(over.err.hint, "");
        assert_int_equal(over.err.line, cases[i].line);
        assert_int_equal(over.err.column, cases[i].column);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_args),
        cmocka_unit_test(test_u1_args),
        cmocka_unit_test(test_u1_program),
        cmocka_unit_test(test_launcher_args),
        cmocka_unit_test(test_setup_keeps_its_lines),
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_env),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_env_files),
        cmocka_unit_test(test_wrong_values),
        cmocka_unit_test(test_wrong_names),
        cmocka_unit_test(test_wrong_env_files),
        cmocka_unit_test(test_long_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
