/* How the processes of a run split a model and a batch among them. */
#include <stdint.h>

#include "model/kind.h"
#include "model/topology.h"

/* The multiples of unit next to number, neither of them 0. Both are the one above if there is none below. */
static void nearest_multiples(uint64_t number, uint64_t unit, uint64_t *below, uint64_t *above)
{
    *above = (number / unit + 1) * unit;
    *below = number < unit ? *above : number / unit * unit;
}

static int hint_processes(unsigned world, uint64_t unit, struct error *err)
{
    uint64_t below, above;
    nearest_multiples(world, unit, &below, &above);
    if (below == above) {
        return error_hint(err, "use %llu processes in all, or other parallel sizes",
                          (unsigned long long)above);
    }
    return error_hint(err, "use %llu or %llu processes in all, or other parallel sizes",
                      (unsigned long long)below, (unsigned long long)above);
}

unsigned topology_split_world(const struct topology_split *split, unsigned world, struct error *err)
{
    uint64_t model = (uint64_t)split->tensor * split->pipeline * split->context;
    uint64_t expert = (uint64_t)split->expert_tensor * split->expert * split->pipeline;
    if (world % model) {
        error_set(err, &kind_plan,
                  "world size %u is not divisible by %llu (tensor %u x pipeline %u x context %u parallel)",
                  world, (unsigned long long)model, split->tensor, split->pipeline, split->context);
        hint_processes(world, model, err);
        return 0;
    }
    if (world % expert) {
        error_set(err, &kind_plan,
                  "world size %u is not divisible by %llu (expert tensor %u x expert %u x pipeline %u "
                  "parallel)",
                  world, (unsigned long long)expert, split->expert_tensor, split->expert, split->pipeline);
        hint_processes(world, expert, err);
        return 0;
    }
    return (unsigned)(world / model);
}

unsigned topology_split_batch(unsigned global, unsigned micro, unsigned data_parallel, struct error *err)
{
    uint64_t unit = (uint64_t)micro * data_parallel;
    uint64_t below, above;
    if (global && global % unit == 0) {
        return (unsigned)(global / unit);
    }
    error_set(err, &kind_plan,
              "global batch size %u is not divisible by micro batch size %u times data-parallel size %u, "
              "which is %llu",
              global, micro, data_parallel, (unsigned long long)unit);
    nearest_multiples(global, unit, &below, &above);
    if (below == above) {
        error_hint(err, "use a global batch size of %llu", (unsigned long long)above);
    } else {
        error_hint(err, "use a global batch size of %llu or %llu", (unsigned long long)below,
                   (unsigned long long)above);
    }
    return 0;
}
