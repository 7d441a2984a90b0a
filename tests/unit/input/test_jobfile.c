/* The keys of a job file: each has its effect or is refused, values are checked, places are exact. */

#include "base/text.h"
#include "input/jobfile_internal.h"
#include "job_dump.h"
#include "jobfile_test.h"

#define DATA SPEC_FOLDER "/"

static void test_minimal_file_has_the_defaults(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_spec("program: train.py\n", NULL);
    assert_read(&got);
    assert_string_equal(got.job.name, "job");
    assert_string_equal(got.job.file, SPEC_FILE);
    assert_string_equal(got.job.folder, SPEC_FOLDER);
    assert_string_equal(got.job.program.items[0], "train.py");
    assert_false(got.job.program_is_list);
    struct job defaults;
    job_init(&defaults);
    defaults.name = xstrdup("job");
    defaults.file = xstrdup(SPEC_FILE);
    defaults.folder = xstrdup(SPEC_FOLDER);
    strlist_add(&defaults.program, "train.py");
    AUTO_FREE char *want = dump_job(&defaults);
    AUTO_FREE char *have = dump_job(&got.job);
    assert_string_equal(have, want);
    job_release(&defaults);
    assert_int_equal(got.notes.len + got.warnings.len, 0);
}

/* A value for every key: one that changes the job, or one that is refused. */
static const struct {
    const char *key, *spec;
    enum { CHANGES, ONLY_DEFAULT, UNBUILT } effect;
} keys[] = {
    {"job", "job: other", CHANGES},
    {"hosts", "hosts: g1", CHANGES},
    {"hostfile", "hostfile: hosts.txt", CHANGES},
    {"launcher", "launcher: script", CHANGES},
    {"nproc_per_node", "nproc_per_node: 4", CHANGES},
    {"master.addr", "master: {addr: g1}", CHANGES},
    {"master.port", "master: {port: 29600}", CHANGES},
    {"master.interface", "master: {interface: ib0}", CHANGES},
    {"rendezvous", "rendezvous: c10d", CHANGES},
    {"workdir", "workdir: /w", CHANGES},
    {"artifacts", "artifacts: /a", CHANGES},
    {"shell", "shell: sh", CHANGES},
    {"setup", "setup: x", CHANGES},
    {"python", "python: none", CHANGES},
    {"program", "program: other.py", CHANGES},
    {"args", "args: {a: 1}", CHANGES},
    {"zero_stage", "zero_stage: 1", CHANGES},
    {"megatron.sharding", "megatron: {sharding: flags-only}", CHANGES},
    {"deepspeed.config", "deepspeed: {config: ds.json}", CHANGES},
    {"deepspeed.form", "deepspeed: {form: no_ssh}", CHANGES},
    {"accelerate.config_file", "accelerate: {config_file: a.yaml}", CHANGES},
    {"env", "env: {A: 1}", CHANGES},
    {"env_file", "env_file: cluster.env", CHANGES},
    {"pass_env", "pass_env: []", CHANGES},
    {"secret_env", "secret_env: X", CHANGES},
    {"container.name", "container: {name: c}", CHANGES},
    {"container.engine", "container: {name: c, engine: podman}", CHANGES},
    {"container.user", "container: {name: c, user: u}", CHANGES},
    {"container.workdir", "container: {name: c, workdir: /w}", CHANGES},
    {"container.sudo", "container: {name: c, sudo: true}", CHANGES},
    {"container.run.image", "container: {name: c, run: {image: i}}", CHANGES},
    {"container.run.command", "container: {name: c, run: {image: i, command: bash}}", CHANGES},
    {"container.run.gpus", "container: {name: c, run: {image: i, gpus: all}}", CHANGES},
    {"container.run.network", "container: {name: c, run: {image: i, network: host}}", CHANGES},
    {"container.run.ipc", "container: {name: c, run: {image: i, ipc: host}}", CHANGES},
    {"container.run.shm_size", "container: {name: c, run: {image: i, shm_size: 64g}}", CHANGES},
    {"container.run.privileged", "container: {name: c, run: {image: i, privileged: true}}", CHANGES},
    {"container.run.cap_add", "container: {name: c, run: {image: i, cap_add: [IPC_LOCK]}}", CHANGES},
    {"container.run.ulimit", "container: {name: c, run: {image: i, ulimit: [memlock=-1]}}", CHANGES},
    {"container.run.devices", "container: {name: c, run: {image: i, devices: [/dev/infiniband]}}", CHANGES},
    {"container.run.volumes", "container: {name: c, run: {image: i, volumes: [/a:/a]}}", CHANGES},
    {"container.run.env", "container: {name: c, run: {image: i, env: {A: b}}}", CHANGES},
    {"container.run.user", "container: {name: c, run: {image: i, user: u}}", CHANGES},
    {"container.run.workdir", "container: {name: c, run: {image: i, workdir: /w}}", CHANGES},
    {"container.run.extra", "container: {name: c, run: {image: i, extra: [--init]}}", CHANGES},
    {"ssh.client", "ssh: {client: builtin}", CHANGES},
    {"ssh.user", "ssh: {user: u}", CHANGES},
    {"ssh.port", "ssh: {port: 2222}", CHANGES},
    {"ssh.identity", "ssh: {identity: cluster.env}", CHANGES},
    {"ssh.config", "ssh: {config: ~/c}", CHANGES},
    {"ssh.known_hosts", "ssh: {known_hosts: k}", CHANGES},
    {"ssh.host_key", "ssh: {host_key: strict}", ONLY_DEFAULT},
    {"ssh.jump", "ssh: {jump: gate}", CHANGES},
    {"launcher_args", "launcher_args: [--tee, 3]", CHANGES},
    {"prepare", "prepare: [{name: a, command: [b]}]", CHANGES},
    {"sync.from", "sync: {from: src/}", CHANGES},
    {"sync.to", "sync: {from: src/, to: /x}", CHANGES},
    {"sync.exclude", "sync: {from: src/, exclude: ['*.pyc']}", CHANGES},
    {"sync.delete", "sync: {from: src/, to: /x, delete: true}", CHANGES},
    {"sync.git", "sync: {from: src/, git: true}", CHANGES},
    {"finish_on", "finish_on: rank0", CHANGES}, /* U5 */
    {"time_limit", "time_limit: 2h", CHANGES},  /* U6 */
    {"start_timeout", "start_timeout: 90s", CHANGES},
    {"on_failure", "on_failure: keep", CHANGES},
    {"on_lost", "on_lost: stop", CHANGES},
    {"lost_after", "lost_after: 10m", CHANGES},
    {"restart.max", "restart: {max: 3}", CHANGES},
    {"restart.backoff", "restart: {backoff: 5s}", CHANGES},
    {"restart.no_restart_on", "restart: {no_restart_on: [x]}", CHANGES},
    {"restart.spares", "restart: {spares: g9}", CHANGES},
    {"stop.signal", "stop: {signal: INT}", CHANGES},
    {"stop.grace", "stop: {grace: 0}", CHANGES},
    {"require.paths", "require: {paths: [a]}", CHANGES},
    {"require.same", "require: {same: [a]}", CHANGES},
    {"require.gpus", "require: {gpus: 8}", CHANGES},
    {"require.free_disk", "require: {free_disk: 100G}", CHANGES},
    {"require.ib", "require: {ib: true}", CHANGES},
    {"require.shm", "require: {shm: 16G}", CHANGES},
    {"require.commands", "require: {commands: git}", CHANGES},
    {"checks.skip", "checks: {skip: [a]}", CHANGES},
    {"stall", "stall: 10m", CHANGES},
    {"on_stall", "on_stall: stop", CHANGES},
    {"progress.pattern", "progress: {pattern: 'step (?P<iteration>\\d+)'}", CHANGES},
    {"notify", "notify: [{url: \"https://h/x\"}]", CHANGES},
    {"profiles", "profiles: {}", ONLY_DEFAULT},
};

