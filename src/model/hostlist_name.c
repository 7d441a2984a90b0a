/* "[user@]name[:port]", and what a host name or address may look like. No name is looked up. */
#include <arpa/inet.h>
#include <net/if.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/hostlist_internal.h"
#include "model/kind.h"

/* No sshd uses a port below this one; "host:8" means 8 processes to other launchers. */
#define PORT_MIN 22
#define PORT_MAX 65535

static const char name_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

bool hostlist_ipv6_valid(const char *text, size_t len, bool zone)
{
    struct in6_addr address;
    AUTO_FREE char *bare = xstrndup(text, len);
    char *percent = strchr(bare, '%');

    if (percent) {
        size_t zone_len = strlen(percent + 1);
        if (!zone || zone_len == 0 || zone_len >= IF_NAMESIZE ||
            strspn(percent + 1, name_characters) != zone_len) {
            return false;
        }
        *percent = '\0';
    }
    return inet_pton(AF_INET6, bare, &address) == 1;
}

static bool is_ipv4(const char *text)
{
    struct in_addr address;

    return inet_pton(AF_INET, text, &address) == 1;
}

/* "10.0.0.1-4" or "10.0.0.1-10.0.0.4", which was meant as a range. The hint shows how to write it. */
static int refuse_dashed_address(const char *name, struct error *err)
{
    size_t dash = strcspn(name, "-");
    AUTO_FREE char *first = xstrndup(name, dash);
    const char *last = strrchr(name + dash, '.') ? strrchr(name + dash, '.') + 1 : name + dash + 1;

    error_set(err, &kind_host_list, "'%s' is not an IPv4 address", name);
    if (!is_ipv4(first) || *last == '\0' || strchr(last, '-')) {
        return error_hint(err, "write a range of addresses as 10.0.0.[1-4]");
    }
    size_t network = (size_t)(strrchr(first, '.') + 1 - first);
    return error_hint(err, "write '%.*s[%s-%s]'", (int)network, first, first + network, last);
}

int hostlist_name_check(const char *name, struct error *err)
{
    size_t len = strlen(name);

    if (len > HOSTLIST_NAME_MAX) {
        error_set(err, &kind_host_list, "the host name '%s' has %zu characters, at most %d are allowed",
                  hostlist_token(name, len).text, len, HOSTLIST_NAME_MAX);
        return error_hint(err, "use a shorter name, or a Host entry of your ssh_config");
    }
    if (name[0] == '-') {
        error_set(err, &kind_host_list, "the host name '%s' starts with '-'", name);
        return error_hint(err, "names start with a letter, a digit, '.' or '_'");
    }
    if (strspn(name, "0123456789.") == len && !is_ipv4(name)) {
        error_set(err, &kind_host_list, "'%s' is not an IPv4 address, and a name needs a letter", name);
        return error_hint(err, "write an address as 10.0.0.7, a range of addresses as 10.0.0.[1-4]");
    }
    if (strspn(name, "0123456789.-") == len && strchr(name, '.') && strchr(name, '-')) {
        return refuse_dashed_address(name, err);
    }
    return 0;
}

int hostlist_addr_check(const char *addr, struct error *err)
{
    size_t len = strlen(addr);

    if (strchr(addr, ':') || strchr(addr, '[')) {
        if (hostlist_ipv6_valid(addr, len, false)) {
            return 0;
        }
        error_set(err, &kind_host_list, "'addr=%s' is not an address", hostlist_token(addr, len).text);
        return error_hint(err, "write an IPv6 address without brackets, port and %%zone: addr=2001:db8::2");
    }
    if (len == 0 || strspn(addr, name_characters) != len) {
        error_set(err, &kind_host_list, "'addr=%s' is not an address", hostlist_token(addr, len).text);
        return error_hint(err, "give the one name or address by which the other nodes reach this host");
    }
    return hostlist_name_check(addr, err);
}

int hostlist_user_check(const char *user, size_t len, struct error *err)
{
    if (host_user_is_valid(user, len)) {
        return 0;
    }
    if (len == 0) {
        error_set(err, &kind_host_list, "the user is empty");
    } else {
        error_set(err, &kind_host_list, "'%s' is not a valid user name", hostlist_token(user, len).text);
    }
    return error_hint(err, HOST_USER_HINT);
}

/* Read ":port" from offset (that of the colon) up to end. */
static int read_port(struct hostlist_reader *reader, size_t offset, size_t end, struct hostlist_entry *entry,
                     struct error *err)
{
    uint64_t port;
    AUTO_FREE char *text = xstrndup(reader->text + offset + 1, end - offset - 1);
    struct hostlist_token shown = hostlist_token(text, strlen(text));

    if (!text_to_uint(text, 0, UINT64_MAX, &port)) {
        hostlist_reader_fail(reader, offset, err, "':%s' is no port", shown.text);
        return error_hint(err, "a port is a number from %d to %d; GPUs are given as slots=8", PORT_MIN,
                          PORT_MAX);
    }
    if (port < PORT_MIN) {
        hostlist_reader_fail(reader, offset, err, "port ':%s' is below %d", shown.text, PORT_MIN);
        return error_hint(err, "if this is the number of GPUs, write slots=%u", port ? (unsigned)port : 8);
    }
    if (port > PORT_MAX) {
        hostlist_reader_fail(reader, offset, err, "port ':%s' is above %d", shown.text, PORT_MAX);
        return error_hint(err, "a port is a number from %d to %d", PORT_MIN, PORT_MAX);
    }
    entry->host.port = (unsigned)port;
    return 0;
}

