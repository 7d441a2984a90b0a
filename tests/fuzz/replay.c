/*
 * Runs a fuzz target over files, as a plain test: every file named, and every file of a folder named.
 * Each has a process of its own, so that one that crashes is counted and named.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "fuzz.h"

#define INPUT_MAX ((size_t)1 << 20)

struct count {
    unsigned passed, failed;
};

static void run_input(const char *path)
{
    AUTO_STR struct str input = STR_INIT;
    struct error err = ERROR_INIT;

    if (file_read(path, INPUT_MAX, &input, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    /* A copy of exactly that size, so that a sanitizer sees a read behind its end. */
    AUTO_FREE uint8_t *bytes = malloc(input.len > 0 ? input.len : 1);
    if (bytes == NULL) {
        abort();
    }
    if (input.len > 0) {
        memcpy(bytes, input.data, input.len);
    }
    LLVMFuzzerTestOneInput(bytes, input.len);
}

static void replay_file(const char *path, struct count *count)
{
    int status = 1;
    pid_t pid = fork();

    if (pid == 0) {
        run_input(path);
        exit(0);
    }
    if (pid > 0) {
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
            continue;
        }
    }
    if (status == 0) {
        count->passed++;
    } else {
        count->failed++;
        fprintf(stderr, "FAILED: %s\n", path);
    }
}

static void replay_folder(const char *folder, struct count *count)
{
    struct dirent **entries;
    int found = scandir(folder, &entries, NULL, alphasort);

    for (int i = 0; i < found; i++) {
        AUTO_FREE char *path = path_join(folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            replay_file(path, count);
        }
        free(entries[i]);
    }
    if (found >= 0) {
        free(entries);
    }
}

int main(int argc, char **argv)
{
    struct count count = {0, 0};

    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode)) {
            replay_folder(argv[i], &count);
        } else {
            replay_file(argv[i], &count);
        }
    }
    if (count.passed + count.failed == 0) {
        fprintf(stderr, "no inputs: name files, or folders that hold some\n");
    }
    printf("%s: %u passed, %u failed\n", argv[0], count.passed, count.failed);
    return count.failed > 0 || count.passed == 0;
}
