/* Builds requests that inspect, create and remove a container, and parses their answers. */
#include "node/container.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/quote.h"
#include "node/node_internal.h"

static void begin(struct node_call *out, const struct place *container, const char *verb, const char *nonce)
{
    *out = (struct node_call)NODE_CALL_INIT;
    for (size_t i = 0; i < NODE_NONCE_LEN && nonce[i] != '\0'; i++) {
        out->nonce[i] = nonce[i];
    }
    out->command = node_entry_command(out->nonce);
    node_entry_begin(&out->input, container, verb, out->nonce);
}

static void finish(struct node_call *out, const char *verb)
{
    static const char *const parts[] = {"10-frame", "05-entry", "06-engine", NULL};

    node_script_add(&out->input, parts);
    str_addf(&out->input, "unset IFS\nexport LC_ALL=C\n%s\n", verb);
    node_entry_end(&out->input, out->nonce);
}

void node_request_container_inspect(const struct place *container, const char *image, const char *nonce,
                                    struct node_call *out)
{
    begin(out, container, "inspect", nonce);
    node_entry_add_value(&out->input, "image", image);
    finish(out, "mt_show_container");
}

void node_request_container_up(const struct place *container, const struct node_container_options *options,
                               const char *nonce, struct node_call *out)
{
    begin(out, container, "up", nonce);
    node_entry_add_value(&out->input, "old", options->old_id);
    node_entry_add_value(&out->input, "idle", options->idle_id);
    node_entry_add_value(&out->input, "image", options->image);
    /* newlines as "$n", a variable that contains one: the script is read line by line */
    str_add(&out->input, "mt_env=");
    for (size_t i = 0; options->env && i < options->env->len; i++) {
        quote_sh(&out->input, options->env->items[i]);
        str_add(&out->input, "\"$n\"");
    }
    str_add(&out->input, "\nmt_run_container() {\nmt_call_engine run");
    for (size_t i = 0; options->words && i < options->words->len; i++) {
        str_add_char(&out->input, ' ');
        quote_sh(&out->input, options->words->items[i]);
    }
    str_add(&out->input, "\n}\n");
    finish(out, "mt_up");
}

void node_request_container_down(const struct place *container, const char *id, const char *nonce,
                                 struct node_call *out)
{
    begin(out, container, "down", nonce);
    node_entry_add_value(&out->input, "old", id);
    finish(out, "mt_down");
}

int node_answer_container(const char *bytes, size_t len, const char *nonce, struct node_container_facts *out,
                          struct error *err)
{
    struct facts facts = {0};
    int result = node_facts_read(&facts, bytes, len, nonce, err);

    *out = (struct node_container_facts){0};
    if (result == 0) {
        out->status = facts_copy(&facts, "status");
        out->id = facts_copy(&facts, "id");
        out->began = facts_copy(&facts, "began");
        out->inspect = facts_copy(&facts, "inspect");
        out->image_id = facts_copy(&facts, "image_id");
        out->runs = facts_copy(&facts, "runs");
        if (!out->status) {
            out->status = xstrdup("unknown");
        }
    }
    facts_release(&facts);
    return result;
}

void node_container_facts_release(struct node_container_facts *facts)
{
    free(facts->status);
    free(facts->id);
    free(facts->began);
    free(facts->inspect);
    free(facts->image_id);
    free(facts->runs);
    *facts = (struct node_container_facts){0};
}
