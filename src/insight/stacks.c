/* Groups the processes of a run by their place, so that outliers stand out. */
#include "insight/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"
#include "reader_internal.h"

#define RANK_MAX        9999999u
#define PID_MAX         4194304u /* the kernel's PID_MAX_LIMIT */
#define SUMMARY_GROUPS  4
#define RANKS_SHOWN     16 /* ranges of ranks in a text */
#define WORDS_OF_WORKER 6

static void frames_release(struct stack *stack)
{
    for (size_t i = 0; i < stack->frames_len; i++) {
        free(stack->frames[i].function);
        free(stack->frames[i].file);
    }
    free(stack->frames);
    stack->frames = NULL;
    stack->frames_len = 0;
}

void stack_list_release(struct stack_list *list)
{
    for (size_t i = 0; i < list->len; i++) {
        free(list->items[i].host);
        free(list->items[i].wchan);
        frames_release(&list->items[i]);
    }
    free(list->items);
    *list = (struct stack_list){0};
}

/* Split text at its blanks. Returns false unless there are exactly WORDS_OF_WORKER words. */
static bool split_words(char *text, const char *words[WORDS_OF_WORKER])
{
    size_t len = 0;
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (len == WORDS_OF_WORKER) {
            return false;
        }
        words[len++] = word;
    }
    return len == WORDS_OF_WORKER;
}

struct stack *stack_list_add(struct stack_list *list, const char *host, const char *text)
{
    AUTO_FREE char *copy = xstrdup(text);
    const char *words[WORDS_OF_WORKER];
    uint64_t rank = 0, pid = 0, cpu = 0, syscall = 0;
    if (!split_words(copy, words) || !text_to_uint(words[0], 0, RANK_MAX, &rank) ||
        !text_to_uint(words[1], 1, PID_MAX, &pid) || !words[2][0] || words[2][1] != '\0') {
        return NULL;
    }
    list->items = xgrow(list->items, list->len, &list->cap, sizeof(*list->items));
    struct stack *stack = &list->items[list->len++];
    *stack = (struct stack){
        .rank = (unsigned)rank,
        .host = xstrdup(host),
        .pid = (long)pid,
        .state = words[2][0],
        .cpu = text_to_uint(words[3], 0, 1000000, &cpu) ? (int)cpu : 0,
        .syscall = text_to_uint(words[4], 0, 100000, &syscall) ? (long)syscall : -1,
        .wchan = strcmp(words[5], "-") == 0 ? NULL : xstrdup(words[5]),
    };
    return stack;
}

bool stack_read_frames(struct stack *stack, const char *text)
{
    frames_release(stack);
    json_t *array = json_loads(text, 0, NULL);
    size_t len = json_array_size(array);
    len = len > STACK_FRAMES_MAX ? STACK_FRAMES_MAX : len;
    stack->frames = xcalloc(len + 1, sizeof(*stack->frames));
    for (size_t i = 0; i < len; i++) {
        const json_t *item = json_array_get(array, i);
        const char *function = json_string_value(json_object_get(item, "name"));
        const char *file = json_string_value(json_object_get(item, "filename"));
        json_int_t line = json_integer_value(json_object_get(item, "line"));
        if (!function || !file) {
            json_decref(array);
            frames_release(stack);
            return false;
        }
        stack->frames[stack->frames_len++] = (struct stack_frame){
            .function = xstrdup(function),
            .file = xstrdup(file),
            .line = line > 0 && line < 100000000 ? (unsigned)line : 0,
            .own = traceback_is_own_file(file, strlen(file)),
        };
    }
    json_decref(array);
    return len > 0;
}

/* The innermost frame in the program's own files, else the innermost of all; NULL: there are no frames. */
static const struct stack_frame *place_of(const struct stack *stack)
{
    for (size_t i = 0; i < stack->frames_len; i++) {
        if (stack->frames[i].own) {
            return &stack->frames[i];
        }
    }
    return stack->frames_len > 0 ? &stack->frames[0] : NULL;
}

static bool is_stopped(const struct stack *stack)
{
    return stack->state == 'T' || stack->state == 't';
}

void stack_add_state(const struct stack *stack, struct str *out)
{
    switch (stack->state) {
    case 'R':
        str_add(out, "running");
        return;
    case 'T':
        str_add(out, "stopped by a signal");
        return;
    case 't':
        str_add(out, "stopped by a debugger");
        return;
    case 'Z':
    case 'X':
    case 'x':
        str_add(out, "ended");
        return;
    case 'D':
        str_add(out, "blocked");
        break;
    default:
        str_add(out, "sleeping");
        break;
    }
    if (stack->wchan) {
        str_addf(out, " in %s", stack->wchan);
    } else if (stack->syscall >= 0) {
        str_addf(out, " in system call %ld", stack->syscall);
    }
}

void stack_add_place(const struct stack *stack, struct str *out)
{
    const struct stack_frame *place = place_of(stack);
    if (!place) {
        stack_add_state(stack, out);
        return;
    }
    const char *slash = strrchr(place->file, '/');
    if (is_stopped(stack)) {
        stack_add_state(stack, out);
        str_add_char(out, ' ');
    }
    str_addf(out, "at %s:%u in %s", slash ? slash + 1 : place->file, place->line, stack->frames[0].function);
}

