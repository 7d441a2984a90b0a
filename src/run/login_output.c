/* Keeps what a login prints before our command answers. */
#include <string.h>

#include "login_output_internal.h"
#include "model/kind.h"
#include "model/login_words.h"

#define LOGIN_OUTPUT_BYTES 2048

void login_output_add(struct str *login_output, const char *bytes, size_t len)
{
    if (len > LOGIN_OUTPUT_BYTES) {
        bytes += len - LOGIN_OUTPUT_BYTES;
        len = LOGIN_OUTPUT_BYTES;
    }
    str_add_mem(login_output, bytes, len);
    if (login_output->len > LOGIN_OUTPUT_BYTES) {
        str_consume(login_output, login_output->len - LOGIN_OUTPUT_BYTES);
    }
}

void login_output_explain(const struct str *login_output, struct error *err)
{
    if (err->kind != &kind_node_answer || login_output->len == 0) {
        return;
    }
    const char *text = str_text(login_output);
    const char *frame =
        memmem(text, login_output->len, "\n@@", 3); /* from here on it is the output of our script */
    login_words_explain(err, "the login says", text, frame ? (size_t)(frame - text) : login_output->len);
}
