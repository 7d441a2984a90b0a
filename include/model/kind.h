/*
 * The classes of failure of the domain, in one table: name (as in JSON `error.kind`) and exit code.
 * To add one: a line in KIND_TABLE. tests/unit/model/test_kind.c checks names and codes.
 */
#ifndef MTLAUNCH_MODEL_KIND_H
#define MTLAUNCH_MODEL_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* X(identifier, name, exit code); exit codes: `mtlaunch help exit-codes`. */
#define KIND_TABLE(X)                                                                                        \
    /* 2: what was given is wrong, no node was touched */                                                    \
    X(job_file, "job-file", 2)                                                                               \
    X(job_not_found, "job-not-found", 2)                                                                     \
    X(host_list, "host-list", 2)                                                                             \
    X(env_file, "env-file", 2)                                                                               \
    X(ssh_config, "ssh-config", 2)                                                                           \
    X(identity_missing, "identity-missing", 2)                                                               \
    X(plan, "plan", 2)                                                                                       \
    /* 3: a host could not be reached, authenticated or trusted */                                           \
    X(name_not_resolved, "name-not-resolved", 3)                                                             \
    X(refused, "refused", 3)                                                                                 \
    X(timed_out, "timed-out", 3)                                                                             \
    X(unreachable, "unreachable", 3)                                                                         \
    X(jump_unreachable, "jump-unreachable", 3)                                                               \
    X(connection_lost, "connection-lost", 3)                                                                 \
    X(auth_failed, "auth-failed", 3)                                                                         \
    X(key_encrypted, "key-encrypted", 3)                                                                     \
    X(key_unusable, "key-unusable", 3)                                                                       \
    X(key_mode, "key-mode", 3)                                                                               \
    X(hostkey_unknown, "hostkey-unknown", 3)                                                                 \
    X(hostkey_changed, "hostkey-changed", 3)                                                                 \
    X(hostkey_revoked, "hostkey-revoked", 3)                                                                 \
    X(node_unsupported, "node-unsupported", 3)                                                               \
    X(node_answer, "node-answer", 3)                                                                         \
    X(run_lost, "run-lost", 3)                                                                               \
    /* 4: the probe before the start failed */                                                               \
    X(scan_failed, "scan-failed", 4)                                                                         \
    X(workdir_missing, "workdir-missing", 4)                                                                 \
    X(program_missing, "program-missing", 4)                                                                 \
    X(interpreter_missing, "interpreter-missing", 4)                                                         \
    X(artifacts_unwritable, "artifacts-unwritable", 4)                                                       \
    X(port_taken, "port-taken", 4)                                                                           \
    X(unequal_gpus, "unequal-gpus", 4)                                                                       \
    X(gpus_missing, "gpus-missing", 4)                                                                       \
    X(gpus_unknown, "gpus-unknown", 4)                                                                       \
    X(engine_missing, "engine-missing", 4)                                                                   \
    X(docker_permission, "docker-permission", 4)                                                             \
    X(sudo_needs_password, "sudo-needs-password", 4)                                                         \
    X(container_missing, "container-missing", 4)                                                             \
    X(container_stopped, "container-stopped", 4)                                                             \
    X(container_replaced, "container-replaced", 4)                                                           \
    X(container_failed, "container-failed", 4)                                                               \
    X(container_differs, "container-differs", 4)                                                             \
    X(container_foreign, "container-foreign", 4)                                                             \
    X(prepare_failed, "prepare-failed", 4)                                                                   \
    X(image_missing, "image-missing", 4)                                                                     \
    X(file_failed, "file-failed", 4)                                                                         \
    X(path_missing, "path-missing", 4)                                                                       \
    X(nodes_differ, "nodes-differ", 4)                                                                       \
    X(too_little, "too-little", 4)                                                                           \
    X(master_unreachable, "master-unreachable", 4)                                                           \
    X(interface_missing, "interface-missing", 4)                                                             \
    X(gpus_busy, "gpus-busy", 4)                                                                             \
    X(comm_failed, "comm-failed", 4)                                                                         \
    /* 1: the training, or its start, failed */                                                              \
    X(start_failed, "start-failed", 1)                                                                       \
    X(setup_failed, "setup-failed", 1)                                                                       \
    X(run_failed, "run-failed", 1)                                                                           \
    X(run_stopped, "run-stopped", 1)                                                                         \
    /* 5 to 8 */                                                                                             \
    X(time_limit, "time-limit", 5)                                                                           \
    X(no_such_run, "no-such-run", 6)                                                                         \
    X(run_exists, "run-exists", 6)                                                                           \
    X(run_live, "run-live", 6)                                                                               \
    X(run_foreign, "run-foreign", 6)                                                                         \
    X(run_over, "run-over", 6)                                                                               \
    X(supervised, "supervised", 6)                                                                           \
    X(not_signalled, "not-signalled", 6)                                                                     \
    X(not_proven, "not-proven", 7)                                                                           \
    X(record_newer, "record-newer", 8)                                                                       \
    X(record_damaged, "record-damaged", 8)                                                                   \
    X(hung_up, "hung-up", 129)                                                                               \
    X(interrupted, "interrupted", 130)                                                                       \
    X(terminated, "terminated", 143)

#define KIND_DECLARE(identifier, name, code) extern const struct error_kind kind_##identifier;
KIND_TABLE(KIND_DECLARE)
#undef KIND_DECLARE

/* All kinds, base's too, for tests and documents. */
extern const struct error_kind *const kinds_all[];
extern const size_t kinds_all_count;

/* Was the work ended by a signal: kind_interrupted or kind_terminated? */
bool error_is_interruption(const struct error *error);

/* The exit code for failures with these two codes: the first of 7, 8, 3, 4, 5, 6, 1, 143, 130 that is one of
 * them, else the larger one. */
int kind_worse_code(int code_a, int code_b);

#endif
