/* Check: no debugging variable is left, and no two variables contradict each other. */
#include <string.h>

#include "check/check_internal.h"

/* A value of a variable that slows a job down. value NULL: any but "0". */
static const struct {
    const char *name, *value, *why;
} slow[] = {
    {"NCCL_P2P_DISABLE", NULL, "GPUs of a node talk through memory rather than NVLink"},
    {"NCCL_SHM_DISABLE", NULL, "GPUs of a node talk through the network"},
    {"NCCL_NET", "Socket", "nodes talk through sockets, also where there is InfiniBand"},
    {"NCCL_DEBUG", "TRACE", "every call is written to the log"},
    {"CUDA_LAUNCH_BLOCKING", NULL, "the CPU waits for each kernel"},
    {"TORCH_DISTRIBUTED_DEBUG", "DETAIL", "every collective is checked"},
    {"NCCL_CHECKS_DISABLE", NULL, "errors of arguments are not found"},
    {"TORCH_CUDA_SANITIZER", NULL, "every access is checked"},
};

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    (void)facts;
    struct finding *finding = NULL;
    for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
        const char *value = check_env(subject, slow[i].name);
        if (!value || (slow[i].value ? strcmp(value, slow[i].value) != 0 : strcmp(value, "0") == 0)) {
            continue;
        }
        finding = findings_add(out, "debugging", FINDING_WARN, "%s=%s: %s", slow[i].name, value, slow[i].why);
        finding_set_remedy(finding, "remove it unless you are debugging");
    }
    const char *off = check_env(subject, "NCCL_IB_DISABLE");
    const char *adapter = check_env(subject, "NCCL_IB_HCA");
    if (off && strcmp(off, "0") != 0 && adapter) {
        finding = findings_add(out, "debugging", FINDING_WARN,
                               "NCCL_IB_DISABLE=%s and NCCL_IB_HCA=%s contradict each other", off, adapter);
        finding_set_remedy(finding, "keep one of the two");
    }
    const char *interface = check_env(subject, "NCCL_SOCKET_IFNAME");
    if (interface && subject->nnodes > 1 && (strcmp(interface, "lo") == 0 || strcmp(interface, "=lo") == 0) &&
        subject->master_addr && strncmp(subject->master_addr, "127.", 4) != 0) {
        finding =
            findings_add(out, "debugging", FINDING_WARN,
                         "NCCL_SOCKET_IFNAME=%s: the loopback interface leads to no other node", interface);
        finding_set_remedy(finding, "name the interface of the network between the nodes");
    }
    if (!finding) {
        findings_add(out, "debugging", FINDING_OK, "none is left");
    }
}

const struct check check_debugging = {
    .id = "debugging",
    .title = "settings left from debugging",
    .why = "a variable set once to find an error makes every later job slow",
    .when = CHECK_ON_REQUEST,
    .timeout_s = 20,
    .ask = check_ask_nothing,
    .judge = judge,
};