static size_t count_keys(const struct field_table *table, const char *prefix)
{
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        AUTO_FREE char *key = xasprintf("%s%s", prefix, table->fields[i].key);
        if (table->fields[i].table != NULL) {
            AUTO_FREE char *below = xasprintf("%s.", key);
            count += count_keys(table->fields[i].table, below);
            continue;
        }
        size_t at = 0;
        while (at < ARRAY_LEN(keys) && strcmp(keys[at].key, key) != 0) {
            at++;
        }
        if (at == ARRAY_LEN(keys)) {
            fail_msg("no case for the key '%s'", key);
        }
        count++;
    }
    return count;
}

/* What the reference shows as a value is one. */
static void test_every_example_is_read(void **state)
{
    (void)state;
    AUTO_JOBFILE_KEYS struct jobfile_keys known = {0};
    jobfile_keys_list(&known);
    for (size_t i = 0; i < known.len; i++) {
        const struct jobfile_key *key = &known.items[i];
        AUTO_STR struct str spec = STR_INIT;
        AUTO_STR struct str end = STR_INIT;
        const char *at = key->path;
        str_add(&spec, strcmp(at, "program") == 0 ? "" : "program: train.py\n");
        str_add(&spec, text_starts(at, "sync.") ? "workdir: /w\n" : "");
        for (size_t len; at[len = strcspn(at, ".")] == '.'; at += len + 1) {
            bool sync = strncmp(at, "sync", len) == 0 && strcmp(key->path, "sync.from") != 0;
            bool list = text_starts(at + len - 2, "[]");
            bool named = strncmp(at, "container", len) == 0 && strcmp(key->path, "container.name") != 0;
            bool image = strncmp(at, "run", len) == 0 && strcmp(key->path, "container.run.image") != 0;
            bool step = strncmp(at, "prepare[]", len) == 0;
            bool url = list && !step && strcmp(key->path, "notify[].url") != 0;
            str_addf(&spec, "%.*s: %s{%s", (int)(list ? len - 2 : len), at, list ? "[" : "",
                     named   ? "name: c, "
                     : image ? "image: i, "
                     : url   ? "url: 'https://h/x', "
                     : sync  ? "from: src/, "
                             : "");
            str_add(&spec, step && strcmp(key->path, "prepare[].name") != 0 ? "name: a, " : "");
            str_add(&spec, step && strcmp(key->path, "prepare[].command") != 0 ? "command: b, " : "");
            str_add(&end, list ? "}]" : "}");
        }
        str_addf(&spec, "%s: %s%s\n", at, key->example, str_text(&end));
        bool needs_file = strcmp(key->path, "ssh.identity") == 0 || strcmp(key->path, "env_file") == 0;
        bool needs_max = strcmp(key->example, "restart") == 0;
        str_add(&spec, needs_max ? "restart: {max: 1}\n" : "");
        AUTO_OUTCOME struct outcome got = read_spec(str_text(&spec), NULL);
        if (got.result != 0 && !needs_file) {
            fail_msg("%s%s", str_text(&spec), got.err.text);
        }
    }
}

/* Said in another way, or masked. */
static bool is_rephrased(const char *key)
{
    static const char *const rephrased[] = {"args", "env_file", "hostfile", "container.run.env", "notify"};
    for (size_t i = 0; i < ARRAY_LEN(rephrased); i++) {
        if (strcmp(rephrased[i], key) == 0) {
            return true;
        }
    }
    return false;
}

static char *write_job(const struct job *job)
{
    json_t *object = jobfile_to_json(job, NULL);
    char *text = json_dumps(object, 0);
    json_decref(object);
    return text;
}

