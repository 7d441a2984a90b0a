/* Who is notified about a run, and of what. */
#include "model/notify.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

const char *const notify_event_names[NOTIFY_EVENTS] = {
    [NOTIFY_STARTED] = "started", [NOTIFY_FAILED] = "failed",       [NOTIFY_FINISHED] = "finished",
    [NOTIFY_STALLED] = "stalled", [NOTIFY_RESTARTED] = "restarted", [NOTIFY_STOPPED] = "stopped",
    [NOTIFY_LOST] = "lost",
};
const char *const notify_format_names[NOTIFY_FORMATS] = {
    [NOTIFY_JSON] = "json",
    [NOTIFY_SLACK] = "slack",
    [NOTIFY_FEISHU] = "feishu",
};

void notify_targets_release(struct notify_targets *targets)
{
    for (size_t i = 0; i < targets->len; i++) {
        free(targets->items[i].url);
    }
    free(targets->items);
    *targets = (struct notify_targets){0};
}

struct notify_target *notify_targets_add(struct notify_targets *targets, const char *url)
{
    targets->items = xgrow(targets->items, targets->len, &targets->cap, sizeof(targets->items[0]));
    struct notify_target *target = &targets->items[targets->len++];
    *target = (struct notify_target){.url = xstrdup(url), .on = NOTIFY_ON_DEFAULT};
    return target;
}

/* The text after "http://" or "https://" (*secure tells which), NULL when url begins otherwise. */
static const char *after_scheme(const char *url, bool *secure)
{
    *secure = text_starts(url, "https://");
    if (*secure) {
        return url + strlen("https://");
    }
    return text_starts(url, "http://") ? url + strlen("http://") : NULL;
}

/* host[:port], without a user name and password before an '@'. */
static const char *find_host(const char *authority, size_t *len)
{
    const char *host = authority;
    size_t all = strcspn(authority, "/?#");
    for (size_t i = 0; i < all; i++) {
        if (authority[i] == '@') {
            host = authority + i + 1;
        }
    }
    *len = all - (size_t)(host - authority);
    return host;
}

/* Characters that RFC 3986 does not allow in a URL: parsers could take different parts of it for the host. */
static bool has_odd_character(const char *url)
{
    for (const char *at = url; *at; at++) {
        if (*at <= ' ' || *at >= 0x7f || strchr("\"<>\\^`{|}", *at)) {
            return true;
        }
    }
    return false;
}

void notify_url_shown(const char *url, struct str *out)
{
    bool secure;
    size_t len;
    const char *authority = after_scheme(url, &secure);
    if (!authority) {
        str_add(out, "the URL");
        return;
    }
    const char *host = find_host(authority, &len);
    str_add(out, secure ? "https://" : "http://");
    text_add_line(out, host, len);
    str_add(out, "/…");
}

/* A host name or an IPv4 address. A text of only digits and dots has to be an address. */
static bool is_name(const char *host, size_t len)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    AUTO_FREE char *name = xstrndup(host, len);
    struct in_addr address;

    if (len == 0 || len > 253 || strspn(name, letters) != len || name[0] == '-' || name[0] == '.' ||
        strstr(name, "..")) {
        return false;
    }
    return strspn(name, "0123456789.") != len || inet_pton(AF_INET, name, &address) == 1;
}

static bool is_ipv6(const char *host, size_t len)
{
    AUTO_FREE char *text = xstrndup(host, len);
    struct in6_addr address;

    return inet_pton(AF_INET6, text, &address) == 1;
}

/* "name", "1.2.3.4" or "[IPv6]", and a port after a colon. */
static bool is_authority(const char *authority, size_t len)
{
    AUTO_FREE char *copy = xstrndup(authority, len);
    char *close = copy[0] == '[' ? strchr(copy, ']') : NULL;
    char *rest = close ? close + 1 : copy + strcspn(copy, ":");
    uint64_t port;

    if (copy[0] == '[' ? !close || !is_ipv6(copy + 1, (size_t)(close - copy) - 1)
                       : !is_name(copy, (size_t)(rest - copy))) {
        return false;
    }
    return *rest == '\0' || (*rest == ':' && text_to_uint(rest + 1, 1, 65535, &port));
}

int notify_url_check(const char *url, bool allow_http, struct error *err)
{
    bool secure;
    size_t len;
    const char *authority = after_scheme(url, &secure);
    if (!authority) {
        error_set(err, &kind_usage, "the URL does not begin with 'https://'");
        return error_hint(err, "write it like 'https://hooks.example.org/…'");
    }
    if (strlen(url) > NOTIFY_URL_LENGTH_MAX) {
        return error_set(err, &kind_usage, "the URL has %zu bytes, at most %d", strlen(url),
                         NOTIFY_URL_LENGTH_MAX);
    }
    AUTO_STR struct str shown = STR_INIT;
    notify_url_shown(url, &shown);
    const char *host = find_host(authority, &len);
    if (len == 0 || *host == ':') {
        return error_set(err, &kind_usage, "the URL names no host");
    }
    if (has_odd_character(url)) {
        error_set(err, &kind_usage, "the URL '%s' contains a character that is not allowed in a URL",
                  str_text(&shown));
        return error_hint(err, "percent-encode it: a blank is %%20");
    }
    if (host != authority) {
        return error_set(err, &kind_usage, "the URL '%s' contains a user name", str_text(&shown));
    }
    if (!is_authority(authority, len)) {
        error_set(err, &kind_usage, "the URL '%s' has no valid host and port", str_text(&shown));
        return error_hint(err, "write the host as 'name', 'name:443', '192.0.2.1' or '[2001:db8::1]:443'");
    }
    if (!secure && !allow_http) {
        error_set(err, &kind_usage, "'%s' is not encrypted, expected https", str_text(&shown));
        return error_hint(err, "use https, or add 'allow_http: true' to the target");
    }
    return 0;
}
