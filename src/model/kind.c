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

/* What must be known first: something may still run (7), a host is out of reach (3), a check (4), the job
 * (1). */
static int code_weight(int code)
{
    switch (code) {
    case 7:
        return 5;
    case 3:
        return 4;
    case 4:
        return 3;
    case 1:
        return 2;
    case 0:
        return 0;
    default:
        return 1;
    }
}

int kind_worse_code(int code_a, int code_b)
{
    int weight_a = code_weight(code_a);
    int weight_b = code_weight(code_b);

    if (weight_a != weight_b)
        return weight_a > weight_b ? code_a : code_b;
    return code_a > code_b ? code_a : code_b;
}