/* A job that is written as a job file reads as the same job. */
static void test_every_key_is_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        bool is_program = strcmp(keys[i].key, "program") == 0;
        AUTO_FREE char *spec = xasprintf("%s%s\n", is_program ? "" : "program: train.py\n", keys[i].spec);
        AUTO_OUTCOME struct outcome got = read_spec(spec, NULL);
        assert_read(&got);
        AUTO_FREE char *written = write_job(&got.job);
        AUTO_OUTCOME struct outcome again = read_spec(written, NULL);
        if (again.result != 0) {
            fail_msg("%s: %s", written, again.err.text);
        }
        AUTO_FREE char *twice = write_job(&again.job);
        assert_string_equal(twice, written);
        got.job.hosts_line = again.job.hosts_line = 0; /* it is one line */
        got.job.hostfile_line = again.job.hostfile_line = 0;
        AUTO_FREE char *before = dump_job(&got.job);
        AUTO_FREE char *after = dump_job(&again.job);
        if (!is_rephrased(keys[i].key) && strcmp(before, after) != 0) {
            fail_msg("'%s' is not written: %s\n%s\n%s", keys[i].key, written, before, after);
        }
    }
}

/* What of a job has changed since a run recorded it, and what of it counts. */
static void test_changes_of_a_job(void **state)
{
    (void)state;
    static const struct {
        const char *before, *now, *changed;
    } rows[] = {
        {"", "", ""},
        {"args: {lr: 1, x: 2}", "args: {lr: 1, x: 2}", ""},
        {"args: {lr: 1}", "args: {lr: 2}", "args"},
        {"env: {A: 1, B: 2}", "env: {B: 3, C: 4}", "env.A, env.B, env.C"},
        {"env: {A: 1}", "", "env.A"},
        {"nproc_per_node: 8", "", ""}, /* the start filled it in */
        {"nproc_per_node: 8", "nproc_per_node: 4", "nproc_per_node"},
        {"time_limit: 10m", "notify: [{url: https://x.example/hook}]", ""},
        {"hosts: [a, b]", "hosts: [a, c]", "hosts"},
        {"container: {name: a}", "container: {name: b}", "container.name"},
        {"setup: [one]", "workdir: /srv", "setup, workdir"},
    };
    FOR_ROWS(i, rows, rows[i].now) {
        AUTO_STRLIST struct strlist found = STRLIST_INIT;
        AUTO_FREE char *before = xasprintf("program: train.py\n%s\n", rows[i].before);
        AUTO_FREE char *now = xasprintf("program: train.py\n%s\n", rows[i].now);
        AUTO_OUTCOME struct outcome old = read_spec(before, NULL);
        AUTO_OUTCOME struct outcome new = read_spec(now, NULL);
        assert_read(&old);
        assert_read(&new);
        AUTO_FREE char *recorded = write_job(&old.job);
        json_t *object = jobfile_to_json(&new.job, NULL);
        jobfile_changes(recorded, object, &found);
        jobfile_changes(NULL, object, &found);
        json_decref(object);
        AUTO_FREE char *changed = strlist_join(&found, ", ");
        assert_string_equal(changed, rows[i].changed);
    }
}

/* A row without a way to write its value would be left out silently. */
static void check_writers(const struct field_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct field *field = &table->fields[i];
        if (field->table) {
            check_writers(field->table);
        } else if (field->type == FIELD_CUSTOM && !field->write) {
            fail_msg("'%s' has no writer", field->key);
        }
    }
}

static void test_a_whole_job_is_written(void **state)
{
    (void)state;
    check_writers(&job_fields);
    AUTO_OUTCOME struct outcome got = read_spec(
        "program: train.py\nlauncher: deepspeed\ndeepspeed: {config: ds.json}\nzero_stage: 0\n"
        "args: {lr: 1e-4, bf16: true, note: 'a b'}\nenv: {A: '1', W_TOKEN: s3cret, X_DSN: s3cret}\n"
        "secret_env: '*_DSN'\nssh: {user: u}\non_failure: stop\n"
        "prepare: [{name: a, command: b c, on: all}, {name: d, command: [e], creates: f, timeout: 90}]\n"
        "notify: [{url: 'https://hooks.example.org:8443/T0/s3cret?x=1', on: [failed]}]\n",
        NULL);
    assert_read(&got);
    AUTO_FREE char *written = write_job(&got.job);
    assert_null(strstr(written, "s3cret"));
    json_t *wanted = json_pack(
        "{s:s,s:s,s:s,s:{s:s},s:i,s:[s,s,s,s,s],s:{s:s,s:s,s:s},s:[s],s:{s:s},s:s,"
        "s:[{s:s,s:s,s:s,s:i},{s:s,s:s,s:[s],s:s,s:i}],s:[{s:s,s:[s],s:s,s:b}]}",
        "job", "job", "program", "train.py", "launcher", "deepspeed", "deepspeed", "config", "ds.json",
        "zero_stage", 0, "args", "--lr", "1e-4", "--bf16", "--note", "a b", "env", "A", "1", "W_TOKEN", "***",
        "X_DSN", "***", "secret_env", "*_DSN", "ssh", "user", "u", "on_failure", "stop", "prepare", "name",
        "a", "on", "all", "command", "b c", "timeout", 3600, "name", "d", "on", "first", "command", "e",
        "creates", "f", "timeout", 90, "notify", "url", "https://hooks.example.org:8443/***", "on", "failed",
        "format", "json", "allow_http", 0);
    json_t *have = json_loads(written, 0, NULL);
    if (!wanted || !json_equal(wanted, have)) {
        fail_msg("%s", written);
    }
    json_decref(wanted);
    json_decref(have);
}

