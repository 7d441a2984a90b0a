/* Entries to a list: duplicates dropped or refused, removals, limits. */
#include "model/hostlist.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/hostlist_internal.h"
#include "model/kind.h"

/* Warnings one text may give; what comes after is counted. */
#define WARNINGS_MAX 20

/* Duplicates of one entry that stand at one earlier place, for one warning. */
struct repeats {
    struct strlist names;
    unsigned line, column;             /* of this entry */
    unsigned first_line, first_column; /* of the earlier one */
};

/* One text on its way to a list. */
struct builder {
    struct hostlist_reader reader;
    struct strlist *warnings; /* NULL: none wanted */
    bool plain;               /* no '^' entries */
    struct hostlist found;
    struct hostlist_index index; /* user, name, port → position in found */
    struct hostlist_entry *removals;
    size_t removals_len, removals_cap;
    uint64_t work, bytes; /* names and bytes so far, duplicates included */
    struct repeats repeats;
    size_t warned;
};

void hostlist_release(struct hostlist *list)
{
    for (size_t i = 0; i < list->len; i++)
        host_release(&list->items[i]);
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

static void builder_release(struct builder *builder)
{
    for (size_t i = 0; i < builder->removals_len; i++)
        hostlist_entry_release(&builder->removals[i]);
    free(builder->removals);
    hostlist_release(&builder->found);
    hostlist_index_release(&builder->index);
    strlist_release(&builder->repeats.names);
}

/* --- limits of the whole text --- */

/* Bytes before anything else: control characters would make any message about the line unreadable. */
static int check_bytes(struct hostlist_reader *reader, struct error *err)
{
    for (size_t i = 0; i < reader->len; i++) {
        unsigned char c = (unsigned char)reader->text[i];
        bool line_end = c == '\r' && (i + 1 == reader->len || reader->text[i + 1] == '\n');
        if ((c >= 0x20 && c != 0x7F) || c == '\t' || c == '\n' || line_end)
            continue;
        hostlist_reader_fail(reader, i, err, "control character 0x%02x in a host list", c);
        return error_hint(err, "save it as plain text in UTF-8");
    }
    return 0;
}

/* Refuse before memory is spent. */
static int check_limits(struct builder *builder, const struct hostlist_entry *entry, struct error *err)
{
    builder->work += entry->pattern.count;

    /* What each host keeps a copy of: user, settings, file name. Its name is short, whatever the ranges. */
    size_t each = entry->name_offset - entry->offset + entry->len - entry->word_len;
    builder->bytes += entry->pattern.count * (each + strlen(builder->reader.name));
    if (builder->work > HOSTLIST_WORK_MAX) {
        hostlist_reader_fail(&builder->reader, entry->offset, err,
                             "more than %u names before duplicates are dropped", HOSTLIST_WORK_MAX);
        return error_hint(err, "name each host once; a list holds at most %d hosts", HOSTLIST_MAX);
    }
    if (builder->bytes > HOSTLIST_BYTES_MAX) {
        hostlist_reader_fail(&builder->reader, entry->offset, err,
                             "the settings of all hosts take more than %u bytes", HOSTLIST_BYTES_MAX);
        return error_hint(err, "move long values from the host list to env: of the spec");
    }
    return 0;
}

static int refuse_length(struct builder *builder, const struct hostlist_entry *entry, struct error *err)
{
    hostlist_reader_fail(&builder->reader, entry->offset, err, "more than %d hosts", HOSTLIST_MAX);
    return error_hint(err, "a list holds at most %d hosts", HOSTLIST_MAX);
}

/* --- duplicates --- */

static char *make_key(const struct host *host, const char *name)
{
    return xasprintf("%s@%s:%u", host->user ? host->user : "", name, host->port);
}

static void warn_repeats(struct builder *builder)
{
    struct repeats *repeats = &builder->repeats;
    const struct hostlist_reader *reader = &builder->reader;

    if (repeats->names.len > 0 && builder->warnings && builder->warned++ < WARNINGS_MAX) {
        AUTO_STR struct str names = STR_INIT;
        AUTO_FREE char *here =
            hostlist_reader_where(reader, repeats->line, repeats->column, repeats->first_line);
        AUTO_FREE char *there =
            hostlist_reader_where(reader, repeats->first_line, repeats->first_column, repeats->line);
        hostlist_fold_names(repeats->names.items, repeats->names.len, &names);
        strlist_addf(builder->warnings, "%s: '%s' in %s repeats %s and is dropped", reader->name,
                     hostlist_token(names.data, names.len).text, here, there);
    }
    strlist_release(&repeats->names);
}

static void note_repeat(struct builder *builder, const struct host *host, const struct host *first)
{
    struct repeats *repeats = &builder->repeats;

    if (repeats->first_line != first->line || repeats->first_column != first->column)
        warn_repeats(builder);
    repeats->line = host->line;
    repeats->column = host->column;
    repeats->first_line = first->line;
    repeats->first_column = first->column;
    strlist_add(&repeats->names, host->name);
}

static int refuse_different(struct builder *builder, const struct hostlist_entry *entry,
                            const struct host *host, const struct host *first, const char *what_first,
                            const char *what, struct error *err)
{
    struct hostlist_reader *reader = &builder->reader;
    AUTO_FREE char *here = hostlist_reader_where(reader, host->line, host->column, first->line);
    AUTO_FREE char *there = hostlist_reader_where(reader, first->line, first->column, host->line);

    hostlist_reader_fail(reader, entry->offset, err, "a different second entry for '%s': %s in %s, %s in %s",
                         hostlist_token(host->name, strlen(host->name)).text, what_first, there, what, here);
    return error_hint(err, "keep one of the two; hosts are told apart by user, name and port");
}

/* Takes over host's contents. */
static int add_or_drop(struct builder *builder, const struct hostlist_entry *entry, struct host *host,
                       struct error *err)
{
    size_t at;
    AUTO_FREE char *key = make_key(host, host->name);
    AUTO_FREE char *what_first = NULL;
    AUTO_FREE char *what = NULL;

    if (!hostlist_index_find(&builder->index, key, &at)) {
        if (builder->found.len == HOSTLIST_MAX) {
            host_release(host);
            return refuse_length(builder, entry, err);
        }
        hostlist_index_add(&builder->index, key, builder->found.len);
        add_host(&builder->found, host);
        return 0;
    }

    int result = 0;
    const struct host *first = &builder->found.items[at];
    if (hostlist_keys_equal(first, host, &what_first, &what))
        note_repeat(builder, host, first);
    else
        result = refuse_different(builder, entry, host, first, what_first, what, err);
    host_release(host);
    return result;
}

static int add_entry(struct builder *builder, struct hostlist_entry *entry, struct error *err)
{
    struct hostlist_reader *reader = &builder->reader;

    if (check_limits(builder, entry, err) < 0)
        return -1;
    hostlist_reader_place(reader, entry->offset, &entry->host.line, &entry->host.column);
    for (uint64_t i = 0; i < entry->pattern.count; i++) {
        struct host host;
        AUTO_FREE char *name = hostlist_pattern_name(&entry->pattern, i);
        if (hostlist_name_check(name, err) < 0)
            return hostlist_reader_locate(reader, entry->name_offset, err);
        if (entry->removal)
            continue;
        host_copy(&host, &entry->host);
        host.name = xstrdup(name);
        host.file = reader->first_line ? xstrdup(reader->name) : NULL;
        if (add_or_drop(builder, entry, &host, err) < 0)
            return -1;
    }
    warn_repeats(builder);
    return 0;
}

/* --- removals --- */

static int refuse_unknown(struct builder *builder, const struct hostlist_entry *entry, const char *name,
                          struct error *err)
{
    AUTO_STR struct str folded = STR_INIT;

    hostlist_reader_fail(&builder->reader, entry->offset, err, "'^%s' removes a host that is not in the list",
                         hostlist_token(name, strlen(name)).text);
    hostlist_fold(&builder->found, &folded);
    return error_hint(err, "hosts of the list: %s", folded.len ? folded.data : "none");
}

/* Fill removed with the names of every '^' entry; each must be a host of the list. */
static int collect_removed(struct builder *builder, struct hostlist_index *removed, struct error *err)
{
    int result = 0;
    struct hostlist_index names = {0};

    for (size_t i = 0; i < builder->found.len; i++) {
        if (!hostlist_index_find(&names, builder->found.items[i].name, NULL))
            hostlist_index_add(&names, builder->found.items[i].name, i);
    }
    for (size_t r = 0; r < builder->removals_len && result == 0; r++) {
        const struct hostlist_entry *entry = &builder->removals[r];
        for (uint64_t i = 0; i < entry->pattern.count && result == 0; i++) {
            AUTO_FREE char *name = hostlist_pattern_name(&entry->pattern, i);
            if (!hostlist_index_find(&names, name, NULL))
                result = refuse_unknown(builder, entry, name, err);
            else if (!hostlist_index_find(removed, name, NULL))
                hostlist_index_add(removed, name, 0);
        }
    }
    hostlist_index_release(&names);
    return result;
}

/* Take every host out whose name is in removed. */
static void drop_hosts(struct hostlist *list, const struct hostlist_index *removed)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->len; i++) {
        if (hostlist_index_find(removed, list->items[i].name, NULL))
            host_release(&list->items[i]);
        else
            list->items[kept++] = list->items[i];
    }
    list->len = kept;
}

