/*
 * What a node tells beside its log: the error files of workers and the dumps of flight recorders. Any bytes
 * give evidence within its bounds and a diagnosis. The input is cut at its zero bytes: a text is of node 0 or
 * 1 by its first byte, and an error file or a dump by the next bit.
 */
#include <string.h>

#include "base/alloc.h"
#include "fuzz.h"
#include "insight/diagnosis.h"

#define TEXTS_MAX 200

static void take(struct evidence_reader *reader, struct evidence *evidence, const char *text)
{
    if (text[0] & 2) {
        evidence_add_dump(evidence, text + 1);
    } else {
        evidence_reader_error_file(reader, "/tmp/0/error.json", text[0] >> 4, text + 1, text + 1);
    }
}

static void diagnose(const struct evidence *evidence)
{
    const struct node_end nodes[] = {
        {.host = "a", .file = "a.log", .evidence = &evidence[0], .exit_status = -1, .ended = -1},
        {.rank = 1, .host = "b", .file = "b.log", .evidence = &evidence[1], .exit_status = -1, .ended = -1},
    };
    for (unsigned nproc = 0; nproc < 3; nproc++) {
        struct diagnosis diagnosis;
        AUTO_STR struct str reason = STR_INIT;
        diagnosis_make(&diagnosis, nodes, 2, nproc);
        CHECK(!diagnosis.cause.signature || (diagnosis.cause.summary && diagnosis.cause.nodes_len > 0));
        diagnosis_add_reason(&diagnosis, nodes, &reason);
        CHECK(!strchr(str_text(&reason), '\n'));
        diagnosis_release(&diagnosis);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct scanner *scanner;
    struct evidence evidence[2];
    struct evidence_reader *readers[2];
    scanner = scanner ? scanner : scanner_new();
    AUTO_FREE char *texts = xcalloc(size + 1, 1);
    memcpy(texts, data, size);
    for (size_t i = 0; i < 2; i++) {
        evidence_init(&evidence[i]);
        readers[i] = evidence_reader_new(scanner, &evidence[i]);
    }
    size_t count = 0;
    for (const char *text = texts; text < texts + size && count < TEXTS_MAX; text += strlen(text) + 1) {
        if (text[0] != '\0') {
            take(readers[text[0] & 1], &evidence[text[0] & 1], text);
            count++;
        }
    }
    for (size_t i = 0; i < 2; i++) {
        evidence_reader_end(readers[i]);
        CHECK(evidence[i].events_len <= EVIDENCE_EVENTS);
    }
    diagnose(evidence);
    for (size_t i = 0; i < 2; i++) {
        evidence_release(&evidence[i]);
    }
    return 0;
}
