/* Writes a node's command as a shell line that can be pasted. */
#include <string.h>

#include "base/quote.h"
#include "base/text.h"
#include "run/plan.h"

/* A leading "~" stays outside the quotes, so that the login's shell expands it. */
static void add_path(struct str *out, const char *path)
{
    if (strcmp(path, "~") == 0) {
        str_add(out, path);
    } else if (text_starts(path, "~/")) {
        str_add(out, "~/");
        if (path[2]) {
            quote_sh_pretty(out, path + 2);
        }
    } else {
        quote_sh_pretty(out, path);
    }
}

/* Add the command; a "~/" that means the home folder stays outside the quotes too. */
static void add_words(const struct plan_node *node, struct str *out)
{
    const struct launch_probe *probe = &node->probe;
    size_t from = 0;
    for (size_t i = 0; i < probe->home_words_len; i++) {
        size_t at = probe->home_words[i];
        quote_argv_pretty(out, node->argv.items + from, at - from);
        str_add(out, at > from ? " " : "");
        add_path(out, node->argv.items[at]);
        from = at + 1;
        str_add(out, from < node->argv.len ? " " : "");
    }
    quote_argv_pretty(out, node->argv.items + from, node->argv.len - from);
}

/* env(1), unlike export, works under every login shell. */
static void add_env(const struct plan_node *node, struct str *out)
{
    str_add(out, "env");
    for (size_t i = 0; i < plan_node_env_len(node); i++) {
        const struct env_var *var = plan_node_var(node, i);
        if (!var->value) {
            continue;
        }
        str_addf(out, " %s=", var->name);
        if (var->secret) {
            str_add(out, "***");
        } else if (*var->value) {
            quote_sh_pretty(out, var->value);
        }
    }
    str_add_char(out, ' ');
}

/* Wrap the line in the command that enters the container. */
static void enter_container(const struct place *place, struct str *line)
{
    AUTO_STR struct str outer = STR_INIT;
    str_addf(&outer, "%s%s exec -i ", place->sudo ? "sudo -n " : "", place->engine);
    if (place->user) {
        str_add(&outer, "-u ");
        quote_sh_pretty(&outer, place->user);
        str_add_char(&outer, ' ');
    }
    str_addf(&outer, "%s /bin/sh -c ", place->container);
    quote_sh(&outer, str_text(line));
    str_release(line);
    *line = outer;
    outer = (struct str)STR_INIT;
}

static void add_command(const struct plan *plan, const struct plan_node *node, struct str *out)
{
    if (!plan->setup.len) {
        add_words(node, out);
        return;
    }
    AUTO_STR struct str script = STR_INIT;
    for (size_t i = 0; i < plan->setup.len; i++) {
        str_addf(&script, "%s\n", plan->setup.items[i]);
    }
    str_add(&script, "exec ");
    add_words(node, &script);
    quote_sh_pretty(out, strcmp(plan->shell, "auto") == 0 ? "bash" : plan->shell);
    str_add(out, " -c ");
    quote_sh_pretty(out, str_text(&script));
}

void plan_shell_line(const struct plan *plan, size_t node, struct str *out)
{
    const struct plan_node *which = &plan->nodes[node];
    AUTO_STR struct str line = STR_INIT;
    if (which->workdir) {
        str_add(&line, "cd ");
        add_path(&line, which->workdir);
        str_add(&line, " && ");
    }
    add_env(which, &line);
    add_command(plan, which, &line);
    if (plan->place.container) {
        enter_container(&plan->place, &line);
    }
    if (which->local) {
        str_add_mem(out, line.data, line.len);
        return;
    }
    str_add(out, "ssh ");
    for (size_t i = 0; i < plan->ssh_options.len; i++) {
        quote_sh_pretty(out, plan->ssh_options.items[i]);
        str_add_char(out, ' ');
    }
    if (which->port) {
        str_addf(out, "-p %u ", which->port);
    }
    if (which->user) {
        quote_sh_pretty(out, which->user);
        str_add_char(out, '@');
    }
    quote_sh_pretty(out, which->name);
    str_add_char(out, ' ');
    quote_sh(out, str_text(&line));
}
