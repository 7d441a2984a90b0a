/* Launchers of the contract that this version refuses: their names, and what to use instead. */
#include "launcher/launcher_internal.h"

const struct launcher launcher_deepspeed = {
    .name = "deepspeed",
    .summary = "DeepSpeed with its configuration",
    .instead = "use 'launcher: torchrun' and hand the configuration over in args: [--deepspeed, "
               "--deepspeed_config, ds.json]",
};

const struct launcher launcher_accelerate = {
    .name = "accelerate",
    .summary = "accelerate launch on every node",
    .instead = "use 'launcher: torchrun': a program written for accelerate runs under it as it is",
};

const struct launcher launcher_swift = {
    .name = "swift",
    .summary = "ms-swift's command swift",
    .instead = "use 'launcher: torchrun' with 'program: -m swift.cli.sft' (or pt, rlhf)",
};

const struct launcher launcher_megatron_swift = {
    .name = "megatron-swift",
    .summary = "ms-swift's command megatron",
    .instead = "use 'launcher: torchrun' with 'program: -m swift.cli._megatron.sft' (or pt, rlhf)",
};
