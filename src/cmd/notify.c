/* Sends notifications about what happens to a run, as the spec says. */
#include "report/notify.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "base/text.h"
#include "cmd/notify_internal.h"
#include "run/notify_store.h"

static void on_problem(void *ctx, const char *text)
{
    (void)ctx;
    msg_warn("%s", text);
}

static void begin(struct session *session, const struct notify_targets *targets,
                  const struct strlist *secrets)
{
    struct error err = ERROR_INIT;
    const char *ca_file = getenv("CURL_CA_BUNDLE"); /* the variables of curl(1) */
    const struct notifier_options options = {
        .secrets = secrets,
        .ca_file = ca_file && *ca_file ? ca_file : getenv("SSL_CERT_FILE"),
        .problem = on_problem,
    };
    if (targets->len == 0) {
        return;
    }
    struct notifier *notifier = notifier_new(targets, &options, &err);
    if (notifier) {
        console_notify(&session->console, notifier);
    } else {
        msg_warn("no notifications are sent for this run: %s", err.text);
    }
}

static void add_secret(const struct strlist *patterns, const char *name, const char *value,
                       struct strlist *secrets)
{
    if (value && text_matches_any(name, patterns->items, patterns->len)) {
        strlist_add(secrets, value);
    }
}

/* Add the secrets of the spec, of the options and of this shell's environment: all that may reach the job. */
static void add_secrets_of_job(const struct job *job, struct strlist *secrets)
{
    const struct env *const envs[] = {&job->env_files, &job->env, &job->env_options};
    for (size_t e = 0; e < ARRAY_LEN(envs); e++) {
        for (size_t i = 0; i < envs[e]->len; i++) {
            add_secret(&job->secret_env, envs[e]->items[i].name, envs[e]->items[i].value, secrets);
        }
    }
    for (char **at = environ; *at; at++) {
        const char *equals = strchr(*at, '=');
        AUTO_FREE char *name = equals ? xstrndup(*at, (size_t)(equals - *at)) : NULL;
        if (name) {
            add_secret(&job->secret_env, name, equals + 1, secrets);
        }
    }
}

void session_notify_job(struct session *session, const struct job *job)
{
    AUTO_STRLIST struct strlist secrets = STRLIST_INIT;
    add_secrets_of_job(job, &secrets);
    begin(session, &job->notify, &secrets);
}

void session_notify_run(struct session *session, const char *name)
{
    AUTO_STRLIST struct strlist secrets = STRLIST_INIT;
    struct notify_targets targets = {0};
    struct error err = ERROR_INIT;
    if (run_store_load_notify(&session->store, name, &targets, &err) != 0) {
        msg_warn("%s", err.text);
    }
    if (targets.len) {
        run_store_load_secret_values(&session->store, name, &secrets);
    }
    begin(session, &targets, &secrets);
    notify_targets_release(&targets);
}

void session_notify_end(struct session *session)
{
    struct notifier *notifier = session->console.notifier;
    if (!notifier) {
        return;
    }
    console_notify(&session->console, NULL);
    notifier_drain(notifier, NOTIFIER_DRAIN_MS);
    notifier_free(notifier);
}
