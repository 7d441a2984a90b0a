/* --set, the caller's variables, options with names of their own, -e, "--": what they change and who wins. */
#include "jobfile_test.h"

#define SPEC                                                                                                 \
    "program: x\n"                                                                                           \
    "nproc_per_node: 2\n"                                                                                    \
    "zero_stage: 0\n"                                                                                        \
    "artifacts: /a\n"                                                                                        \
    "master: {addr: m, port: 1}\n"                                                                           \
    "args: {lr: 1, list: [1, 2]}\n"                                                                          \
    "env: {A: 1}\n"                                                                                          \
    "setup: [x]\n"                                                                                           \
    "profiles: {p: {zero_stage: 1, env: {A: 2}}}\n"

/* Read SPEC with --set options. */
static struct outcome read_sets(const char *const *sets, size_t count)
{
    AUTO_STRLIST struct strlist list = STRLIST_INIT;
    for (size_t i = 0; i < count; i++) {
        strlist_add(&list, sets[i]);
    }
    const struct job_request request = {.sets = &list, .home = "/home/u"};
    return read_spec(SPEC, &request);
}

static const struct job_arg *find_arg(const struct job *job, const char *key)
{
    for (size_t i = 0; i < job->args.len; i++) {
        if (strcmp(job->args.items[i].key, key) == 0) {
            return &job->args.items[i];
        }
    }
    fail_msg("no argument '%s'", key);
    return NULL;
}

static void test_set_values(void **state)
{
    (void)state;
    const char *const sets[] = {
        "args.lr=1e-5",   "args.eq=a=b",        "args.flag=true",       "args.off=false",
        "args.gone=null", "args.quoted='true'", "args.list=[x, 'y z']", "args.prompt=hello, world",
        "env.A=NO",       "env.B=\"\"",         "env.C='a: b #c'",      "master.interface=ib0",
        "setup=one line", "nproc_per_node=4",   "nproc_per_node=8",     "stop={signal: INT, grace: 5}",
    };
    AUTO_OUTCOME struct outcome got = read_sets(sets, ARRAY_LEN(sets));
    assert_read(&got);
    assert_string_equal(find_arg(&got.job, "lr")->values.items[0], "1e-5");
    assert_string_equal(got.job.args.items[0].key, "lr"); /* keeps its place */
    assert_string_equal(find_arg(&got.job, "eq")->values.items[0], "a=b");
    assert_int_equal(find_arg(&got.job, "flag")->type, JOB_ARG_TRUE);
    assert_int_equal(find_arg(&got.job, "off")->type, JOB_ARG_FALSE);
    assert_int_equal(find_arg(&got.job, "gone")->type, JOB_ARG_NULL);
    assert_int_equal(find_arg(&got.job, "quoted")->type, JOB_ARG_PAIR);
    assert_int_equal(find_arg(&got.job, "list")->values.len, 2);
    assert_string_equal(find_arg(&got.job, "list")->values.items[1], "y z");
    assert_string_equal(find_arg(&got.job, "prompt")->values.items[0], "hello, world");
    assert_string_equal(env_get(&got.job.env, "A")->value, "NO");
    assert_string_equal(env_get(&got.job.env, "A")->source, "--set");
    assert_string_equal(env_get(&got.job.env, "B")->value, "");
    assert_string_equal(env_get(&got.job.env, "C")->value, "a: b #c");
    assert_string_equal(got.job.master_interface, "ib0");
    assert_string_equal(got.job.master_addr, "m"); /* beside it stays */
    assert_string_equal(got.job.setup.items[0], "one line");
    assert_int_equal(got.job.nproc_per_node, 8); /* the later one */
    assert_string_equal(got.job.stop_signal, "INT");
    assert_int_equal(got.job.stop_grace_s, 5);
}

static void test_set_makes_and_drops(void **state)
{
    (void)state;
    const char *const sets[] = {"ssh.user=u", "master=null", "master.port=5", "artifacts="};
    AUTO_OUTCOME struct outcome got = read_sets(sets, ARRAY_LEN(sets));
    assert_read(&got);
    assert_string_equal(got.job.reach.user, "u");
    assert_null(got.job.master_addr);
    assert_int_equal(got.job.master_port, 5);
    assert_null(got.job.artifacts);
}

