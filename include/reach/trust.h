/*
 * Host keys that are not known yet. An endpoint with a list of offers adds the key of its host to the list;
 * the login still fails. The keys can be accepted after their fingerprints have been compared.
 */
#ifndef MTLAUNCH_REACH_TRUST_H
#define MTLAUNCH_REACH_TRUST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"

/* One key of one host; owned. */
struct hostkey_offer {
    char *host; /* as in the host list or in the text of the jump */
    unsigned port;
    char *type; /* "ssh-ed25519" … */
    char *fingerprint;
    char *line; /* the line for the file, with its line end */
    char *file; /* the file that it is appended to */
};

struct hostkey_offers {
    struct hostkey_offer *items;
    size_t len, cap;
};

void hostkey_offer_release(struct hostkey_offer *offer);
void hostkey_offers_release(struct hostkey_offers *offers);

/* Append one to its file, under a lock; *added is false when the file has it already. Errors: kind_local.
 */
int hostkey_offer_accept(const struct hostkey_offer *offer, bool *added, struct error *err);
/* Does the file keep what is written to it? /dev/null does not. */
bool hostkey_offer_can_stay(const struct hostkey_offer *offer);

/*
 * Hosts whose keys are never verified: new keys are accepted (StrictHostKeyChecking no or accept-new), the
 * file for them does not keep them (UserKnownHostsFile /dev/null), and no other file has a key of the host.
 * Add every endpoint; its jumps are examined, too. The warning is one text for all such hosts; NULL when
 * there are none; the caller frees.
 */
struct endpoint;
struct known_hosts;
struct trust_survey {
    struct strlist names; /* of the unverified hosts */
    char *why;            /* why the first one is not verified */
    struct known_hosts *known;
};
void trust_survey_add(struct trust_survey *survey, const struct endpoint *endpoint);
char *trust_survey_warning(const struct trust_survey *survey);
void trust_survey_release(struct trust_survey *survey);

#endif
