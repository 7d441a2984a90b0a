/* Subjects of mtlaunch-job(5) and mtlaunch-hosts(5) that take more than a line at their keys. */
#include "cmd/reference_internal.h"

static void add_failures(struct page *page)
{
    page_section(page, "When a node fails");
    page_text(page,
              "'start' leaves a supervisor on this machine, and 'start --wait' is one in the foreground. It "
              "hears within two seconds that the program of a node has ended, and it acts as the job file "
              "says. A run does not need it to live: when it is gone, 'status' says so and 'mtlaunch "
              "supervise RUN' takes over. Its log is supervisor.log in the run's folder.");
    page_text(page,
              "A node fails: with on_failure: stop the other nodes are stopped at once. The reason of the run"
              " names the node that failed first, and the root cause where the logs show it. keep leaves the "
              "other nodes alone.");
    page_text(
        page,
        "Restart: once the attempt is verified to have ended on every node, the next one starts on the "
        "same ranks after backoff, at most max times, unless a log holds one of no_restart_on. A spare "
        "takes the rank of a node that does not answer. Without a spare the restart waits for the node.");
    page_text(page, "Spares at a start: 'start' replaces a host that it cannot reach by the next spare that "
                    "answers, and says so. A wrong or unknown host key stays an error.");
    page_text(page,
              "A node is silent: that alone ends nothing. on_lost: stop or restart act after lost_after, and "
              "only while another node answers. When none answers, the network of this machine is the likely "
              "reason.");
    page_text(page,
              "Other runs: 'start' warns of other runs that live on its nodes, with run, user and hosts.");
}

static void add_megatron(struct page *page)
{
    page_section(page, "Megatron-LM");
    page_text(page,
              "launcher: megatron is torchrun around a program with the options of Megatron-LM, such as "
              "pretrain_gpt.py. The plan works out from args how the processes split the model and the batch."
              " A batch that cannot work is refused before any node is contacted, with the nearest sizes that"
              " work.");
    page_text(page,
              "zero_stage 1 becomes --use-distributed-optimizer. 2 and 3 become --use-megatron-fsdp with the "
              "strategy optim_grads or optim_grads_params and the checkpoint format fsdp_dtensor. custom-fsdp"
              " is the form of Megatron-LM 0.12 and 0.13. flags-only gives the strategy alone, which shards "
              "nothing.");
    page_text(page, "Options that args hold already are not doubled, and those that contradict the level are "
                    "refused. CUDA_DEVICE_MAX_CONNECTIONS=1 is set for tensor and context parallelism unless "
                    "something sets it, and refused with FSDP.");
}

static void add_containers(struct page *page)
{
    page_section(page, "Containers");
    page_text(page,
              "With 'container' everything of a run happens inside: setup, program, folders, logs, processes "
              "and GPU counts are the container's own. 'docker exec' only hands a shell in there what to do, "
              "so it does not matter what becomes of its client. 'stop' ends the processes inside. A warning "
              "says when 'artifacts' lies on no volume.");
    page_text(page,
              "The id and the start time of the container are kept with the run. When it was restarted, "
              "replaced, stopped or removed, the node is failed with container-replaced, container-stopped or"
              " container-missing, and nothing is touched in what stands there now.");
    page_text(page,
              "'mtlaunch container up JOB' makes the container that 'run' describes on every host. Repeating "
              "it changes nothing: an equal one is left, a stopped one is started, one that differs is an "
              "error that names what differs, and --replace makes it anew. 'container down JOB' removes what "
              "'up' made for this job, never while a run lives in it.");
}

static void add_notifications(struct page *page)
{
    page_section(page, "Notifications");
    page_text(page,
              "Each item of 'notify' is a webhook. json sends one object: schema, event, time, run, job, "
              "run_id, attempt, head, text, reason, exit_status, hosts, lines. Certificates are verified, and"
              " a redirect is followed only on the same server.");
    page_text(page,
              "An answer 429 or 5xx and a network error are tried again for ten minutes. A receiver that is "
              "dead never delays the run: at its end a command waits up to five seconds for what is under "
              "way. Values of secret variables become ***.");
}

static void add_clients(struct page *page)
{
    page_section(page, "SSH clients and host keys");
    page_text(page,
              "A host is reached as 'ssh HOST' would reach it: ~/.ssh/config and the system's file are read "
              "as 'ssh -G' reads them. Forwards, RemoteCommand, RequestTTY, SendEnv and ControlMaster do "
              "nothing here. Keys from files come first, then those of the ssh agent, six in all. Nothing "
              "asks for a passphrase: give an encrypted key to the agent.");
    page_text(page,
              "An unknown host key is refused with its fingerprint, and a changed one always. 'mtlaunch hosts"
              " --trust' shows all unknown keys of a list and adds them after a yes. 'ssh: {host_key: "
              "accept-new}' takes new ones at their word.");
    page_text(page,
              "ssh: {client: auto} uses the built-in client wherever it can do what ssh_config asks for, else"
              " the system's ssh with BatchMode, one process a command. That is for ProxyCommand, Match exec,"
              " CanonicalizeHostname, PKCS11Provider, KnownHostsCommand, HostbasedAuthentication, "
              "RevokedHostKeys, BindAddress, BindInterface, NoHostAuthenticationForLocalhost, hardware (sk) "
              "keys, GSSAPIAuthentication with a ticket, @cert-authority lines, a ControlPath where a master "
              "listens, %C in file names, and lists of algorithms that add to the default. -v says which host"
              " and why.");
}

static void add_jumps(struct page *page)
{
    page_section(page, "Jump hosts");
    page_text(page,
              "Hosts behind a jump host need what ssh needs: ProxyJump in ssh_config, or 'jump' below 'ssh' "
              "in the job file. All hosts behind a jump share its sessions. A jump has user, port and keys of"
              " its own entry in ssh_config; where that names none, identity and known_hosts of the job file "
              "serve it too. A jump that is down is said once for all hosts behind it.");
}

static void add_limits(struct page *page)
{
    page_section(page, "Limits");
    page_text(page,
              "At most --fanout (64) hosts are worked on at once, and at most eight logins at once go to one "
              "address or through one jump. A login takes up to ten seconds (--connect-timeout, or "
              "ConnectTimeout of ssh_config). A connection that is dropped early is tried again. A host that "
              "says nothing for 15 seconds is asked for a sign of life and given up after three "
              "(ServerAliveInterval, ServerAliveCountMax).");
    page_text(page,
              "OpenSSH from 9.8 on turns a source away for a while after refused logins (PerSourcePenalties)."
              " Its words, 'Not allowed at this time', are then in the message: correct the user or key "
              "first, then wait.");
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
