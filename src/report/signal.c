/* Shows the outcome of a signal on the nodes of a run. */
#include "report/signal.h"

#include "model/hostlist.h"
#include "report/json_internal.h"

void report_signal_text(const char *signal, const struct run_signal_result *result, struct str *out)
{
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    AUTO_STR struct str folded = STR_INIT;
    for (size_t i = 0; i < result->len; i++) {
        if (result->nodes[i].sent) {
            strlist_add(&hosts, result->nodes[i].host);
        }
    }
    if (hosts.len == 0) {
        return;
    }
    hostlist_fold_names(hosts.items, hosts.len, &folded);
    str_addf(out, "%s: sent SIG%s\n", str_text(&folded), signal);
}

void report_signal_json(const char *run, const char *signal, const struct run_signal_result *result,
                        const struct error *failure, struct str *out)
{
    AUTO_STRLIST struct strlist failed = STRLIST_INIT;
    json_t *answer = js_answer();
    json_t *hosts = json_array();
    for (size_t i = 0; i < result->len; i++) {
        const struct run_signal_node *node = &result->nodes[i];
        json_t *object = json_object();
        json_object_set_new(object, "host", js_text(node->host));
        json_object_set_new(object, "rank", json_integer((json_int_t)node->rank));
        json_object_set_new(object, "pid", js_integer(node->pid, 0));
        json_object_set_new(object, "sent", json_boolean(node->sent));
        json_object_set_new(object, "error", js_text(node->error));
        json_array_append_new(hosts, object);
        if (!node->sent) {
            strlist_add(&failed, node->host);
        }
    }
    json_object_set_new(answer, "run", js_text(run));
    json_object_set_new(answer, "signal", js_text(signal));
    json_object_set_new(answer, "hosts", hosts);
    if (failure && failure->kind) {
        json_object_set_new(answer, "error", js_error(failure, &failed));
    }
    js_add_line(out, answer);
}
