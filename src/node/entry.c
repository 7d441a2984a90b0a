/* Wraps a call so that it runs inside a container. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/quote.h"
#include "model/kind.h"
#include "node/container.h"
#include "node/node_internal.h"

/*
 * The node's shell reads the lines between two nonce lines and runs them. POSIX requires read to consume byte
 * by byte, so everything after these lines is left for the container. The command means the same to every
 * login shell: no "!" (csh), no backslash (fish), no newline (csh).
 */
#define READ_LINES                                                                                           \
    "exec /bin/sh -c 'IFS= read -r l && [ \"$l\" = %s ] || exit 97; n=$(echo; echo x); n=${n%%x}; g=; "      \
    "while :; do IFS= read -r l || exit 97; [ \"$l\" = %s ] && break; g=$g$l$n; done; "
#define COMMAND READ_LINES "eval \"$g\"'"

/*
 * The lines run in a session of their own, which continues when the connection is lost (see detach in
 * request.c). They contain no secret, so they may be on a command line.
 */
#define COMMAND_DETACHED                                                                                     \
    READ_LINES                                                                                               \
    "r() { eval \"$g\"; }; command -v setsid >/dev/null || r; exec 3<&0; trap r EXIT; "                      \
    "setsid /bin/sh -c \"$g\" <&3 3<&- & trap - EXIT; exec 3<&-; wait'"

static void set(struct str *out, const char *name, const char *value)
{
    str_addf(out, "mt_%s=", name);
    quote_sh(out, value ? value : "");
    str_add_char(out, '\n');
}

void node_entry_begin(struct str *out, const struct place *place, const char *verb, const char *nonce)
{
    str_addf(out, "%s\n", nonce);
    set(out, "nonce", nonce);
    set(out, "verb", verb);
    set(out, "engine", place->engine);
    set(out, "sudo", place->sudo ? "1" : "");
    set(out, "container", place->container);
    set(out, "user", place->user);
    set(out, "want_id", place->id);
    set(out, "want_began", place->started);
}

void node_entry_add_value(struct str *out, const char *name, const char *value)
{
    set(out, name, value);
}

void node_entry_end(struct str *out, const char *nonce)
{
    str_addf(out, "%s\n", nonce);
}

char *node_entry_command(const char *nonce)
{
    return xasprintf(COMMAND, nonce, nonce);
}

char *node_entry_command_detached(const char *nonce)
{
    return xasprintf(COMMAND_DETACHED, nonce, nonce);
}

void node_call_enter(struct node_call *call, const struct place *place)
{
    static const char *const parts[] = {"10-frame", "05-entry", NULL};
    AUTO_STR struct str input = STR_INIT;

    node_entry_begin(&input, place, "exec", call->nonce);
    node_script_add(&input, parts);
    str_add(&input, "mt_entry /bin/sh -c ");
    quote_sh(&input, call->command);
    str_add_char(&input, '\n');
    node_entry_end(&input, call->nonce);
    str_add_mem(&input, call->input.data, call->input.len);
    str_release(&call->input);
    call->input = input;
    input = (struct str)STR_INIT;
    free(call->command);
    call->command = node_entry_command(call->nonce);
}

/* The reasons why a container could not be entered, by the name of the error class. */
static const struct {
    const struct error_kind *kind;
    const char *hint;
} failures[] = {
    {&kind_container_missing,
     "create it there (`mtlaunch container up JOB` where the spec has container.run), or "
     "name another with --container"},
    {&kind_container_stopped, "start it there, for example: `docker start NAME`"},
    {&kind_container_replaced, "start the run again: it will run in the container that is there now"},
    {&kind_container_failed, "try `docker exec` there by hand"},
    {&kind_docker_permission,
     "let the user talk to the engine there (group docker), or set 'container.sudo: true' in the spec"},
    {&kind_sudo_needs_password, "let sudo run the engine there without a password (NOPASSWD in sudoers)"},
    {&kind_engine_missing, "install it there or start its daemon, or name another with 'container.engine'"},
    {&kind_image_missing, "pull or load it there first"},
    {&kind_workdir_missing,
     "create the folder inside, or name another with 'workdir' or 'container.workdir'"},
    {&kind_run_live, "`mtlaunch stop RUN` ends it"},
};

bool node_entry_error(const char *name, const char *detail, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
        if (strcmp(name, failures[i].kind->name) == 0) {
            error_set(err, failures[i].kind, "%s", detail);
            error_hint(err, "%s", failures[i].hint);
            return true;
        }
    }
    return false;
}
