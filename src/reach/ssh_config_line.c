/* Splits a line of ssh_config into words, with the quoting rules of OpenSSH. */
#include <string.h>

#include "base/str.h"
#include "model/kind.h"
#include "reach/ssh_config_internal.h"

/*
 * Take one word from *at. OpenSSH's quoting: "…" and '…' anywhere in a word; a backslash escapes a quote, a
 * backslash and, outside of quotes, a blank. Returns 1 for a word, 0 at the end of the line or a comment, -1
 * for an open quote.
 */
static int next_word(const char **at, struct str *word)
{
    const char *p = *at;
    char quote = '\0';

    while (*p == ' ' || *p == '\t') {
        p++;
    }
    if (*p == '\0' || *p == '#') {
        return 0;
    }
    for (; *p != '\0' && (quote != '\0' || (*p != ' ' && *p != '\t')); p++) {
        if (*p == '\\' && (p[1] == '"' || p[1] == '\'' || p[1] == '\\' || (quote == '\0' && p[1] == ' '))) {
            str_add_char(word, *++p);
        } else if (quote == '\0' && (*p == '"' || *p == '\'')) {
            quote = *p;
        } else if (quote != '\0' && *p == quote) {
            quote = '\0';
        } else {
            str_add_char(word, *p);
        }
    }
    *at = p;
    return quote == '\0' ? 1 : -1;
}

int ssh_config_split(const char *line, struct strlist *words, const char **rest, struct error *err)
{
    const char *at = line + strspn(line, " \t");
    bool quoted = at[0] == '"';
    size_t len;

    *rest = "";
    if (at[0] == '\0' || at[0] == '#') {
        return 0;
    }
    at += quoted ? 1 : 0;
    len = quoted ? strcspn(at, "\"") : strcspn(at, " \t=\"");
    strlist_add_mem(words, at, len);
    at += len + (quoted && at[len] == '"' ? 1 : 0);
    at += strspn(at, " \t");
    if (*at == '=' && !quoted) { /* as in OpenSSH, after quotes it belongs to the value */
        at++;
    }
    *rest = at + strspn(at, " \t");
    for (;;) {
        AUTO_STR struct str word = STR_INIT;
        int got = next_word(&at, &word);
        if (got < 0) {
            return error_set(err, &kind_ssh_config, "a quote is not closed");
        }
        if (got == 0) {
            return 0;
        }
        strlist_add(words, str_text(&word));
    }
}
