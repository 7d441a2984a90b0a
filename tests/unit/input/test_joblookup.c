/* Where a job file is looked for, and what is said when it is not there. */

#include "input/joblookup.h"
#include "jobfile_test.h"

struct folders {
    char folder[40];
    char *before;
};

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

static int set_up(void **state)
{
    static struct folders place;
    strcpy(place.folder, "/tmp/mtlaunch-test-XXXXXX");
    place.before = getcwd(NULL, 0);
    if (mkdtemp(place.folder) == NULL || chdir(place.folder) != 0) {
        return -1;
    }
    *state = &place;
    return 0;
}

static int tear_down(void **state)
{
    struct folders *place = *state;
    int result = chdir(place->before);
    free(place->before);
    return result != 0 ? result : nftw(place->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void make(const char *path)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *folder = path_folder(path);
    assert_int_equal(file_make_dirs(folder, 0755, &err), 0);
    assert_int_equal(file_write_atomic(path, "program: x\n", 11, 0644, &err), 0);
}

static void assert_found(const char *job, const char *jobs_path, const char *home, const char *want)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *path = joblookup_find(job, jobs_path, home, &err);
    if (path == NULL) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(path, want);
}

static void assert_missing(const char *job, const char *jobs_path, const char *home, const char *text,
                           const char *hint)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *path = joblookup_find(job, jobs_path, home, &err);
    assert_null(path);
    assert_ptr_equal(err.kind, &kind_job_not_found);
    assert_string_equal(err.text, text);
    assert_string_equal(err.hint, hint);
}

static void test_order_of_folders(void **state)
{
    (void)state;
    make("home/.config/mtlaunch/jobs/train.yaml");
    assert_found("train", NULL, "home", "home/.config/mtlaunch/jobs/train.yaml");
    make("two/train.yaml");
    assert_found("train", "one::two", "home", "two/train.yaml");
    make("one/train.yaml");
    assert_found("train", "one:two", "home", "one/train.yaml");
    make("jobs/train.yaml");
    assert_found("train", "one:two", "home", "jobs/train.yaml");
    make("train.yaml");
    assert_found("train", "one:two", "home", "train.yaml");
    assert_found("jobs/train.yaml", NULL, NULL, "jobs/train.yaml");
    make("x.yml");
    assert_found("./x.yml", NULL, NULL, "./x.yml");
}

static void test_a_folder_is_no_job(void **state)
{
    (void)state;
    make("d.yaml/x");
    assert_missing("d.yaml", NULL, NULL, "no job file 'd.yaml'",
                   "check the path; `mtlaunch init` writes a job file");
}

static void test_missing_names_list_the_places(void **state)
{
    (void)state;
    assert_missing("tra", NULL, NULL, "no job 'tra': looked for tra.yaml in ./, ./jobs/",
                   "give the path of a job file, or put its folder into MTLAUNCH_JOBS");
    make("two/train.yaml");
    assert_missing(
        "trian", "one:two", "/h",
        "no job 'trian': looked for trian.yaml in ./, ./jobs/, one, two, /h/.config/mtlaunch/jobs/",
        "did you mean 'train'?");
    make("short.yml");
    assert_missing("short", NULL, NULL, "no job 'short': looked for short.yaml in ./, ./jobs/",
                   "did you mean 'short.yml'? a name matches only files that end in .yaml");
    assert_missing("", NULL, NULL, "the name of the job is empty", "give the path or the name of a job file");
}

static void test_missing_paths(void **state)
{
    (void)state;
    make("jobs/train.yaml");
    assert_missing("jobs/trian.yaml", NULL, NULL, "no job file 'jobs/trian.yaml'",
                   "did you mean 'jobs/train.yaml'?");
    assert_missing("none/x.yaml", NULL, NULL, "no job file 'none/x.yaml'",
                   "check the path; `mtlaunch init` writes a job file");
    assert_missing("jobs/train", NULL, NULL,
                   "'jobs/train' is neither a path that ends in .yaml or .yml nor the name of a job",
                   "did you mean 'jobs/train.yaml'?");
    assert_missing("jobs/none", NULL, NULL,
                   "'jobs/none' is neither a path that ends in .yaml or .yml nor the name of a job",
                   "give the path of a job file, such as jobs/train.yaml");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order_of_folders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_folder_is_no_job, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_names_list_the_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_paths, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
