/* Turns entries into a list: drops or refuses duplicates, checks limits, inserts groups. */
#include "model/hostlist.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/hostlist_internal.h"
#include "model/kind.h"

/* Warnings that one text may give; further ones are only counted. */
#define WARNINGS_MAX 20

void hostlist_release(struct hostlist *list)
{
    for (size_t i = 0; i < list->len; i++) {
        host_release(&list->items[i]);
    }
    free(list->items);
    free(list->source);
    *list = (struct hostlist)HOSTLIST_INIT;
}

/* Takes over host's contents. */
static void add_host(struct hostlist *list, const struct host *host)
{
    list->items = xgrow(list->items, list->len, &list->cap, sizeof *list->items);
    list->items[list->len++] = *host;
}

static void repeats_release_places(struct hostlist_repeats *repeats)
{
    auto_free(&repeats->file);
    auto_free(&repeats->first_file);
    repeats->file = repeats->first_file = NULL;
}

static void repeats_release(struct hostlist_repeats *repeats)
{
    strlist_release(&repeats->names);
    repeats_release_places(repeats);
    *repeats = (struct hostlist_repeats){0};
}

void hostlist_builder_release(struct hostlist_builder *builder)
{
    for (size_t i = 0; i < builder->removals_len; i++) {
        strlist_release(&builder->removals[i].names);
    }
    free(builder->removals);
    hostlist_release(&builder->found);
    texts_release(&builder->index);
    repeats_release(&builder->repeats);
}

/* --- limits of the whole text --- */

/* Check the bytes first: control characters would make any message about the line unreadable. */
static int check_bytes(struct hostlist_reader *reader, struct error *err)
{
    for (size_t i = 0; i < reader->len; i++) {
        unsigned char c = (unsigned char)reader->text[i];
        bool line_end = c == '\r' && (i + 1 == reader->len || reader->text[i + 1] == '\n');
        if ((c >= 0x20 && c != 0x7F) || c == '\t' || c == '\n' || line_end) {
            continue;
        }
        hostlist_reader_fail(reader, i, err, "control character 0x%02x in a host list", c);
        return error_hint(err, "save it as plain text in UTF-8");
    }
    return 0;
}

/* Check the limits before memory is allocated. */
static int check_limits(struct hostlist_builder *builder, const struct hostlist_entry *entry,
                        struct error *err)
{
    builder->work += entry->pattern.count;

    /* Each host has a copy of user, settings and file name. Its name is short, whatever the ranges. */
    size_t each = entry->name_offset - entry->offset + entry->len - entry->word_len;
    builder->bytes += entry->pattern.count * (each + strlen(builder->reader.name));
    if (builder->work > HOSTLIST_WORK_MAX) {
        hostlist_reader_fail(&builder->reader, entry->offset, err,
                             "more than %u names before duplicates are dropped", HOSTLIST_WORK_MAX);
        return error_hint(err, "name each host once; a list can have at most %d hosts", HOSTLIST_MAX);
    }
    if (builder->bytes > HOSTLIST_BYTES_MAX) {
        hostlist_reader_fail(&builder->reader, entry->offset, err,
                             "the settings of all hosts take more than %u bytes", HOSTLIST_BYTES_MAX);
        return error_hint(err, "move long values from the host list to env: of the spec");
    }
    return 0;
}

static int refuse_length(struct hostlist_builder *builder, size_t offset, struct error *err)
{
    hostlist_reader_fail(&builder->reader, offset, err, "more than %d hosts", HOSTLIST_MAX);
    return error_hint(err, "a list can have at most %d hosts", HOSTLIST_MAX);
}

/* --- duplicates --- */

static char *make_key(const struct host *host)
{
    return xasprintf("%s@%s:%u", host->user ? host->user : "", host->name, host->port);
}

/* "line 3" for a place in the text that is read, "FILE:3" for one in another text. Caller frees. */
static char *where(const struct hostlist_reader *reader, const char *file, unsigned line, unsigned column,
                   const char *other_file, unsigned other_line)
{
    bool own = !file || strcmp(file, reader->name) == 0;
    bool other_own = !other_file || strcmp(other_file, reader->name) == 0;
    if (!own) {
        return xasprintf("%s:%u", file, line);
    }
    return hostlist_reader_where(reader, line, column, other_own ? other_line : 0);
}