static void test_every_key_has_its_effect(void **state)
{
    (void)state;
    assert_int_equal(count_keys(&job_fields, ""), ARRAY_LEN(keys));
    AUTO_OUTCOME struct outcome base = read_spec("program: train.py\n", NULL);
    AUTO_FREE char *before = dump_job(&base.job);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        bool is_program = strcmp(keys[i].key, "program") == 0;
        AUTO_FREE char *spec = xasprintf("%s%s\n", is_program ? "" : "program: train.py\n", keys[i].spec);
        AUTO_OUTCOME struct outcome got = read_spec(spec, NULL);
        if (keys[i].effect == UNBUILT) {
            AUTO_FREE char *text = xasprintf("'%s' is not supported by this version", keys[i].key);
            unsigned column = strchr(keys[i].key, '.') != NULL
                                  ? (unsigned)(strchr(keys[i].spec, '{') - keys[i].spec) + 2
                                  : 1;
            const char *hint = got.err.hint; /* U14: what to do instead */
            assert_true(strncmp(hint, "leave it out", 12) == 0 || strncmp(hint, "use '", 5) == 0);
            AUTO_FREE char *copy = xstrdup(hint);
            assert_refused(&got, &kind_not_supported, SPEC_FILE,
                           &(struct refusal){spec, 2, column, text, copy});
            continue;
        }
        assert_read(&got);
        AUTO_FREE char *after = dump_job(&got.job);
        if ((strcmp(before, after) != 0) != (keys[i].effect == CHANGES)) {
            fail_msg("'%s' changes nothing, or more than it may", keys[i].key);
        }
    }
}

static const struct refusal wrong_steps[] = {
    {"prepare: x\n", 1, 10, "'prepare' is a string, expected a list of mappings",
     "write 'prepare: [{name: convert, command: [...]}]'"},
    {"prepare: [x]\n", 1, 11,
     "'prepare[0]' is a string, expected a mapping with name, on, command, creates, timeout",
     "write '{name: convert, command: [...]}'"},
    {"prepare: [{name: a}]\n", 1, 11, "'prepare[0]' has no command",
     "write '{name: convert, command: [...]}'"},
    {"prepare: [{command: a}]\n", 1, 11, "'prepare[0]' has no name",
     "write '{name: convert, command: [...]}'"},
    {"prepare: [{name: a/b, command: c}]\n", 1, 18,
     "'prepare[0].name' is 'a/b', allowed: 1 to 40 letters, digits, '.', '_' and '-', the first a letter or "
     "digit",
     "write 'name: convert'"},
    {"prepare: [{name: a, command: c}, {name: a, command: c}]\n", 1, 41,
     "'prepare[1].name' is 'a', the name of an earlier step",
     "give each step its own name: its log is named after it"},
    {"prepare: [{name: a, command: ' '}]\n", 1, 30, "'prepare[0].command' is empty",
     "specify what to run: 'command: [swift, export, ...]'"},
    {"prepare: [{name: a, command: c, on: one}]\n", 1, 37, "'prepare[0].on' is 'one', allowed: first, all",
     "write 'on: first'"},
    {"prepare: [{name: a, command: c, create: x}]\n", 1, 33, "unknown key 'prepare[0].create'",
     "did you mean 'creates'?"},
};

static void test_wrong_steps(void **state)
{
    (void)state;
    FOR_ROWS(i, wrong_steps, wrong_steps[i].spec) {
        AUTO_OUTCOME struct outcome got = read_spec(wrong_steps[i].spec, NULL);
        assert_refused(&got, &kind_job_file, SPEC_FILE, &wrong_steps[i]);
    }
}

static void test_nothing_asked_for_is_fine(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "container:\n",
        "container: {}\n",
        "container: {name: c, user: '', workdir: '', run: {}}\n",
        "megatron: null\n",
        "prepare: []\n",
        "require: {}\n",
        "checks: {skip: []}\n",
        "notify: []\n",
        "restart: {max: 0}\n",
        "ssh:\n",
        "master:\n",
        "env:\n",
        "args:\n",
        "workdir: null\n",
        "ssh: {client: auto, user: , port: , identity: , config: ~/.ssh/config, known_hosts: , jump: }\n",
        "hosts: null\nhostfile: x\n",
    };
    FOR_ROWS(i, specs, specs[i]) {
        AUTO_FREE char *spec = xasprintf("program: x\n%s", specs[i]);
        AUTO_OUTCOME struct outcome got = read_spec(spec, NULL);
        assert_read(&got);
    }
}

#define DURATIONS(min) #min "s to 365d, as whole seconds or 90s 10m 2h 1d"

