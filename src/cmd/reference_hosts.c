/* The reference of host lists: what `help hosts` prints and mtlaunch-hosts(5) contains. */
#include "base/alloc.h"
#include "cmd/reference_internal.h"
#include "model/hostlist.h"

static const char example[] = "# hosts.txt: one host per line, in rank order\n"
                              "g[0033-0036] slots=8\n"
                              "train@10.0.0.7:2222 gpus=0-3\n"
                              "g0040 addr=10.1.0.40 ifname=bond0 env.NCCL_IB_HCA=mlx5_0\n"
                              "@rack2 slots=8\n"
                              "^g0034\n";

static void add_settings(struct page *page)
{
    const size_t count = hostlist_key_docs(NULL);
    AUTO_FREE const struct hostlist_key_doc **docs = xcalloc(count, sizeof(docs[0]));
    hostlist_key_docs(docs);
    page_section(page, "Settings of a host");
    for (size_t i = 0; i < count; i++) {
        AUTO_STR struct str text = STR_INIT;
        str_addf(&text, "%s Example: %s.", docs[i]->about, docs[i]->example);
        page_item(page, docs[i]->form, str_text(&text));
    }
}

void reference_hosts(struct page *page)
{
    page_section(page, "Description");
    page_text(
        page,
        "A host list names the machines of a job in rank order. A file has one entry per line. A list on "
        "the command line or in a job file separates entries by commas.");
    page_lines(page, example);
    page_section(page, "Entries");
    page_item(page, "[USER@]NAME[:PORT] [KEY=VALUE]...",
              "A host: a name, an IPv4 address, or an IPv6 address, written in brackets before a port.");
    page_item(page, "g[0033-0036,0040]",
              "Ranges. They keep their width; several groups multiply; [0-30/2] has a step.");
    page_item(
        page, "@NAME [KEY=VALUE]...",
        "A group: the hosts of the file NAME or NAME.txt of ./hosts/, ./ or ~/.config/mtlaunch/hosts/.");
    page_item(page, "^NAME", "Leave this host out. Removals are applied last.");
    page_item(page, "# TEXT", "A comment, at the start of a line or after a blank.");
    add_settings(page);
    page_section(page, "Where the list comes from");
    page_text(page,
              "The first one given is used: --hosts or --hostfile; hosts or hostfile of the job file; "
              "$MTLAUNCH_HOSTFILE; the Slurm allocation of this shell; else this machine alone, without ssh. "
              "--exclude LIST leaves hosts out and --nodes N keeps the first N.");
    page_section(page, "How a host is reached");
    page_text(page,
              "User, port, keys and jump hosts come from the entry, from 'ssh' of the job file and from "
              "ssh_config, in this order. A host that is this machine (its name, localhost, or an address of "
              "one of its interfaces, with your user and port 22) is used without ssh unless it has "
              "ssh=always.");
    page_lines(page, "mtlaunch hosts --hostfile hosts.txt          # the list as it is understood\n"
                     "mtlaunch hosts --hostfile hosts.txt --trust  # compare and add unknown host keys\n");
    reference_hosts_subjects(page);
}
