/* Check: nodes, GPUs and fast ports can be reached from inside the container, according to the engine's
 * inspect. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"
#include "check/check_internal.h"
#include "model/kind.h"

#define CAP_IPC_LOCK 14 /* capabilities(7) */
#define IB_FOLDER    "/dev/infiniband"

static bool ask(const struct check_subject *subject, struct env *values)
{
    (void)values;
    return subject->container && !subject->starting;
}

/* The engine's answer: an array of one. A new reference; NULL: there is none. */
static json_t *read_inspect(const struct facts *facts)
{
    const char *text = facts_text(facts, "container.inspect");
    json_t *array = text ? json_loads(text, 0, NULL) : NULL;
    json_t *object = json_incref(json_array_get(array, 0));
    json_decref(array);
    return object;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Networks (HostConfig.NetworkMode) in which the container's ports are not the node's. */
static bool is_own_network(const char *mode)
{
    static const char *const modes[] = {"bridge",      "default", "none", "private",
                                        "slirp4netns", "pasta",   "nat"};
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        if (text_starts(mode, modes[i])) {
            return true;
        }
    }
    return mode[0] == '\0';
}

static void judge_network(const struct check_subject *subject, const json_t *host, struct findings *out)
{
    const char *mode = text_of(host, "NetworkMode");
    if (subject->nnodes < 2 || !is_own_network(mode)) {
        return;
    }
    struct finding *finding =
        findings_fail(out, "container", &kind_master_unreachable,
                      "the container has its own network ('%s'): other nodes cannot connect to it", mode);
    finding_set_remedy(
        finding, "recreate it with the node's network: container.run.network: host, docker's --network host");
}

/* "/dev/infiniband" of the node has another name inside. */
static void judge_mapping(const char *from, const char *to, struct findings *out)
{
    if (!text_starts(from, IB_FOLDER) || text_starts(to, IB_FOLDER)) {
        return;
    }
    struct finding *finding =
        findings_add(out, "container", FINDING_WARN,
                     "'%s' of the node is '%s' inside: NCCL looks for " IB_FOLDER, from, to);
    finding_set_remedy(finding,
                       "correct the mapping, as in devices: [" IB_FOLDER "], and recreate the container");
}

static void judge_mappings(const json_t *inspect, const json_t *host, struct findings *out)
{
    size_t i = 0;
    const json_t *item = NULL;
    json_array_foreach(json_object_get(host, "Devices"), i, item)
    {
        judge_mapping(text_of(item, "PathOnHost"), text_of(item, "PathInContainer"), out);
    }
    json_array_foreach(json_object_get(inspect, "Mounts"), i, item)
    {
        judge_mapping(text_of(item, "Source"), text_of(item, "Destination"), out);
    }
}

static bool can_lock(const struct facts *facts)
{
    const char *text = facts_text(facts, "container.capabilities");
    char *end = NULL;
    unsigned long long mask = text ? strtoull(text, &end, 16) : 0;
    return !text || end == text || (mask >> CAP_IPC_LOCK & 1) != 0;
}

static void judge_rdma(const struct facts *facts, const json_t *host, struct findings *out)
{
    if (!check_has_fast_ports(facts) || can_lock(facts) ||
        json_is_true(json_object_get(host, "Privileged"))) {
        return;
    }
    struct finding *finding =
        findings_add(out, "container", FINDING_WARN,
                     "it has neither IPC_LOCK nor privileged: InfiniBand and RoCE cannot lock memory");
    finding_set_remedy(finding,
                       "recreate it with cap_add: [IPC_LOCK] and ulimit: [memlock=-1], or privileged: true");
}

static void judge_gpus(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    if (!facts_is_set(facts, "container.driver") || facts_uint(facts, "container.gpus", 0) > 0) {
        return;
    }
    bool needs = subject->counts_gpus || subject->require->gpus > 0;
    struct finding *finding = findings_add(out, "container", needs ? FINDING_WARN : FINDING_NOTE,
                                           "no GPU of the node is visible in the container");
    finding_set_remedy(finding, "recreate it with GPUs: container.run.gpus: all, docker's --gpus all");
}

static void judge_shm(const struct facts *facts, const json_t *host, struct findings *out)
{
    json_int_t bytes = json_integer_value(json_object_get(host, "ShmSize"));
    if (facts_text(facts, "shm.total_kb") || strcmp(text_of(host, "IpcMode"), "host") == 0 || bytes <= 0 ||
        bytes >= (json_int_t)1 << 30) {
        return; /* the check 'shm' measures it */
    }
    AUTO_FREE char *size = check_shown_size((uint64_t)bytes);
    struct finding *finding = findings_add(out, "container", FINDING_WARN, "its shared memory is %s", size);
    finding_set_remedy(finding, "recreate it with container.run.ipc: host or shm_size: 64g");
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    json_t *inspect = read_inspect(facts);
    const json_t *host = json_object_get(inspect, "HostConfig");
    size_t before = out->len;
    judge_gpus(subject, facts, out);
    judge_rdma(facts, host, out);
    if (host) {
        judge_network(subject, host, out);
        judge_mappings(inspect, host, out);
        judge_shm(facts, host, out);
    }
    if (out->len == before) {
        findings_add(out, "container", FINDING_OK, "network %s, ipc %s",
                     host ? text_of(host, "NetworkMode") : "?", host ? text_of(host, "IpcMode") : "?");
    }
    json_decref(inspect);
}

/* The image that the container was made from. NULL: not known. The caller frees it. */
static char *describe(const struct facts *facts)
{
    json_t *inspect = read_inspect(facts);
    const char *image = text_of(inspect, "Image");
    const char *name = text_of(json_object_get(inspect, "Config"), "Image");
    char *text = image[0] != '\0' ? xasprintf("%s (%.19s)", name, image) : NULL;
    json_decref(inspect);
    return text;
}

static void compare(const struct check_node *nodes, size_t count, struct findings *out)
{
    check_compare_described(nodes, count, "container", describe,
                            "its container is made from another image than on the other nodes",
                            "pull or load the same image everywhere and recreate the container (`mtlaunch "
                            "container up --replace`)",
                            out);
}

static const struct check_fact forms[] = {
    {"gpus", CHECK_NUMBER, 1024},
    {NULL, CHECK_TEXT, 0},
};

const struct check check_container = {
    .id = "container",
    .title = "how the container is made",
    .why = "a container with a network of its own, without GPUs or without the devices of the fast ports "
           "shows only as a hang",
    .when = CHECK_ON_REQUEST,
    .timeout_s = 20,
    .facts = forms,
    .ask = ask,
    .judge = judge,
    .compare = compare,
};
