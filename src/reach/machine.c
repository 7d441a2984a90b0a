/* Reads name, user, home, agent and addresses of this machine and the caller. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "reach/authority_internal.h"
#include "reach/endpoint.h"

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in4;
        memcpy(&in4, address, sizeof(in4));
        return (ntohl(in4.sin_addr.s_addr) >> 24) == 127;
    }
    struct sockaddr_in6 in6;
    memcpy(&in6, address, sizeof(in6));
    return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
}

static void add_address(struct machine *machine, const struct sockaddr *address)
{
    char text[INET6_ADDRSTRLEN] = "";

    if (address->sa_family == AF_INET) {
        struct sockaddr_in in4;
        memcpy(&in4, address, sizeof(in4));
        inet_ntop(AF_INET, &in4.sin_addr, text, sizeof(text));
    } else {
        struct sockaddr_in6 in6;
        memcpy(&in6, address, sizeof(in6));
        inet_ntop(AF_INET6, &in6.sin6_addr, text, sizeof(text));
    }
    strlist_add(&machine->addresses, text);
}

static int read_addresses(struct machine *machine, struct error *err)
{
    struct ifaddrs *list;

    if (getifaddrs(&list) != 0) {
        return error_set(err, &kind_local, "network interfaces cannot be listed: %s", strerror(errno));
    }
    for (const struct ifaddrs *at = list; at; at = at->ifa_next) {
        if (!at->ifa_addr || (at->ifa_flags & IFF_LOOPBACK) != 0) {
            continue;
        }
        if (at->ifa_addr->sa_family != AF_INET && at->ifa_addr->sa_family != AF_INET6) {
            continue;
        }
        if (!is_loopback(at->ifa_addr)) {
            add_address(machine, at->ifa_addr);
        }
    }
    freeifaddrs(list);
    return 0;
}

int machine_read(struct machine *machine, const char *home, struct error *err)
{
    struct utsname names;
    const struct passwd *entry;

    *machine = (struct machine){0};
    if (uname(&names) != 0) {
        return error_set(err, &kind_local, "this machine's name cannot be read: %s", strerror(errno));
    }
    machine->name = xstrdup(names.nodename);
    entry = getpwuid(geteuid());
    if (entry) {
        machine->user = xstrdup(entry->pw_name);
    } else {
        machine->user = xasprintf("%lu", (unsigned long)geteuid());
    }
    if (home && home[0] == '/') {
        machine->home = xstrdup(home);
    } else {
        machine->home = xstrdup(entry && entry->pw_dir[0] == '/' ? entry->pw_dir : "/");
    }
    machine->moved = entry && strcmp(machine->home, entry->pw_dir) != 0;
    if (getenv("SSH_AUTH_SOCK") && getenv("SSH_AUTH_SOCK")[0] != '\0') {
        machine->agent = xstrdup(getenv("SSH_AUTH_SOCK"));
    }
    machine->authorities = ssh_authorities_new();
    if (read_addresses(machine, err) != 0) {
        machine_release(machine);
        return -1;
    }
    return 0;
}

void machine_release(struct machine *machine)
{
    free(machine->name);
    free(machine->user);
    free(machine->home);
    free(machine->agent);
    strlist_release(&machine->addresses);
    ssh_authorities_free(machine->authorities);
    *machine = (struct machine){0};
}
