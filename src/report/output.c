/* Writes results to descriptors without stdio. */
#include "report/output.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

const struct error_kind kind_output_closed = {"output-closed", 8};

static int output_failed(int saved_errno, struct error *err)
{
    if (saved_errno == EPIPE) {
        return error_set(err, &kind_output_closed, "the reader of the output is gone");
    }
    error_set_errno(err, &kind_local, saved_errno, "cannot write the output");
    if (saved_errno == ENOSPC || saved_errno == EDQUOT) {
        return error_hint(err, "free some space where the output goes and repeat the command");
    }
    return -1;
}

int output_write(int fd, const void *bytes, size_t len, struct error *err)
{
    const char *at = bytes;
    while (len > 0) {
        ssize_t written = write(fd, at, len);
        if (written >= 0) {
            at += written;
            len -= (size_t)written;
            continue;
        }
        if (errno == EAGAIN) {
            struct pollfd wait = {.fd = fd, .events = POLLOUT};
            if (poll(&wait, 1, -1) < 0 && errno != EINTR) {
                return output_failed(errno, err);
            }
        } else if (errno != EINTR) {
            return output_failed(errno, err);
        }
    }
    return 0;
}

/* A pipe that is ready takes this much at once, whatever its reader does (POSIX: PIPE_BUF). */
#define READY_BYTES 4096

static bool is_ready(int fd, int64_t until_ms)
{
    struct pollfd output = {.fd = fd, .events = POLLOUT};
    int64_t left = until_ms - clock_mono_ms();

    return poll(&output, 1, left > 0 ? (int)left : 0) == 1;
}

static bool is_file(int fd)
{
    struct stat what;

    return fstat(fd, &what) == 0 && S_ISREG(what.st_mode);
}

long output_write_some(int fd, struct str *text, int wait_ms, char *last, struct error *err)
{
    size_t len = text->len, done = 0;
    int64_t until_ms = wait_ms > 0 ? clock_mono_ms() + wait_ms : 0;
    int result = 0;

    if (is_file(fd)) {
        result = output_write(fd, text->data, len, err);
        done = len;
    }
    while (done < len && result == 0 && is_ready(fd, until_ms)) {
        size_t piece = len - done < READY_BYTES ? len - done : READY_BYTES;
        ssize_t written = write(fd, text->data + done, piece);
        if (written >= 0) {
            done += (size_t)written;
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            result = output_failed(errno, err);
        }
    }
    if (done > 0) {
        *last = text->data[done - 1];
    }
    str_consume(text, done);
    return result == 0 ? (long)done : -1;
}

bool output_is_shared(int fd, int other)
{
    struct stat one, two;

    return fstat(fd, &one) == 0 && fstat(other, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

bool output_reader_is_gone(int fd)
{
    struct pollfd output = {.fd = fd};

    return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

int output_print(struct str *text, struct error *err)
{
    int result = text->len ? output_write(STDOUT_FILENO, text->data, text->len, err) : 0;
    str_reset(text);
    return result;
}

int output_print_last(struct str *text, int result, struct error *err)
{
    struct error output = ERROR_INIT;
    if (output_print(text, &output) == 0 || result != 0) {
        return result;
    }
    *err = output;
    return -1;
}
