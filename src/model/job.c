/* A job as a value: defaults, arguments, and the names it may use. */
#include "model/job.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

#define RUN_NAME_MAX 64

static const char *const default_pass_env[] = {"NCCL_*", "GLOO_*", "UCX_*", "TORCH_NCCL_*"};
static const char *const default_secret_env[] = {"*_TOKEN", "*_KEY", "*_SECRET", "*PASSWORD*"};

/* The names that Linux has on every architecture (signal(7)). */
const char *const job_signal_names[] = {
    "HUP",  "INT",  "QUIT", "ILL",  "TRAP", "ABRT", "BUS",  "FPE",  "KILL",   "USR1",
    "SEGV", "USR2", "PIPE", "ALRM", "TERM", "CHLD", "CONT", "STOP", "TSTP",   "TTIN",
    "TTOU", "URG",  "XCPU", "XFSZ", "PROF", "IO",   "PWR",  "SYS",  "VTALRM", "WINCH",
};
const size_t job_signal_names_count = ARRAY_LEN(job_signal_names);

static const struct {
    const char *alias, *name;
} signal_aliases[] = {{"IOT", "ABRT"}, {"CLD", "CHLD"}, {"POLL", "IO"}};

static void add_all(struct strlist *list, const char *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        strlist_add(list, items[i]);
    }
}

void job_init(struct job *job)
{
    *job = (struct job){0};
    job->launcher = xstrdup("torchrun");
    job->rendezvous = RENDEZVOUS_STATIC;
    job->shell = xstrdup("auto");
    job->python = xstrdup("python3");
    add_all(&job->pass_env, default_pass_env, ARRAY_LEN(default_pass_env));
    add_all(&job->secret_env, default_secret_env, ARRAY_LEN(default_secret_env));
    job->place.engine = xstrdup("docker");
    strlist_add(&job->sync.exclude, ".git");
    job->start_timeout_s = 120;
    policy_init(&job->policy);
    job->stop_signal = xstrdup("TERM");
    job->stop_grace_s = 40;
}

static void container_release(struct job_container *container)
{
    struct job_container_run *run = &container->run;
    char *texts[] = {container->workdir, run->image, run->gpus,   run->network,
                     run->ipc,           run->user,  run->workdir};
    struct strlist *lists[] = {&run->command, &run->cap_add, &run->ulimit, &run->devices,
                               &run->volumes, &run->env,     &run->extra};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        free(texts[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        strlist_release(lists[i]);
    }
}

struct job_step *job_add_step(struct job *job)
{
    job->prepare = xgrow(job->prepare, job->prepare_len, &job->prepare_cap, sizeof(*job->prepare));
    struct job_step *step = &job->prepare[job->prepare_len++];
    *step = (struct job_step){.timeout_s = 3600};
    return step;
}

void job_release_steps(struct job *job)
{
    for (size_t i = 0; i < job->prepare_len; i++) {
        free(job->prepare[i].name);
        free(job->prepare[i].creates);
        strlist_release(&job->prepare[i].command);
    }
    free(job->prepare);
    job->prepare = NULL;
    job->prepare_len = job->prepare_cap = 0;
}

void job_release(struct job *job)
{
    job_release_steps(job);
    container_release(&job->container);
#define JOB_TEXT(member) free(job->member);
    JOB_TEXTS(JOB_TEXT)
#undef JOB_TEXT
#define JOB_LIST(member) strlist_release(&job->member);
    JOB_LISTS(JOB_LIST)
#undef JOB_LIST
    free(job->sync.from);
    free(job->sync.to);
    strlist_release(&job->sync.exclude);
    reach_release(&job->reach);
    place_release(&job->place);
    policy_release(&job->policy);
    notify_targets_release(&job->notify);
    strlist_release(&job->require.paths);
    strlist_release(&job->require.same);
    strlist_release(&job->require.commands);
    job_args_release(&job->args);
    env_release(&job->env_files);
    env_release(&job->env);
    env_release(&job->env_options);
    *job = (struct job){0};
}

void job_args_release(struct job_args *args)
{
    for (size_t i = 0; i < args->len; i++) {
        free(args->items[i].key);
        strlist_release(&args->items[i].values);
    }
    free(args->items);
    *args = (struct job_args){0};
}

struct job_arg *job_args_add(struct job_args *args)
{
    args->items = xgrow(args->items, args->len, &args->cap, sizeof(*args->items));
    struct job_arg *arg = &args->items[args->len++];
    *arg = (struct job_arg){0};
    return arg;
}

void job_args_add_word(struct job_args *args, const char *word)
{
    struct job_arg *arg = job_args_add(args);
    arg->type = JOB_ARG_WORD;
    strlist_add(&arg->values, word);
}

static bool is_alnum_ascii(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

int job_check_run_name(const char *run, struct error *err)
{
    size_t len = strlen(run);
    bool good = len >= 1 && len <= RUN_NAME_MAX && is_alnum_ascii(run[0]);
    for (size_t i = 0; good && i < len; i++) {
        good = is_alnum_ascii(run[i]) || strchr("._-", run[i]);
    }
    if (good) {
        return 0;
    }
    error_set(err, &kind_usage,
              "'%.80s' is not a valid run name, allowed: 1 to %d letters, digits, '.', '_' and '-', the "
              "first a letter or "
              "digit",
              run, RUN_NAME_MAX);
    if (strpbrk(run, "*?")) {
        return error_hint(
            err, "name one run; only stop, wait, remove, compare and report take patterns, with '*' and '?'");
    }
    return error_hint(err, "choose a name such as 'run1'");
}

int job_check_container_name(const char *name, struct error *err)
{
    bool good = is_alnum_ascii(name[0]);
    for (size_t i = 0; name[i] != '\0'; i++) {
        good = good && (is_alnum_ascii(name[i]) || strchr("._-", name[i]));
    }
    if (good) {
        return 0;
    }
    return error_set(err, &kind_usage,
                     "'%.80s' is not a valid container name, allowed: letters, digits, '_', '.' and '-', the "
                     "first a letter or "
                     "digit",
                     name);
}

const char *job_signal_name(const char *text)
{
    const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;
    for (size_t i = 0; i < job_signal_names_count; i++) {
        if (strcasecmp(name, job_signal_names[i]) == 0) {
            return job_signal_names[i];
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(signal_aliases); i++) {
        if (strcasecmp(name, signal_aliases[i].alias) == 0) {
            return signal_aliases[i].name;
        }
    }
    return NULL;
}
