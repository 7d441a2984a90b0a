/* Where a run's work happens, as a value. */
#include "model/place.h"

#include <stdlib.h>

#include "base/alloc.h"

void place_init(struct place *place)
{
    *place = (struct place){0};
}

void place_copy(struct place *to, const struct place *from)
{
    *to = (struct place){
        .container = xstrdup(from->container),
        .engine = xstrdup(from->engine),
        .sudo = from->sudo,
        .user = xstrdup(from->user),
        .id = xstrdup(from->id),
        .started = xstrdup(from->started),
    };
}

void place_release(struct place *place)
{
    free(place->container);
    free(place->engine);
    free(place->user);
    free(place->id);
    free(place->started);
    place_init(place);
}
