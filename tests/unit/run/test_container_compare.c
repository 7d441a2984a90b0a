/* container.run of a spec against what an engine's inspect says. */

#include "run/container.h"
#include "test.h"

/* As docker 20.10 prints it, less what nobody looks at. */
#define DOCKER                                                                                               \
    "[{\"Id\":\"abc\",\"Image\":\"sha256:1\",\"Config\":{\"Image\":\"img\",\"Cmd\":[\"bash\"],\"User\":"     \
    "\"u\","                                                                                                 \
    "\"WorkingDir\":\"/w\",\"Env\":[\"PATH=/bin\",\"A=b c\"],\"Labels\":{\"mtlaunch.job\":\"j\"}},"          \
    "\"HostConfig\":{\"NetworkMode\":\"host\",\"IpcMode\":\"host\",\"ShmSize\":1073741824,"                  \
    "\"Privileged\":false,\"CapAdd\":[\"CAP_IPC_LOCK\"],\"Binds\":[\"/a:/b\",\"/c:/d:ro\"],"                 \
    "\"Ulimits\":[{\"Name\":\"memlock\",\"Hard\":-1,\"Soft\":-1}],"                                          \
    "\"Devices\":[{\"PathOnHost\":\"/dev/infiniband\",\"PathInContainer\":\"/dev/infiniband\","              \
    "\"CgroupPermissions\":\"rwm\"}],"                                                                       \
    "\"DeviceRequests\":[{\"Count\":-1,\"DeviceIDs\":null,\"Capabilities\":[[\"gpu\"]]}]}}]"

/* As podman writes the same. */
#define PODMAN                                                                                               \
    "[{\"Id\":\"abc\",\"Image\":\"1\",\"Config\":{\"Image\":\"img\",\"Cmd\":[\"bash\"],\"User\":\"u\","      \
    "\"WorkingDir\":\"/w\",\"Env\":[\"A=b "                                                                  \
    "c\"]},\"HostConfig\":{\"NetworkMode\":\"host\",\"IpcMode\":\"host\","                                   \
    "\"ShmSize\":1073741824,\"Privileged\":false,\"CapAdd\":[\"CAP_IPC_LOCK\"],"                             \
    "\"Binds\":[\"/a:/b:rw,rprivate,rbind\",\"/c:/d:ro,rprivate,rbind\"],"                                   \
    "\"Ulimits\":[{\"Name\":\"RLIMIT_MEMLOCK\",\"Soft\":-1,\"Hard\":-1}],"                                   \
    "\"Devices\":[{\"PathOnHost\":\"/dev/infiniband\",\"PathInContainer\":\"/dev/infiniband\","              \
    "\"CgroupPermissions\":\"\"}]}}]"

static void set(char **place, const char *text)
{
    free(*place);
    *place = xstrdup(text);
}

/* The spec that both were made by. */
static void make_job(struct job *job)
{
    job_init(job);
    struct job_container_run *run = &job->container.run;
    set(&job->name, "j");
    set(&job->place.container, "c");
    set(&run->image, "img");
    set(&run->gpus, "all");
    set(&run->network, "host");
    set(&run->ipc, "host");
    set(&run->user, "u");
    set(&run->workdir, "/w");
    run->shm_size_bytes = 1 << 30;
    strlist_add(&run->command, "bash");
    strlist_add(&run->cap_add, "ipc_lock");
    strlist_add(&run->ulimit, "memlock=-1");
    strlist_add(&run->devices, "/dev/infiniband");
    strlist_add(&run->volumes, "/a:/b:rw");
    strlist_add(&run->volumes, "/c:/d:ro");
    strlist_add(&run->env, "A=b c");
}

static void release(struct run_container *item)
{
    strlist_release(&item->differences);
    free(item->image);
    free(item->job);
    *item = (struct run_container){0};
}

/* All differences, joined; the caller frees. */
static char *compare(const struct job *job, const char *inspect, const char *image_id)
{
    struct run_container item = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(container_compare(job, inspect, image_id, &item, &err), 0);
    char *text = strlist_join(&item.differences, "; ");
    release(&item);
    return text;
}

static void assert_differs(const struct job *job, const char *inspect, const char *want)
{
    AUTO_FREE char *text = compare(job, inspect, NULL);
    assert_string_equal(text, want);
}

static void test_equal_ones(void **state)
{
    (void)state;
    struct job job;
    make_job(&job);
    assert_differs(&job, DOCKER, "");
    set(&job.place.engine, "podman");
    assert_differs(&job, PODMAN, "");
    job_release(&job);
}

static void test_what_the_spec_does_not_say_is_no_difference(void **state)
{
    (void)state;
    struct job job;
    job_init(&job);
    set(&job.name, "j");
    set(&job.place.container, "c");
    set(&job.container.run.image, "img");
    assert_differs(&job, DOCKER, "");
    job_release(&job);
}

