/* Reads what the flight recorders of the ranks say, and finds the ranks that never called a collective. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "diagnosis_internal.h"
#include "reader_internal.h"

#define RECORDED_MAX 4096 /* process groups of all ranks of a node */
#define RANK_MAX     9999999

/* --- reading ------------------------------------------------------------------------------------- */

static char *text_of(const json_t *object, const char *key)
{
    return xstrdup(json_string_value(json_object_get(object, key)));
}

static void take_ranks(struct recorded *recorded, const json_t *array)
{
    size_t len = json_array_size(array);
    recorded->ranks = xcalloc(len + 1, sizeof(long));
    for (size_t i = 0; i < len; i++) {
        json_int_t rank = json_integer_value(json_array_get(array, i));
        if (rank >= 0 && rank <= RANK_MAX) {
            recorded->ranks[recorded->ranks_len++] = (long)rank;
        }
    }
}

static void take_group(struct evidence *evidence, long rank, const json_t *group)
{
    char *name = text_of(group, "name");
    if (!name || evidence->recorded_len == RECORDED_MAX) {
        free(name);
        return;
    }
    evidence->recorded =
        xgrow(evidence->recorded, evidence->recorded_len, &evidence->recorded_cap, sizeof(struct recorded));
    struct recorded *fresh = &evidence->recorded[evidence->recorded_len++];
    *fresh = (struct recorded){
        .rank = rank,
        .group = name,
        .enqueued = js_get_number(group, "enqueued", -1),
        .completed = js_get_number(group, "completed", -1),
        .op = text_of(group, "op"),
        .place = text_of(group, "place"),
    };
    take_ranks(fresh, json_object_get(group, "ranks"));
}

bool evidence_add_dump(struct evidence *evidence, const char *text)
{
    json_t *root = json_loads(text, 0, NULL);
    const json_t *groups = json_object_get(root, "groups");
    json_int_t rank = js_get_number(root, "rank", -1);
    bool whole = json_is_array(groups) && rank >= 0 && rank <= RANK_MAX;
    for (size_t i = 0; whole && i < json_array_size(groups); i++) {
        take_group(evidence, (long)rank, json_array_get(groups, i));
    }
    if (whole) {
        evidence_note_rank(evidence, (long)rank);
    }
    json_decref(root);
    return whole;
}

/* --- finding ------------------------------------------------------------------------------------- */

/*
 * The records of all ranks, ordered by group and rank, and the ranks that wait in a collective of any group.
 */
struct table {
    const struct recorded **items;
    size_t len;
    long *waiting; /* ascending */
    size_t waiting_len;
};

static bool waits(const struct recorded *one)
{
    return one->enqueued > one->completed;
}

static int compare_ranks(const void *a, const void *b)
{
    long left = *(const long *)a;
    long right = *(const long *)b;
    return (left > right) - (left < right);
}

static int compare_recorded(const void *a, const void *b)
{
    const struct recorded *const *left = a;
    const struct recorded *const *right = b;
    int order = strcmp((*left)->group, (*right)->group);
    return order != 0 ? order : compare_ranks(&(*left)->rank, &(*right)->rank);
}

static void make_table(const struct ranking *ranking, struct table *table)
{
    size_t count = 0;
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        count += ranking->nodes[i].evidence ? ranking->nodes[i].evidence->recorded_len : 0;
    }
    *table = (struct table){.items = xcalloc(count + 1, sizeof(*table->items)),
                            .waiting = xcalloc(count + 1, sizeof(long))};
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct evidence *evidence = ranking->nodes[i].evidence;
        for (size_t j = 0; evidence && j < evidence->recorded_len; j++) {
            const struct recorded *one = &evidence->recorded[j];
            table->items[table->len++] = one;
            if (waits(one)) {
                table->waiting[table->waiting_len++] = one->rank;
            }
        }
    }
    qsort(table->items, table->len, sizeof(*table->items), compare_recorded);
    qsort(table->waiting, table->waiting_len, sizeof(long), compare_ranks);
}

static bool is_waiting(const struct table *table, long rank)
{
    return bsearch(&rank, table->waiting, table->waiting_len, sizeof(long), compare_ranks);
}

static void add_rank(struct unjoined *found, long rank)
{
    found->ranks = xgrow(found->ranks, found->len, &found->cap, sizeof(long));
    found->ranks[found->len++] = rank;
}

/* Add the ranks of the group without a dump: a rank that is stopped or gone cannot write one. */
static void add_undumped(const struct table *table, size_t from, size_t to, struct unjoined *found)
{
    for (size_t i = 0; i < found->waiter->ranks_len; i++) {
        const struct recorded key = {.rank = found->waiter->ranks[i], .group = found->waiter->group};
        const struct recorded *wanted = &key;
        if (!bsearch(&wanted, table->items + from, to - from, sizeof(*table->items), compare_recorded) &&
            !is_waiting(table, key.rank)) {
            add_rank(found, key.rank);
        }
    }
}

/*
 * Find the ranks of a group (items from .. to) that did not call the collective in which others of it wait. A
 * rank that waits in another group is held up itself and does not count.
 */
static void find_in_group(const struct table *table, size_t from, size_t to, struct unjoined *found)
{
    size_t held_up = 0;
    for (size_t i = from; i < to; i++) {
        const struct recorded *one = table->items[i];
        if (waits(one) && (!found->waiter || one->enqueued > found->waiter->enqueued)) {
            found->waiter = one;
        }
    }
    for (size_t i = from; found->waiter && i < to; i++) {
        const struct recorded *one = table->items[i];
        bool behind = one->enqueued < found->waiter->enqueued;
        found->waiting += waits(one) && !behind;
        held_up += behind && is_waiting(table, one->rank);
        if (behind && !is_waiting(table, one->rank)) {
            add_rank(found, one->rank);
        }
    }
    if (found->waiter && found->len == 0 && held_up == 0) {
        add_undumped(table, from, to, found);
    }
    if (found->len > 0) {
        qsort(found->ranks, found->len, sizeof(long), compare_ranks);
    }
}

bool ranking_find_unjoined(const struct ranking *ranking, struct unjoined *found)
{
    struct table table;
    make_table(ranking, &table);
    *found = (struct unjoined){0};
    for (size_t from = 0, to = 0; from < table.len && found->len == 0; from = to) {
        found->waiter = NULL;
        found->waiting = 0;
        while (to < table.len && strcmp(table.items[to]->group, table.items[from]->group) == 0) {
            to++;
        }
        find_in_group(&table, from, to, found);
    }
    free(table.items);
    free(table.waiting);
    return found->len > 0;
}
