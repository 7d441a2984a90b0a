/*
 * What servers, PAM and shells say when a login does not come to its command: on the banner, on standard
 * error or in place of an answer. A known text has a remedy; of any other the last lines are quoted. A new
 * one is a row of the table in login_words.c and a sample in tests/unit/model/test_login_words.c, which fails
 * for a row without one.
 */
#ifndef MTLAUNCH_MODEL_LOGIN_WORDS_H
#define MTLAUNCH_MODEL_LOGIN_WORDS_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

/* OpenSSH from 9.8 on, to a source that it punishes and to those it has no room for. */
#define LOGIN_WORDS_PENALTY "Not allowed at this time"

struct login_words {
    const char *text;   /* a part of the line, in any case of letters */
    const char *action; /* what to do, as a hint says it */
};

extern const struct login_words login_words[];
extern const size_t login_words_len;

/*
 * Append what people should read of it: the known line, else the last two lines that say anything (joined by
 * " / ", 300 bytes at most), control characters replaced. Returns the remedy; NULL: the text is not known.
 */
const char *login_words_pick(const char *said, size_t len, struct str *shown);

/* Put what was said behind the message ("; MESSAGE: 'LINE'"), and the remedy of a known text in place of the
 * hint. Nothing when nothing was said. */
void login_words_explain(struct error *err, const char *who, const char *said, size_t len);

#endif
