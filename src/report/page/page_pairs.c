/* The parts of a run's page that are pairs of name and value: network, plan, environment, spec. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/quote.h"
#include "data_internal.h"
#include "figure_internal.h"
#include "html_internal.h"
#include "model/hostlist.h"
#include "page_internal.h"
#include "report/values_internal.h"

#define SPEC_MAX      60000 /* bytes shown of the spec */
#define VALUE_MAX     2000  /* characters of a variable's value */
#define VARIABLES_MAX 500

static void add_row(const struct page *page, const char *name, const char *value)
{
    str_add(page->out, "<tr>");
    html_element(page->out, "th", " scope=\"row\"", name);
    str_add(page->out, "<td class=\"text\">");
    html_text_short(page->out, value, VALUE_MAX);
    str_add(page->out, "</td></tr>\n");
}

static void add_text_row(const struct page *page, const char *name, const json_t *object, const char *key)
{
    if (data_text(object, key)) {
        add_row(page, name, data_text(object, key));
    }
}

static void add_number_row(const struct page *page, const char *name, const json_t *object, const char *key)
{
    char text[FIGURE_TEXT_SIZE];
    if (isfinite(data_number(object, key))) {
        snprintf(text, sizeof text, "%.0f", data_number(object, key));
        add_row(page, name, text);
    }
}

/* Add a row per interface, with the hosts that use it. */
static void add_interfaces(const struct page *page, const json_t *interfaces)
{
    AUTO_STRLIST struct strlist done = STRLIST_INIT;
    json_t *object = (json_t *)(uintptr_t)interfaces; /* jansson only iterates over a non-const object */
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        AUTO_STR struct str text = STR_INIT;
        const char *name = json_string_value(json_object_iter_value(at));
        if (!name || strlist_has(&done, name)) {
            continue;
        }
        strlist_add(&done, name);
        for (void *other = at; other; other = json_object_iter_next(object, other)) {
            const char *same = json_string_value(json_object_iter_value(other));
            if (same && strcmp(same, name) == 0) {
                strlist_add(&hosts, json_object_iter_key(other));
            }
        }
        str_addf(&text, "%s on ", name);
        hostlist_fold_names(hosts.items, hosts.len, &text);
        add_row(page, "Interface", str_text(&text));
    }
}

/* Add the texts of a list as one row, if there are any. */
static void add_list_row(const struct page *page, const char *name, const json_t *object, const char *key)
{
    AUTO_STRLIST struct strlist texts = STRLIST_INIT;
    js_get_list(object, key, &texts);
    if (texts.len > 0) {
        AUTO_FREE char *joined = strlist_join(&texts, ", ");
        add_row(page, name, joined);
    }
}

/* Add the network links: "mlx5_0 400 Gb/s RDMA, eth0 25 Gb/s". */
static void add_links(const struct page *page, const json_t *links)
{
    AUTO_STR struct str text = STR_INIT;
    char rate[FIGURE_TEXT_SIZE];
    for (size_t i = 0; i < json_array_size(links); i++) {
        const json_t *link = json_array_get(links, i);
        const char *name = data_text(link, "name");
        str_addf(&text, "%s%s %s Gb/s%s", i > 0 ? ", " : "", name ? name : "?",
                 figure_text(FIGURE_NUMBER, data_number(link, "gigabits_per_second"), rate),
                 json_is_true(json_object_get(link, "rdma")) ? " RDMA" : "");
    }
    if (text.len > 0) {
        add_row(page, "Links", str_text(&text));
    }
}

static bool says_anything(const json_t *facts, const json_t *inventory)
{
    return data_text(facts, "nccl_version") || data_text(facts, "network") ||
           data_text(inventory, "nccl_version") ||
           json_object_size(json_object_get(facts, "interfaces")) > 0 ||
           data_len(inventory, "networks") > 0 || data_len(inventory, "interfaces") > 0;
}

