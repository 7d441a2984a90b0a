/* The one function of a fuzz target, as libFuzzer calls it (https://llvm.org/docs/LibFuzzer.html). */
#ifndef MTLAUNCH_TESTS_FUZZ_H
#define MTLAUNCH_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns 0. What must hold is checked by CHECK. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                   \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

#endif
