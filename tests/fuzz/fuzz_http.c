/* The head of an HTTP request: the status does not depend on what follows it, and what is taken is text. */
#include <string.h>

#include "fuzz.h"
#include "transport/http/http_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_request request, longer;
    char *bytes = malloc(size + 4);

    if (!bytes) {
        return 0;
    }
    memcpy(bytes, data, size);
    memcpy(bytes + size, "\r\nX:", 4);
    int status = http_request_read(bytes, size, &request);
    CHECK(status == 0 || http_status_text(status)[0] != 'E');
    CHECK(strlen(request.path) < HTTP_PATH_MAX && strlen(request.accept) < HTTP_ACCEPT_MAX);
    if (status == 200) {
        CHECK(request.path[0] == '/');
        for (const char *at = request.path; *at; at++) {
            CHECK(*at > ' ' && *at <= '~' && *at != '?');
        }
    }
    if (status != 0 && status != 431) {
        CHECK(http_request_read(bytes, size + 4, &longer) == status);
        CHECK(memcmp(&request, &longer, sizeof(request)) == 0);
    }
    free(bytes);
    return 0;
}