/* The key that all stacks of a group have in common. The caller frees. */
static char *key_of(const struct stack *stack)
{
    struct str key = STR_INIT;
    if (stack->frames_len == 0 || is_stopped(stack)) {
        stack_add_state(stack, &key);
    }
    for (size_t i = 0; i < stack->frames_len; i++) {
        const struct stack_frame *frame = &stack->frames[i];
        if (frame->own) {
            str_addf(&key, "\n%s:%u:%s", frame->file, frame->line, frame->function);
        } else if (i == 0) {
            str_addf(&key, "\n%s:%s", frame->file, frame->function);
        }
    }
    return str_detach(&key);
}

/* Does it wait for other ranks? That is in torch.distributed, or in DeepSpeed's wrappers of it. */
static bool is_in_collective(const struct stack *stack)
{
    for (size_t i = 0; i < stack->frames_len && !stack->frames[i].own; i++) {
        if (strstr(stack->frames[i].file, "/torch/distributed/") ||
            strstr(stack->frames[i].file, "/deepspeed/comm/")) {
            return !is_stopped(stack);
        }
    }
    return false;
}

static int compare_ranks(const void *left, const void *right)
{
    const struct stack *const *a = left;
    const struct stack *const *b = right;
    return ((*a)->rank > (*b)->rank) - ((*a)->rank < (*b)->rank);
}

/* The odd groups first, then the smaller before the larger, then by rank. */
static int compare_groups(const void *left, const void *right)
{
    const struct stack_group *a = left;
    const struct stack_group *b = right;
    if (a->odd != b->odd) {
        return a->odd ? -1 : 1;
    }
    if (a->len != b->len) {
        return a->len < b->len ? -1 : 1;
    }
    return compare_ranks(&a->stacks[0], &b->stacks[0]);
}

static struct stack_group *find_group(struct stack_groups *groups, char *key)
{
    for (size_t i = 0; i < groups->len; i++) {
        if (strcmp(groups->items[i].key, key) == 0) {
            free(key);
            return &groups->items[i];
        }
    }
    groups->items = xgrow(groups->items, groups->len, &groups->cap, sizeof(*groups->items));
    struct stack_group *group = &groups->items[groups->len++];
    *group = (struct stack_group){.key = key};
    return group;
}

/*
 * The group with the most ranks is where the collective waits. Of the largest groups it is the one in a
 * collective; if that does not decide, no group is odd.
 */
static void mark_odd(struct stack_groups *groups)
{
    size_t most = 0, same = 0;
    for (size_t i = 1; i < groups->len; i++) {
        const struct stack_group *group = &groups->items[i], *best = &groups->items[most];
        bool waits = is_in_collective(group->stacks[0]), best_waits = is_in_collective(best->stacks[0]);
        if (group->len > best->len || (group->len == best->len && waits && !best_waits)) {
            most = i;
            same = 0;
        } else if (group->len == best->len && waits == best_waits) {
            same++;
        }
    }
    for (size_t i = 0; i < groups->len && same == 0; i++) {
        groups->items[i].odd = i != most;
    }
}

void stack_groups_make(struct stack_groups *groups, struct stack_list *list)
{
    *groups = (struct stack_groups){0};
    for (size_t i = 0; i < list->len; i++) {
        struct stack_group *group = find_group(groups, key_of(&list->items[i]));
        group->stacks = xgrow(group->stacks, group->len, &group->cap, sizeof(struct stack *));
        group->stacks[group->len++] = &list->items[i];
    }
    for (size_t i = 0; i < groups->len; i++) {
        qsort(groups->items[i].stacks, groups->items[i].len, sizeof(struct stack *), compare_ranks);
    }
    mark_odd(groups);
    if (groups->len > 0) {
        qsort(groups->items, groups->len, sizeof(*groups->items), compare_groups);
    }
}

void stack_groups_release(struct stack_groups *groups)
{
    for (size_t i = 0; i < groups->len; i++) {
        free(groups->items[i].stacks);
        free(groups->items[i].key);
    }
    free(groups->items);
    *groups = (struct stack_groups){0};
}

void stack_group_add_ranks(const struct stack_group *group, struct str *out)
{
    str_add(out, group->len == 1 ? "rank " : "ranks ");
    size_t shown = 0;
    for (size_t first = 0, last = 0; first < group->len; first = last + 1) {
        last = first;
        while (last + 1 < group->len && group->stacks[last + 1]->rank == group->stacks[last]->rank + 1) {
            last++;
        }
        if (shown++ == RANKS_SHOWN) {
            str_addf(out, ",… (%zu ranks)", group->len);
            return;
        }
        str_addf(out, first > 0 ? ",%u" : "%u", group->stacks[first]->rank);
        if (last > first) {
            str_addf(out, "-%u", group->stacks[last]->rank);
        }
    }
}

void stack_groups_add_summary(const struct stack_groups *groups, struct str *out)
{
    size_t shown = groups->len > SUMMARY_GROUPS ? SUMMARY_GROUPS : groups->len;
    for (size_t i = 0; i < shown; i++) {
        /* the last group has the most ranks; the others follow from the smallest on */
        const struct stack_group *group = &groups->items[i == 0 ? groups->len - 1 : i - 1];
        str_add(out, i > 0 ? "; " : "");
        if (group->len == 1) {
            str_addf(out, "rank %u ", group->stacks[0]->rank);
        } else {
            str_addf(out, "%zu ranks ", group->len);
        }
        stack_add_place(group->stacks[0], out);
    }
    if (groups->len > shown) {
        str_addf(out, groups->len - shown == 1 ? "; and %zu other place" : "; and %zu other places",
                 groups->len - shown);
    }
}
