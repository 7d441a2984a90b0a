/* Reads the list of steps of a ladder. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cmd/ladder_internal.h"

#define NODES_MAX 65536

void ladder_steps_release(struct ladder_steps *steps)
{
    for (size_t i = 0; i < steps->len; i++) {
        free(steps->items[i].name);
        free(steps->items[i].zero_stage);
        strlist_release(&steps->items[i].profiles);
    }
    steps->len = 0;
}

/* The step that is being read. A second number of nodes or level contradicts the first. */
struct reading {
    const struct strlist *profiles;
    const char *job;
    struct ladder_step *step;
    bool has_nodes;
};

static int said_twice(const struct reading *reading, const char *what, struct error *err)
{
    error_set(err, &kind_usage, "step '%s' has two %s", reading->step->name, what);
    return error_hint(err, "separate steps by commas: a step has one of them at most");
}

static int unknown_part(const struct reading *reading, const char *part, struct error *err)
{
    AUTO_FREE char *names = strlist_join(reading->profiles, ", ");
    const char *near =
        text_nearest(part, (const char *const *)reading->profiles->items, reading->profiles->len);
    error_set(
        err, &kind_usage,
        "'%s' in --steps is not a number of nodes, 'all', a ZeRO level 'z0' to 'z3' or a profile of '%s'",
        part, reading->job);
    if (near) {
        return error_hint(err, "did you mean '%s'?", near);
    }
    return reading->profiles->len > 0
               ? error_hint(err, "its profiles are %s", names)
               : error_hint(err, "the job has no profiles; for example: --steps 1,2,all+z1");
}

static int take_nodes(struct reading *reading, unsigned long nodes, struct error *err)
{
    if (reading->has_nodes) {
        return said_twice(reading, "numbers of nodes", err);
    }
    reading->has_nodes = true;
    reading->step->nodes = nodes;
    return 0;
}

static int take_part(struct reading *reading, const char *part, struct error *err)
{
    struct ladder_step *step = reading->step;
    uint64_t nodes = 0;
    if (strcmp(part, "all") == 0) {
        return take_nodes(reading, 0, err);
    }
    if (text_to_uint(part, 1, NODES_MAX, &nodes)) {
        return take_nodes(reading, (unsigned long)nodes, err);
    }
    if (strlist_has(reading->profiles, part)) {
        strlist_add(&step->profiles, part);
        return 0;
    }
    if (strlen(part) != 2 || part[0] != 'z' || part[1] < '0' || part[1] > '3') {
        return unknown_part(reading, part, err);
    }
    if (step->zero_stage) {
        return said_twice(reading, "ZeRO levels", err);
    }
    step->zero_stage = xstrdup(part + 1);
    return 0;
}

/* Read a step such as "4+z1". */
static int take_step(struct reading *reading, const char *text, struct error *err)
{
    AUTO_FREE char *parts = xstrdup(text);
    char *rest = parts;
    reading->has_nodes = false;
    reading->step->name = xstrdup(text);
    for (char *part = strsep(&rest, "+"); part; part = strsep(&rest, "+")) {
        if (*part == '\0') {
            error_set(err, &kind_usage, "'%s' in --steps has an empty part", text);
            return error_hint(err, "for example: --steps 1+smoke,all+smoke,z0,z1");
        }
        if (take_part(reading, part, err) != 0) {
            return -1;
        }
    }
    for (char *at = reading->step->name; *at; at++) {
        *at = *at == '+' ? '-' : *at;
    }
    return 0;
}

int ladder_read_steps(const char *list, const struct strlist *profiles, const char *job,
                      struct ladder_steps *out, struct error *err)
{
    AUTO_FREE char *words = xstrdup(list);
    char *rest = words;
    struct reading reading = {.profiles = profiles, .job = job};
    *out = (struct ladder_steps){0};
    for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
        if (out->len == LADDER_STEPS_MAX) {
            error_set(err, &kind_usage, "--steps has more than %d steps", LADDER_STEPS_MAX);
            return error_hint(err, "split it into two ladders");
        }
        reading.step = &out->items[out->len++];
        *reading.step = (struct ladder_step){0};
        if (take_step(&reading, word, err) != 0) {
            return -1;
        }
        for (size_t i = 0; i + 1 < out->len; i++) {
            if (strcmp(out->items[i].name, reading.step->name) == 0) {
                error_set(err, &kind_usage, "step '%s' is in --steps twice", word);
                return error_hint(err, "leave one of them out");
            }
        }
    }
    return 0;
}

const char *ladder_default_steps(const struct strlist *profiles, size_t hosts)
{
    bool smoke = strlist_has(profiles, LADDER_SMOKE);
    if (hosts == 1) {
        return smoke ? "1+" LADDER_SMOKE ",z0,z1,z2" : "z0,z1,z2";
    }
    return smoke ? "1+" LADDER_SMOKE ",all+" LADDER_SMOKE ",z0,z1,z2" : "1,all,z0,z1,z2";
}
