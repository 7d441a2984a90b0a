/* How hosts are reached, as a spec says it beside the host list. A value. */
#ifndef MTLAUNCH_MODEL_REACH_H
#define MTLAUNCH_MODEL_REACH_H

/* Owned strings; NULL and 0: not said. */
struct reach {
    char *user;
    unsigned port;
    char *identity, *config, *known_hosts;
    char *client, *host_key, *jump;
};

void reach_init(struct reach *reach);
void reach_copy(struct reach *to, const struct reach *from); /* to is uninitialised or zero */
void reach_release(struct reach *reach);                     /* leaves it as reach_init does */

#endif
