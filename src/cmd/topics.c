/* `help TOPIC`: finds the part of the reference for a word. */
#include <string.h>

#include "base/alloc.h"
#include "cmd/reference_internal.h"
#include "cmd/topics_internal.h"

static void add_schema(struct page *page)
{
    str_add(page->out, json_schema_text);
}

/* One row per topic. names: other words for it, each with blanks around it. */
static const struct {
    const char *name, *names, *summary;
    void (*add)(struct page *page);
} topics[] = {
    {"job", " spec jobfile job-file yaml ", "the job file, with every key", reference_job},
    {"hosts", " hostlist host-list ", "host lists", reference_hosts},
    {"environment", " variables ", "the environment of a job, and of mtlaunch", reference_environment},
    {"exit-codes", " exit-code exit-status exitcodes ", "what exit codes mean", reference_exit_codes},
    {"json", " schema ", "a JSON Schema of what --json prints", add_schema},
    {"troubleshooting", " troubles trouble ", "what to do when something fails", reference_troubleshooting},
};

bool help_topic(const char *name, size_t columns, struct str *out)
{
    AUTO_FREE char *word = xasprintf(" %s ", name);
    struct page page = {.out = out, .form = PAGE_TEXT, .columns = columns};
    for (size_t i = 0; i < ARRAY_LEN(topics); i++) {
        if (strcmp(topics[i].name, name) == 0 || strstr(topics[i].names, word)) {
            topics[i].add(&page);
            return true;
        }
    }
    return false;
}

void help_topic_names(struct strlist *names)
{
    for (size_t i = 0; i < ARRAY_LEN(topics); i++) {
        strlist_add(names, topics[i].name);
    }
}

void help_topics(struct str *out)
{
    for (size_t i = 0; i < ARRAY_LEN(topics); i++) {
        str_addf(out, "  %-15s %s\n", topics[i].name, topics[i].summary);
    }
}
