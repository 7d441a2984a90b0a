/* Reads the head of an HTTP request, and writes that of an answer. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "transport/http/http_internal.h"

static const struct {
    int status;
    const char *text;
} statuses[] = {
    {200, "OK"},
    {400, "Bad Request"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {414, "URI Too Long"},
    {431, "Request Header Fields Too Large"},
    {505, "HTTP Version Not Supported"},
};

const char *http_status_text(int status)
{
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        if (statuses[i].status == status) {
            return statuses[i].text;
        }
    }
    return "Error";
}

void http_add_head(struct str *out, int status, const char *type, size_t len)
{
    str_addf(out, "HTTP/1.1 %d %s\r\n", status, http_status_text(status));
    str_addf(out, "Content-Type: %s\r\nContent-Length: %zu\r\n", type, len);
    str_add(out, status == 405 ? "Allow: GET, HEAD\r\n" : "");
    str_add(out, "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n");
}

/* The length of the head without the empty line that ends it; -1: that line has not arrived. */
static long head_len(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool empty_line = bytes[i] == '\n' && i + 1 < len && bytes[i + 1] == '\n';
        bool empty_crlf = bytes[i] == '\n' && i + 2 < len && bytes[i + 1] == '\r' && bytes[i + 2] == '\n';
        if (empty_line || empty_crlf) {
            return (long)i;
        }
    }
    return -1;
}

/* No legitimate request has a control character within a line, or anything beyond ASCII. */
static bool is_plain(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        bool line_end = c == '\n' || (c == '\r' && i + 1 < len && bytes[i + 1] == '\n');
        if ((c < ' ' && c != '\t' && !line_end) || c > '~') {
            return false;
        }
    }
    return true;
}

/* "GET /metrics?x=1 HTTP/1.1" */
static int read_line(const char *line, size_t len, struct http_request *out)
{
    const char *blank = memchr(line, ' ', len);
    const char *target = blank ? blank + 1 : NULL;
    size_t left = blank ? len - (size_t)(target - line) : 0;
    const char *end = target ? memchr(target, ' ', left) : NULL;
    if (!end || target[0] != '/' || memchr(line, '\t', len)) {
        return 400;
    }
    const char *version = end + 1;
    size_t version_len = len - (size_t)(version - line);
    bool numbered =
        version_len == strlen("HTTP/1.1") && version[6] == '.' && isdigit((unsigned char)version[7]);
    if (!numbered || strncmp(version, "HTTP/", 5) != 0) {
        return 400;
    }
    if (strncmp(version, "HTTP/1.", 7) != 0) {
        return 505;
    }
    size_t method_len = (size_t)(blank - line);
    out->head = method_len == 4 && strncmp(line, "HEAD", 4) == 0;
    if (!out->head && (method_len != 3 || strncmp(line, "GET", 3) != 0)) {
        return 405;
    }
    const char *query = memchr(target, '?', (size_t)(end - target));
    size_t path_len = (size_t)((query ? query : end) - target);
    if (path_len >= sizeof(out->path)) {
        return 414;
    }
    memcpy(out->path, target, path_len);
    out->path[path_len] = '\0';
    return 200;
}

/* "Accept: application/openmetrics-text, …" */
static void read_header(const char *line, size_t len, struct http_request *out)
{
    static const char name[] = "accept:";
    if (len < strlen(name) || strncasecmp(line, name, strlen(name)) != 0) {
        return;
    }
    size_t value_len = len - strlen(name);
    value_len = value_len < sizeof(out->accept) ? value_len : sizeof(out->accept) - 1;
    memcpy(out->accept, line + strlen(name), value_len);
    out->accept[value_len] = '\0';
}

int http_request_read(const char *bytes, size_t len, struct http_request *out)
{
    long head = head_len(bytes, len < HTTP_HEAD_MAX ? len : HTTP_HEAD_MAX);
    *out = (struct http_request){0};
    if (head < 0) {
        return len < HTTP_HEAD_MAX ? 0 : 431;
    }
    if (!is_plain(bytes, (size_t)head + 1)) {
        return 400;
    }
    int status = 0;
    for (const char *line = bytes; line <= bytes + head;) {
        const char *end = memchr(line, '\n', (size_t)(bytes + head + 1 - line));
        size_t line_len = (size_t)(end - line);
        line_len -= line_len > 0 && line[line_len - 1] == '\r';
        if (status == 0) {
            status = read_line(line, line_len, out);
        } else {
            read_header(line, line_len, out);
        }
        line = end + 1;
    }
    return status;
}