static const struct refusal wrong[] = {
    /* keys */
    {"nproc_per_nod: 4\n", 1, 1, "unknown key 'nproc_per_nod'", "did you mean 'nproc_per_node'?"},
    {"program: x\n# hosts: g1\nmaster:\n  prt: 1\n", 4, 3, "unknown key 'master.prt'",
     "did you mean 'port'?"},
    {"master: {colour: 1}\n", 1, 10, "unknown key 'master.colour'", "choose one of: addr, port, interface"},
    {"learning_rate: 1\n", 1, 1, "unknown key 'learning_rate'",
     "leave it out; arguments of the program belong in 'args', variables in 'env'"},
    {"job: a\njob: b\n", 2, 1, "'job' is given twice, first on line 1", "keep one of the two"},
    {"- a\n", 1, 1, "a job file is a mapping of keys, this one is a list",
     "write keys and values: 'program: train.py'; `mtlaunch init` writes a job file"},
    {"train.py\n", 1, 1, "a job file is a mapping of keys, this one is a string",
     "write keys and values: 'program: train.py'; `mtlaunch init` writes a job file"},
    /* placeholders that nobody knows */
    {"program: [a, \"${{jobs}}\"]\n", 1, 14, "unknown placeholder '${{jobs}}'",
     "did you mean '${{job}}'? a literal '${{' is written '$${{'"},
    {"program: a\nargs: {b: [c, \"${{d\"]}\n", 2, 11, "'${{' without '}}'",
     "close it, or write '$${{' for a literal '${{'"},
    {"program: a\nargs:\n- ok\n- ${{rnu}}\n", 4, 3, "unknown placeholder '${{rnu}}'",
     "did you mean '${{run}}'? a literal '${{' is written '$${{'"},
    {"program: a\nenv:\n  A: x${{hots}}\n", 3, 6, "unknown placeholder '${{hots}}'",
     "did you mean '${{host}}'? a literal '${{' is written '$${{'"},
    {"program: a\nworkdir: /w/${{rnu}}\n", 2, 10, "unknown placeholder '${{rnu}}'",
     "did you mean '${{run}}'? a literal '${{' is written '$${{'"},
    {"program: a\nartifacts: /w/${{rnu}}\n", 2, 12, "unknown placeholder '${{rnu}}'",
     "did you mean '${{run}}'? a literal '${{' is written '$${{'"},
    /* what is required */
    {"", 0, 0, "the job file is empty", "specify at least what to run: 'program: train.py'"},
    {"# program: x\n", 0, 0, "the job file is empty", "specify at least what to run: 'program: train.py'"},
    {"job: a\n", 0, 0, "'program' is missing", "specify what to run: 'program: train.py'"},
    {"program:\n", 0, 0, "'program' is missing", "specify what to run: 'program: train.py'"},
    /* types */
    {"job: [a]\n", 1, 6, "'job' is a list, expected a string",
     "write one text, in quotes if the brackets belong to it"},
    {"workdir: {a: 1}\n", 1, 10, "'workdir' is a mapping, expected a string",
     "write one text, in quotes if the brackets belong to it"},
    {"workdir: ''\n", 1, 10, "'workdir' is empty", "give a value, or leave it out"},
    {"artifacts: ''\n", 1, 12, "'artifacts' is empty", "give a value, or leave it out"},
    {"hostfile: ''\n", 1, 11, "'hostfile' is empty", "give a value, or leave it out"},
    {"hostfile: [a]\n", 1, 11, "'hostfile' is a list, expected a string",
     "write one text, in quotes if the brackets belong to it"},
    {"python: ''\n", 1, 9, "'python' is empty", "give a value, or leave it out"},
    {"master: 29500\n", 1, 9, "'master' is a string, expected a mapping",
     "write 'master: {addr: VALUE}'; its keys are addr, port, interface"},
    {"ssh: [a]\n", 1, 6, "'ssh' is a list, expected a mapping",
     "write 'ssh: {client: VALUE}'; its keys are client, user, port, identity, config, known_hosts, "
     "host_key, jump"},
    {"setup: {a: 1}\n", 1, 8, "'setup' is a mapping, expected a list of strings",
     "write 'setup: [VALUE, VALUE]'"},
    {"setup: [a, [b]]\n", 1, 12, "'setup[1]' is a list, expected a string",
     "write one text, in quotes if the brackets belong to it"},
    {"setup:\n  - a\n  -\n", 3, 4, "'setup[1]' is null, expected a string",
     "put quotes around an empty text or the word null"},
    {"nproc_per_node: [1]\n", 1, 17, "'nproc_per_node' is a list, expected a whole number",
     "write 'nproc_per_node: 1'"},
    {"start_timeout: [1]\n", 1, 16, "'start_timeout' is a list, expected a duration",
     "write 'start_timeout: 10m'"},
    {"launcher: [a]\n", 1, 11, "'launcher' is a list, expected a string",
     "write one text, in quotes if the brackets belong to it"},
    {"stall: [a]\n", 1, 8, "'stall' is a list, expected off, or a duration", "write 'stall: off'"},
    {"restart: 3\n", 1, 10, "'restart' is a string, expected a mapping",
     "write 'restart: {max: VALUE}'; its keys are max, backoff, no_restart_on, spares"},
    {"restart: {max: [1]}\n", 1, 16, "'restart.max' is a list, expected a whole number", "write 'max: 1'"},
    {"on_failure: restart\n", 1, 13, "'on_failure: restart' needs 'restart.max' above 0",
     "set the maximum number of restarts: 'restart: {max: 3}'"},
    {"on_lost: restart\nrestart: {max: 0}\n", 1, 10, "'on_lost: restart' needs 'restart.max' above 0",
     "set the maximum number of restarts: 'restart: {max: 3}'"},
    {"stall: 0\n", 1, 8, "'stall' is '0', allowed: off, or 1s to 365d", "write 'stall: 30m'"},
    {"stop: {signal: [a]}\n", 1, 16, "'stop.signal' is a list, expected a string",
     "write one text, in quotes if the brackets belong to it"},
    {"shell: [a]\n", 1, 8, "'shell' is a list, expected a string",
     "write one text, in quotes if the brackets belong to it"},
    {"ssh: {identity: [a]}\n", 1, 17, "'ssh.identity' is a list, expected a string",
     "write one text, in quotes if the brackets belong to it"},
    /* numbers and durations are whole and within their range */
    {"nproc_per_node: 0\n", 1, 17, "'nproc_per_node' is '0', allowed: auto, or 1 to 1024",
     "write 'nproc_per_node: auto'"},
    {"nproc_per_node: 8x\n", 1, 17, "'nproc_per_node' is '8x', allowed: auto, or 1 to 1024",
     "write 'nproc_per_node: auto'"},
    {"nproc_per_node: 1.5\n", 1, 17, "'nproc_per_node' is '1.5', allowed: auto, or 1 to 1024",
     "write 'nproc_per_node: auto'"},
    {"nproc_per_node: true\n", 1, 17, "'nproc_per_node' is 'true', allowed: auto, or 1 to 1024",
     "write 'nproc_per_node: auto'"},
    {"zero_stage: 4\n", 1, 13, "'zero_stage' is '4', allowed: 0 to 3", "write 'zero_stage: 3'"},
    {"zero_stage: -1\n", 1, 13, "'zero_stage' is '-1', allowed: 0 to 3", "write 'zero_stage: 0'"},
    {"zero_stage: auto\n", 1, 13, "'zero_stage' is 'auto', allowed: 0 to 3", "write 'zero_stage: 0'"},
    {"master: {port: 0}\n", 1, 16, "'master.port' is '0', allowed: auto, or 1 to 65535",
     "write 'port: auto'"},
    {"master: {port: 65536}\n", 1, 16, "'master.port' is '65536', allowed: auto, or 1 to 65535",
     "write 'port: auto'"},
    {"ssh: {port: auto}\n", 1, 13, "'ssh.port' is 'auto', allowed: 1 to 65535", "write 'port: 22'"},
    {"start_timeout: 1.5m\n", 1, 16, "'start_timeout' is '1.5m', allowed: " DURATIONS(1),
     "write 'start_timeout: 2m'"},
    {"start_timeout: 0\n", 1, 16, "'start_timeout' is '0', allowed: " DURATIONS(1),
     "write 'start_timeout: 2m'"},
    {"lost_after: 5 m\n", 1, 13, "'lost_after' is '5 m', allowed: " DURATIONS(1), "write 'lost_after: 5m'"},
    {"lost_after: 1:30\n", 1, 13, "'lost_after' is '1:30', allowed: " DURATIONS(1), "write 'lost_after: 5m'"},
    {"stop: {grace: 366d}\n", 1, 15, "'stop.grace' is '366d', allowed: " DURATIONS(0), "write 'grace: 40s'"},
    {"restart: {backoff: x}\n", 1, 20, "'restart.backoff' is 'x', allowed: " DURATIONS(0),
     "write 'backoff: 10s'"},
    {"restart: {max: x}\n", 1, 16, "'restart.max' is 'x', allowed: 0 to 1000000", "write 'max: 3'"},
    {"restart: {spares: {a: 1}}\n", 1, 19, "'restart.spares' is a mapping, expected a list of strings",
     "write 'spares: [VALUE, VALUE]'"},
    {"restart: {min: 1}\n", 1, 11, "unknown key 'restart.min'",
     "choose one of: max, backoff, no_restart_on, spares"},
    /* words */
    {"launcher: torchrn\n", 1, 11,
     "'launcher' is 'torchrn', allowed: torchrun, megatron, deepspeed, accelerate, swift, megatron-swift, "
     "script",
     "did you mean 'torchrun'?"},
    {"launcher: megatrn\n", 1, 11,
     "'launcher' is 'megatrn', allowed: torchrun, megatron, deepspeed, accelerate, swift, megatron-swift, "
     "script",
     "did you mean 'megatron'?"},
    {"launcher: Torchrun\n", 1, 11,
     "'launcher' is 'Torchrun', allowed: torchrun, megatron, deepspeed, accelerate, swift, megatron-swift, "
     "script",
     "did you mean 'torchrun'?"},
    {"megatron: {sharding: fsdp}\n", 1, 22,
     "'megatron.sharding' is 'fsdp', allowed: megatron-fsdp, custom-fsdp, flags-only",
     "write 'sharding: megatron-fsdp'"},
    {"megatron: {shard: 1}\n", 1, 12, "unknown key 'megatron.shard'", "did you mean 'sharding'?"},
    {"megatron: flags-only\n", 1, 11, "'megatron' is a string, expected a mapping",
     "write 'megatron: {sharding: VALUE}'; its keys are sharding"},
    {"rendezvous: dynamic-and-more\n", 1, 13, "'rendezvous' is 'dynamic-and-more', allowed: static, c10d",
     "write 'rendezvous: static'"},
    {"on_failure: stopp\n", 1, 13, "'on_failure' is 'stopp', allowed: stop, keep, restart",
     "did you mean 'stop'?"},
    {"on_lost: kep\n", 1, 10, "'on_lost' is 'kep', allowed: keep, stop, restart", "did you mean 'keep'?"},
    {"on_stall: kep\n", 1, 11, "'on_stall' is 'kep', allowed: keep, stop", "did you mean 'keep'?"},
    {"ssh: {client: builtn}\n", 1, 15, "'ssh.client' is 'builtn', allowed: auto, builtin, openssh",
     "did you mean 'builtin'?"},
    {"ssh: {host_key: strct}\n", 1, 17, "'ssh.host_key' is 'strct', allowed: strict, accept-new",
     "did you mean 'strict'?"},
    {"time_limit: 0\n", 1, 13, "'time_limit' is '0', allowed: off, or 1s to 365d", "write 'time_limit: 30m'"},
    {"finish_on: rank1\n", 1, 12, "'finish_on' is 'rank1', allowed: all, rank0", "did you mean 'rank0'?"},
    {"stall: never\n", 1, 8, "'stall' is 'never', allowed: off, or 1s to 365d", "write 'stall: 30m'"},
    {"shell: bsh\n", 1, 8, "'shell' is 'bsh', allowed: auto, bash, sh, or the absolute path of a shell",
     "did you mean 'bash'?"},
    {"shell: fishes and chips\n", 1, 8,
     "'shell' is 'fishes and chips', allowed: auto, bash, sh, or the absolute path of a shell",
     "write 'shell: auto'"},
    {"stop: {signal: TRM}\n", 1, 16,
     "'stop.signal' is 'TRM', allowed: the name of a signal, such as TERM or INT", "did you mean 'TERM'?"},
    {"stop: {signal: SIGTRM}\n", 1, 16,
     "'stop.signal' is 'SIGTRM', allowed: the name of a signal, such as TERM or INT", "did you mean 'TERM'?"},
    {"stop: {signal: politely}\n", 1, 16,
     "'stop.signal' is 'politely', allowed: the name of a signal, such as TERM or INT", "use 'TERM'"},
    {"job: \"a\\nb\"\n", 1, 6, "'job' is 'a\nb', allowed: one line of up to 200 bytes",
     "give a short name, such as 'job: pretrain'"},
    /* names and addresses */
    {"master: {addr: '[::1]'}\n", 1, 16, "'master.addr' is '[::1]', allowed: auto, or one name or address",
     "write an IPv6 address without brackets"},
    {"master: {addr: g1:29500}\n", 1, 16,
     "'master.addr' is 'g1:29500', allowed: auto, or one name or address",
     "the port has a key of its own: master.port"},
    {"master: {addr: root@g1}\n", 1, 16, "'master.addr' is 'root@g1', allowed: auto, or one name or address",
     "leave the user out"},
    {"master: {addr: -x}\n", 1, 16, "'master.addr' is '-x', allowed: auto, or one name or address",
     "give the name or the address of the first host"},
    {"master: {addr: g1 g2}\n", 1, 16, "'master.addr' is 'g1 g2', allowed: auto, or one name or address",
     "give the name or the address of the first host"},
    {"master: {interface: 'eth0,eth1'}\n", 1, 21,
     "'master.interface' is 'eth0,eth1', allowed: auto, or the name of one network interface",
     "'ip -brief address' on a node lists its interfaces"},
    {"ssh: {user: a@b}\n", 1, 13,
     "'ssh.user' is 'a@b', allowed: a user's name without blanks, '@', ':' and characters of the shell, not "
     "beginning with '-'",
     "write the name alone, as `id -un` prints it on the node"},
    {"ssh: {user: '$(touch${IFS}x)'}\n", 1, 13, /* S11 */
     "'ssh.user' is '$(touch${IFS}x)', allowed: a user's name without blanks, '@', ':' and characters of the "
     "shell, not beginning with '-'",
     "write the name alone, as `id -un` prints it on the node"},
    {"ssh: {user: 'a;b'}\n", 1, 13,
     "'ssh.user' is 'a;b', allowed: a user's name without blanks, '@', ':' and characters of the shell, not "
     "beginning with '-'",
     "write the name alone, as `id -un` prints it on the node"},
    {"ssh: {user: -a}\n", 1, 13,
     "'ssh.user' is '-a', allowed: a user's name without blanks, '@', ':' and characters of the shell, not "
     "beginning with '-'",
     "write the name alone, as `id -un` prints it on the node"},
    /* together */
    {"program: x\nhosts: g1\nhostfile: h\n", 3, 11, "'hostfile' and 'hosts' cannot be used together",
     "keep one of the two; in a profile, null removes one of them"},
};

