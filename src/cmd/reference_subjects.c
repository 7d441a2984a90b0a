/* Sections of mtlaunch-job(5) and mtlaunch-hosts(5) that need more than a line at a key. */
#include "cmd/reference_internal.h"

static void add_failures(struct page *page)
{
    page_section(page, "When a node fails");
    page_text(page, "'start' leaves a supervisor on this machine; 'start --wait' supervises in the "
                    "foreground. The supervisor learns within two seconds that the program of a node has "
                    "ended, and acts as the job file says. The run does not depend on it: if the supervisor "
                    "is gone, 'status' says so and 'mtlaunch supervise RUN' starts a new one. Its log is "
                    "supervisor.log in the run's folder.");
    page_text(page, "When a node fails: with on_failure: stop, the other nodes are stopped immediately. The "
                    "reason of the run names the node that failed first, and the root cause if the logs show "
                    "it. keep leaves the other nodes running.");
    page_text(page, "Restart: once it is verified that the attempt has ended on every node, the next one "
                    "starts on the same ranks after backoff, at most max times, unless a log contains one of "
                    "the texts in no_restart_on. A spare takes the rank of a node that does not answer. "
                    "Without a spare, the restart waits for the node.");
    page_text(page, "Spares at a start: 'start' replaces a host that it cannot reach with the next spare "
                    "that answers, and says so. A wrong or unknown host key is still an error.");
    page_text(page, "When a node is silent: that alone ends nothing. on_lost: stop and on_lost: restart act "
                    "after lost_after, and only while another node answers. If none answers, the likely "
                    "reason is the network of this machine.");
    page_text(page, "Other runs: 'start' warns about other live runs on its nodes, and names the run, its "
                    "user and the hosts.");
}

static void add_megatron(struct page *page)
{
    page_section(page, "Megatron-LM");
    page_text(page, "launcher: megatron starts torchrun with a program that takes the options of "
                    "Megatron-LM, such as pretrain_gpt.py. The plan works out from args how the processes "
                    "split the model and the batch. A batch that cannot work is refused before any node is "
                    "contacted; the error names the nearest sizes that work.");
    page_text(page, "zero_stage 1 becomes --use-distributed-optimizer. 2 and 3 become --use-megatron-fsdp "
                    "with the strategy optim_grads or optim_grads_params and the checkpoint format "
                    "fsdp_dtensor. custom-fsdp is the form for Megatron-LM 0.12 and 0.13. flags-only passes "
                    "only the strategy, which by itself shards nothing.");
    page_text(page, "Options that are already in args are not repeated, and options that contradict the "
                    "level are refused. CUDA_DEVICE_MAX_CONNECTIONS=1 is set for tensor and context "
                    "parallelism unless it is set elsewhere, and is refused with FSDP.");
}

static void add_containers(struct page *page)
{
    page_section(page, "Containers");
    page_text(page, "With 'container', the whole run takes place inside the container: setup, program, "
                    "folders, logs, processes and GPU counts are the container's own. 'docker exec' only "
                    "passes the commands to a shell inside, so the run does not depend on its client. 'stop' "
                    "ends the processes inside. A warning is printed if 'artifacts' is not on a volume.");
    page_text(page, "The id and the start time of the container are recorded with the run. If the container "
                    "was restarted, replaced, stopped or removed, the node has failed with "
                    "container-replaced, container-stopped or container-missing, and nothing in the new "
                    "container is touched.");
    page_text(page, "'mtlaunch container up JOB' creates the container that 'run' describes on every host. "
                    "It is safe to repeat: an equal container is kept, and a stopped one is started. A "
                    "container that differs is an error that names the differences; --replace recreates it. "
                    "'container down JOB' removes what 'up' created for this job, but never while a live run "
                    "uses it.");
}

static void add_notifications(struct page *page)
{
    page_section(page, "Notifications");
    page_text(page,
              "Each item of 'notify' is a webhook. json sends one object: schema, event, time, run, job, "
              "run_id, attempt, head, text, reason, exit_status, hosts, lines. Certificates are verified, and"
              " a redirect is followed only on the same server.");
    page_text(page, "After a network error or an answer 429 or 5xx, sending is retried for ten minutes. A "
                    "dead receiver never delays the run: when the run ends, a command waits at most five "
                    "seconds for notifications that are still being sent. Values of secret variables become "
                    "***.");
}

static void add_clients(struct page *page)
{
    page_section(page, "SSH clients and host keys");
    page_text(page, "A host is reached the way 'ssh HOST' would reach it: ~/.ssh/config and the system's "
                    "file are read as 'ssh -G' reads them. Forwards, RemoteCommand, RequestTTY, SendEnv and "
                    "ControlMaster have no effect. Keys from files are tried first, then those of the ssh "
                    "agent, six in all. mtlaunch never asks for a passphrase: add an encrypted key to the "
                    "agent.");
    page_text(page, "An unknown host key is refused, and its fingerprint is shown. A changed host key is "
                    "always refused. 'mtlaunch hosts --trust' shows all unknown keys of a list and adds them "
                    "after you confirm. 'ssh: {host_key: accept-new}' accepts unknown keys without asking.");
    page_text(page, "ssh: {client: auto} uses the built-in client wherever it can do what ssh_config asks "
                    "for, else the system's ssh with BatchMode, one process per command. The latter is used "
                    "for ProxyCommand, Match exec, CanonicalizeHostname, PKCS11Provider, KnownHostsCommand, "
                    "HostbasedAuthentication, RevokedHostKeys, BindAddress, BindInterface, "
                    "NoHostAuthenticationForLocalhost, hardware (sk) keys, GSSAPIAuthentication with a "
                    "ticket, @cert-authority lines, a ControlPath on which a master listens, %C in file "
                    "names, and lists of algorithms that add to the default. -v prints which host and why.");
    page_text(page,
              "'Compression yes' in ssh_config reduces what a start sends to a host from 99 KB to 22 KB. "
              "It costs about 300 KB of memory per host and more CPU time here, and slows down large "
              "copies and logs. Use it on a slow line to the nodes.");
}

static void add_jumps(struct page *page)
{
    page_section(page, "Jump hosts");
    page_text(page, "Hosts behind a jump host need what ssh needs: ProxyJump in ssh_config, or 'jump' below "
                    "'ssh' in the job file. All hosts behind a jump host share its sessions. The jump host's "
                    "user, port and keys come from its own entry in ssh_config; where that names none, "
                    "identity and known_hosts of the job file apply. A jump host that is down is reported "
                    "once for all hosts behind it.");
}

static void add_limits(struct page *page)
{
    page_section(page, "Limits");
    page_text(page, "At most --fanout (64) hosts are worked on at once, with at most eight simultaneous "
                    "logins to one address or through one jump host. A login may take ten seconds "
                    "(--connect-timeout, or ConnectTimeout of ssh_config). A connection that is dropped "
                    "early is retried. A host that sends nothing for 15 seconds is probed, and given up "
                    "after three unanswered probes (ServerAliveInterval, ServerAliveCountMax).");
    page_text(page, "OpenSSH 9.8 and later rejects connections from an address for a while after refused "
                    "logins (PerSourcePenalties). The message then contains its words 'Not allowed at this "
                    "time': correct the user or key first, then wait.");
}

void reference_job_subjects(struct page *page)
{
    add_failures(page);
    add_megatron(page);
    add_containers(page);
    add_notifications(page);
}

void reference_hosts_subjects(struct page *page)
{
    add_clients(page);
    add_jumps(page);
    add_limits(page);
}