static void test_set_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *set, *file, *text, *hint;
        const struct error_kind *kind;
    } cases[] = {
        {"lr", "--set lr", "it has no '='", "write --set KEY.PATH=VALUE", &kind_usage},
        {"=1", "--set =1", "an empty key in the path", "write --set KEY.PATH=VALUE", &kind_usage},
        {"args..lr=1", "--set args..lr=1", "an empty key in the path", "write --set KEY.PATH=VALUE",
         &kind_usage},
        {"args.=1", "--set args.=1", "an empty key in the path", "write --set KEY.PATH=VALUE", &kind_usage},
        {"a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1",
         "--set a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1", "the path is too long",
         "name a key of the job file", &kind_usage},
        {"profiles.p.zero_stage=1", "--set profiles.p.zero_stage=1",
         "'profiles' cannot be set: profiles are merged first",
         "set the key itself: it is applied after the profiles", &kind_usage},
        {"nproc_per_nod=1", "--set nproc_per_nod=1", "unknown key 'nproc_per_nod'",
         "did you mean 'nproc_per_node'?", &kind_usage},
        {"mastr.port=1", "--set mastr.port=1", "unknown key 'mastr'", "did you mean 'master'?", &kind_usage},
        {"master.prt=1", "--set master.prt=1", "unknown key 'master.prt'", "did you mean 'port'?",
         &kind_usage},
        {"zero_stage=7", "--set zero_stage=7", "'zero_stage' is '7', allowed: 0 to 3",
         "write --set 'zero_stage=3'", &kind_usage},
        {"args.lr.x=1", "--set args.lr.x=1", "'args.lr' is a string, a path can only go through mappings",
         "set 'args.lr' as a whole", &kind_usage},
        {"setup.0=x", "--set setup.0=x", "'setup' is a list, a path can only go through mappings",
         "set 'setup' as a whole", &kind_usage},
        {"args.m={a: 1}", "--set args.m={a: 1}",
         "'args.m' is a mapping, expected a string or a list of strings",
         "write 'm: VALUE', or put quotes around a value in braces", &kind_usage},
        {"args.m=[a", "--set args.m=[a",
         "the value is not valid YAML: did not find expected ',' or ']' while parsing a flow sequence",
         "put quotes around the value", &kind_usage},
        {"args.m=a: b", "--set args.m=a: b", "the value reads as a block mapping or list",
         "put quotes around text that contains ': ' or begins with '- ', or write { } or [ ]", &kind_usage},
        {"args.m=x #y", "--set args.m=x #y", "a '#' after a blank begins a comment",
         "put quotes around the value", &kind_usage},
        {"container.name=-c", "--set container.name=-c",
         "'container.name' is '-c', allowed: letters, digits, '_', '.' and '-', the first a letter or digit",
         "write a name that `docker ps` shows", &kind_usage},
        /* a value that may be a secret is never repeated */
        {"env.A=null", "--set env.A", "'env.A' is null, expected a string",
         "write \"\" for an empty value, or leave the name out", &kind_usage},
        {"env.A=[sesam", "--set env.A",
         "the value is not valid YAML: did not find expected ',' or ']' while parsing a flow sequence",
         "put quotes around the value", &kind_usage},
        {"env={RANK: sesam}", "--set env", "'RANK' may not be set",
         "the launcher gives it to each process: leave it out", &kind_usage},
        {"env={A_KEY:sesam}", "--set env", "'env.A_KEY:***' is null, expected a string",
         "write 'NAME: VALUE', with a colon and a blank", &kind_usage},
        {"args={A_KEY=sesam}", "--set args", "'args.A_KEY=***' has no value",
         "write 'NAME: VALUE', with a colon and a blank", &kind_usage},
        {"args.API_KEY={a: sesam}", "--set args.API_KEY",
         "'args.API_KEY' is a mapping, expected a string or a list of strings",
         "write 'API_KEY: VALUE', or put quotes around a value in braces", &kind_usage},
    };
    FOR_ROWS(i, cases, cases[i].set) {
        AUTO_OUTCOME struct outcome got = read_sets(&cases[i].set, 1);
        assert_refused(&got, cases[i].kind, cases[i].file,
                       &(struct refusal){cases[i].set, 0, 0, cases[i].text, cases[i].hint});
        assert_string_equal(got.err.source, "");
    }
}

