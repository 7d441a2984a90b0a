/*
 * The keys of a job file, as tables. To add a key: a line in its table, and a case in
 * tests/unit/input/test_jobfile.c, whose list of keys is compared with these tables.
 */
#include <stddef.h>

#include "base/alloc.h"
#include "input/jobfile_internal.h"

/* clang-format off */
#define JOB(member)   .offset = offsetof(struct job, member)
#define CHOICES(list) .choices = (list), .choices_count = ARRAY_LEN(list)
#define TABLE(list)   {(list), ARRAY_LEN(list)}
/* clang-format on */
#define MAX_PROCESSES    1024
#define MAX_PORT         65535
#define MAX_RESTARTS     1000000
#define MAX_SECONDS      (365UL * 24 * 60 * 60)
#define DURATION_FROM(n) .min = (n), .max = MAX_SECONDS

static const struct choice rendezvous[] = {{"static", RENDEZVOUS_STATIC, false, NULL},
                                           {"c10d", RENDEZVOUS_C10D, false, NULL}};
static const struct choice shardings[] = {{"megatron-fsdp", SHARDING_MEGATRON_FSDP, false, NULL},
                                          {"custom-fsdp", SHARDING_CUSTOM_FSDP, false, NULL},
                                          {"flags-only", SHARDING_FLAGS_ONLY, false, NULL}};
static const struct choice on_failure[] = {{"stop", POLICY_STOP, false, NULL},
                                           {"keep", POLICY_KEEP, false, NULL},
                                           {"restart", POLICY_RESTART, false, NULL}};
static const struct choice on_lost[] = {{"keep", POLICY_KEEP, false, NULL},
                                        {"stop", POLICY_STOP, false, NULL},
                                        {"restart", POLICY_RESTART, false, NULL}};
static const struct choice finish_on[] = {{"all", POLICY_FINISH_ALL, false, NULL},
                                          {"rank0", POLICY_FINISH_RANK0, false, NULL}};
static const struct choice on_stall[] = {{"keep", POLICY_KEEP, false, NULL},
                                         {"stop", POLICY_STOP, false, NULL}};
static const struct choice clients[] = {
    {"auto", 0, false, NULL}, {"builtin", 0, false, NULL}, {"openssh", 0, false, NULL}};
static const struct choice host_keys[] = {{"strict", 0, false, NULL}, {"accept-new", 0, false, NULL}};

static const struct field master_fields[] = {
    {.key = "addr", .type = FIELD_TEXT, JOB(master_addr), .auto_ok = true, .handle = check_address},
    {.key = "port", .type = FIELD_COUNT, JOB(master_port), .min = 1, .max = MAX_PORT, .auto_ok = true},
    {.key = "interface",
     .type = FIELD_TEXT,
     JOB(master_interface),
     .auto_ok = true,
     .handle = check_interface},
};
static const struct field_table master_table = TABLE(master_fields);

static const struct field megatron_fields[] = {
    {.key = "sharding", .type = FIELD_CHOICE, JOB(megatron_sharding), CHOICES(shardings)},
};
static const struct field_table megatron_table = TABLE(megatron_fields);

static const struct field ssh_fields[] = {
    {.key = "client", .type = FIELD_NAME, JOB(ssh_client), CHOICES(clients)},
    {.key = "user", .type = FIELD_TEXT, JOB(ssh_user), .handle = check_user},
    {.key = "port", .type = FIELD_COUNT, JOB(ssh_port), .min = 1, .max = MAX_PORT, .example = "22"},
    {.key = "identity", .type = FIELD_CUSTOM, .handle = read_identity},
    {.key = "config", .type = FIELD_PATH, JOB(ssh_config)},
    {.key = "known_hosts", .type = FIELD_PATH, JOB(ssh_known_hosts)},
    {.key = "host_key", .type = FIELD_NAME, JOB(ssh_host_key), CHOICES(host_keys)},
    {.key = "jump", .type = FIELD_TEXT, JOB(ssh_jump), .handle = check_jump},
};
static const struct field_table ssh_table = TABLE(ssh_fields);

static const struct field stop_fields[] = {
    {.key = "signal", .type = FIELD_CUSTOM, .handle = read_signal},
    {.key = "grace", .type = FIELD_DURATION, JOB(stop_grace_s), DURATION_FROM(0), .example = "40s"},
};
static const struct field_table stop_table = TABLE(stop_fields);

static const struct field restart_fields[] = {
    {.key = "max",
     .type = FIELD_COUNT,
     JOB(policy.restart_max),
     .min = 0,
     .max = MAX_RESTARTS,
     .example = "3"},
    {.key = "backoff", .type = FIELD_DURATION, JOB(policy.backoff_s), DURATION_FROM(0), .example = "10s"},
    {.key = "no_restart_on", .type = FIELD_LIST, JOB(policy.no_restart_on)},
    {.key = "spares", .type = FIELD_CUSTOM, .handle = read_spares},
};
static const struct field_table restart_table = TABLE(restart_fields);

