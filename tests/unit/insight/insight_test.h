/* Helpers of the tests of insight: cmocka, logs as evidence, and cases that hold the logs of several nodes.
 */
#ifndef MTLAUNCH_TESTS_INSIGHT_TEST_H
#define MTLAUNCH_TESTS_INSIGHT_TEST_H

#include "base/clock.h"
#include "insight/diagnosis.h"
#include "test.h"

#define LOG_FOLDER "tests/data/logs"

/* A scanner as the state of a group of tests. */
static inline int set_up(void **state)
{
    *state = scanner_new();
    return 0;
}

static inline int tear_down(void **state)
{
    scanner_free(*state);
    return 0;
}

/* Read a log in pieces of the size (0: whole). */
static inline void read_log(struct scanner *scanner, const char *text, size_t piece,
                            struct evidence *evidence)
{
    evidence_init(evidence);
    struct evidence_reader *reader = evidence_reader_new(scanner, evidence);
    size_t len = strlen(text);
    for (size_t at = 0; at < len;) {
        size_t take = piece == 0 || piece > len - at ? len - at : piece;
        evidence_reader_feed(reader, text + at, take);
        at += take;
    }
    evidence_reader_end(reader);
}

/* A file of tests/data/logs; the caller frees. */
static inline char *read_data(const char *name)
{
    struct str text = STR_INIT;
    struct error err = ERROR_INIT;
    AUTO_FREE char *path = path_join(LOG_FOLDER, name);
    if (file_read(path, 1 << 20, &text, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return str_detach(&text);
}

#endif