static void test_long_sets_are_named_by_their_key(void **state)
{
    (void)state;
    AUTO_STR struct str set = STR_INIT;
    str_add(&set, "zero_stage=");
    for (int i = 0; i < 500; i++) {
        str_add_char(&set, 'x');
    }
    const char *const sets[] = {set.data};
    AUTO_OUTCOME struct outcome got = read_sets(sets, 1);
    assert_int_equal(got.result, -1);
    assert_string_equal(got.err.file, "--set zero_stage");
}

static void test_variables_act_as_options(void **state)
{
    (void)state;
    const char *const environ_[] = {
        "NCCL_DEBUG=INFO",  "ZERO_STAGE=2",      "CONTAINER_NAME=",  "NPROC_PER_NODE=3",
        "MASTER_ADDR=head", "MASTER_PORT=29777", "ARTIFACT_ROOT=/r", NULL};
    const struct job_request request = {.environ_ = environ_};
    AUTO_OUTCOME struct outcome got = read_spec(SPEC, &request);
    assert_read(&got);
    assert_int_equal(got.job.zero_stage, 2);
    assert_int_equal(got.job.nproc_per_node, 3);
    assert_string_equal(got.job.master_addr, "head");
    assert_int_equal(got.job.master_port, 29777);
    assert_string_equal(got.job.artifacts, "/r");
    AUTO_FREE char *notes = strlist_join(&got.notes, "\n");
    assert_string_equal(notes, "ZERO_STAGE=2 of the environment acts as --zero-stage\n"
                               "NPROC_PER_NODE=3 of the environment acts as --nproc-per-node\n"
                               "MASTER_ADDR=head of the environment acts as --master-addr\n"
                               "MASTER_PORT=29777 of the environment acts as --master-port\n"
                               "ARTIFACT_ROOT=/r of the environment acts as --artifacts");
}

#define WITH_CONTAINER "program: x\ncontainer: {name: own}\n"

/* U3: CONTAINER_NAME renames a container that the spec has after its profiles, and never makes one. */
static void test_u3_container_name(void **state)
{
    (void)state;
    const char *const environ_[] = {"CONTAINER_NAME=c", NULL};
    const struct job_request variable = {.environ_ = environ_};
    AUTO_OUTCOME struct outcome got = read_spec(WITH_CONTAINER, &variable);
    assert_read(&got);
    assert_string_equal(got.job.place.container, "c");
    assert_string_equal(got.notes.items[0], "CONTAINER_NAME=c of the environment acts as --container");
    static const char *const without[] = {"program: x\n", "program: x\ncontainer: null\n",
                                          "program: x\ncontainer: {}\n",
                                          "program: x\nprofiles: {p: {container: {name: o}}}\n"};
    FOR_ROWS(i, without, without[i]) {
        AUTO_OUTCOME struct outcome none = read_spec(without[i], &variable);
        assert_read(&none);
        assert_null(none.job.place.container);
        assert_int_equal(none.notes.len, 0);
    }
    AUTO_STRLIST struct strlist profiles = STRLIST_INIT;
    strlist_add(&profiles, "p");
    const struct job_request chosen = {.environ_ = environ_, .profiles = &profiles};
    AUTO_OUTCOME struct outcome profile = read_spec(without[3], &chosen);
    assert_read(&profile);
    assert_string_equal(profile.job.place.container, "c");
    AUTO_OUTCOME struct outcome taken =
        read_spec("program: x\ncontainer: {name: o}\nprofiles: {p: {container: null}}\n", &chosen);
    assert_read(&taken);
    assert_null(taken.job.place.container);
}

/* Later wins: the spec, the variable, --set, --container, which also makes a container. */
static void test_u3_container_order(void **state)
{
    (void)state;
    const char *const environ_[] = {"CONTAINER_NAME=c", NULL};
    AUTO_STRLIST struct strlist sets = STRLIST_INIT;
    strlist_add(&sets, "container.name=s");
    const struct job_request set = {.environ_ = environ_, .sets = &sets};
    AUTO_OUTCOME struct outcome first = read_spec(WITH_CONTAINER, &set);
    assert_read(&first);
    assert_string_equal(first.job.place.container, "s");
    assert_int_equal(first.notes.len, 0);
    const struct job_request option = {.container = "d", .environ_ = environ_, .sets = &sets};
    AUTO_OUTCOME struct outcome again = read_spec(WITH_CONTAINER, &option);
    assert_read(&again);
    assert_string_equal(again.job.place.container, "d");
    assert_int_equal(again.notes.len, 0);
    const struct job_request alone = {.container = "d"};
    AUTO_OUTCOME struct outcome made = read_spec("program: x\n", &alone);
    assert_read(&made);
    assert_string_equal(made.job.place.container, "d");
    const char *const empty[] = {"CONTAINER_NAME=", NULL};
    const struct job_request unset = {.environ_ = empty};
    AUTO_OUTCOME struct outcome own = read_spec(WITH_CONTAINER, &unset);
    assert_read(&own);
    assert_string_equal(own.job.place.container, "own");
}