/* "[2001:db8::2]" with or without port; offset is that of '['. */
static int read_bracketed_ipv6(struct hostlist_reader *reader, size_t offset, size_t end,
                               struct hostlist_entry *entry, struct error *err)
{
    const char *text = reader->text + offset;
    size_t len = end - offset;
    const char *close = memchr(text, ']', len);
    struct hostlist_token shown = hostlist_token(text, len);

    if (!close) {
        hostlist_reader_fail(reader, offset, err, "unclosed '[' in '%s'", shown.text);
        return error_hint(err, "write an IPv6 address with a port as [2001:db8::2]:2222");
    }
    size_t inside = (size_t)(close - text) - 1;
    size_t behind = offset + inside + 2;
    if (!hostlist_ipv6_valid(text + 1, inside, true)) {
        hostlist_reader_fail(reader, offset, err, "'%s' is not an IPv6 address",
                             hostlist_token(text + 1, inside).text);
        return error_hint(err, "an IPv6 address looks like 2001:db8::2, with a port [2001:db8::2]:2222");
    }
    hostlist_pattern_set(&entry->pattern, text + 1, inside);
    if (behind == end) {
        return 0;
    }
    if (reader->text[behind] != ':') {
        hostlist_reader_fail(reader, behind, err, "'%s' after the address in '%s'",
                             hostlist_token(reader->text + behind, end - behind).text, shown.text);
        return error_hint(err, "only a port may follow: [2001:db8::2]:2222");
    }
    return read_port(reader, behind, end, entry, err);
}

/* The number of colons outside brackets; *first is the offset of the first one. */
static size_t count_colons(const char *text, size_t len, size_t *first)
{
    size_t depth = 0;
    size_t count = 0;

    *first = len;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '[') {
            depth++;
        } else if (text[i] == ']' && depth > 0) {
            depth--;
        } else if (text[i] == ':' && depth == 0 && count++ == 0) {
            *first = i;
        }
    }
    return count;
}

static int read_plain_name(struct hostlist_reader *reader, size_t offset, size_t end,
                           struct hostlist_entry *entry, struct error *err)
{
    const char *text = reader->text + offset;
    size_t bad;
    size_t colon;
    size_t colons = count_colons(text, end - offset, &colon);

    if (colons > 1) {
        if (!hostlist_ipv6_valid(text, end - offset, true)) {
            hostlist_reader_fail(reader, offset, err, "'%s' is neither host:port nor an IPv6 address",
                                 hostlist_token(text, end - offset).text);
            return error_hint(err, "put brackets around an IPv6 address with a port: [2001:db8::2]:2222");
        }
        hostlist_pattern_set(&entry->pattern, text, end - offset);
        return 0;
    }
    if (colon == 0) {
        hostlist_reader_fail(reader, offset, err, "no host name in '%s'",
                             hostlist_token(reader->text + entry->offset, entry->word_len).text);
        return error_hint(err, "write [user@]name[:port]");
    }
    if (hostlist_pattern_parse(&entry->pattern, text, colon, &bad, err) < 0) {
        return hostlist_reader_locate(reader, offset + bad, err);
    }
    if (colons == 1) {
        return read_port(reader, offset + colon, end, entry, err);
    }
    return 0;
}

/* "user@" in front: returns the offset after it, or SIZE_MAX after an error. */
static size_t read_user(struct hostlist_reader *reader, size_t offset, size_t end,
                        struct hostlist_entry *entry, struct error *err)
{
    const char *text = reader->text + offset;
    const char *at = memchr(text, '@', end - offset);

    if (!at) {
        return offset;
    }

    size_t len = (size_t)(at - text);
    const char *second = memchr(at + 1, '@', end - offset - len - 1);
    if (second) {
        hostlist_reader_fail(reader, offset + (size_t)(second - text), err, "two '@' in '%s'",
                             hostlist_token(text, end - offset).text);
        error_hint(err, "write [user@]name[:port]");
        return SIZE_MAX;
    }
    if (hostlist_user_check(text, len, err) < 0) {
        hostlist_reader_locate(reader, offset, err);
        return SIZE_MAX;
    }
    entry->host.user = xstrndup(text, len);
    return offset + len + 1;
}

int hostlist_name_parse(struct hostlist_reader *reader, size_t offset, size_t len,
                        struct hostlist_entry *entry, struct error *err)
{
    size_t end = offset + len;

    offset = read_user(reader, offset, end, entry, err);
    if (offset == SIZE_MAX) {
        return -1;
    }
    if (offset == end) {
        hostlist_reader_fail(reader, entry->offset, err, "no host name in '%s'",
                             hostlist_token(reader->text + entry->offset, entry->word_len).text);
        return error_hint(err, "write [user@]name[:port]");
    }

    entry->name_offset = offset;

    /* A group of ranges holds no colon, an IPv6 address does. */
    const char *text = reader->text + offset;
    size_t inside = 1;
    while (offset + inside < end && text[inside] != ']' && text[inside] != '[') {
        inside++;
    }
    if (text[0] == '[' && memchr(text, ':', inside)) {
        return read_bracketed_ipv6(reader, offset, end, entry, err);
    }
    return read_plain_name(reader, offset, end, entry, err);
}
