/* The classes of failure and the exit code of each. */
#include "model/kind.h"

#include "base/alloc.h"

#define KIND_DEFINE(identifier, kind_name, code)                                                             \
    const struct error_kind kind_##identifier = {.name = (kind_name), .exit_code = (code)};
KIND_TABLE(KIND_DEFINE)
#undef KIND_DEFINE

#define KIND_ADDRESS(identifier, kind_name, code) &kind_##identifier,
const struct error_kind *const kinds_all[] = {&kind_usage, &kind_not_supported, &kind_local,
                                              KIND_TABLE(KIND_ADDRESS)};
#undef KIND_ADDRESS

const size_t kinds_all_count = ARRAY_LEN(kinds_all);

/* Worst first: which code counts when several failures occur together. */
static const int codes_by_weight[] = {7, 8, 3, 4, 5, 6, 1, 143, 130};

static size_t code_weight(int code)
{
    size_t count = sizeof(codes_by_weight) / sizeof(codes_by_weight[0]);
    for (size_t i = 0; i < count; i++) {
        if (codes_by_weight[i] == code) {
            return count + 1 - i;
        }
    }
    return code == 0 ? 0 : 1;
}

int kind_worse_code(int code_a, int code_b)
{
    size_t weight_a = code_weight(code_a);
    size_t weight_b = code_weight(code_b);

    if (weight_a != weight_b) {
        return weight_a > weight_b ? code_a : code_b;
    }
    return code_a > code_b ? code_a : code_b;
}

bool error_is_interruption(const struct error *error)
{
    return error->kind == &kind_interrupted || error->kind == &kind_terminated;
}
