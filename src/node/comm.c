/* Builds orders for the all-reduce test on a node, and parses the events it reports. */
#include "node/comm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "model/kind.h"
#include "node/node_internal.h"

#define FRAME_MAX (256u << 10)
#define LOGS_MAX  64
#define GPUS_MAX  1024

void node_comm_add_round(struct str *out, const struct node_comm_round *round)
{
    json_t *order = json_object();
    js_put_text(order, "order", "round");
    js_put_number(order, "round", round->round);
    js_put_number(order, "nodes", round->nodes);
    js_put_number(order, "node", round->node);
    js_put_number(order, "processes", round->processes);
    js_put_text(order, "backend", round->backend);
    js_put_text(order, "address", round->address);
    js_put_number(order, "port", round->port);
    js_put_number(order, "limit", round->limit_s);
    js_add_line(out, order);
}

void node_comm_add_end(struct str *out)
{
    json_t *order = json_object();
    js_put_text(order, "order", "end");
    js_add_line(out, order);
}

void node_comm_event_release(struct node_comm_event *event)
{
    free(event->error);
    free(event->torch);
    free(event->interface);
    strlist_release(&event->logs);
    free(event->output);
    *event = (struct node_comm_event){0};
}

void node_comm_release(struct node_comm *comm)
{
    node_reader_release(&comm->reader);
    facts_release(&comm->facts);
}

static unsigned get_count(const json_t *object, const char *key, unsigned max)
{
    int64_t number = js_get_number(object, key, 0);
    return number < 0 || number > (int64_t)max ? 0 : (unsigned)number;
}

static int take_logs(const json_t *object, struct strlist *logs)
{
    AUTO_STRLIST struct strlist lines = STRLIST_INIT;
    js_get_list(object, "lines", &lines);
    for (size_t i = 0; i < lines.len && i < LOGS_MAX; i++) {
        strlist_add(logs, lines.items[i]);
    }
    return 0;
}

static int set_type(const char *name, enum node_comm_event_type *type)
{
    static const char *const names[] = {
        [NODE_COMM_HELLO] = "hello", [NODE_COMM_PORT] = "port", [NODE_COMM_DONE] = "done"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (name && strcmp(name, names[i]) == 0) {
            *type = (enum node_comm_event_type)i;
            return 0;
        }
    }
    return -1;
}

static int read_event(const char *text, struct node_comm_event *out, struct error *err)
{
    json_t *object = json_loads(text, 0, NULL);
    AUTO_FREE char *name = object ? js_get_text(object, "event") : NULL;
    int result = set_type(name, &out->type);
    if (result == 0) {
        double seconds = json_number_value(json_object_get(object, "seconds"));
        out->error = js_get_text(object, "error");
        out->torch = js_get_text(object, "torch");
        out->interface = js_get_text(object, "interface");
        out->gpus = get_count(object, "gpus", GPUS_MAX);
        out->nccl = js_get_flag(object, "nccl");
        out->round = get_count(object, "round", UINT32_MAX);
        out->port = get_count(object, "port", FACT_PORT_MAX);
        out->seconds = isfinite(seconds) && seconds > 0 ? seconds : 0;
        out->bytes = (uint64_t)get_count(object, "bytes", UINT32_MAX);
        out->late = js_get_flag(object, "late");
        take_logs(object, &out->logs);
    } else {
        error_set(err, &kind_node_answer, "the answer of the all-reduce test cannot be read");
    }
    json_decref(object);
    return result;
}

/* Read the script's own frames, which it sends once the program has ended. */
static int read_end(const struct facts *facts, struct node_comm_event *out, struct error *err)
{
    uint64_t status = 0, line = 0;
    if (node_facts_check(facts, err) != 0 || facts_number(facts, "status", 255, &status, err) != 0 ||
        facts_number(facts, "setup_line", UINT32_MAX, &line, err) != 0) {
        return -1;
    }
    out->type = NODE_COMM_ENDED;
    out->status = facts_some(facts, "status") ? (int)status : -1;
    out->setup_line = (unsigned)line;
    out->no_folder = facts_is_set(facts, "no_folder");
    out->output = facts_copy(facts, "output");
    return 1;
}

/* 1: an event, 0: part of one, -1: err. */
static int take_frame(struct node_comm *comm, struct node_comm_event *out, struct error *err)
{
    static const char key[] = "comm=";
    size_t len = 0;
    const char *frame = node_reader_frame(&comm->reader, &len);
    if (len < sizeof(key) - 1 || memcmp(frame, key, sizeof(key) - 1) != 0) {
        int ended = node_facts_add(&comm->facts, frame, len, "end", err);
        return ended == 1 ? read_end(&comm->facts, out, err) : ended;
    }
    AUTO_FACTS struct facts facts = FACTS_INIT;
    if (node_facts_add(&facts, frame, len, "end", err) < 0) {
        return -1;
    }
    return read_event(facts_text(&facts, "comm"), out, err) == 0 ? 1 : -1;
}

int node_comm_take(struct node_comm *comm, const char **bytes, size_t *len, struct node_comm_event *out,
                   struct error *err)
{
    int result = 0;
    *out = (struct node_comm_event){0};
    comm->reader.nonce = comm->nonce;
    comm->reader.limit = FRAME_MAX;
    while (*len > 0 && result == 0) {
        size_t used = 0;
        if (node_reader_take(&comm->reader, *bytes, *len, &used)) {
            comm->begun = true;
            result = take_frame(comm, out, err);
        }
        *bytes += used;
        *len -= used;
    }
    if (result < 0) {
        node_comm_event_release(out);
    }
    return result;
}
