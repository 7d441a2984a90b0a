#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/quote.h"
#include "base/text.h"
#include "transport/openssh_internal.h"

#define ARGUMENT_BYTES 131071 /* the longest word that execve takes */

/* In csh a quoted line break, in fish a quoted backslash has a meaning: neither stands in here. */
static const char wrapper[] = "c=$(printf %b \"$1\"); exec 3>&2 2>/dev/null;"
                              " \"${SHELL:-/bin/sh}\" -c \"$c\" 2>&3 3>&-; s=$?;"
                              " printf \"\\n%s%d\\n\" \"$2\" \"$s\" >&3; exit \"$s\"";

void openssh_make_mark(char mark[OPENSSH_MARK_LEN + 1])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567"; /* 32: no bias in a byte's low bits */
    unsigned char random[OPENSSH_MARK_LEN];

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        abort(); /* cannot happen below 256 bytes once the kernel's pool is set up */
    for (size_t i = 0; i < OPENSSH_MARK_LEN; i++)
        mark[i] = letters[random[i] % (sizeof(letters) - 1)];
    mark[0] = '\n';
    mark[1] = mark[2] = '@';
    mark[OPENSSH_MARK_LEN - 1] = ' ';
    mark[OPENSSH_MARK_LEN] = '\0';
}

/* Text that every shell reads alike within single quotes, for printf's %b. */
static void add_encoded(struct str *out, const char *text)
{
    static const char plain[] = " _-+=:,./@%";

    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        bool is_plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                        (*at >= '0' && *at <= '9') || strchr(plain, *at) != NULL;
        if (is_plain)
            str_add_char(out, (char)*at);
        else
            str_addf(out, "\\0%03o", *at);
    }
}

/* The command as its login shell would run it, with a shell around it that says its status; as it is when
 * that makes it too long. */
static char *wrap(const char *command, const char *mark)
{
    struct str out = STR_INIT;

    str_addf(&out, "exec /bin/sh -c '%s' sh '", wrapper);
    add_encoded(&out, command);
    str_addf(&out, "' '%s'", mark + 1); /* its line break is the wrapper's */
    if (out.len <= ARGUMENT_BYTES)
        return str_detach(&out);
    str_release(&out);
    return xstrdup(command);
}

static unsigned to_seconds(unsigned ms)
{
    return ms < 1000 ? 1 : (ms + 999) / 1000;
}

void openssh_make_words(const struct endpoint *endpoint, const struct transport_setup *setup, int log,
                        const char *command, const char *mark, struct strlist *words)
{
    static const char *const fixed[] = {
        "BatchMode=yes",    "ClearAllForwardings=yes",        "RequestTTY=no",         "RemoteCommand=none",
        "ControlMaster=no", "PermitLocalCommand=no",          "ForwardAgent=no",       "ForwardX11=no",
        "Tunnel=no",        "ConnectionAttempts=1",           "ServerAliveCountMax=3", "LogLevel=DEBUG1",
        "EscapeChar=none",  "SetEnv=MTLAUNCH_CLIENT=openssh", /* the first SetEnv is the only one */
    };

    strlist_add(words, "ssh");
    strlist_add(words, "-T");
    strlist_add(words, "-E");
    strlist_addf(words, "/proc/%ld/fd/%d", (long)getpid(), log);
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        strlist_add(words, "-o");
        strlist_add(words, fixed[i]);
    }
    strlist_add(words, "-o");
    strlist_addf(words, "ConnectTimeout=%u", to_seconds(setup->connect_timeout_ms));
    strlist_add(words, "-o");
    strlist_addf(words, "ServerAliveInterval=%u", to_seconds(setup->keepalive_ms));
    strlist_copy(words, &endpoint->openssh_args);
    strlist_add(words, "--");
    strlist_add(words, endpoint->name);
    strlist_take(words, wrap(command, mark));
}

void openssh_make_environment(struct strlist *variables)
{
    static const char *const names[] = {"HOME",   "PATH",           "USER",       "LOGNAME",
                                        "SHELL",  "SSH_AUTH_SOCK",  "KRB5CCNAME", "KRB5_CONFIG",
                                        "TMPDIR", "XDG_RUNTIME_DIR"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);
        if (value != NULL)
            strlist_addf(variables, "%s=%s", names[i], value);
    }
    strlist_add(variables, "LC_ALL=C"); /* its messages are read */
}
