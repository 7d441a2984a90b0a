/* The reference of the job file: what `help job` prints and mtlaunch-job(5) contains. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cmd/reference_internal.h"
#include "input/jobfile.h"
#include "launcher/launcher.h"

static const char example[] = "job: train                   # default: the file's name\n"
                              "hosts: g[0033-0036]          # or hostfile: hosts.txt\n"
                              "workdir: /apps/train         # on the nodes\n"
                              "setup: [\". /opt/conda/bin/activate train\"]\n"
                              "program: train.py            # or \"-m package.module\"\n"
                              "args: {lr: 3e-4, bf16: true} # or a list of words\n"
                              "env: {NCCL_DEBUG: INFO}\n"
                              "on_failure: stop             # stop, keep or restart\n"
                              "profiles:\n"
                              "  smoke: {args: {steps: 20}} # --profile smoke\n";

static void add_key(struct page *page, const struct jobfile_key *key)
{
    AUTO_STR struct str facts = STR_INIT;
    const char *dot = strrchr(key->path, '.');
    str_addf(&facts, "Type: %s. ", key->type);
    if (key->normal) {
        str_addf(&facts, "Default: %s. ", key->normal);
    }
    str_addf(&facts, "Example: '%s: %s'. Since: %s.", dot ? dot + 1 : key->path, key->example, key->since);
    page_item(page, key->path, key->about);
    page_item_line(page, str_text(&facts));
}

static void add_keys(struct page *page)
{
    AUTO_JOBFILE_KEYS struct jobfile_keys keys = {0};
    jobfile_keys_list(&keys);
    for (size_t i = 0; i < keys.len; i++) {
        add_key(page, &keys.items[i]);
    }
}

size_t reference_job_key(struct page *page, const char *name, bool exact)
{
    AUTO_JOBFILE_KEYS struct jobfile_keys keys = {0};
    size_t found = 0;
    jobfile_keys_list(&keys);
    for (size_t i = 0; i < keys.len; i++) {
        const char *path = keys.items[i].path;
        const char *dot = strrchr(path, '.');
        if (strcmp(path, name) == 0 || (!exact && dot && strcmp(dot + 1, name) == 0)) {
            add_key(page, &keys.items[i]);
            found++;
        }
    }
    return found;
}

static void add_launchers(struct page *page)
{
    page_section(page, "Launchers");
    for (size_t i = 0; launchers_all[i]; i++) {
        page_item(page, launchers_all[i]->name, launchers_all[i]->summary);
    }
}

void reference_job(struct page *page)
{
    page_section(page, "Description");
    page_text(page,
              "A job file is YAML. It says what runs, where it runs, and what happens when something fails. "
              "Only 'program' is required. 'mtlaunch init' writes a first job file with comments.");
    page_lines(page, example);
    page_text(
        page,
        "Every value is a string unless its key asks for a number, so no, 0033, 1e-5 and 1:30 arrive as they"
        " are written. Only true, false and null without quotes are special. Unknown keys, duplicate "
        "keys, wrong types, anchors and '<<' are errors with file, line and column. A duration is a "
        "number of seconds, or a whole number with s, m, h or d.");
    page_section(page, "Finding the file");
    page_text(page,
              "JOB on the command line is a path that ends in .yaml or .yml, or a name. A name is looked up "
              "as NAME.yaml in ./, ./jobs/, each folder of $MTLAUNCH_JOBS and ~/.config/mtlaunch/jobs/.");
    page_section(page, "Changing values for one start");
    page_text(page,
              "Later values win: the job file; profiles in the order given; the variables ZERO_STAGE, "
              "CONTAINER_NAME, NPROC_PER_NODE, MASTER_ADDR, MASTER_PORT and ARTIFACT_ROOT of the shell; --set"
              " KEY.PATH=VALUE; named options such as --zero-stage.");
    page_section(page, "Placeholders");
    page_text(page,
              "${{name}} stands for a value of the run in program, args, env, workdir and artifacts. The "
              "names are job, run, run_id, node_rank, nnodes, nproc_per_node, world_size, master_addr, "
              "master_port, host, attempt, zero_stage, artifacts and rendezvous_id. $${{ is a literal ${{. "
              "Nothing else is expanded: $HOME, * and quotes reach the program as they are written. Put lines"
              " of shell into 'setup'.");
    add_launchers(page);
    reference_job_subjects(page);
    page_section(page, "Keys");
    add_keys(page);
}
