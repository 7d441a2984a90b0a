/*
 * Host keys that are not known yet: endpoints that point to a list of offers add to it what their hosts show
 * instead of "a key is not known" alone; the login ends there all the same. Whoever has compared the
 * fingerprints writes the keys down.
 */
#ifndef MTLAUNCH_TRANSPORT_TRUST_H
#define MTLAUNCH_TRANSPORT_TRUST_H

#include <stddef.h>

#include "base/error.h"

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

/* Write one down: a line is added under a lock unless it stands there. Errors: kind_local. */
int hostkey_offer_accept(const struct hostkey_offer *offer, struct error *err);

#endif
