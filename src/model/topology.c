/* Works out the master of a job and the processes of each node. */
#include "model/topology.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/hostlist.h"
#include "model/kind.h"

const char *topology_node_addr(const struct topology_node *node)
{
    if (node->host->addr) {
        return node->host->addr;
    }
    return node->hostname ? node->hostname : node->host->name;
}

/* addr without brackets and zone. Caller frees. */
static char *bare_addr(const char *addr)
{
    size_t len = strlen(addr);
    if (len >= 2 && addr[0] == '[' && addr[len - 1] == ']') {
        addr++;
        len -= 2;
    }
    const char *zone = memchr(addr, '%', len);
    return xstrndup(addr, zone ? (size_t)(zone - addr) : len);
}

static bool ipv4_is_own(struct in_addr v4)
{
    uint32_t number = ntohl(v4.s_addr);
    return number >> 24 == 127 || number == 0;
}

static bool ipv6_is_own(const struct in6_addr *v6)
{
    if (IN6_IS_ADDR_LOOPBACK(v6) || IN6_IS_ADDR_UNSPECIFIED(v6)) {
        return true;
    }
    struct in_addr v4;
    memcpy(&v4, &v6->s6_addr[12], sizeof v4);
    return IN6_IS_ADDR_V4MAPPED(v6) && ipv4_is_own(v4);
}

/* Names for the loopback addresses in /etc/hosts of Debian, Red Hat and SUSE, and those of RFC 6761. */
static bool name_is_own(const char *name)
{
    static const char *const own[] = {"localhost",
                                      "localhost.localdomain",
                                      "localhost4",
                                      "localhost6",
                                      "localhost4.localdomain4",
                                      "localhost6.localdomain6",
                                      "ip6-localhost",
                                      "ip6-loopback",
                                      "ipv6-localhost",
                                      "ipv6-loopback"};
    size_t len = strlen(name);
    if (len > 0 && name[len - 1] == '.') {
        len--;
    }
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        if (strlen(own[i]) == len && strncasecmp(name, own[i], len) == 0) {
            return true;
        }
    }
    return len > 10 && strncasecmp(name + len - 10, ".localhost", 10) == 0;
}

bool topology_addr_is_loopback(const char *addr)
{
    AUTO_FREE char *bare = bare_addr(addr);
    struct in6_addr v6;
    struct in_addr v4;
    if (inet_pton(AF_INET6, bare, &v6) == 1) {
        return ipv6_is_own(&v6);
    }
    /* inet_aton, not inet_pton: "127.1" reaches this machine too. inet_aton accepts text after a blank, so
     * blanks are excluded. */
    if (!strpbrk(bare, " \t") && inet_aton(bare, &v4)) {
        return ipv4_is_own(v4);
    }
    return name_is_own(bare);
}

static bool all_loopback(const struct topology_node *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!topology_addr_is_loopback(topology_node_addr(&nodes[i]))) {
            return false;
        }
    }
    return true;
}

