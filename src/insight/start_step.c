/* Finds the step from which the training of a node went on: what it says itself, or its first line with a
 * step. */
#include "insight/start_step.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
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

/* Does a word before the number say that the training begins or goes on there? */
static bool says_start(const char *text, const char *number)
{
    static const char *const words[] = {"resum", "restor", "start", "load", "continu"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const char *at = strcasestr(text, words[i]);
        if (at && at < number) {
            return true;
        }
    }
    return false;
}

void start_step_note(struct evidence *evidence, unsigned long line, const char *bytes, size_t len)
{
    static const char *const units[] = {"step", "iteration", "iter", "epoch"};
    struct start_step *start = &evidence->start;
    if (start->shown == START_STEP_LINES) {
        return;
    }
    AUTO_FREE char *text = xstrndup(bytes, len);
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        const char *number = find_number(text, units[i]);
        if (!number) {
            continue;
        }
        bool said = says_start(text, number);
        start->shown += !said;
        if (!start->unit || (said && !start->said)) {
            free(start->text);
            start->unit = units[i];
            start->number = strtoll(number, NULL, 10);
            start->said = said;
            start->line = line;
            start->text = text;
            text = NULL;
        }
        return;
    }
}
