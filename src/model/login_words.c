/* Explains what a login prints when it does not run the command. */
#include "model/login_words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

#define SHOWN_BYTES 300

/* Sources: sshd's session.c and auth-pam.c, Linux-PAM's pam_unix, pam_nologin, pam_limits, pam_access,
 * shadow's nologin(8) and expiry, bash's jobs.c, dash's jobs.c, busybox ash, OpenSSH's srclimit.c. */
const struct login_words login_words[] = {
    {LOGIN_WORDS_PENALTY,
     "sshd turns this machine away for a while: after failed or broken logins (PerSourcePenalties: 15 s to 10"
     " min by default), or because too many log in at once (MaxStartups); correct the user or key, wait, then"
     " try again; PerSourcePenaltyExemptList in its sshd_config exempts a machine"},
    {"Exceeded MaxStartups", "too many logins at once for the server: raise MaxStartups in its sshd_config, "
                             "or use a smaller --fanout"},
    {"password has expired", "set a new password there (ssh -t HOST passwd), or as root: chage -M -1 USER"},
    {"Password change required",
     "set a new password there (ssh -t HOST passwd), or as root: chage -M -1 USER"},
    {"required to change your password",
     "set a new password there (ssh -t HOST passwd), or as root: chage -M -1 USER"},
    {"account has expired", "let an administrator prolong the account there: chage -E -1 USER"},
    {"account is expired", "let an administrator prolong the account there: chage -E -1 USER"},
    {"account is currently not available",
     "the user's login shell there lets nobody in: as root, chsh -s /bin/bash USER"},
    {"account is locked", "let an administrator unlock the account there: passwd -u USER"},
    {"System is booting up", "wait until the host has started; it lets users in when /run/nologin is gone"},
    {"System is going down", "the host is shutting down: wait until it is up again"},
    {"nologin", "the host is closed to users: an administrator has to remove /etc/nologin there"},
    {"Too many logins",
     "raise maxlogins for the user in /etc/security/limits.conf there, or end other logins"},
    {"fork: retry: Resource temporarily unavailable",
     "the user is at the process limit there: end processes, or raise it (ulimit -u, TasksMax of systemd)"},
    {"fork: Resource temporarily unavailable",
     "the user is at the process limit there: end processes, or raise it (ulimit -u, TasksMax of systemd)"},
    {"Cannot fork",
     "the user is at the process limit there: end processes, or raise it (ulimit -u, TasksMax of systemd)"},
    {"can't fork",
     "the user is at the process limit there: end processes, or raise it (ulimit -u, TasksMax of systemd)"},
    {"Cannot allocate memory", "the host is out of memory: end processes there"},
    {"No space left on device", "a disk is full there: look with df -h"},
    {"Disk quota exceeded", "the user's disk quota there is used up: look with quota -s"},
};

const size_t login_words_len = ARRAY_LEN(login_words);

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Append the line that contains offset at, without leading and trailing blanks. */
static void add_line(const char *said, size_t len, size_t at, struct str *shown)
{
    size_t begin = at, end = at;

    while (begin > 0 && said[begin - 1] != '\n') {
        begin--;
    }
    while (end < len && said[end] != '\n') {
        end++;
    }
    while (begin < end && is_blank(said[begin])) {
        begin++;
    }
    while (end > begin && is_blank(said[end - 1])) {
        end--;
    }
    text_add_line(shown, said + begin, end - begin < SHOWN_BYTES ? end - begin : SHOWN_BYTES);
}

/* The length of the first end bytes without trailing blanks and line ends; 0: they are all blank. */
static size_t skip_blanks_back(const char *said, size_t end)
{
    while (end > 0 && is_blank(said[end - 1])) {
        end--;
    }
    return end;
}

static void add_last_lines(const char *said, size_t len, struct str *shown)
{
    size_t last = skip_blanks_back(said, len), begin = last, before;

    if (last == 0) {
        return;
    }
    while (begin > 0 && said[begin - 1] != '\n') {
        begin--;
    }
    before = skip_blanks_back(said, begin);
    if (before > 0 && last - begin < SHOWN_BYTES / 2) {
        AUTO_STR struct str line = STR_INIT;
        add_line(said, before, before - 1, &line);
        if (line.len < SHOWN_BYTES / 2) {
            str_addf(shown, "%s / ", str_text(&line));
        }
    }
    add_line(said, len, last - 1, shown);
}

const char *login_words_pick(const char *said, size_t len, struct str *shown)
{
    AUTO_FREE char *text = xcalloc(1, len + 1);

    for (size_t i = 0; i < len; i++) { /* a NUL byte does not end a server's text */
        text[i] = said[i] == '\0' ? ' ' : said[i];
    }
    for (size_t i = 0; i < login_words_len; i++) {
        const char *at = strcasestr(text, login_words[i].text);
        if (!at) {
            continue;
        }
        add_line(text, len, (size_t)(at - text), shown);
        return login_words[i].action;
    }
    add_last_lines(text, len, shown);
    return NULL;
}

void login_words_explain(struct error *err, const char *who, const char *said, size_t len)
{
    AUTO_STR struct str shown = STR_INIT;
    const struct error before = *err;
    const char *action = login_words_pick(said, len, &shown);

    if (shown.len == 0) {
        return;
    }
    error_set(err, before.kind, "%s; %s: '%s'", before.text, who, str_text(&shown));
    error_hint(err, "%s", action ? action : before.hint);
}
