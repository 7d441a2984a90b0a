/*
 * Removes the position that a shell puts before its own messages: the job's text is not in a file, so the
 * position means nothing to users.
 */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "node/answer.h"

#define JOB_TEXT "/proc/self/fd/8: "

static const char *skip(const char *at, const char *word)
{
    return text_starts(at, word) ? at + strlen(word) : at;
}

/* bash: "FILE: eval: line N: ", busybox: "FILE: line N: ", dash: "FILE: N: eval: ". */
static const char *skip_place(const char *at)
{
    at = skip(at, JOB_TEXT);
    at = skip(at, "eval: ");
    const char *number = skip(at, "line ");
    const char *end = number;
    while (isdigit((unsigned char)*end)) {
        end++;
    }
    at = end > number && text_starts(end, ": ") ? end + 2 : at;
    return skip(at, "eval: ");
}

void node_drop_shell_place(char *text)
{
    if (!text) {
        return;
    }
    char *to = text;
    for (const char *at = text; *at != '\0';) {
        const char *next = text_starts(at, JOB_TEXT) ? skip_place(at) : at;
        if (next == at) {
            *to++ = *at++;
        } else {
            at = next;
        }
    }
    *to = '\0';
}