static void warn_repeats(struct hostlist_builder *builder)
{
    struct hostlist_repeats *repeats = &builder->repeats;
    const struct hostlist_reader *reader = &builder->reader;
    struct strlist *warnings = builder->context->warnings;

    if (repeats->names.len > 0 && warnings && builder->warned++ < WARNINGS_MAX) {
        AUTO_STR struct str names = STR_INIT;
        AUTO_FREE char *here = where(reader, repeats->file, repeats->line, repeats->column,
                                     repeats->first_file, repeats->first_line);
        AUTO_FREE char *there = where(reader, repeats->first_file, repeats->first_line, repeats->first_column,
                                      repeats->file, repeats->line);
        hostlist_fold_names(repeats->names.items, repeats->names.len, &names);
        strlist_addf(warnings, "%s: '%s' in %s repeats %s and is dropped", reader->name,
                     hostlist_token(names.data, names.len).text, here, there);
    }
    repeats_release(repeats);
}

static void note_repeat(struct hostlist_builder *builder, const struct host *host, const struct host *first)
{
    struct hostlist_repeats *repeats = &builder->repeats;

    if (repeats->first_line != first->line || repeats->first_column != first->column) {
        warn_repeats(builder);
    }
    repeats_release_places(repeats);
    repeats->file = xstrdup(host->file);
    repeats->first_file = xstrdup(first->file);
    repeats->line = host->line;
    repeats->column = host->column;
    repeats->first_line = first->line;
    repeats->first_column = first->column;
    strlist_add(&repeats->names, host->name);
}

static int refuse_different(struct hostlist_builder *builder, size_t offset, const struct host *host,
                            const struct host *first, const char *what_first, const char *what,
                            struct error *err)
{
    struct hostlist_reader *reader = &builder->reader;
    AUTO_FREE char *here = where(reader, host->file, host->line, host->column, first->file, first->line);
    AUTO_FREE char *there = where(reader, first->file, first->line, first->column, host->file, host->line);

    hostlist_reader_fail(reader, offset, err, "a different second entry for '%s': %s in %s, %s in %s",
                         hostlist_token(host->name, strlen(host->name)).text, what_first, there, what, here);
    return error_hint(err, "keep one of the two; hosts are distinguished by user, name and port");
}

int hostlist_add_or_drop(struct hostlist_builder *builder, size_t offset, struct host *host,
                         struct error *err)
{
    size_t at;
    AUTO_FREE char *key = make_key(host);
    AUTO_FREE char *what_first = NULL;
    AUTO_FREE char *what = NULL;

    if (!texts_find(&builder->index, key, &at)) {
        if (builder->found.len == HOSTLIST_MAX) {
            host_release(host);
            return refuse_length(builder, offset, err);
        }
        texts_put(&builder->index, key, builder->found.len);
        add_host(&builder->found, host);
        return 0;
    }

    int result = 0;
    const struct host *first = &builder->found.items[at];
    if (hostlist_keys_equal(first, host, &what_first, &what)) {
        note_repeat(builder, host, first);
    } else {
        result = refuse_different(builder, offset, host, first, what_first, what, err);
    }
    host_release(host);
    return result;
}

/* "@name": insert the hosts of its file here, or remove them. */
static int add_group(struct hostlist_builder *builder, struct hostlist_entry *entry, struct error *err)
{
    struct hostlist hosts = HOSTLIST_INIT;
    int result = hostlist_group_read(builder, entry, &hosts, err);

    if (result == 0 && entry->removal) {
        struct strlist names = STRLIST_INIT;
        for (size_t i = 0; i < hosts.len; i++) {
            strlist_add(&names, hosts.items[i].name);
        }
        hostlist_removal_add(builder, entry->offset, &names);
    } else {
        for (size_t i = 0; i < hosts.len && result == 0; i++) {
            struct host host = hosts.items[i];
            hosts.items[i] = (struct host){0};
            result = hostlist_add_or_drop(builder, entry->offset, &host, err);
        }
    }
    hostlist_release(&hosts);
    if (result == 0) {
        warn_repeats(builder);
    }
    return result;
}

