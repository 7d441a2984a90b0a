/*
 * What is found in an expression for a line does hold for every line that the expression matches. The input
 * is the expression, a line end, and a line as it is shown: without control characters, in UTF-8.
 */
#include <locale.h>
#include <regex.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "fuzz.h"
#include "insight/prefilter.h"

static bool holds(const char *alternative, const char *line)
{
    while (*alternative) {
        size_t len = strcspn(alternative, "\n");
        AUTO_FREE char *piece = xstrndup(alternative, len);
        const char *found = strstr(line, piece);
        if (!found) {
            return false;
        }
        line = found + len;
        alternative += len + (alternative[len] == '\n');
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = xstrndup((const char *)data, size < 200 ? size : 200);
    AUTO_STRLIST struct strlist found = STRLIST_INIT;
    AUTO_STR struct str line = STR_INIT;
    regex_t regex;
    char *newline = strchr(text, '\n');
    setlocale(LC_CTYPE, size % 2 ? "C" : "C.UTF-8");
    if (!newline) {
        return 0;
    }
    *newline = '\0';
    text_add_line(&line, newline + 1, strlen(newline + 1));
    if (regcomp(&regex, text, REG_EXTENDED | REG_NOSUB) != 0) {
        return 0;
    }
    if (prefilter_find(text, &found) && regexec(&regex, str_text(&line), 0, NULL, 0) == 0) {
        bool any = false;
        for (size_t i = 0; i < found.len; i++) {
            any = any || holds(found.items[i], str_text(&line));
        }
        CHECK(any);
    }
    regfree(&regex);
    return 0;
}
