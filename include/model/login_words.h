/*
 * What servers, PAM and shells print when a login does not get to its command: on the banner, on standard
 * error or in place of an answer. A known text has a remedy; for any other text the last lines are quoted. To
 * add one: a row of the table in login_words.c and a sample in tests/unit/model/test_login_words.c, which
 * fails for a row without one.
 */
#ifndef MTLAUNCH_MODEL_LOGIN_WORDS_H
#define MTLAUNCH_MODEL_LOGIN_WORDS_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

/* Sent by OpenSSH 9.8 and later to a source that it penalizes, and when it has no room for more logins. */
#define LOGIN_WORDS_PENALTY "Not allowed at this time"

struct login_words {
    const char *text;   /* a part of the line, in any case of letters */
    const char *action; /* what to do, in the form of a hint */
};

extern const struct login_words login_words[];
extern const size_t login_words_len;

/*
 * Append the part that people should read: the known line, else the last two lines that are not blank (joined
 * by " / ", 300 bytes at most), control characters replaced. Returns the remedy; NULL: the text is not known.
 */
const char *login_words_pick(const char *said, size_t len, struct str *shown);

/* Append what was printed to the message ("; MESSAGE: 'LINE'"), and replace the hint with the remedy of a
 * known text. Does nothing if nothing was printed. */
void login_words_explain(struct error *err, const char *who, const char *said, size_t len);

#endif