static int add_entry(struct hostlist_builder *builder, struct hostlist_entry *entry, struct error *err)
{
    struct hostlist_reader *reader = &builder->reader;
    struct strlist removed = STRLIST_INIT;
    int result = 0;

    if (entry->group) {
        return add_group(builder, entry, err);
    }
    if (check_limits(builder, entry, err) < 0) {
        return -1;
    }
    hostlist_reader_place(reader, entry->offset, &entry->host.line, &entry->host.column);
    for (uint64_t i = 0; i < entry->pattern.count && result == 0; i++) {
        struct host host;
        AUTO_FREE char *name = hostlist_pattern_name(&entry->pattern, i);
        if (hostlist_name_check(name, err) < 0) {
            result = hostlist_reader_locate(reader, entry->name_offset, err);
        } else if (entry->removal) {
            strlist_add(&removed, name);
        } else {
            host_copy(&host, &entry->host);
            host.name = xstrdup(name);
            host.file = reader->first_line ? xstrdup(reader->name) : NULL;
            result = hostlist_add_or_drop(builder, entry->offset, &host, err);
        }
    }
    if (result == 0 && entry->removal) {
        hostlist_removal_add(builder, entry->offset, &removed);
    }
    strlist_release(&removed);
    if (result == 0) {
        warn_repeats(builder);
    }
    return result;
}

/* --- the text --- */

static int read_entries(struct hostlist_builder *builder, struct error *err)
{
    size_t pos = 0;

    for (;;) {
        struct hostlist_entry entry = {0};
        int result = hostlist_entry_read(&builder->reader, &pos, &entry, err);
        if (result == 1 && builder->plain && entry.removal) {
            hostlist_reader_fail(&builder->reader, entry.offset, err, "'^' is not allowed here");
            result = error_hint(err, "name the hosts without '^'");
        }
        if (result == 1 && add_entry(builder, &entry, err) < 0) {
            result = -1;
        }
        hostlist_entry_release(&entry);
        if (result != 1) {
            return result;
        }
    }
}

/* In a list of one line a comment reaches to the end: entries after it are left out, most likely by mistake.
 */
static void warn_comment(const struct hostlist_builder *builder)
{
    const struct hostlist_reader *reader = &builder->reader;
    if (reader->comment == 0 || reader->form != HOSTLIST_COMMAS || !builder->context->warnings ||
        memchr(reader->text, '\n', reader->len)) {
        return;
    }
    size_t begin = reader->comment - 1;
    strlist_addf(builder->context->warnings, "%s: '%.*s' is a comment, so its entries are left out",
                 reader->name, (int)(reader->len - begin > 80 ? 80 : reader->len - begin),
                 reader->text + begin);
}

int hostlist_build(struct hostlist_builder *builder, struct error *err)
{
    if (builder->reader.len > HOSTLIST_TEXT_MAX) {
        error_set(err, &kind_host_list, "'%s' has %zu bytes, at most %u are allowed", builder->reader.name,
                  builder->reader.len, HOSTLIST_TEXT_MAX);
        return error_hint(err, "write runs of hosts as ranges: g[0033-0036]");
    }
    if (check_bytes(&builder->reader, err) < 0 || read_entries(builder, err) < 0 ||
        hostlist_removals_apply(builder, err) < 0) {
        return -1;
    }
    warn_comment(builder);
    if (builder->warned > WARNINGS_MAX) {
        strlist_addf(builder->context->warnings, "%s: %zu more repeated entries are dropped",
                     builder->reader.name, builder->warned - WARNINGS_MAX);
    }
    return 0;
}

int hostlist_read(struct hostlist *list, const char *text, size_t len, enum hostlist_form form,
                  const char *name, unsigned first_line, const struct hostlist_context *context,
                  struct error *err)
{
    static const struct hostlist_context nothing;
    struct hostlist_builder builder = {.context = context ? context : &nothing};

    hostlist_reader_init(&builder.reader, text, len, form, name, first_line);
    int result = hostlist_build(&builder, err);
    if (result == 0 && list->len + builder.found.len > HOSTLIST_MAX) {
        error_set(err, &kind_host_list, "%zu hosts, at most %d are allowed", list->len + builder.found.len,
                  HOSTLIST_MAX);
        result = error_hint(err, "a list can have at most %d hosts", HOSTLIST_MAX);
    }
    if (result == 0) {
        for (size_t i = 0; i < builder.found.len; i++) {
            add_host(list, &builder.found.items[i]);
        }
        builder.found.len = 0; /* handed over */
        if (!list->source) {
            list->source = xstrdup(name);
        }
    }
    hostlist_builder_release(&builder);
    return result;
}

int hostlist_parse(struct hostlist *list, const char *text, size_t len, enum hostlist_form form,
                   const char *name, unsigned first_line, struct strlist *warnings, struct error *err)
{
    const struct hostlist_context context = {.warnings = warnings};

    return hostlist_read(list, text, len, form, name, first_line, &context, err);
}
