/* What the command tests share: cmocka, an own state folder, and standard output and error in files. */
#ifndef MTLAUNCH_TESTS_CMD_TEST_H
#define MTLAUNCH_TESTS_CMD_TEST_H

#include "test.h"

/* A folder of its own as HOME, and what is written to stdout and stderr caught. */
struct stage {
    char folder[40];
    int kept[3], caught[3]; /* by descriptor; 0 is not used */
};

static inline void stage_begin(struct stage *stage)
{
    static const char *const variables[] = {"XDG_STATE_HOME", "MTLAUNCH_HOSTFILE", "SLURM_JOB_NODELIST",
                                            "CONTAINER_NAME", "ZERO_STAGE",        "NPROC_PER_NODE",
                                            "MASTER_ADDR",    "MASTER_PORT",       "ARTIFACT_ROOT"};
    strcpy(stage->folder, "/tmp/mtlaunch-cmd-XXXXXX");
    assert_non_null(mkdtemp(stage->folder));
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        unsetenv(variables[i]);
    setenv("HOME", stage->folder, 1);
    fflush(NULL);
    for (int fd = 1; fd <= 2; fd++) {
        AUTO_FREE char *path = xasprintf("%s/caught%d-XXXXXX", stage->folder, fd);
        stage->caught[fd] = mkstemp(path);
        assert_true(stage->caught[fd] >= 0);
        stage->kept[fd] = dup(fd);
        dup2(stage->caught[fd], fd);
    }
}

static inline void stage_end(struct stage *stage)
{
    AUTO_FREE char *command = xasprintf("rm -rf '%s'", stage->folder);
    for (int fd = 1; fd <= 2; fd++) {
        dup2(stage->kept[fd], fd);
        close(stage->kept[fd]);
        close(stage->caught[fd]);
    }
    assert_int_equal(system(command), 0);
}

/* What was written to fd (1 or 2) so far. Caller frees. */
static inline char *stage_text(const struct stage *stage, int fd)
{
    char *text = xcalloc(1, 100000);
    fflush(NULL);
    assert_true(pread(stage->caught[fd], text, 99999, 0) >= 0);
    return text;
}

static inline void stage_file(const struct stage *stage, const char *name, const char *text)
{
    AUTO_FREE char *path = xasprintf("%s/%s", stage->folder, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

#endif