static int refuse_empty(struct builder *builder, bool removed, struct error *err)
{
    const struct hostlist_reader *reader = &builder->reader;

    if (removed)
        error_set(err, &kind_host_list, "'%s' is empty: '^' removes every host", reader->name);
    else
        error_set(err, &kind_host_list, "'%s' is empty: it names no host", reader->name);
    if (reader->first_line)
        error_at(err, reader->name, 0, 0);
    return error_hint(err, removed ? "take a '^' entry out" : "name at least one host");
}

static int apply_removals(struct builder *builder, struct error *err)
{
    struct hostlist_index removed = {0};
    size_t before = builder->found.len;
    int result = collect_removed(builder, &removed, err);

    if (result == 0)
        drop_hosts(&builder->found, &removed);
    hostlist_index_release(&removed);
    if (result == 0 && builder->found.len == 0)
        return refuse_empty(builder, before > 0, err);
    return result;
}

/* --- the text --- */

static int read_entries(struct builder *builder, struct error *err)
{
    size_t pos = 0;

    for (;;) {
        struct hostlist_entry entry = {0};
        int result = hostlist_entry_read(&builder->reader, &pos, &entry, err);
        if (result == 1 && builder->plain && entry.removal) {
            hostlist_reader_fail(&builder->reader, entry.offset, err, "'^' has no place here");
            result = error_hint(err, "name the hosts without '^'");
        }
        if (result == 1 && add_entry(builder, &entry, err) < 0)
            result = -1;
        if (result == 1 && entry.removal) {
            builder->removals = xgrow(builder->removals, builder->removals_len, &builder->removals_cap,
                                      sizeof *builder->removals);
            builder->removals[builder->removals_len++] = entry;
            continue;
        }
        hostlist_entry_release(&entry);
        if (result != 1)
            return result;
    }
}