static const struct field top_fields[] = {
    {.key = "job", .type = FIELD_CUSTOM, .handle = read_job_name},
    {.key = "hosts", .type = FIELD_CUSTOM, .handle = read_hosts},
    {.key = "hostfile", .type = FIELD_CUSTOM, .handle = read_hostfile},
    {.key = "launcher", .type = FIELD_CUSTOM, .handle = read_launcher},
    {.key = "nproc_per_node",
     .type = FIELD_COUNT,
     JOB(nproc_per_node),
     .min = 1,
     .max = MAX_PROCESSES,
     .auto_ok = true},
    {.key = "master", .type = FIELD_MAP, .table = &master_table},
    {.key = "rendezvous", .type = FIELD_CHOICE, JOB(rendezvous), CHOICES(rendezvous)},
    {.key = "workdir", .type = FIELD_TEXT, JOB(workdir), .handle = check_placeholders},
    {.key = "artifacts", .type = FIELD_TEXT, JOB(artifacts), .handle = check_placeholders},
    {.key = "shell", .type = FIELD_CUSTOM, .handle = read_shell},
    {.key = "setup", .type = FIELD_LIST, JOB(setup)},
    {.key = "python", .type = FIELD_TEXT, JOB(python)},
    {.key = "launcher_args", .type = FIELD_CUSTOM, .handle = read_launcher_args},
    {.key = "program", .type = FIELD_CUSTOM, .handle = read_program},
    {.key = "args", .type = FIELD_CUSTOM, .handle = read_args},
    {.key = "zero_stage", .type = FIELD_COUNT, JOB(zero_stage), .min = 0, .max = 3},
    {.key = "megatron", .type = FIELD_MAP, .table = &megatron_table},
    {.key = "deepspeed",
     .type = FIELD_UNBUILT,
     .hint = "use 'launcher: torchrun' and name the file in args: [--deepspeed_config, ds.json]"},
    {.key = "accelerate",
     .type = FIELD_UNBUILT,
     .hint = "leave it out and use 'launcher: torchrun': mtlaunch starts the processes"},
    {.key = "env", .type = FIELD_CUSTOM, .handle = read_env},
    {.key = "env_file", .type = FIELD_CUSTOM, .handle = read_env_file},
    {.key = "pass_env", .type = FIELD_CUSTOM, .handle = read_pass_env},
    {.key = "secret_env", .type = FIELD_CUSTOM, .handle = read_secret_env},
    {.key = "container", .type = FIELD_CUSTOM, .table = &container_table, .handle = read_container},
    {.key = "ssh", .type = FIELD_MAP, .table = &ssh_table},
    {.key = "prepare",
     .type = FIELD_UNBUILT,
     .empty_ok = true,
     .hint = "leave it out and run the command before the start: mtlaunch exec --job JOB COMMAND"},
    {.key = "sync",
     .type = FIELD_UNBUILT,
     .hint = "leave it out and copy the files before the start, with rsync or on a shared folder"},
    {.key = "require", .type = FIELD_UNBUILT, .empty_ok = true},
    {.key = "checks", .type = FIELD_UNBUILT, .empty_ok = true},
    {.key = "finish_on", .type = FIELD_CHOICE, JOB(policy.finish_on), CHOICES(finish_on)},
    {.key = "time_limit", .type = FIELD_CUSTOM, .handle = read_time_limit},
    {.key = "start_timeout", .type = FIELD_DURATION, JOB(start_timeout_s), DURATION_FROM(1), .example = "2m"},
    {.key = "on_failure", .type = FIELD_CHOICE, JOB(policy.on_failure), CHOICES(on_failure)},
    {.key = "on_lost", .type = FIELD_CHOICE, JOB(policy.on_lost), CHOICES(on_lost)},
    {.key = "lost_after",
     .type = FIELD_DURATION,
     JOB(policy.lost_after_s),
     DURATION_FROM(1),
     .example = "5m"},
    {.key = "restart", .type = FIELD_MAP, .table = &restart_table},
    {.key = "stop", .type = FIELD_MAP, .table = &stop_table},
    {.key = "stall", .type = FIELD_CUSTOM, .handle = read_stall},
    {.key = "on_stall", .type = FIELD_CHOICE, JOB(policy.on_stall), CHOICES(on_stall)},
    {.key = "progress", .type = FIELD_UNBUILT},
    {.key = "notify", .type = FIELD_CUSTOM, .handle = read_notify},
    {.key = "profiles", .type = FIELD_DONE},
};
const struct field_table job_fields = TABLE(top_fields);
