/* A job as text, all of it, so that a test can see whether anything changed. */
#ifndef MTLAUNCH_TESTS_JOB_DUMP_H
#define MTLAUNCH_TESTS_JOB_DUMP_H

#include "base/alloc.h"
#include "base/str.h"
#include "model/job.h"

static inline void dump_list(struct str *out, const char *name, const struct strlist *list)
{
    str_addf(out, "%s(%zu):", name, list->len);
    for (size_t i = 0; i < list->len; i++) {
        str_addf(out, " <%s>", list->items[i]);
    }
    str_add_char(out, '\n');
}

static inline void dump_env(struct str *out, const char *name, const struct env *env)
{
    for (size_t i = 0; i < env->len; i++) {
        str_addf(out, "%s %s=<%s> of %s\n", name, env->items[i].name, env->items[i].value,
                 env->items[i].source);
    }
}

static inline void dump_container(struct str *out, const struct place *place,
                                  const struct job_container *container)
{
    const struct job_container_run *run = &container->run;
    const char *texts[] = {place->container, place->engine, place->user, container->workdir, run->image,
                           run->gpus,        run->network,  run->ipc,    run->user,          run->workdir};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        str_addf(out, "container %s\n", texts[i] != NULL ? texts[i] : "-");
    }
    str_addf(out, "container %d %llu %d\n", place->sudo, run->shm_size_bytes, run->privileged);
    dump_list(out, "command", &run->command);
    dump_list(out, "cap_add", &run->cap_add);
    dump_list(out, "ulimit", &run->ulimit);
    dump_list(out, "devices", &run->devices);
    dump_list(out, "volumes", &run->volumes);
    dump_list(out, "container env", &run->env);
    dump_list(out, "container extra", &run->extra);
}

static inline char *dump_job(const struct job *job)
{
    struct str out = STR_INIT;
    const struct {
        const char *name, *value;
    } texts[] = {
#define JOB_TEXT(member) {#member, job->member},
        JOB_TEXTS(JOB_TEXT)
#undef JOB_TEXT
            {"ssh_user", job->reach.user},
        {"ssh_identity", job->reach.identity},
        {"ssh_config", job->reach.config},
        {"ssh_known_hosts", job->reach.known_hosts},
        {"ssh_client", job->reach.client},
        {"ssh_jump", job->reach.jump},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        str_addf(&out, "%s: %s\n", texts[i].name, texts[i].value != NULL ? texts[i].value : "-");
    }
    str_addf(&out, "deepspeed_form %d\n", (int)job->deepspeed_form);
    str_addf(&out, "%d %u %u %u %d %d %u %d %u %lu %d %lu %lu\n", job->hosts_is_list, job->hosts_line,
             job->nproc_per_node, job->master_port, (int)job->rendezvous, job->program_is_list,
             job->zero_stage, (int)job->megatron_sharding, job->reach.port, job->start_timeout_s,
             (int)job->policy.on_failure, job->policy.lost_after_s, job->stop_grace_s);
    str_addf(&out, "sync %s %s %d %d\n", job->sync.from ? job->sync.from : "-",
             job->sync.to ? job->sync.to : "-", job->sync.delete_, job->sync.git);
    for (size_t i = 0; i < job->sync.exclude.len; i++) {
        str_addf(&out, "exclude %s\n", job->sync.exclude.items[i]);
    }
    for (size_t i = 0; i < job->notify.len; i++)
        str_addf(&out, "notify %s %u %d %d\n", job->notify.items[i].url, job->notify.items[i].on,
                 (int)job->notify.items[i].format, job->notify.items[i].allow_http);
    str_addf(&out, "progress %s\n", job->policy.progress_pattern ? job->policy.progress_pattern : "-");
    str_addf(&out, "policy %d %d %lu %u %lu %d %lu\n", (int)job->policy.on_lost, (int)job->policy.on_stall,
             job->policy.stall_s, job->policy.restart_max, job->policy.backoff_s, (int)job->policy.finish_on,
             job->policy.time_limit_s);
    for (size_t i = 0; i < job->prepare_len; i++) {
        const struct job_step *step = &job->prepare[i];
        str_addf(&out, "prepare %s %d %d %s %lu\n", step->name, step->on_all, step->is_line,
                 step->creates ? step->creates : "-", step->timeout_s);
        dump_list(&out, "command", &step->command);
    }
    dump_list(&out, "no_restart_on", &job->policy.no_restart_on);
    dump_list(&out, "spares", &job->policy.spares);
    dump_container(&out, &job->place, &job->container);
    dump_list(&out, "paths", &job->require.paths);
    dump_list(&out, "same", &job->require.same);
    dump_list(&out, "commands", &job->require.commands);
    str_addf(&out, "require %u %llu %llu %d\n", job->require.gpus,
             (unsigned long long)job->require.free_disk_bytes, (unsigned long long)job->require.shm_bytes,
             job->require.ib);
#define JOB_LIST(member) dump_list(&out, #member, &job->member);
    JOB_LISTS(JOB_LIST)
#undef JOB_LIST
    for (size_t i = 0; i < job->args.len; i++) {
        const struct job_arg *arg = &job->args.items[i];
        str_addf(&out, "arg %d %s ", (int)arg->type, arg->key != NULL ? arg->key : "-");
        dump_list(&out, "", &arg->values);
    }
    dump_env(&out, "env_files", &job->env_files);
    dump_env(&out, "env", &job->env);
    dump_env(&out, "env_options", &job->env_options);
    return str_detach(&out);
}

#endif
