/* One entry of a host list, as a value. */
#include "model/host.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

void host_release(struct host *host)
{
    free(host->name);
    free(host->user);
    free(host->addr);
    free(host->ifname);
    free(host->workdir);
    free(host->python);
    free(host->gpus);
    free(host->file);
    env_release(&host->env);
    *host = (struct host){0};
}

void host_copy(struct host *to, const struct host *from)
{
    *to = (struct host){
        .name = xstrdup(from->name),
        .user = xstrdup(from->user),
        .port = from->port,
        .addr = xstrdup(from->addr),
        .ifname = xstrdup(from->ifname),
        .workdir = xstrdup(from->workdir),
        .python = xstrdup(from->python),
        .slots = from->slots,
        .gpus = xstrdup(from->gpus),
        .ssh_always = from->ssh_always,
        .here = from->here,
        .file = xstrdup(from->file),
        .line = from->line,
        .column = from->column,
    };
    env_copy(&to->env, &from->env);
}

static bool same_text(const char *a, const char *b)
{
    if (!a || !b) {
        return a == b;
    }
    return strcmp(a, b) == 0;
}

bool host_is_same(const struct host *a, const struct host *b)
{
    return a->port == b->port && same_text(a->user, b->user) && same_text(a->name, b->name);
}

/* ::1, or an IPv4 loopback address in its IPv6 form (::ffff:127.0.0.1). */
static bool is_loopback6(const struct in6_addr *address)
{
    if (IN6_IS_ADDR_LOOPBACK(address)) {
        return true;
    }
    return IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127;
}

bool host_name_is_loopback(const char *name)
{
    struct in_addr v4;
    struct in6_addr v6;

    if (strcasecmp(name, "localhost") == 0) {
        return true;
    }
    if (inet_pton(AF_INET, name, &v4) == 1) {
        return (ntohl(v4.s_addr) >> 24) == 127;
    }

    AUTO_FREE char *bare = xstrndup(name, strcspn(name, "%"));
    return inet_pton(AF_INET6, bare, &v6) == 1 && is_loopback6(&v6);
}

char *host_join_port(const char *addr, unsigned port)
{
    return xasprintf(strchr(addr, ':') ? "[%s]:%u" : "%s:%u", addr, port);
}

bool host_user_is_valid(const char *user, size_t len)
{
    static const char barred[] = " @:'\"`$;&<>|(){}";

    if (len == 0 || user[0] == '-' || user[len - 1] == '\\') {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)user[i];
        if (c < 0x20 || c == 0x7f || strchr(barred, user[i])) {
            return false;
        }
    }
    return true;
}