/* The text must be one name or address, without port, user or blanks. */
static int check_master_text(const char *wanted, const char *bare, struct error *err)
{
    static const char valid[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
    struct in6_addr v6;
    if (!*bare) {
        error_set(err, &kind_plan, "master.addr is empty");
        return error_hint(err, "name an address that every node reaches, or leave it at auto");
    }
    if (strchr(bare, ':') && inet_pton(AF_INET6, bare, &v6) != 1) {
        error_set(err, &kind_plan, "master.addr '%s' is not an address", wanted);
        return error_hint(err, "give the port by itself, with master.port or --master-port");
    }
    if (*bare == '-' || bare[strspn(bare, valid)]) {
        error_set(err, &kind_plan, "master.addr '%s' is neither an address nor a host name", wanted);
        return error_hint(err, "name an address that every node reaches, without user and port");
    }
    return 0;
}

static int refuse_loopback(const char *master, bool chosen, const struct topology_node *first, size_t count,
                           struct error *err)
{
    if (chosen) {
        error_set(err, &kind_plan, "master.addr '%s' is a loopback address, but there are %zu nodes", master,
                  count);
    } else {
        error_set(
            err, &kind_plan,
            "the first host '%s' would be the master with the loopback address '%s', but there are %zu nodes",
            first->label, master, count);
    }
    return error_hint(
        err, chosen ? "name an address by which the other nodes reach the first host"
                    : "give the first host an addr= that the other nodes reach, or use --master-addr");
}

char *topology_choose_master(const char *wanted, const struct topology_node *nodes, size_t count,
                             struct error *err)
{
    if (!wanted && count == 1) {
        return xstrdup("127.0.0.1");
    }
    const char *addr = wanted ? wanted : topology_node_addr(&nodes[0]);
    char *bare = bare_addr(addr);
    if (check_master_text(addr, bare, err) == 0) {
        if (count > 1 && strchr(addr, '%')) {
            error_set(err, &kind_plan,
                      "the master's address '%s' has a zone, which has no meaning on other nodes", addr);
            error_hint(err, "give the first host an addr= that the other nodes reach, or use --master-addr");
        } else if (count > 1 && topology_addr_is_loopback(bare) && !all_loopback(nodes, count)) {
            refuse_loopback(bare, wanted, &nodes[0], count, err);
        } else {
            return bare;
        }
    }
    free(bare);
    return NULL;
}

unsigned topology_count_visible(const char *visible_devices, unsigned present)
{
    unsigned count = 0;
    const char *entry = visible_devices;
    while (*entry) {
        size_t len = strcspn(entry, ",");
        AUTO_FREE char *text = xstrndup(entry, len);
        uint64_t index;
        bool is_index = text_to_uint(text, 0, 65535, &index);
        /* CUDA C Programming Guide, "Environment variables": devices after the first invalid entry are
         * hidden. */
        if (len == 0 || *text == '-' || (is_index && index >= present)) {
            break;
        }
        count++;
        entry += len;
        if (*entry == ',') {
            entry++;
        }
    }
    return count < present ? count : present;
}

static unsigned count_node(const struct job *job, const struct topology_node *node)
{
    if (job->nproc_per_node) {
        return job->nproc_per_node;
    }
    if (node->host->slots) {
        return node->host->slots;
    }
    if (node->gpus < 0) {
        return 0;
    }
    return node->gpus ? (unsigned)node->gpus : 1;
}

static int check_against_list(const struct job *job, const struct topology_node *nodes, size_t count,
                              struct strlist *warnings, struct error *err)
{
    AUTO_STRLIST struct strlist above = STRLIST_INIT;
    unsigned wanted = job->nproc_per_node;
    for (size_t i = 0; wanted && i < count; i++) {
        const struct host *host = nodes[i].host;
        if (host->gpus && wanted > host->slots) {
            error_set(err, &kind_plan, "nproc_per_node is %u, but host '%s' has gpus=%s, which names %u",
                      wanted, nodes[i].label, host->gpus, host->slots);
            return error_hint(err, "use --nproc-per-node %u, or change gpus= of that host", host->slots);
        }
        if (host->slots && wanted > host->slots) {
            strlist_add(&above, nodes[i].label);
        }
    }
    if (above.len) {
        AUTO_STR struct str folded = STR_INIT;
        hostlist_fold_names(above.items, above.len, &folded);
        strlist_addf(warnings, "nproc_per_node is %u, which is more than the slots of %s", wanted,
                     str_text(&folded));
    }
    return 0;
}

/* Name the hosts with each of the two counts. If the host list alone is wrong, name only hosts with slots. */
static int refuse_unequal(const struct job *job, const struct topology_node *nodes, size_t count,
                          const unsigned *nproc, size_t first, size_t other, struct error *err)
{
    bool from_list = nodes[first].host->slots && nodes[other].host->slots;
    AUTO_STRLIST struct strlist same = STRLIST_INIT, differ = STRLIST_INIT;
    for (size_t i = 0; i < count; i++) {
        if (from_list && !nodes[i].host->slots) {
            continue;
        }
        if (nproc[i] == nproc[first]) {
            strlist_add(&same, nodes[i].label);
        } else if (nproc[i] == nproc[other]) {
            strlist_add(&differ, nodes[i].label);
        }
    }
    AUTO_STR struct str same_text = STR_INIT, differ_text = STR_INIT;
    hostlist_fold_names(same.items, same.len, &same_text);
    hostlist_fold_names(differ.items, differ.len, &differ_text);
    error_set(err, from_list ? &kind_plan : &kind_unequal_gpus, "unequal process counts: %u on %s, %u on %s",
              nproc[first], str_text(&same_text), nproc[other], str_text(&differ_text));
    return error_hint(err, "'%s' needs the same number on every node: use --nproc-per-node", job->launcher);
}

/* Index of the first node after `first` with another known number; only_list: one that the host list gives.
 * Returns count when there is none. */
static size_t find_unequal(const struct topology_node *nodes, size_t count, const unsigned *nproc,
                           size_t first, bool only_list)
{
    for (size_t i = first + 1; i < count; i++) {
        if (nproc[i] && nproc[i] != nproc[first] && (!only_list || nodes[i].host->slots)) {
            return i;
        }
    }
    return count;
}

int topology_count_processes(const struct job *job, bool unequal_allowed, const struct topology_node *nodes,
                             size_t count, unsigned *nproc, struct strlist *warnings, struct error *err)
{
    if (check_against_list(job, nodes, count, warnings, err)) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        nproc[i] = count_node(job, &nodes[i]);
    }
    if (unequal_allowed) {
        return 0;
    }
    /* Report an error of the host list first: it does not depend on the nodes. */
    for (int only_list = 1; only_list >= 0; only_list--) {
        size_t first = 0;
        while (first < count && (nproc[first] == 0 || (only_list && !nodes[first].host->slots))) {
            first++;
        }
        if (first == count) {
            continue;
        }
        size_t other = find_unequal(nodes, count, nproc, first, only_list);
        if (other < count) {
            return refuse_unequal(job, nodes, count, nproc, first, other, err);
        }
    }
    return 0;
}