static void test_wrong_values(void **state)
{
    (void)state;
    FOR_ROWS(i, wrong, wrong[i].spec) {
        AUTO_OUTCOME struct outcome got = read_spec(wrong[i].spec, NULL);
        assert_refused(&got, &kind_job_file, SPEC_FILE, &wrong[i]);
    }
}

static void test_error_shows_the_line(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got =
        read_spec("program: x\r\nmaster: {port: 7x, addr: g1} # note\r\n", NULL);
    assert_int_equal(got.result, -1);
    assert_string_equal(got.err.source, "master: {port: 7x, addr: g1} # note");
    assert_int_equal(got.err.column, 16);
    AUTO_OUTCOME struct outcome secret =
        read_spec("program: x\nsecret_env: [MINE]\nenv: {MINE: sesam, A: null}\n", NULL);
    assert_int_equal(secret.result, -1);
    assert_string_equal(secret.err.source, "env: {MINE: ****** ** *****");
}

static void test_good_values(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got =
        read_spec("program: x\n"
                  "nproc_per_node: '8'\n"
                  "master: {addr: 2001:db8::2, port: \"29600\", interface: auto}\n"
                  "start_timeout: 1h\n"
                  "lost_after: 90\n"
                  "stop: {signal: sigint, grace: 2m}\n"
                  "shell: /opt/bin/bash\n"
                  "on_failure: keep\n"
                  "job: true\n",
                  NULL);
    assert_read(&got);
    assert_int_equal(got.job.nproc_per_node, 8);
    assert_string_equal(got.job.master_addr, "2001:db8::2");
    assert_int_equal(got.job.master_port, 29600);
    assert_null(got.job.master_interface);
    assert_int_equal(got.job.start_timeout_s, 3600);
    assert_int_equal(got.job.policy.lost_after_s, 90);
    assert_string_equal(got.job.stop_signal, "INT");
    assert_int_equal(got.job.stop_grace_s, 120);
    assert_string_equal(got.job.shell, "/opt/bin/bash");
    assert_int_equal(got.job.policy.on_failure, POLICY_KEEP);
    assert_string_equal(got.job.name, "true");
}

