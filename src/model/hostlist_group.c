/* "@name" in a host list: replaced by the hosts of a file of that name. */
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/hostlist_internal.h"
#include "model/kind.h"

/* "FILE:3", or "--hosts, column 5": where the group that is being read was named. Caller frees. */
static char *place_of(struct hostlist_builder *builder)
{
    unsigned line, column;

    hostlist_reader_place(&builder->reader, builder->group_offset, &line, &column);
    return builder->reader.first_line ? xasprintf("%s:%u", builder->reader.name, line)
                                      : xasprintf("%s, column %u", builder->reader.name, column);
}

/*
 * Refuse a group that contains itself, directly or through others (the message names both places), and groups
 * that are nested too deep.
 */
static int check_chain(struct hostlist_builder *builder, const char *group, const char *path,
                       struct error *err)
{
    unsigned depth = 1;

    for (struct hostlist_builder *at = builder; at; at = at->parent, depth++) {
        if (at->reader.first_line == 0 || strcmp(at->reader.name, path) != 0) {
            continue;
        }
        AUTO_FREE char *here = place_of(builder);
        AUTO_FREE char *first = at == builder ? NULL : place_of(at);
        hostlist_reader_fail(&builder->reader, builder->group_offset, err,
                             "the group '@%s' contains itself: %s%s%s names '%s' again", group,
                             first ? first : "", first ? " leads on, and " : "", here, path);
        return error_hint(err, "remove '@%s' from %s", group, builder->reader.name);
    }
    if (depth > HOSTLIST_GROUP_DEPTH + 1) {
        hostlist_reader_fail(&builder->reader, builder->group_offset, err,
                             "the group '@%s' is nested more than %d deep", group, HOSTLIST_GROUP_DEPTH);
        return error_hint(err, "name the hosts of the innermost groups directly");
    }
    return 0;
}

static int add_keys(struct hostlist_builder *builder, const struct hostlist_entry *entry,
                    struct hostlist *list, struct error *err)
{
    for (size_t i = 0; i < list->len; i++) {
        if (hostlist_keys_merge(&list->items[i], &entry->host, entry->group, err) < 0) {
            return hostlist_reader_locate(&builder->reader, entry->offset, err);
        }
    }
    return 0;
}

/* The group's text, read as a separate host file. */
static int read_text(struct hostlist_builder *builder, const char *path, const struct str *text,
                     struct hostlist *list, struct error *err)
{
    struct hostlist_builder inner = {
        .context = builder->context, .parent = builder, .work = builder->work, .bytes = builder->bytes};

    hostlist_reader_init(&inner.reader, str_text(text), text->len, HOSTLIST_LINES, path, 1);
    int result = hostlist_build(&inner, err);
    builder->work = inner.work + 1;
    builder->bytes = inner.bytes;
    if (result == 0) {
        *list = inner.found;
        inner.found = (struct hostlist)HOSTLIST_INIT;
    }
    hostlist_builder_release(&inner);
    return result;
}

int hostlist_group_read(struct hostlist_builder *builder, const struct hostlist_entry *entry,
                        struct hostlist *list, struct error *err)
{
    const struct hostlist_groups *groups = builder->context->groups;
    AUTO_FREE char *path = NULL;
    AUTO_STR struct str text = STR_INIT;

    builder->group_offset = entry->offset;
    if (!groups) {
        hostlist_reader_fail(&builder->reader, entry->offset, err, "'@%s': a group is not allowed here",
                             hostlist_token(entry->group, strlen(entry->group)).text);
        return error_hint(err, "name the hosts themselves");
    }
    if (groups->read(groups, entry->group, &path, &text, err) < 0) {
        return hostlist_reader_locate(&builder->reader, entry->offset, err);
    }
    if (check_chain(builder, entry->group, path, err) < 0 || read_text(builder, path, &text, list, err) < 0) {
        return -1;
    }
    return add_keys(builder, entry, list, err);
}