/* What NCCL chose, by its log, and what it could choose from. */
void page_add_network(const struct page *page, const json_t *run)
{
    const json_t *facts = json_object_get(run, "facts"), *inventory = json_object_get(run, "inventory");
    const json_t *direct = json_object_get(inventory, "gpu_direct");
    if (!says_anything(facts, inventory)) {
        str_add(page->out,
                "<p class=\"none\">The logs do not mention NCCL. With NCCL_DEBUG=INFO they name its version, "
                "network and interfaces.</p>\n");
    }
    page_begin_table(page, "network", "pairs", NULL);
    add_text_row(page, "NCCL", data_text(inventory, "nccl_version") ? inventory : facts, "nccl_version");
    if (data_len(inventory, "networks") > 0) {
        add_list_row(page, "Network", inventory, "networks");
    } else {
        add_text_row(page, "Network", facts, "network");
    }
    if (json_is_boolean(direct)) {
        add_row(page, "GPUDirect RDMA", json_is_true(direct) ? "yes" : "no");
    }
    if (json_object_size(json_object_get(facts, "interfaces")) > 0) {
        add_interfaces(page, json_object_get(facts, "interfaces"));
    } else {
        add_list_row(page, "Interface", inventory, "interfaces");
    }
    add_links(page, json_object_get(inventory, "links"));
    add_list_row(page, "GPUs", inventory, "gpus");
    page_end_table(page);
}

/* Add the words of a command as one line for people; words with blanks or special characters are quoted. */
static void add_command(const struct page *page, const json_t *command)
{
    AUTO_STR struct str text = STR_INIT;
    for (size_t i = 0; i < json_array_size(command); i++) {
        const char *word = json_string_value(json_array_get(command, i));
        str_add(&text, i > 0 ? " " : "");
        quote_sh_pretty(&text, word ? word : "?");
    }
    if (text.len > 0) {
        add_row(page, "Command", str_text(&text));
    }
}

void page_add_plan(const struct page *page, const json_t *run)
{
    const json_t *plan = json_object_get(run, "plan"), *spec = json_object_get(run, "spec");
    page_begin_table(page, "plan", "pairs", NULL);
    add_text_row(page, "Launcher", spec, "launcher");
    add_number_row(page, "Nodes", plan, "nnodes");
    add_number_row(page, "Processes a node", plan, "nproc_per_node");
    add_number_row(page, "World size", plan, "world_size");
    add_text_row(page, "Master", plan, "master_addr");
    add_number_row(page, "Master port", plan, "master_port");
    add_text_row(page, "Rendezvous id", plan, "rendezvous_id");
    add_text_row(page, "Container", plan, "container");
    add_text_row(page, "Working folder", spec, "workdir");
    add_text_row(page, "Job file", spec, "file");
    add_text_row(page, "Commit", json_object_get(plan, "synced"), "commit");
    add_command(page, json_object_get(plan, "command"));
    page_end_table(page);
}

bool page_has_environment(const json_t *run)
{
    return json_object_size(json_object_get(json_object_get(run, "plan"), "env")) > 0;
}

void page_add_environment(const struct page *page, const json_t *run)
{
    json_t *env = json_object_get(json_object_get(run, "plan"), "env");
    size_t count = 0;
    str_add(page->out, "<p class=\"note\">Of node 0; secrets are shown as ***.</p>\n");
    page_begin_table(page, "environment", "pairs", NULL);
    for (void *at = json_object_iter(env); at && count < VARIABLES_MAX;
         at = json_object_iter_next(env, at), count++) {
        const char *value = json_string_value(json_object_iter_value(at));
        add_row(page, json_object_iter_key(at), value ? value : "");
    }
    page_end_table(page);
}

bool page_has_spec(const json_t *run)
{
    return json_is_object(json_object_get(run, "spec"));
}

void page_add_spec(const struct page *page, const json_t *run)
{
    AUTO_STR struct str text = STR_INIT;
    report_spec_text(json_object_get(run, "spec"), &text);
    str_add(page->out, "<pre class=\"spec\" tabindex=\"0\">");
    html_text_len(page->out, str_text(&text), text.len < SPEC_MAX ? text.len : SPEC_MAX);
    str_add(page->out, "</pre>\n");
}
