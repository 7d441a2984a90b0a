/*
 * Removes the host's name from messages of OpenSSH's client, so that the same failure on many hosts is one
 * message. Our own message names the host anyway.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"
#include "transport/openssh/openssh_internal.h"

static bool is_address(const char *word)
{
    struct in6_addr in6;
    struct in_addr in4;

    return inet_pton(AF_INET, word, &in4) == 1 || inet_pton(AF_INET6, word, &in6) == 1;
}

/* Words that ssh puts before a name, even if a host is named like that. */
static bool is_own_word(const char *word)
{
    static const char *const words[] = {"host", "hostname", "server", "port", "key", "connect"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcasecmp(word, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_name(const struct endpoint *endpoint, const char *word)
{
    if (is_own_word(word)) {
        return false;
    }
    return strcasecmp(word, endpoint->name) == 0 || strcasecmp(word, endpoint->hostname) == 0 ||
           is_address(word);
}

/*
 * "NAME", "[NAME]", "[NAME]:PORT", "USER@NAME": does the word name the host? *user_len: the length of the
 * user.
 */
static bool names_host(const struct endpoint *endpoint, const char *word, size_t len, size_t *user_len)
{
    AUTO_FREE char *text = xstrndup(word, len);
    char *at = strrchr(text, '@'), *name = at ? at + 1 : text;
    char *close = name[0] == '[' ? strchr(name, ']') : NULL;

    *user_len = at ? (size_t)(at - text) : 0;
    if (close) {
        *close = '\0';
        name++;
    }
    return is_name(endpoint, name);
}

static bool ends_with_word(const struct str *text, const char *word)
{
    size_t len = strlen(word);

    return text->len >= len && strcmp(str_text(text) + text->len - len, word) == 0 &&
           (text->len == len || str_text(text)[text->len - len - 1] == ' ');
}

/* Append what replaces the host's name: "login as 'USER'", "the host" after some words, else nothing. */
static void add_stand_in(struct str *out, const char *word, size_t user_len)
{
    static const char *const before[] = {"by", "from", "to", "for", "with"};

    if (user_len > 0) {
        str_addf(out, "%slogin as '%.*s'", out->len > 0 ? " " : "", (int)user_len, word);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(before); i++) {
        if (ends_with_word(out, before[i])) {
            str_add(out, " the host");
        }
    }
}

void openssh_drop_name(const struct endpoint *endpoint, struct error *err)
{
    AUTO_STR struct str out = STR_INIT;

    for (const char *at = err->text; *at != '\0';) {
        size_t whole = strcspn(at, " "), len = whole, user_len = 0;
        while (len > 0 && strchr(":,.", at[len - 1])) {
            len--;
        }
        if (len == 0 || !names_host(endpoint, at, len, &user_len)) {
            str_addf(&out, "%s%.*s", out.len > 0 ? " " : "", (int)whole, at);
        } else {
            size_t before = out.len;
            add_stand_in(&out, at, user_len);
            /* the name's colon moves to the word before it, unless that has one */
            if (out.len > before || (out.len > 0 && str_text(&out)[out.len - 1] != ':')) {
                str_add_mem(&out, at + len, whole - len);
            }
        }
        at += whole;
        at += strspn(at, " ");
    }
    snprintf(err->text, sizeof(err->text), "%s", str_text(&out));
}
