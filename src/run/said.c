/* What a login says before our command answers. */
#include <string.h>

#include "model/kind.h"
#include "model/login_words.h"
#include "said_internal.h"

#define SAID_BYTES 2048

void said_add(struct str *said, const char *bytes, size_t len)
{
    if (len > SAID_BYTES) {
        bytes += len - SAID_BYTES;
        len = SAID_BYTES;
    }
    str_add_mem(said, bytes, len);
    if (said->len > SAID_BYTES) {
        str_consume(said, said->len - SAID_BYTES);
    }
}

void said_explain(const struct str *said, struct error *err)
{
    if (err->kind != &kind_node_answer || said->len == 0) {
        return;
    }
    const char *text = str_text(said);
    const char *frame = memmem(text, said->len, "\n@@", 3); /* from there on it is our script that speaks */
    login_words_explain(err, "the login says", text, frame ? (size_t)(frame - text) : said->len);
}