static int build(struct builder *builder, struct error *err)
{
    if (builder->reader.len > HOSTLIST_TEXT_MAX) {
        error_set(err, &kind_host_list, "'%s' has %zu bytes, at most %u are allowed", builder->reader.name,
                  builder->reader.len, HOSTLIST_TEXT_MAX);
        return error_hint(err, "write runs of hosts as ranges: g[0033-0036]");
    }
    if (check_bytes(&builder->reader, err) < 0 || read_entries(builder, err) < 0 ||
        apply_removals(builder, err) < 0)
        return -1;
    if (builder->warned > WARNINGS_MAX)
        strlist_addf(builder->warnings, "%s: %zu more repeated entries are dropped", builder->reader.name,
                     builder->warned - WARNINGS_MAX);
    return 0;
}

int hostlist_parse(struct hostlist *list, const char *text, size_t len, enum hostlist_form form,
                   const char *name, unsigned first_line, struct strlist *warnings, struct error *err)
{
    struct builder builder = {.warnings = warnings};

    hostlist_reader_init(&builder.reader, text, len, form, name, first_line);
    int result = build(&builder, err);
    if (result == 0 && list->len + builder.found.len > HOSTLIST_MAX) {
        error_set(err, &kind_host_list, "%zu hosts, at most %d are allowed", list->len + builder.found.len,
                  HOSTLIST_MAX);
        result = error_hint(err, "a list holds at most %d hosts", HOSTLIST_MAX);
    }
    if (result == 0) {
        for (size_t i = 0; i < builder.found.len; i++)
            add_host(list, &builder.found.items[i]);
        builder.found.len = 0; /* handed over */
        if (!list->source)
            list->source = xstrdup(name);
    }
    builder_release(&builder);
    return result;
}