static void test_later_wins(void **state)
{
    (void)state;
    const char *const environ_[] = {"ZERO_STAGE=2", NULL};
    AUTO_STRLIST struct strlist profiles = STRLIST_INIT;
    AUTO_STRLIST struct strlist sets = STRLIST_INIT;
    strlist_add(&profiles, "p");
    struct job_request request = {0};
    AUTO_OUTCOME struct outcome spec = read_spec(SPEC, &request);
    assert_int_equal(spec.job.zero_stage, 0);
    request.profiles = &profiles;
    AUTO_OUTCOME struct outcome profile = read_spec(SPEC, &request);
    assert_int_equal(profile.job.zero_stage, 1);
    request.environ_ = environ_;
    AUTO_OUTCOME struct outcome variable = read_spec(SPEC, &request);
    assert_int_equal(variable.job.zero_stage, 2);
    assert_int_equal(variable.notes.len, 1);
    strlist_add(&sets, "zero_stage=3");
    request.sets = &sets;
    AUTO_OUTCOME struct outcome set = read_spec(SPEC, &request);
    assert_int_equal(set.job.zero_stage, 3);
    assert_int_equal(set.notes.len, 0); /* a variable that does not act is not named */
    request.zero_stage = "0";
    AUTO_OUTCOME struct outcome option = read_spec(SPEC, &request);
    assert_int_equal(option.job.zero_stage, 0);
    assert_int_equal(option.notes.len, 0);
}

static void test_options_and_variables_are_checked(void **state)
{
    (void)state;
    const struct {
        struct job_request request;
        const char *file, *text, *hint;
    } cases[] = {
        {{.zero_stage = "4"}, "--zero-stage", "'zero_stage' is '4', allowed: 0 to 3", "write --zero-stage 3"},
        {{.zero_stage = ""}, "--zero-stage", "'zero_stage' is '', allowed: 0 to 3", "write --zero-stage 0"},
        {{.nproc_per_node = "null"},
         "--nproc-per-node",
         "'nproc_per_node' is 'null', allowed: auto, or 1 to 1024",
         "write --nproc-per-node auto"},
        {{.master_port = "0"},
         "--master-port",
         "'master.port' is '0', allowed: auto, or 1 to 65535",
         "write --master-port auto"},
        {{.master_addr = "g1:5"},
         "--master-addr",
         "'master.addr' is 'g1:5', allowed: auto, or one name or address",
         "the port has a key of its own: master.port"},
        {{.artifacts = ""}, "--artifacts", "'artifacts' is empty", "give a value, or leave it out"},
        {{.environ_ = (const char *const[]){"ZERO_STAGE=x", NULL}},
         "ZERO_STAGE of the environment",
         "'zero_stage' is 'x', allowed: 0 to 3",
         "set ZERO_STAGE=0, or unset it"},
        {{.environ_ = (const char *const[]){"MASTER_PORT=99999", NULL}},
         "MASTER_PORT of the environment",
         "'master.port' is '99999', allowed: auto, or 1 to 65535",
         "set MASTER_PORT=auto, or unset it"},
    };
    FOR_ROWS(i, cases, cases[i].file) {
        AUTO_OUTCOME struct outcome got = read_spec(SPEC, &cases[i].request);
        assert_refused(&got, &kind_usage, cases[i].file,
                       &(struct refusal){cases[i].file, 0, 0, cases[i].text, cases[i].hint});
    }
    const struct job_request option = {.master_addr = "g1", .nproc_per_node = "auto"};
    AUTO_OUTCOME struct outcome scalar = read_spec("program: x\nmaster: m\n", &option);
    assert_refused(&scalar, &kind_usage, "--master-addr",
                   &(struct refusal){"scalar", 0, 0,
                                     "'master' is a string, a path can only go through mappings",
                                     "set 'master' as a whole"});
    AUTO_OUTCOME struct outcome automatic = read_spec(SPEC, &option);
    assert_read(&automatic);
    assert_int_equal(automatic.job.nproc_per_node, 0);
}

