/* What the base layer's tests share: cmocka with the headers it wants before it, and a folder to work in. */
#ifndef MTLAUNCH_TESTS_BASE_TEST_H
#define MTLAUNCH_TESTS_BASE_TEST_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"

static inline int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

/* A cmocka setup: *state is the path of a new empty folder. */
static inline int make_folder(void **state)
{
    char *path = xstrdup("/tmp/mtlaunch-test-XXXXXX");

    if (mkdtemp(path) == NULL) {
        free(path);
        return -1;
    }
    *state = path;
    return 0;
}

static inline int remove_folder(void **state)
{
    int result = nftw(*state, remove_entry, 8, FTW_DEPTH | FTW_PHYS);

    free(*state);
    return result;
}

/* The exit status of a child, 128 + signal when one ended it. */
static inline int wait_for(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* fork() without output that both would print. */
static inline pid_t fork_child(void)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    return pid;
}

/* Append everything that can be read from fd until its end. */
static inline void read_to_end(int fd, struct str *out)
{
    char buffer[4096];
    ssize_t got;

    while ((got = read(fd, buffer, sizeof buffer)) > 0)
        str_add_mem(out, buffer, (size_t)got);
    assert_int_equal(got, 0);
}

#endif
