/*
 * What every cmocka test begins with: cmocka behind the headers it wants, assertions that print what was
 * wanted and what came, tables whose failed row is named, folders and files, children.
 */
#ifndef MTLAUNCH_TESTS_TEST_H
#define MTLAUNCH_TESTS_TEST_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h> /* it needs the four before it */
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
#include "base/file.h"
#include "base/str.h"
#include "base/strlist.h"
#include "model/kind.h"

/* --- tables --- */

/* The row being checked, for the message of a failed assertion; "" outside of tables. */
static char test_row_text[200];

static inline bool test_row(const char *table, size_t index, const char *name)
{
    snprintf(test_row_text, sizeof(test_row_text), "row %zu of %s%s%.120s%s: ", index, table,
             name ? " '" : "", name ? name : "", name ? "'" : "");
    return true;
}

static inline bool test_no_row(void)
{
    test_row_text[0] = '\0';
    return false;
}

/* A loop over a table's rows; name is a text by which a reader knows row i, NULL for its number alone. It is
 * not left by break. */
#define FOR_ROWS(i, table, name)                                                                             \
    for (size_t i = 0; i < ARRAY_LEN(table) ? test_row(#table, i, (name)) : test_no_row(); i++)

/* --- assertions --- */

_Noreturn static inline void want_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn static inline void want_fail(const char *file, int line, const char *format, ...)
{
    char text[4000];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    print_error("%s%s\n", test_row_text, text);
    test_no_row();
    _fail(file, line);
    abort(); /* _fail does not come back */
}

static inline void want_text(const char *got, const char *wanted, const char *what, const char *file,
                             int line)
{
    if (got == wanted || (got && wanted && strcmp(got, wanted) == 0)) {
        return;
    }
    want_fail(file, line, "%s\n    wanted '%s'\n    got    '%s'", what, wanted ? wanted : "(null)",
              got ? got : "(null)");
}

static inline void want_number(intmax_t got, intmax_t wanted, const char *what, const char *file, int line)
{
    if (got != wanted) {
        want_fail(file, line, "%s: wanted %jd, got %jd", what, wanted, got);
    }
}

static inline void want_range(intmax_t got, intmax_t least, intmax_t most, const char *what, const char *file,
                              int line)
{
    if (got < least || got > most) {
        want_fail(file, line, "%s: wanted %jd to %jd, got %jd", what, least, most, got);
    }
}

static inline void want_truth(bool got, bool wanted, const char *what, const char *file, int line)
{
    if (got != wanted) {
        want_fail(file, line, "wanted %s, got %s: %s", wanted ? "true" : "false", got ? "true" : "false",
                  what);
    }
}

static inline void want_pointer(uintptr_t got, uintptr_t wanted, const char *what, const char *file, int line)
{
    if (got != wanted) {
        want_fail(file, line, "%s: wanted 0x%jx, got 0x%jx", what, (uintmax_t)wanted, (uintmax_t)got);
    }
}

static inline void want_part(const char *text, const char *part, bool wanted, const char *file, int line)
{
    if ((text && strstr(text, part)) != wanted) {
        want_fail(file, line, "wanted %s '%s'\n    got '%s'", wanted ? "a text with" : "a text without", part,
                  text ? text : "(null)");
    }
}

/* cmocka's own macros, which print neither the row nor which of two values was wanted. */
#undef assert_string_equal
#undef assert_int_equal
#undef assert_in_range
#undef assert_true
#undef assert_false
#undef assert_null
#undef assert_non_null
#undef assert_ptr_equal
#define assert_string_equal(got, wanted) want_text((got), (wanted), #got, __FILE__, __LINE__)
#define assert_int_equal(got, wanted)                                                                        \
    want_number((intmax_t)(got), (intmax_t)(wanted), #got, __FILE__, __LINE__)
#define assert_in_range(got, least, most)                                                                    \
    want_range((intmax_t)(got), (intmax_t)(least), (intmax_t)(most), #got, __FILE__, __LINE__)
#define assert_true(condition)   want_truth((condition) ? true : false, true, #condition, __FILE__, __LINE__)
#define assert_false(condition)  want_truth((condition) ? true : false, false, #condition, __FILE__, __LINE__)
#define assert_null(pointer)     want_truth((pointer) ? true : false, false, #pointer, __FILE__, __LINE__)
#define assert_non_null(pointer) want_truth((pointer) ? true : false, true, #pointer, __FILE__, __LINE__)
#define assert_ptr_equal(got, wanted)                                                                        \
    want_pointer((uintptr_t)(got), (uintptr_t)(wanted), #got, __FILE__, __LINE__)
#define assert_contains(text, part) want_part((text), (part), true, __FILE__, __LINE__)
#define assert_lacks(text, part)    want_part((text), (part), false, __FILE__, __LINE__)

/* --- folders and files --- */

static inline int test_remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

/* A new empty folder, NULL when it could not be made. Caller removes it by remove_tree. */
static inline char *make_tree(void)
{
    char *path = xstrdup("/tmp/mtlaunch-test-XXXXXX");

    if (!mkdtemp(path)) {
        free(path);
        return NULL;
    }
    return path;
}

/* Remove the folder and free its path. 0, or -1. */
static inline int remove_tree(char *path)
{
    int result = nftw(path, test_remove_entry, 8, FTW_DEPTH | FTW_PHYS);

    free(path);
    return result;
}

/* A cmocka setup and its teardown: *state is the path of a new empty folder. */
static inline int make_folder(void **state)
{
    *state = make_tree();
    return *state ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    return remove_tree(*state);
}

static inline void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* FOLDER/NAME with that text. Caller frees the path. */
static inline char *write_file_in(const char *folder, const char *name, const char *text)
{
    char *path = path_join(folder, name);

    write_file(path, text);
    return path;
}

/* --- children --- */

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
