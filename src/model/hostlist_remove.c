/* Removes hosts from a list: '^' entries, --exclude, --nodes. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/hostlist_internal.h"
#include "model/kind.h"

#define NOTES_MAX 20 /* notes one text may give */

void hostlist_removal_add(struct hostlist_builder *builder, size_t offset, struct strlist *names)
{
    builder->removals =
        xgrow(builder->removals, builder->removals_len, &builder->removals_cap, sizeof *builder->removals);
    builder->removals[builder->removals_len++] = (struct hostlist_removal){.names = *names, .offset = offset};
    *names = (struct strlist)STRLIST_INIT;
}

static void index_names(const struct hostlist *list, struct texts *names)
{
    for (size_t i = 0; i < list->len; i++) {
        texts_add(names, list->items[i].name);
    }
}

/* Remove every host whose name is in removed. */
static void drop_hosts(struct hostlist *list, const struct texts *removed)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->len; i++) {
        if (texts_find(removed, list->items[i].name, NULL)) {
            host_release(&list->items[i]);
        } else {
            list->items[kept++] = list->items[i];
        }
    }
    list->len = kept;
}

/* One note for the names of an entry that are not in the list. */
static void note_unknown(struct hostlist_builder *builder, size_t offset, const struct strlist *unknown)
{
    struct hostlist_reader *reader = &builder->reader;
    struct strlist *notes = builder->context->notes;
    unsigned line, column;
    AUTO_STR struct str folded = STR_INIT;

    if (!unknown->len || !notes || builder->removals_len > NOTES_MAX) {
        return;
    }
    hostlist_fold_names(unknown->items, unknown->len, &folded);
    hostlist_reader_place(reader, offset, &line, &column);
    AUTO_FREE char *place =
        reader->first_line ? xasprintf("%s:%u", reader->name, line) : xstrdup(reader->name);
    strlist_addf(notes, "%s: '^%s' is not in the host list, so nothing is removed", place,
                 hostlist_token(folded.data, folded.len).text);
}

/* Fill removed with the names of every '^' entry. */
static void collect_removed(struct hostlist_builder *builder, struct texts *removed)
{
    struct texts names = {0};

    index_names(&builder->found, &names);
    for (size_t r = 0; r < builder->removals_len; r++) {
        const struct hostlist_removal *removal = &builder->removals[r];
        AUTO_STRLIST struct strlist unknown = STRLIST_INIT;
        for (size_t i = 0; i < removal->names.len; i++) {
            const char *name = removal->names.items[i];
            if (!texts_find(&names, name, NULL)) {
                strlist_add(&unknown, name);
            } else {
                texts_add(removed, name);
            }
        }
        note_unknown(builder, removal->offset, &unknown);
    }
    texts_release(&names);
}

static int refuse_empty(struct hostlist_builder *builder, bool removed, struct error *err)
{
    struct hostlist_reader *reader = &builder->reader;
    unsigned line = 0, column = 0;

    if (removed) {
        error_set(err, &kind_host_list, "'%s' is empty: '^' removes every host", reader->name);
    } else {
        error_set(err, &kind_host_list, "'%s' is empty: it names no host", reader->name);
    }
    if (builder->removals_len > 0) {
        hostlist_reader_place(reader, builder->removals[0].offset, &line, &column);
    }
    if (reader->first_line) {
        error_at(err, reader->name, line, column);
    }
    return error_hint(err, removed ? "remove a '^' entry" : "name at least one host");
}

int hostlist_removals_apply(struct hostlist_builder *builder, struct error *err)
{
    struct texts removed = {0};
    size_t before = builder->found.len;

    if (before == 0) {
        return refuse_empty(builder, false, err);
    }
    collect_removed(builder, &removed);
    drop_hosts(&builder->found, &removed);
    texts_release(&removed);
    return builder->found.len == 0 ? refuse_empty(builder, true, err) : 0;
}

/* --- --exclude, --nodes --- */

static int exclude_hosts(struct hostlist *list, struct hostlist_builder *named, struct error *err)
{
    size_t left = list->len;
    int result = 0;
    struct texts names = {0};
    struct texts removed = {0};
    AUTO_STRLIST struct strlist unknown = STRLIST_INIT;

    index_names(list, &names);
    for (size_t i = 0; i < named->found.len; i++) {
        const char *name = named->found.items[i].name;
        if (!texts_find(&names, name, NULL)) {
            strlist_add(&unknown, name);
        } else {
            texts_add(&removed, name);
        }
    }
    for (size_t i = 0; i < list->len; i++) {
        left -= texts_find(&removed, list->items[i].name, NULL);
    }
    if (left == 0) {
        error_set(err, &kind_host_list, "%s leaves no host of the list", named->reader.name);
        result = error_hint(err, "leave at least one host in");
    } else {
        drop_hosts(list, &removed);
    }
    if (result == 0 && unknown.len && named->context->notes) {
        AUTO_STR struct str folded = STR_INIT;
        hostlist_fold_names(unknown.items, unknown.len, &folded);
        strlist_addf(named->context->notes, "%s: '%s' is not in the host list, so nothing is removed",
                     named->reader.name, hostlist_token(folded.data, folded.len).text);
    }
    texts_release(&names);
    texts_release(&removed);
    return result;
}

int hostlist_exclude(struct hostlist *list, const char *expression, const char *option,
                     const struct hostlist_context *context, struct error *err)
{
    static const struct hostlist_context nothing;
    const struct hostlist_context own = {.notes = context ? context->notes : NULL,
                                         .groups = context ? context->groups : NULL};
    struct hostlist_builder named = {.plain = true, .context = context ? &own : &nothing};

    if (expression[strspn(expression, " \t\r\n")] == '\0') {
        return 0;
    }
    hostlist_reader_init(&named.reader, expression, strlen(expression), HOSTLIST_COMMAS, option, 0);
    int result = hostlist_build(&named, err);
    if (result == 0) {
        result = exclude_hosts(list, &named, err);
    }
    hostlist_builder_release(&named);
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
    for (size_t i = count; i < list->len; i++) {
        host_release(&list->items[i]);
    }
    list->len = count;
    return 0;
}