static void test_paths_are_taken_from_the_folder(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_spec(
        "program: x\nhostfile: h.txt\nworkdir: ~/w\nartifacts: a\nssh: {config: ~/c, known_hosts: k}\n",
        NULL);
    assert_read(&got);
    assert_string_equal(got.job.hostfile, SPEC_FOLDER "/h.txt");
    assert_string_equal(got.job.workdir, "~/w"); /* the nodes' paths stay as written */
    assert_string_equal(got.job.artifacts, "a");
    assert_string_equal(got.job.reach.config, "/home/u/c");
    AUTO_FREE char *here = getcwd(NULL, 0);
    AUTO_FREE char *known = xasprintf("%s/" SPEC_FOLDER "/k", here);
    assert_string_equal(got.job.reach.known_hosts, known); /* kept for commands that run elsewhere */
    AUTO_OUTCOME struct outcome absolute = read_spec("program: x\nhostfile: /etc/h\n", NULL);
    assert_string_equal(absolute.job.hostfile, "/etc/h");
    AUTO_OUTCOME struct outcome home = read_spec("program: x\nhostfile: ~/h\n", NULL);
    assert_string_equal(home.job.hostfile, "/home/u/h");
}

static void test_identity_must_be_there(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_spec("program: x\nssh: {identity: ~/.ssh/nope}\n", NULL);
    assert_refused(&got, &kind_identity_missing, SPEC_FILE,
                   &(struct refusal){"identity", 2, 17, "'ssh.identity': no file '/home/u/.ssh/nope'",
                                     "name a private key that is there, or leave it out"});
    AUTO_OUTCOME struct outcome there = read_spec("program: x\nssh: {identity: cluster.env}\n", NULL);
    assert_read(&there);
    assert_int_equal(there.job.reach.identity[0], '/');
}

