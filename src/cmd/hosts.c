/* The command `hosts`: prints the resolved host list, or adds unknown host keys. */
#include "report/hosts.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "base/text.h"
#include "cmd/commands_internal.h"
#include "cmd/setup_internal.h"
#include "cmd/trust_internal.h"
#include "report/output.h"

/* The same default patterns mark secret variables of host entries as those of a job. */
static void mark_secrets(struct hostlist *hosts)
{
    struct job defaults;
    job_init(&defaults);
    for (size_t i = 0; i < hosts->len; i++) {
        for (size_t j = 0; j < hosts->items[i].env.len; j++) {
            struct env_var *var = &hosts->items[i].env.items[j];
            var->secret = text_matches_any(var->name, defaults.secret_env.items, defaults.secret_env.len);
        }
    }
    job_release(&defaults);
}

static int run_hosts(struct cmd_call *call, struct error *err)
{
    AUTO_SETUP struct setup setup = {0};
    AUTO_STR struct str text = STR_INIT;
    const char *job = call->operands.len ? call->operands.items[0] : NULL;
    if (call->options.yes && !call->options.trust) {
        return error_set(err, &kind_usage, "'--yes' needs --trust");
    }
    if (call->options.fold && call->options.trust) {
        error_set(err, &kind_usage, "'--fold' and '--trust' cannot be used together");
        return error_hint(err, "use --fold to print the names, or --trust to add host keys");
    }
    if (setup_load(&setup, call, job, err) != 0) {
        return -1;
    }
    if (call->options.fold && !call->style.json) {
        hostlist_fold(&setup.hosts, &text);
        str_add_char(&text, '\n');
        return output_print(&text, err);
    }
    if (setup_endpoints(&setup, err) != 0) {
        return -1;
    }
    if (call->options.trust) {
        return trust_hosts(call, &setup, err);
    }
    mark_secrets(&setup.hosts);
    AUTO_FREE struct report_host *hosts = xcalloc(setup.hosts.len, sizeof(hosts[0]));
    for (size_t i = 0; i < setup.hosts.len; i++) {
        hosts[i] = (struct report_host){
            .host = &setup.hosts.items[i],
            .hostname = setup.endpoints[i].hostname,
            .user = setup.endpoints[i].user,
            .port = setup.endpoints[i].port,
            .local = setup.endpoints[i].local,
        };
    }
    if (call->style.json) {
        report_hosts_json(hosts, &setup.hosts, &text);
    } else {
        report_hosts_text(hosts, setup.hosts.len, &call->style, &text);
    }
    return output_print(&text, err);
}

static const char *const usage[] = {"hosts [JOB] [HOST OPTION]... [--fold] [--trust [--yes]]", NULL};
static const struct option own_options[] = {
    {.name = "fold",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, fold),
     .help = "print only the names, folded into one line"},
    {.name = "trust",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, trust),
     .help = "show unknown host keys, and add them to known_hosts after you confirm"},
    {.name = "yes",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, yes),
     .help = "with --trust: add the keys without asking"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
const struct command command_hosts = {
    .name = "hosts",
    .summary = "print the host list that a job would run on",
    .usage = usage,
    .own = &own,
    .notes = "With JOB, the host list of that job is used, with the settings of its 'ssh'.\n",
    .takes_hosts = true,
    .max_operands = 1,
    .run = run_hosts,
};
