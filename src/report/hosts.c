/* Shows the resolved host list, as text and as JSON. */
#include "report/hosts.h"

#include "base/alloc.h"
#include "report/json_internal.h"
#include "report/table.h"

#define SSH_PORT 22

static void add_number(struct table *table, unsigned value)
{
    if (value) {
        table_addf(table, TONE_PLAIN, "%u", value);
    } else {
        table_add(table, NULL, TONE_PLAIN);
    }
}

static void add_via(struct table *table, const struct report_host *host)
{
    if (host->local) {
        table_add(table, "here, without ssh", TONE_PLAIN);
    } else if (host->port == SSH_PORT) {
        table_addf(table, TONE_PLAIN, "ssh %s@%s", host->user, host->hostname);
    } else {
        table_addf(table, TONE_PLAIN, "ssh %s@%s port %u", host->user, host->hostname, host->port);
    }
}

void report_hosts_text(const struct report_host *hosts, size_t count, const struct report_style *style,
                       struct str *out)
{
    static const struct table_column columns[] = {
        {.title = "NODE", .right = true},
        {.title = "HOST", .names = true},
        {.title = "VIA", .names = true},
        {.title = "ADDR", .flexible = true, .hide_empty = true},
        {.title = "SLOTS", .right = true, .hide_empty = true},
        {.title = "IFNAME", .flexible = true, .hide_empty = true},
    };
    struct table table;
    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < count; i++) {
        const struct report_host *host = &hosts[i];
        table_addf(&table, TONE_PLAIN, "%zu", i);
        table_add(&table, host->host->name, TONE_STRONG);
        add_via(&table, host);
        table_add(&table, host->host->addr, TONE_PLAIN);
        add_number(&table, host->host->slots);
        table_add(&table, host->host->ifname, TONE_PLAIN);
    }
    table_render(&table, style->columns, style->color, out);
    table_release(&table);
}

static json_t *host_object(const struct report_host *host, size_t rank)
{
    json_t *object = json_object();
    json_t *env = json_object();
    for (size_t i = 0; i < host->host->env.len; i++) {
        const struct env_var *var = &host->host->env.items[i];
        json_object_set_new(env, var->name, js_text(var->secret ? "***" : var->value));
    }
    json_object_set_new(object, "rank", json_integer((json_int_t)rank));
    json_object_set_new(object, "name", js_text(host->host->name));
    json_object_set_new(object, "user", js_text(host->host->user));
    json_object_set_new(object, "port", js_integer(host->host->port, 0));
    json_object_set_new(object, "addr", js_text(host->host->addr));
    json_object_set_new(object, "slots", js_integer(host->host->slots, 0));
    json_object_set_new(object, "ifname", js_text(host->host->ifname));
    json_object_set_new(object, "local", json_boolean(host->local));
    json_object_set_new(object, "env", env);
    return object;
}

void report_hosts_json(const struct report_host *hosts, const struct hostlist *list, struct str *out)
{
    AUTO_STR struct str folded = STR_INIT;
    json_t *array = json_array();
    for (size_t i = 0; i < list->len; i++) {
        json_array_append_new(array, host_object(&hosts[i], i));
    }
    hostlist_fold(list, &folded);
    json_t *answer = js_answer();
    json_object_set_new(answer, "hosts", array);
    json_object_set_new(answer, "folded", js_text(str_text(&folded)));
    js_add_line(out, answer);
}
