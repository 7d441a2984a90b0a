/* Quotes words for a POSIX shell. */
#include "base/quote.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"

void quote_sh(struct str *out, const char *text)
{
    str_add_char(out, '\'');
    for (;;) {
        size_t plain = strcspn(text, "'");
        str_add_mem(out, text, plain);
        text += plain;
        if (*text == '\0') {
            break;
        }
        str_add(out, "'\\''"); /* close the quotes, add an escaped quote, open them again */
        text++;
    }
    str_add_char(out, '\'');
}

/*
 * True if no shell treats a character of text specially inside a word (POSIX XCU 2.2, and the extensions of
 * bash, zsh and ksh: no brace, tilde, glob, history or extended glob characters).
 */
static bool is_plain(const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=@%+,";

    /* zsh replaces a word that starts with '=' with the path of that command. */
    return text[0] != '\0' && text[0] != '=' && text[strspn(text, plain)] == '\0';
}

void quote_sh_pretty(struct str *out, const char *text)
{
    if (is_plain(text)) {
        str_add(out, text);
    } else {
        quote_sh(out, text);
    }
}

/* Would a shell take the first word of a line for something else than a command's name? */
static bool is_special_first(const char *word)
{
    static const char *const reserved[] = {"if",   "then", "elif",     "else",   "fi",     "do",     "done",
                                           "case", "esac", "while",    "until",  "for",    "in",     "select",
                                           "time", "end",  "function", "coproc", "repeat", "foreach"};

    if (strchr(word, '=')) { /* an assignment */
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++) {
        if (strcmp(word, reserved[i]) == 0) {
            return true;
        }
    }
    return false;
}

void quote_argv_pretty(struct str *out, char *const *argv, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            str_add_char(out, ' ');
        }
        if (i == 0 && is_special_first(argv[i])) {
            quote_sh(out, argv[i]);
        } else {
            quote_sh_pretty(out, argv[i]);
        }
    }
}
