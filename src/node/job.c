/* Builds the shell text of a job for the node. */
#include <string.h>

#include "base/quote.h"
#include "base/text.h"
#include "node/node_internal.h"

static void add_export(struct str *out, const struct env_var *var)
{
    str_addf(out, "export %s=", var->name);
    quote_sh(out, var->value);
    str_add_char(out, '\n');
}

static void add_env(struct str *out, const struct env *env)
{
    for (size_t i = 0; env && i < env->len; i++) {
        if (env->items[i].value) {
            add_export(out, &env->items[i]);
        }
    }
}

static void add_defaults(struct str *out, const struct env *env)
{
    for (size_t i = 0; env && i < env->len; i++) {
        const struct env_var *var = &env->items[i];
        if (!var->value) {
            continue;
        }
        str_addf(out, "[ -n \"${%s+x}\" ] ", var->name);
        if (strcmp(var->name, "LANG") == 0) {
            str_add(out, "|| [ -n \"${LC_ALL+x}\" ] ");
        }
        str_add(out, "|| ");
        add_export(out, var);
    }
}

/* Steps are appended, never overwritten, so a full disk leaves the earlier steps readable. */
static void add_step(struct str *out, const char *step)
{
    str_addf(out, "printf '%%s\\n' '%s' >>\"$mt_stage\"\n", step);
}

/*
 * Each line runs in the job's own shell; a line with a non-zero status ends it. No variable is set here,
 * because `set -a` would export it.
 */
static void add_setup(struct str *out, const struct strlist *setup)
{
    for (size_t i = 0; setup && i < setup->len; i++) {
        AUTO_STR struct str step = STR_INIT;

        str_addf(&step, "setup %zu", i + 1);
        add_step(out, str_text(&step));
        str_add(out, "eval ");
        quote_sh(out, setup->items[i]);
        str_add(out, "\ncase $? in 0) ;; *) exit ;; esac\n");
    }
}

/*
 * Add a word that names the interpreter or the program. A leading "~/" means the home folder of the login,
 * even if setup changed HOME, as it does for workdir and artifacts.
 */
static void add_named(struct str *out, const char *word)
{
    if (text_starts(word, "~/")) {
        str_add(out, "\"${mt_home%/}\"");
        word++;
    }
    quote_sh(out, word);
}

static bool is_home_word(const struct node_job *job, size_t index)
{
    for (size_t i = 0; i < job->home_words_len; i++) {
        if (job->home_words[i] == index) {
            return true;
        }
    }
    return false;
}

static void add_command(struct str *out, const struct node_job *job)
{
    str_add(out, "exec");
    for (size_t i = 0; job->argv && i < job->argv->len; i++) {
        str_add_char(out, ' ');
        if (is_home_word(job, i)) {
            add_named(out, job->argv->items[i]);
        } else {
            quote_sh(out, job->argv->items[i]);
        }
    }
    str_add_char(out, '\n');
}

/*
 * Add the command that prepares the node; its interpreter may be below the home folder. Its step is not named
 * "setup".
 */
static void add_ready(struct str *out, const struct strlist *ready)
{
    if (!ready || ready->len == 0) {
        return;
    }
    add_step(out, "ready");
    add_named(out, ready->items[0]);
    for (size_t i = 1; i < ready->len; i++) {
        str_add_char(out, ' ');
        quote_sh(out, ready->items[i]);
    }
    str_add(out, "\ncase $? in 0) ;; *) exit ;; esac\n");
}

/* For the probe: look a command up in PATH. */
static void add_look_up(struct str *out, const char *command, const char *suffix)
{
    if (!command) {
        return;
    }
    str_add(out, "command -v ");
    add_named(out, command);
    str_addf(out, " >|\"$mt_found.%s\"\n", suffix);
}

/*
 * Prints lines "NAME VERSION", the last one for "end". importlib.metadata is used because an import would be
 * slow and may fail.
 */