static void test_env_options(void **state)
{
    (void)state;
    const char *const environ_[] = {"HERE=from here", "HEREAFTER=x", "EMPTY=", NULL};
    AUTO_STRLIST struct strlist env = STRLIST_INIT;
    const char *const texts[] = {"A=1", "B=", "C=a=b", "HERE", "EMPTY", "A=2"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        strlist_add(&env, texts[i]);
    }
    const struct job_request request = {.env = &env, .environ_ = environ_};
    AUTO_OUTCOME struct outcome got = read_spec(SPEC, &request);
    assert_read(&got);
    const struct env *have = &got.job.env_options;
    assert_int_equal(have->len, 5);
    assert_string_equal(env_get(have, "A")->value, "2");
    assert_string_equal(env_get(have, "B")->value, "");
    assert_string_equal(env_get(have, "C")->value, "a=b");
    assert_string_equal(env_get(have, "HERE")->value, "from here");
    assert_string_equal(env_get(have, "EMPTY")->value, "");
    assert_string_equal(env_get(have, "C")->source, "-e");
}

static void test_env_option_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *file, *message, *hint;
    } cases[] = {
        {"NOT_HERE", "-e NOT_HERE", "'NOT_HERE' is not set here", "write -e NOT_HERE=VALUE"},
        {"RANK=sesam", "-e RANK", "'RANK' may not be set",
         "the launcher gives it to each process: leave it out"},
        {"a-b=sesam", "-e a-b", "'a-b' is not a valid environment variable name",
         "use letters, digits and '_', not beginning with a digit"},
        {"=sesam", "-e ", "'' is not a valid environment variable name",
         "use letters, digits and '_', not beginning with a digit"},
    };
    FOR_ROWS(i, cases, cases[i].text) {
        AUTO_STRLIST struct strlist env = STRLIST_INIT;
        strlist_add(&env, cases[i].text);
        const struct job_request request = {.env = &env};
        AUTO_OUTCOME struct outcome got = read_spec(SPEC, &request);
        assert_refused(&got, &kind_usage, cases[i].file,
                       &(struct refusal){cases[i].text, 0, 0, cases[i].message, cases[i].hint});
    }
}

static void test_rest_is_appended(void **state)
{
    (void)state;
    AUTO_STRLIST struct strlist rest = STRLIST_INIT;
    strlist_add(&rest, "--x");
    strlist_add(&rest, "");
    strlist_add(&rest, "a b");
    const struct job_request request = {.rest = &rest};
    AUTO_OUTCOME struct outcome got = read_spec(SPEC, &request);
    assert_read(&got);
    assert_int_equal(got.job.extra_args.len, 3);
    assert_string_equal(got.job.extra_args.items[2], "a b");

    AUTO_FREE char *big = xcalloc(131073, 1);
    memset(big, 'x', 131071);
    strlist_add(&rest, big);
    AUTO_OUTCOME struct outcome fits = read_spec(SPEC, &request);
    assert_read(&fits);
    big[131071] = 'x';
    strlist_add(&rest, big);
    AUTO_OUTCOME struct outcome over = read_spec(SPEC, &request);
    assert_refused(&over, &kind_usage, "",
                   &(struct refusal){"rest", 0, 0,
                                     "argument 5 after '--' is 131072 bytes long, allowed: 131071",
                                     "put the text into a file and name the file"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_values),
        cmocka_unit_test(test_set_makes_and_drops),
        cmocka_unit_test(test_set_refusals),
        cmocka_unit_test(test_long_sets_are_named_by_their_key),
        cmocka_unit_test(test_variables_act_as_options),
        cmocka_unit_test(test_u3_container_name),
        cmocka_unit_test(test_u3_container_order),
        cmocka_unit_test(test_later_wins),
        cmocka_unit_test(test_options_and_variables_are_checked),
        cmocka_unit_test(test_env_options),
        cmocka_unit_test(test_env_option_refusals),
        cmocka_unit_test(test_rest_is_appended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