static void test_inert_restart_keys_are_said(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got =
        read_spec("program: x\nrestart: {max: 0, backoff: 10s, spares: }\non_stall: stop\n", NULL);
    assert_read(&got);
    AUTO_FREE char *said = strlist_join(&got.warnings, "|");
    assert_string_equal(said,
                        "'restart.backoff' has no effect while neither on_failure nor on_lost is 'restart'|"
                        "'on_stall' has no effect while 'stall' is off");
}

static void test_policy(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_spec(
        "program: x\non_failure: restart\non_lost: stop\nlost_after: 30s\nstall: 20m\n"
        "on_stall: stop\nrestart: {max: 2, backoff: 1m, no_restart_on: oom, spares: [g8, g9:2222]}\n",
        NULL);
    assert_read(&got);
    const struct policy *policy = &got.job.policy;
    assert_int_equal(policy->on_failure, POLICY_RESTART);
    assert_int_equal(policy->on_lost, POLICY_STOP);
    assert_int_equal(policy->on_stall, POLICY_STOP);
    assert_int_equal(policy->lost_after_s, 30);
    assert_int_equal(policy->stall_s, 1200);
    assert_int_equal(policy->restart_max, 2);
    assert_int_equal(policy->backoff_s, 60);
    assert_string_equal(policy->no_restart_on.items[0], "oom");
    assert_string_equal(policy->spares.items[1], "g9:2222");
    AUTO_OUTCOME struct outcome bad =
        read_spec("program: x\nrestart: {max: 1, spares: [g8 slots=0]}\n", NULL);
    assert_int_equal(bad.result, -1);
}

/* U6: one spare a host, and a spare alone is no restart. */
static void test_spares_are_expanded(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_spec(
        "program: x\nrestart: {spares: ['g[37-39] slots=8', 'me@g40:2222 # old', ^g38, 'g37 slots=8']}\n",
        NULL);
    assert_read(&got);
    AUTO_FREE char *spares = strlist_join(&got.job.policy.spares, "|");
    assert_string_equal(spares, "g37 slots=8|g39 slots=8|me@g40:2222");
    AUTO_FREE char *said = strlist_join(&got.warnings, "|");
    assert_null(strstr(said, "no effect"));
    assert_non_null(strstr(said, "g37"));
    AUTO_OUTCOME struct outcome differs =
        read_spec("program: x\nrestart: {spares: [g1 slots=8, g1 slots=4]}\n", NULL);
    assert_int_equal(differs.result, -1);
    AUTO_OUTCOME struct outcome none = read_spec("program: x\nrestart: {spares: [^g1]}\n", NULL);
    assert_int_equal(none.result, -1);
}

static void test_files(void **state)
{
    (void)state;
    struct job job;
    struct error err = ERROR_INIT;
    const struct job_request full = {.job = DATA "full.yaml", .home = "/home/u"};
    if (jobfile_load(&job, &full, NULL, NULL, &err) != 0) {
        fail_msg("%u:%u: %s", err.line, err.column, err.text);
    }
    assert_string_equal(job.name, "full");
    assert_string_equal(job.hostfile, DATA "hosts.txt");
    assert_string_equal(env_get(&job.env_files, "UCX_TLS")->value, "rc,cuda copy");
    job_release(&job);

    const char *const environ_[] = {"X=1", "MTLAUNCH_JOBS=/none:" DATA, NULL};
    const struct job_request by_name = {.job = "script", .environ_ = environ_};
    assert_int_equal(jobfile_load(&job, &by_name, NULL, NULL, &err), 0);
    assert_string_equal(job.file, DATA "script.yaml");
    assert_true(job.program_is_list);
    job_release(&job);

    const struct job_request missing = {.job = "nope"};
    assert_int_equal(jobfile_load(&job, &missing, NULL, NULL, &err), -1);
    assert_ptr_equal(err.kind, &kind_job_not_found);
    assert_null(job.name);
}

static void test_files_that_cannot_be_read(void **state)
{
    (void)state;
    char path[] = "/tmp/mtlaunch-test-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, YAML_MAX_BYTES + 1), 0);
    close(fd);
    struct job job;
    struct error err = ERROR_INIT;
    const struct job_request request = {.job = path};
    assert_int_equal(jobfile_load(&job, &request, NULL, NULL, &err), -1);
    unlink(path);
    assert_ptr_equal(err.kind, &kind_job_file);
    assert_string_equal(err.file, path);
    assert_non_null(strstr(err.text, "larger than 1048576 bytes"));
    assert_string_equal(err.hint, "a job file is a readable file of at most 1 MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_minimal_file_has_the_defaults),
        cmocka_unit_test(test_every_key_has_its_effect),
        cmocka_unit_test(test_every_key_is_written),
        cmocka_unit_test(test_changes_of_a_job),
        cmocka_unit_test(test_a_whole_job_is_written),
        cmocka_unit_test(test_every_example_is_read),
        cmocka_unit_test(test_nothing_asked_for_is_fine),
        cmocka_unit_test(test_wrong_steps),
        cmocka_unit_test(test_wrong_values),
        cmocka_unit_test(test_error_shows_the_line),
        cmocka_unit_test(test_good_values),
        cmocka_unit_test(test_paths_are_taken_from_the_folder),
        cmocka_unit_test(test_identity_must_be_there),
        cmocka_unit_test(test_inert_restart_keys_are_said),
        cmocka_unit_test(test_policy),
        cmocka_unit_test(test_spares_are_expanded),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_files_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
