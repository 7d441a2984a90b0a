/*
 * Host keys that are not known yet: endpoints that point to a list of offers add to it what their hosts show
 * instead of "a key is not known" alone; the login ends there all the same. Whoever has compared the
 * fingerprints writes the keys down.
 */
#ifndef MTLAUNCH_REACH_TRUST_H
#define MTLAUNCH_REACH_TRUST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"

/* One key of one host; owned. */
struct hostkey_offer {
    char *host; /* as the host list, or the jump's text, has it */
    unsigned port;
    char *type; /* "ssh-ed25519" … */
    char *fingerprint;
    char *line; /* what goes into the file, with its line end */
    char *file; /* where it goes */
};

struct hostkey_offers {
    struct hostkey_offer *items;
    size_t len, cap;
};

void hostkey_offer_release(struct hostkey_offer *offer);
void hostkey_offers_release(struct hostkey_offers *offers);

/* Write one down: a line is added under a lock unless it stands there, which *added tells. Errors:
 * kind_local.
 */
int hostkey_offer_accept(const struct hostkey_offer *offer, bool *added, struct error *err);
/* Does its file keep what is written? /dev/null does not. */
bool hostkey_offer_can_stay(const struct hostkey_offer *offer);

/*
 * Hosts whose keys nobody verifies: new keys are taken (StrictHostKeyChecking no or accept-new), but the file
 * for them keeps none (UserKnownHostsFile /dev/null), and no other file knows the host. Add every endpoint,
 * its jumps are looked at too; the text is one warning for all, NULL when there is no such host (caller
 * frees).
 */
struct endpoint;
struct known_hosts;
struct trust_survey {
    struct strlist names; /* of such hosts */
    char *why;            /* of the first */
    struct known_hosts *known;
};
void trust_survey_add(struct trust_survey *survey, const struct endpoint *endpoint);
char *trust_survey_warning(const struct trust_survey *survey);
void trust_survey_release(struct trust_survey *survey);

#endif
