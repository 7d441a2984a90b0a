/* Finds the step from which the training of a node went on: what it says itself, or its first line with a
 * step. */
#include "insight/start_step.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "clean_internal.h"
#include "insight/evidence.h"

#define STEP_DIGITS_MAX 12

/* "step 50", "iteration: 50", "Epoch=3": the number behind the unit. NULL: there is none. */
static const char *find_number(const char *text, const char *unit)
{
    size_t unit_len = strlen(unit);
    for (const char *at = strcasestr(text, unit); at; at = strcasestr(at + 1, unit)) {
        const char *number = at + unit_len + strspn(at + unit_len, " :=#\t");
        size_t digits = strspn(number, "0123456789");
        bool apart = at == text || !isalpha((unsigned char)at[-1]);
        bool whole = digits > 0 && digits <= STEP_DIGITS_MAX && number[digits] != '.';
        if (apart && whole && number > at + unit_len) {
            return number;
        }
    }
    return NULL;
}

/* The word, whole or with an ending ("starting"), before end. NULL: it is not there. */
static const char *find_word(const char *text, const char *end, const char *word)
{
    for (const char *at = strcasestr(text, word); at && at < end; at = strcasestr(at + 1, word)) {
        const char *after = at + strlen(word);
        while (isalpha((unsigned char)*after)) {
            after++;
        }
        bool apart = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_' && at[-1] != '-');
        if (apart && (*after == ' ' || *after == ':' || *after == ',')) {
            return at;
        }
    }
    return NULL;
}

/*
 * Does a word before the number say that the training begins or goes on there? Much else is loaded than
 * checkpoints, and an option such as start_step=0 says nothing.
 */
static bool says_start(const char *text, const char *number)
{
    static const char *const words[] = {"resum", "restor", "start", "continu"};
    static const char *const loaded[] = {"checkpoint", "ckpt", "state"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (find_word(text, number, words[i])) {
            return true;
        }
    }
    bool checkpoint = false;
    for (size_t i = 0; i < ARRAY_LEN(loaded); i++) {
        const char *at = strcasestr(text, loaded[i]);
        checkpoint = checkpoint || (at && at < number);
    }
    return checkpoint && find_word(text, number, "load");
}

/* Near the start of the log, and not seen before: records of a search may repeat lines. */
static bool is_new(struct start_step *start, unsigned long line)
{
    if (start->shown == START_STEP_LINES || line > START_STEP_WITHIN || line <= start->last) {
        return false;
    }
    start->last = line;
    return true;
}

void start_step_note(struct evidence *evidence, unsigned long line, const char *bytes, size_t len)
{
    static const char *const units[] = {"step", "iteration", "iter", "epoch"};
    struct start_step *start = &evidence->start;
    struct clean_line clean;
    if (!is_new(start, line)) {
        return;
    }
    clean_line(bytes, len, &clean);
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        const char *number = find_number(clean.text, units[i]);
        if (!number) {
            continue;
        }
        bool said = says_start(clean.text, number);
        start->shown += !said;
        if (!start->unit || (said && !start->said)) {
            free(start->text);
            start->unit = units[i];
            start->number = strtoll(number, NULL, 10);
            start->said = said;
            start->line = line;
            start->text = xstrdup(clean.text);
        }
        return;
    }
}