static void test_every_difference_is_named(void **state)
{
    (void)state;
    struct job job;
    make_job(&job);
    struct job_container_run *run = &job.container.run;
    set(&run->image, "other");
    set(&run->gpus, "device=0,1");
    set(&run->network, "bridge");
    set(&run->ipc, "private");
    set(&run->user, "v");
    set(&run->workdir, "/v");
    run->shm_size_bytes = 5;
    run->privileged = true;
    strlist_add(&run->command, "-c");
    strlist_add(&run->cap_add, "SYS_PTRACE");
    strlist_add(&run->ulimit, "nofile=1:2");
    strlist_add(&run->devices, "/dev/x");
    strlist_release(&run->volumes);
    strlist_add(&run->volumes, "/a:/b");
    strlist_add(&run->env, "B=secret");
    assert_differs(&job, DOCKER,
                   "image is 'img', the spec says 'other'; command is 'bash', the spec says 'bash -c'; "
                   "gpus is 'all', the spec says 'device=0,1'; network is 'host', the spec says 'bridge'; "
                   "ipc is 'host', the spec says 'private'; shm_size is 1073741824 bytes, the spec says 5; "
                   "privileged is 'false', the spec says 'true'; cap_add lacks 'SYS_PTRACE'; "
                   "ulimit lacks 'nofile=1:2'; devices lacks '/dev/x'; "
                   "volumes has '/c:/d:ro', the spec does not; env lacks 'B' with the value of the spec; "
                   "user is 'u', the spec says 'v'; workdir is '/w', the spec says '/v'");
    job_release(&job);
}

static void test_words_beside_the_keys(void **state)
{
    (void)state;
    struct job job;
    make_job(&job);
    strlist_release(&job.container.run.volumes);
    strlist_add(&job.container.run.volumes, "/a:/b");
    strlist_add(&job.container.run.extra, "-v");
    strlist_add(&job.container.run.extra, "/c:/d:ro");
    /* the volume may come from there, the label tells */
    assert_differs(&job, DOCKER, "extra is '', the spec says '-v /c:/d:ro'");
    job_release(&job);
}

static void test_an_image_that_was_built_anew(void **state)
{
    (void)state;
    struct job job;
    make_job(&job);
    AUTO_FREE char *same = compare(&job, DOCKER, "sha256:1");
    assert_string_equal(same, "");
    AUTO_FREE char *changed = compare(&job, DOCKER, "sha256:2");
    assert_string_equal(changed, "image 'img' has changed since: it was sha256:1, it is sha256:2 now");
    job_release(&job);
}

static void test_whose_it_is(void **state)
{
    (void)state;
    struct job job;
    struct run_container item = {0};
    struct error err = ERROR_INIT;
    make_job(&job);
    assert_int_equal(container_compare(&job, DOCKER, NULL, &item, &err), 0);
    assert_string_equal(item.job, "j");
    assert_string_equal(item.image, "img");
    release(&item);
    assert_int_equal(container_compare(&job, PODMAN, NULL, &item, &err), 0);
    assert_null(item.job);
    release(&item);
    static const char *const broken[] = {"", "[]", "{}", "[{\"Config\":{}}]", "[1]"};
    FOR_ROWS(i, broken, broken[i]) {
        assert_int_equal(container_compare(&job, broken[i], NULL, &item, &err), -1);
        assert_ptr_equal(err.kind, &kind_node_answer);
        assert_string_equal(err.text, "what the engine says of container 'c' cannot be understood");
        release(&item);
    }
    job_release(&job);
}

static void assert_words(const struct job *job, const char *want)
{
    AUTO_STRLIST struct strlist words = STRLIST_INIT;
    container_run_words(job, &words);
    AUTO_FREE char *text = strlist_join(&words, " ");
    assert_string_equal(text, want);
}

static void test_words_for_the_engine(void **state)
{
    (void)state;
    struct job job;
    make_job(&job);
    strlist_add(&job.container.run.extra, "--init");
    job.container.run.privileged = true;
    assert_words(
        &job, "-dit --name c --label=mtlaunch.job=j --label=mtlaunch.extra=--init --env-file=/dev/stdin "
              "--gpus=all --network=host --ipc=host --shm-size=1073741824b --privileged --cap-add=ipc_lock "
              "--ulimit=memlock=-1 --device=/dev/infiniband --volume=/a:/b:rw --volume=/c:/d:ro --user=u "
              "--workdir=/w --init img bash");
    job_release(&job);
    job_init(&job);
    set(&job.name, "j");
    set(&job.place.container, "c");
    set(&job.container.run.image, "img");
    assert_words(&job, "-dit --name c --label=mtlaunch.job=j img");
    set(&job.container.run.gpus, "none");
    assert_words(&job, "-dit --name c --label=mtlaunch.job=j img");
    set(&job.container.run.gpus, "device=0,2");
    assert_words(&job, "-dit --name c --label=mtlaunch.job=j --gpus=\"device=0,2\" img");
    set(&job.place.engine, "podman");
    assert_words(
        &job, "-dit --name c --label=mtlaunch.job=j --device=nvidia.com/gpu=0 --device=nvidia.com/gpu=2 img");
    set(&job.container.run.gpus, "2");
    assert_words(
        &job, "-dit --name c --label=mtlaunch.job=j --device=nvidia.com/gpu=0 --device=nvidia.com/gpu=1 img");
    set(&job.container.run.gpus, "all");
    assert_words(&job, "-dit --name c --label=mtlaunch.job=j --device=nvidia.com/gpu=all img");
    job_release(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_ones),
        cmocka_unit_test(test_what_the_spec_does_not_say_is_no_difference),
        cmocka_unit_test(test_every_difference_is_named),
        cmocka_unit_test(test_words_beside_the_keys),
        cmocka_unit_test(test_an_image_that_was_built_anew),
        cmocka_unit_test(test_whose_it_is),
        cmocka_unit_test(test_words_for_the_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
