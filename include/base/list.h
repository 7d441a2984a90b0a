/*
 * Doubly linked lists whose links are embedded in their items: no allocation, and an item leaves its list
 * without a search. A list and a link that are all zero are empty and unlinked, so that structures from
 * xcalloc need no initialiser. A list must not move in memory while it has items.
 *
 *     struct job { int id; struct list_link link; };
 *     struct list jobs = {0};
 *     list_append(&jobs, &job->link);
 *     LIST_EACH(&jobs, struct job, link, at) { ... list_remove(&at->link); free(at); ... }
 */
#ifndef MTLAUNCH_BASE_LIST_H
#define MTLAUNCH_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list;

/* Embedded in an item, once for each list that it may be in at the same time. */
struct list_link {
    struct list_link *next, *previous;
    struct list *list; /* NULL: in none */
};

struct list {
    struct list_link *first, *last;
};

static inline bool list_is_empty(const struct list *list)
{
    return !list->first;
}

static inline bool list_has(const struct list_link *link)
{
    return link->list;
}

/* Insert link, which must be in no list, behind the link `before` (NULL: at the front). */
static inline void list_insert(struct list *list, struct list_link *before, struct list_link *link)
{
    struct list_link *next = before ? before->next : list->first;

    *link = (struct list_link){.next = next, .previous = before, .list = list};
    *(before ? &before->next : &list->first) = link;
    *(next ? &next->previous : &list->last) = link;
}

static inline void list_append(struct list *list, struct list_link *link)
{
    list_insert(list, list->last, link);
}

static inline void list_prepend(struct list *list, struct list_link *link)
{
    list_insert(list, NULL, link);
}

/* Remove link from its list. Does nothing if it is in none. */
static inline void list_remove(struct list_link *link)
{
    if (!link->list) {
        return;
    }
    *(link->previous ? &link->previous->next : &link->list->first) = link->next;
    *(link->next ? &link->next->previous : &link->list->last) = link->previous;
    *link = (struct list_link){0};
}

/* The item around a link that is not NULL. */
#define LIST_OF(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* The first or last item, or the one after an item; NULL if there is none. */
#define LIST_FIRST(list, type, member) ((list)->first ? LIST_OF((list)->first, type, member) : NULL)
#define LIST_LAST(list, type, member)  ((list)->last ? LIST_OF((list)->last, type, member) : NULL)
#define LIST_NEXT(item, type, member)                                                                        \
    ((item)->member.next ? LIST_OF((item)->member.next, type, member) : NULL)

/* Every item, in order. The body may remove and free the item it is at, but no other one. */
#define LIST_EACH(list, type, member, item)                                                                  \
    for (type *item = LIST_FIRST(list, type, member),                                                        \
              *item##_next = item ? LIST_NEXT(item, type, member) : NULL;                                    \
         item; item = item##_next, item##_next = item ? LIST_NEXT(item, type, member) : NULL)

#endif
