#include "report/hosts.h"

#include "base/text.h"
#include "report/json_internal.h"
#include "report/table.h"

static void add_number(struct table *table, unsigned value)
{
    if (value)
        table_addf(table, TONE_PLAIN, "%u", value);
    else
        table_add(table, NULL, TONE_PLAIN);
}

void report_hosts_text(const struct report_host *hosts, size_t count, const struct report_style *style,
                       struct str *out)
{
    static const struct table_column columns[] = {
        {.title = "RANK", .right = true},
        {.title = "HOST"},
        {.title = "REACHED"},
        {.title = "USER", .flexible = true, .hide_empty = true},
        {.title = "PORT", .right = true, .hide_empty = true},
        {.title = "ADDR", .flexible = true, .hide_empty = true},
        {.title = "SLOTS", .right = true, .hide_empty = true},
        {.title = "IFNAME", .flexible = true, .hide_empty = true},
    };
    struct table table;
    table_init(&table, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < count; i++) {
        const struct report_host *host = &hosts[i];
        table_addf(&table, TONE_PLAIN, "%zu", i);
        table_add(&table, host->host->name, TONE_STRONG);
        table_add(&table, host->local ? "here" : "ssh", TONE_PLAIN);
        table_add(&table, host->user ? host->user : host->host->user, TONE_PLAIN);
        add_number(&table, host->local ? 0 : host->port);
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
    json_object_set_new(object, "user", js_text(host->user ? host->user : host->host->user));
    json_object_set_new(object, "port", js_integer(host->port, 0));
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
    for (size_t i = 0; i < list->len; i++)
        json_array_append_new(array, host_object(&hosts[i], i));
    hostlist_fold(list, &folded);
    json_t *answer = js_answer();
    json_object_set_new(answer, "hosts", array);
    json_object_set_new(answer, "folded", js_text(str_text(&folded)));
    js_add_line(out, answer);
}
