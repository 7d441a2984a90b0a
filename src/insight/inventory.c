/* Reads what a node reports about its GPUs, its links and NCCL's choices. */
#include "insight/inventory.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

#define NAME_MAX_LEN 64
#define MBPS_MAX     (UINT64_C(100) * 1000 * 1000)

/* nccl: init.cc, bootstrap.cc (with a blank before 2.27), transport/net.cc: the path between nodes. */
static const char *const literals[] = {"NCCL version ", "Using network ", "Bootstrap: Using ",
                                       "Bootstrap : Using ", "via NET/IB"};

void inventory_list_literals(struct strlist *out)
{
    for (size_t i = 0; i < ARRAY_LEN(literals); i++) {
        strlist_add(out, literals[i]);
    }
}

/* Is it a name as devices and networks have? Such a name can be used in a table or a sentence unchanged. */
static bool is_name(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.@+-";
    size_t len = strlen(text);
    return len > 0 && len <= NAME_MAX_LEN && text[strspn(text, letters)] == '\0' && !strchr(".@+-", text[0]);
}

/* "eth0|25000", from /sys/class/net/eth0/speed; -1 means no speed. */
static void take_speed(struct inventory *inventory, const char *value)
{
    const char *bar = strchr(value, '|');
    uint64_t mbps = 0;
    if (!bar || !text_to_uint(bar + 1, 1, MBPS_MAX, &mbps)) {
        return;
    }
    AUTO_FREE char *name = xstrndup(value, (size_t)(bar - value));
    if (is_name(name)) {
        inventory_add_link(inventory, name, false, (double)mbps / 1000);
    }
}

/* "mlx5_0:1|4: ACTIVE|400 Gb/sec (4X NDR)|InfiniBand", from /sys/class/infiniband/mlx5_0/ports/1. */
static void take_port(struct inventory *inventory, const char *value)
{
    static const char active[] = "|4: ACTIVE|";
    const char *at = strstr(value, active);
    if (!at) {
        return;
    }
    AUTO_FREE char *name = xstrndup(value, strcspn(value, ":|"));
    char *end = NULL;
    double gbps = strtod(at + strlen(active), &end);
    if (is_name(name) && end != at + strlen(active) && text_starts(end, " Gb/sec") && gbps > 0 &&
        gbps < 1e6) {
        inventory_add_link(inventory, name, true, gbps);
    }
}

static void take_lines(struct inventory *inventory, struct scanner *scanner, const struct facts *facts)
{
    struct evidence evidence;
    evidence_init(&evidence);
    struct evidence_reader *reader = evidence_reader_new(scanner, &evidence);
    const char *line = NULL;
    size_t at = 0;
    for (unsigned long number = 1; (line = facts_next(facts, "nccl", &at)); number++) {
        evidence_reader_line(reader, number, line, strlen(line));
        if (strstr(line, "via NET/IB")) {
            bool direct = strstr(line, "/GDRDMA");
            bool keep = inventory->direct == INVENTORY_DIRECT_NO; /* one node without it is enough */
            inventory->direct = direct && !keep ? INVENTORY_DIRECT_YES : INVENTORY_DIRECT_NO;
        }
    }
    evidence_reader_end(reader);
    if (!inventory->nccl_version && evidence.nccl_version) {
        inventory->nccl_version = xstrdup(evidence.nccl_version);
    }
    if (evidence.network && is_name(evidence.network)) {
        inventory_add_network(inventory, evidence.network);
    }
    if (evidence.interface && is_name(evidence.interface)) {
        inventory_add_interface(inventory, evidence.interface);
    }
    evidence_release(&evidence);
}

void inventory_take(struct inventory *inventory, struct scanner *scanner, const struct facts *facts)
{
    static const struct {
        const char *key;
        void (*take)(struct inventory *inventory, const char *value);
    } rows[] = {{"gpu", inventory_add_gpu}, {"nic.speed", take_speed}, {"ib.port", take_port}};
    inventory->known = true;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *value = NULL;
        size_t at = 0;
        while ((value = facts_next(facts, rows[i].key, &at))) {
            rows[i].take(inventory, value);
        }
    }
    take_lines(inventory, scanner, facts);
}
