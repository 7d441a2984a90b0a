/* Collects host keys that are not known yet, and hosts whose keys nobody verifies. */
#include "reach/trust.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/hostlist.h"
#include "reach/endpoint.h"
#include "reach/known_hosts.h"

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
    for (size_t i = 0; i < offers->len; i++) {
        hostkey_offer_release(&offers->items[i]);
    }
    free(offers->items);
    *offers = (struct hostkey_offers){0};
}

int hostkey_offer_accept(const struct hostkey_offer *offer, bool *added, struct error *err)
{
    return known_hosts_append(offer->file, offer->line, added, err);
}

bool hostkey_offer_can_stay(const struct hostkey_offer *offer)
{
    struct stat st;

    return stat(offer->file, &st) != 0 || S_ISREG(st.st_mode);
}

static bool is_known(struct trust_survey *survey, const struct endpoint *endpoint)
{
    const struct known_name name = known_name_of(endpoint);
    AUTO_STRLIST struct strlist types = STRLIST_INIT;

    if (!survey->known) {
        survey->known = known_hosts_new();
    }
    return known_hosts_types(survey->known, &name, true, &types, NULL) == 0 && types.len > 0;
}

void trust_survey_add(struct trust_survey *survey, const struct endpoint *endpoint)
{
    for (; endpoint && !endpoint->local; endpoint = endpoint->jump) {
        const char *file = endpoint->trust_file;
        if (!endpoint->accept_new || (file && known_hosts_keeps(file)) ||
            strlist_has(&survey->names, endpoint->name) || is_known(survey, endpoint)) {
            continue;
        }
        strlist_add(&survey->names, endpoint->name);
        if (!survey->why) {
            survey->why = xasprintf(
                "%s takes any key%s%s%s", endpoint->accept_by_spec ? "the spec" : "ssh_config",
                file ? ", and '" : ", and no file", file ? file : "", file ? "' keeps none" : " keeps it");
        }
    }
}

char *trust_survey_warning(const struct trust_survey *survey)
{
    AUTO_STR struct str names = STR_INIT;

    if (survey->names.len == 0) {
        return NULL;
    }
    hostlist_fold_names(survey->names.items, survey->names.len, &names);
    return xasprintf("host keys are not verified for %s: %s", str_text(&names), survey->why);
}

void trust_survey_release(struct trust_survey *survey)
{
    strlist_release(&survey->names);
    free(survey->why);
    known_hosts_free(survey->known);
    *survey = (struct trust_survey){0};
}
