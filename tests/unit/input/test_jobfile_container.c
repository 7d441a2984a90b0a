/* What is wrong below 'container', and what goes where. */
#include "jobfile_test.h"

#define RUN "program: x\ncontainer: {name: c, run: {image: i, "

static const struct refusal wrong[] = {
    {"container: c\n", 1, 12, "'container' is a string, expected a mapping",
     "write 'container: {name: NAME}' with a name that `docker ps` shows"},
    {"container: {engine: podman}\n", 1, 12, "'container.name' is missing",
     "name the container here or with --container"},
    {"container: {name: ''}\n", 1, 19, "'container.name' is empty", "give a value, or leave it out"},
    {"container: {name: a b}\n", 1, 19,
     "'container.name' is 'a b', allowed: letters, digits, '_', '.' and '-', the first a letter or digit",
     "write a name that `docker ps` shows"},
    {"container: {name: .a}\n", 1, 19,
     "'container.name' is '.a', allowed: letters, digits, '_', '.' and '-', the first a letter or digit",
     "write a name that `docker ps` shows"},
    {"container: {name: c, engine: dokcer}\n", 1, 30,
     "'container.engine' is 'dokcer', allowed: docker, podman", "did you mean 'docker'?"},
    {"container: {name: c, user: -u}\n", 1, 28,
     "'container.user' is '-u', allowed: a string that does not begin with '-'",
     "options of the engine belong in 'container.run.extra'"},
    {"container: {name: c, sudo: yes}\n", 1, 28, "'container.sudo' is 'yes', allowed: true, false",
     "write 'sudo: true'"},
    {"container: {name: c, sudo: [true]}\n", 1, 28, "'container.sudo' is a list, expected true or false",
     "write 'sudo: true'"},
    {"container: {name: c, nmae: d}\n", 1, 22, "unknown key 'container.nmae'", "did you mean 'name'?"},
    {"container: {name: c, run: i}\n", 1, 27, "'container.run' is a string, expected a mapping",
     "write 'run: {image: IMAGE}'"},
    {"container: {name: c, run: {gpus: all}}\n", 1, 27, "'container.run.image' is missing",
     "name the image that the container is made of"},
    {"container: {name: c, run: {image: --rm}}\n", 1, 35,
     "'container.run.image' is '--rm', allowed: a string that does not begin with '-'",
     "options of the engine belong in 'container.run.extra'"},
    {"container: {name: c, run: {gpus: some}}\n", 1, 34,
     "'container.run.gpus' is 'some', allowed: all, none, a count, or device=0,2", "write 'gpus: all'"},
    {"container: {name: c, run: {shm_size: 0}}\n", 1, 38,
     "'container.run.shm_size' is '0', allowed: whole bytes, or a whole number with K, M, G or T",
     "write 'shm_size: 64g'"},
    {"container: {name: c, run: {shm_size: [1]}}\n", 1, 38,
     "'container.run.shm_size' is a list, expected a size", "write 'shm_size: 64g'"},
    {"container: {name: c, run: {env: [A]}}\n", 1, 33,
     "'container.run.env' is a list, expected a mapping of names to strings", "write 'env: {NAME: VALUE}'"},
    {"container: {name: c, run: {env: {A: null}}}\n", 1, 37,
     "'container.run.env.A' is null, expected a string", "write a value, or leave the key out"},
    {"container: {name: c, run: {env: {A B: c}}}\n", 1, 34, "'A B' is not a valid variable name",
     "write a name without blanks, '=' and '#'"},
    {"container: {name: c, run: {env: {A: \"b\\nc\"}}}\n", 1, 37,
     "'container.run.env.A' contains a line break",
     "set it in 'env': the job's own variables may contain anything"},
};

static void test_wrong_values(void **state)
{
    (void)state;
    FOR_ROWS(i, wrong, wrong[i].spec) {
        AUTO_OUTCOME struct outcome got = read_spec(wrong[i].spec, NULL);
        assert_refused(&got, &kind_job_file, SPEC_FILE, &wrong[i]);
    }
}

static void test_values(void **state)
{
    (void)state;
    AUTO_OUTCOME struct outcome got = read_spec(
        RUN
        "shm_size: 64g, gpus: 'device=0,2', privileged: true, command: [bash, -c, 'a b'], env: {A: 'b c'}, "
        "user: '', volumes: /a:/b}}\n",
        NULL);
    assert_read(&got);
    const struct job_container_run *run = &got.job.container.run;
    assert_string_equal(got.job.place.engine, "docker");
    assert_string_equal(run->image, "i");
    assert_true(run->shm_size_bytes == 64ULL << 30);
    assert_true(run->privileged);
    assert_int_equal(run->command.len, 3);
    assert_string_equal(run->command.items[2], "a b");
    assert_string_equal(run->env.items[0], "A=b c");
    assert_null(run->user);
    assert_string_equal(run->volumes.items[0], "/a:/b");
    AUTO_OUTCOME struct outcome plain = read_spec("program: x\n", NULL);
    assert_read(&plain);
    assert_null(plain.job.place.container);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wrong_values), cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