static const char versions_program[] =
    "import sys\n"
    "def say(name, value): print(name, ' '.join(str(value).split())[:200], flush=True)\n"
    "say('python', sys.version.split()[0])\n"
    "import importlib.metadata as m\n"
    "for p in ('transformer_engine', 'megatron-core', 'deepspeed', 'accelerate', 'transformers', 'ms-swift', "
    "'flash-attn'):\n"
    "    try: say(p.replace('-', '_'), m.version(p))\n"
    "    except Exception: pass\n"
    "import importlib.util as u\n"
    "try:\n"
    "    if u.find_spec('torch'):\n"
    "        import warnings\n"
    "        warnings.simplefilter('error')\n"
    "        import torch\n"
    "        say('torch', torch.__version__)\n"
    "        if torch.version.cuda:\n"
    "            say('cuda', torch.version.cuda)\n"
    "            try: say('nccl', '.'.join(map(str, torch.cuda.nccl.version())))\n"
    "            except Exception: pass\n"
    "            import glob\n"
    "            try:\n"
    "                if glob.glob('/dev/nvidia[0-9]*') and not torch.cuda.is_available(): say('nogpu', 'no "
    "reason given')\n"
    "            except Warning as e: say('nogpu', e)\n"
    "except Exception as e: say('error', type(e).__name__ + ': ' + str(e))\n"
    "say('end', 1)\n";

/*
 * In the background, because importing torch takes seconds. The check waits for it, within its own time
 * limit.
 */
static void add_versions(struct str *out, const char *interpreter)
{
    add_named(out, interpreter);
    str_add(out, " -c ");
    quote_sh(out, versions_program);
    str_add(out, " </dev/null >|\"$mt_found.versions\" 2>/dev/null &\n"
                 "printf '%s\\n' \"$!\" >|\"$mt_found.versions_pid\"\n");
}

/* Uses only builtins and the interpreter: after the setup lines, PATH may lead to nothing. */
static void add_findings(struct str *out, const struct node_probe *probe)
{
    str_add(out, "printf '%s' \"$PATH\" >|\"$mt_found.path\"\n"
                 "[ -z \"${CUDA_VISIBLE_DEVICES+x}\" ] || "
                 "printf '%s' \"$CUDA_VISIBLE_DEVICES\" >|\"$mt_found.visible\"\n"
                 "[ -z \"${LD_LIBRARY_PATH+x}\" ] || "
                 "printf '%s' \"$LD_LIBRARY_PATH\" >|\"$mt_found.libraries\"\n"
                 "printf '%s' \"$PWD\" >|\"$mt_found.folder\"\n"
                 "command -v nvidia-smi >|\"$mt_found.smi\"\n");
    add_look_up(out, probe->command, "command");
    add_look_up(out, probe->interpreter, "interpreter");
    if (probe->interpreter && probe->module) {
        /* find_spec does not import the module: torch would take seconds */
        add_named(out, probe->interpreter);
        str_add(out,
                " -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)' ");
        quote_sh(out, probe->module);
        str_add(out, " </dev/null >/dev/null 2>&1 && : >|\"$mt_found.module\"\n");
    }
    if (probe->program) {
        str_add(out, "[ ! -f ");
        add_named(out, probe->program);
        str_add(out, " ] || : >|\"$mt_found.program\"\n");
    }
    str_add(out, "while IFS= read -r mt_line; do printf '%s\\n' \"$mt_line\"; done </proc/self/limits "
                 ">|\"$mt_found.limits\"\n");
    if (probe->interpreter && probe->versions) {
        add_versions(out, probe->interpreter);
    }
    add_step(out, "probed");
    str_add(out, "exit 0\n");
}

void node_job_text(const struct node_job *job, const struct node_probe *probe, struct str *out)
{
    str_add(out, "mt_run_job() {\nexec 8<&-\nmt_stage=$1\nmt_workdir=$2\nmt_found=$3\nmt_home=$4\n");
    for (size_t i = 0; job->unset && i < job->unset->len; i++) {
        str_addf(out, "unset %s\n", job->unset->items[i]);
    }
    add_defaults(out, job->defaults);
    add_env(out, job->env);
    add_env(out, job->computed);
    add_step(out, "cd");
    str_add(out, "cd \"$mt_workdir\" || exit 1\n");
    add_setup(out, job->setup);
    add_env(out, job->computed);
    if (probe) {
        add_findings(out, probe);
    } else {
        add_ready(out, job->ready);
        add_step(out, "exec");
        add_command(out, job);
    }
    str_add(out, "}\nmt_run_job \"$@\"\n");
}
