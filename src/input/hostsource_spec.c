/*
 * hosts or hostfile of the spec. The parser sees the value of `hosts`, people see the spec: on an error the
 * place is looked up in the file, so that line, column and caret are those of the spec.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "input/hostfile.h"
#include "input/hostsource_internal.h"

#define SPEC_MAX (4u << 20)

/* Where entries stand in the spec. */
struct place {
    const char *at; /* the entry, in the spec's text */
    const char *line_start;
    unsigned line;
};

static const char *line_after(const char *at)
{
    const char *end = strchr(at, '\n');

    return end ? end + 1 : NULL;
}

static unsigned count_characters(const char *from, const char *to)
{
    unsigned count = 0;

    for (; from < to; from++)
        count += ((unsigned char)*from & 0xC0) != 0x80;
    return count;
}

/* The next place of an entry from *place on, lines counted along. */
static bool find_next(struct place *place, const char *entry, size_t len)
{
    if (len == 0)
        return false;
    for (const char *line = place->line_start; line; line = line_after(line), place->line++) {
        const char *from = line == place->line_start ? place->at : line;
        const char *end = line_after(line);
        size_t left = end ? (size_t)(end - from) : strlen(from);
        const char *hit = memmem(from, left, entry, len);
        if (hit) {
            place->at = hit;
            place->line_start = line;
            return true;
        }
    }
    return false;
}

/* The entry of `hosts` the error is about: its number-th line, each looked up behind the one before. */
static bool find_entry(struct place *place, const struct job *job, unsigned number)
{
    const char *entry = job->hosts;

    for (unsigned i = 0; entry; i++) {
        size_t len = strcspn(entry, "\n");
        if (!find_next(place, entry, len))
            return false;
        if (i == number)
            return true;
        place->at += len;
        entry = line_after(entry);
    }
    return false;
}

/* Put the error where the entry stands in the spec; left as it is when the value came from elsewhere. */
static void locate_in_spec(const struct job *job, struct error *err)
{
    AUTO_STR struct str spec = STR_INIT;

    if (!err || err->line < job->hosts_line || err->column == 0 ||
        file_read(job->file, SPEC_MAX, &spec, NULL) < 0)
        return;
    struct place place = {.at = str_text(&spec), .line = 1};
    while (place.at && place.line < job->hosts_line) {
        place.at = line_after(place.at);
        place.line++;
    }
    place.line_start = place.at;
    if (!place.at || !find_entry(&place, job, err->line - job->hosts_line)) {
        error_at(err, job->file, err->line, 0);
        return;
    }

    /* The parser's copy of the entry in its line: there, values of secrets are starred. */
    AUTO_STR struct str source = STR_INIT;
    str_add_mem(&source, place.line_start, (size_t)(place.at - place.line_start));
    str_add(&source, err->source);
    error_source(err, source.data, source.len);
    error_at(err, job->file, place.line, count_characters(place.line_start, place.at) + err->column);
}

static int parse_hosts(struct hostlist *out, const struct job *job, struct strlist *warnings,
                       struct error *err)
{
    enum hostlist_form form = job->hosts_is_list ? HOSTLIST_LINES : HOSTLIST_COMMAS;
    bool in_file = job->file && job->hosts_line > 0;
    const char *name = in_file ? job->file : "hosts";

    if (hostlist_parse(out, job->hosts, strlen(job->hosts), form, name, in_file ? job->hosts_line : 0,
                       warnings, err) == 0)
        return 1;
    if (in_file)
        locate_in_spec(job, err);
    return -1;
}

static int find(struct hostlist *out, const struct hostsource_request *request, struct strlist *warnings,
                struct error *err)
{
    const struct job *job = request->job;

    if (!job)
        return 0;
    if (job->hosts)
        return parse_hosts(out, job, warnings, err);
    if (!job->hostfile)
        return 0;
    return hostfile_read(out, job->hostfile, warnings, err) < 0 ? -1 : 1;
}

const struct hostsource hostsource_spec = {"spec", find};
