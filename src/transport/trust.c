#include "transport/trust.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "transport/ssh_known_hosts_internal.h"

void known_hosts_offer(struct hostkey_offers *offers, const char *host, const struct known_name *name,
                       const struct known_key *key, const char *file)
{
    struct hostkey_offer offer = {.host = xstrdup(host),
                                  .port = name->port,
                                  .type = xstrdup(key->type),
                                  .fingerprint = xstrdup(key->fingerprint),
                                  .line = known_hosts_line(name, key),
                                  .file = xstrdup(file)};

    offers->items = xgrow(offers->items, offers->len, &offers->cap, sizeof(*offers->items));
    offers->items[offers->len++] = offer;
}

void hostkey_offer_release(struct hostkey_offer *offer)
{
    free(offer->host);
    free(offer->type);
    free(offer->fingerprint);
    free(offer->line);
    free(offer->file);
}

void hostkey_offers_release(struct hostkey_offers *offers)
{
    for (size_t i = 0; i < offers->len; i++)
        hostkey_offer_release(&offers->items[i]);
    free(offers->items);
    *offers = (struct hostkey_offers){0};
}

int hostkey_offer_accept(const struct hostkey_offer *offer, struct error *err)
{
    return known_hosts_append(offer->file, offer->line, err);
}