/* --- --exclude, --nodes --- */

static int refuse_excluded(struct hostlist_reader *reader, const struct hostlist *list,
                           const struct host *host, struct error *err)
{
    AUTO_STR struct str folded = STR_INIT;

    hostlist_reader_fail(reader, 0, err, "'%s' is not in the host list",
                         hostlist_token(host->name, strlen(host->name)).text);
    if (err)
        err->column = host->column;
    hostlist_fold(list, &folded);
    return error_hint(err, "hosts of the list: %s", str_text(&folded));
}

static int exclude_hosts(struct hostlist *list, struct builder *named, struct error *err)
{
    size_t left = list->len;
    int result = 0;
    struct hostlist_index names = {0};
    struct hostlist_index removed = {0};

    for (size_t i = 0; i < list->len; i++) {
        if (!hostlist_index_find(&names, list->items[i].name, NULL))
            hostlist_index_add(&names, list->items[i].name, 0);
    }
    for (size_t i = 0; i < named->found.len && result == 0; i++) {
        const struct host *host = &named->found.items[i];
        if (!hostlist_index_find(&names, host->name, NULL))
            result = refuse_excluded(&named->reader, list, host, err);
        else if (!hostlist_index_find(&removed, host->name, NULL))
            hostlist_index_add(&removed, host->name, 0);
    }
    for (size_t i = 0; i < list->len; i++)
        left -= hostlist_index_find(&removed, list->items[i].name, NULL);
    if (result == 0 && left == 0) {
        error_set(err, &kind_host_list, "%s leaves no host of the list", named->reader.name);
        result = error_hint(err, "leave at least one host in");
    }
    if (result == 0)
        drop_hosts(list, &removed);
    hostlist_index_release(&names);
    hostlist_index_release(&removed);
    return result;
}

int hostlist_exclude(struct hostlist *list, const char *expression, const char *option, struct error *err)
{
    struct builder named = {.plain = true};

    hostlist_reader_init(&named.reader, expression, strlen(expression), HOSTLIST_COMMAS, option, 0);
    int result = build(&named, err);
    if (result == 0)
        result = exclude_hosts(list, &named, err);
    builder_release(&named);
    return result;
}

int hostlist_keep_first(struct hostlist *list, size_t count, const char *option, struct error *err)
{
    if (count == 0) {
        error_set(err, &kind_host_list, "%s 0 leaves no host of the list", option);
        return error_hint(err, "give a number from 1 to %zu", list->len);
    }
    if (count > list->len) {
        error_set(err, &kind_host_list, "%s %zu, but the host list has %zu", option, count, list->len);
        return error_hint(err, "give a number from 1 to %zu", list->len);
    }
    for (size_t i = count; i < list->len; i++)
        host_release(&list->items[i]);
    list->len = count;
    return 0;
}
