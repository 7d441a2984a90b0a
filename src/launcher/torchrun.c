/*
 * torchrun: PYTHON -m torch.distributed.run. Options are spelt with underscores, which every torch from 1.13
 * on accepts (1.13 knows no dashes), and only those that 1.13 has are used (torch/distributed/run.py).
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "launcher/launcher_internal.h"
#include "model/host.h"
#include "model/kind.h"

static void add_rendezvous(const struct launch_input *in, struct strlist *argv)
{
    strlist_addf(argv, "--nnodes=%u", in->nnodes);
    strlist_addf(argv, "--nproc_per_node=%s", in->nproc);
    strlist_addf(argv, "--node_rank=%u", in->rank);
    strlist_addf(argv, "--rdzv_id=%s", in->rendezvous_id);
    if (in->job->rendezvous == RENDEZVOUS_C10D) {
        /* is_host: torch guesses wrong for an address of a second interface, and then no node listens. */
        AUTO_FREE char *endpoint = host_join_port(in->master_addr, in->master_port);
        strlist_add(argv, "--rdzv_backend=c10d");
        strlist_addf(argv, "--rdzv_endpoint=%s", endpoint);
        strlist_addf(argv, "--rdzv_conf=is_host=%s,join_timeout=%d", in->rank == 0 ? "true" : "false",
                     LAUNCHER_RENDEZVOUS_TIMEOUT_S);
    } else {
        strlist_add(argv, "--rdzv_backend=static");
        strlist_addf(argv, "--rdzv_conf=timeout=%d", LAUNCHER_RENDEZVOUS_TIMEOUT_S);
        strlist_addf(argv, "--master_addr=%s", in->master_addr);
        strlist_addf(argv, "--master_port=%u", in->master_port);
    }
}

static int build(const struct launch_input *in, struct strlist *argv, struct launch_probe *probe,
                 struct error *err)
{
    if (launcher_begin_module(in, "torch.distributed.run", argv, probe, err)) {
        return -1;
    }
    add_rendezvous(in, argv);
    strlist_copy(argv, &in->job->launcher_args);
    launcher_add_program(in, "-m", argv, probe);
    probe->module = xstrdup("torch");
    return 0;
}

static int judge(const struct launch_job *in, struct launch_whole *out, struct strlist *warnings,
                 struct error *err)
{
    (void)out;
    (void)err;
    if (in->job->rendezvous == RENDEZVOUS_C10D && in->nnodes > 1) {
        strlist_add(warnings,
                    "rendezvous c10d: torch assigns the ranks itself, and they may not follow the order of "
                    "the hosts and NODE_RANK; static keeps the order");
    }
    return 0;
}

static const struct launcher_option owned[] = {
    {"nnodes", "it is the number of hosts: use --nodes or change the host list"},
    {"nproc_per_node", "use 'nproc_per_node' of the spec or --nproc-per-node"},
    {"node_rank", "it is the place in the host list: change the order there"},
    {"master_addr", "use 'master.addr' of the spec or --master-addr"},
    {"master_port", "use 'master.port' of the spec or --master-port"},
    {"rdzv_backend", "use 'rendezvous: static' or 'rendezvous: c10d'"},
    {"rdzv_endpoint", "use 'master.addr' and 'master.port'"},
    {"rdzv_id", "mtlaunch gives each attempt an id of its own: leave it out"},
    {"rdzv_conf", "mtlaunch sets it with 'rendezvous': leave it out"},
    {"standalone", "leave it out: one host needs nothing for it"},
    {"no_python", "use 'python: none'"},
    {"module", "use 'program: -m pkg.mod'"},
    {"m", "use 'program: -m pkg.mod'"},
    {NULL, NULL},
};

static const char *const flags[] = {"run_path", "virtual_local_rank", NULL};

const struct launcher_words torchrun_words = {owned, flags};

const struct launcher launcher_torchrun = {
    .name = "torchrun",
    .summary = "PyTorch's torchrun on every node",
    .example = {"train.py",
                "# A script, or a module: \"-m pkg.train\". It runs as PYTHON -m torch.distributed.run ... "
                "PROGRAM ARGS.\n",
                "#python: python3                # none: the program is not Python\n"
                "#rendezvous: static             # static | c10d\n"},
    .words = &torchrun_words,
    .judge = judge,
    .build = build,
};
