/* The command line of the system's ssh: its options, its environment, and the shell around the command. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/quote.h"
#include "base/text.h"
#include "transport/openssh/openssh_internal.h"

#define ARGUMENT_BYTES 131071 /* the longest argument that execve accepts */

/*
 * In single quotes a line break is special in csh, and \\ and \' are special in fish. The text contains none
 * of them.
 */
static const char wrapper[] = "c=$(printf %b \"$1\"); exec 3>&2 2>/dev/null;"
                              " \"${SHELL:-/bin/sh}\" -c \"$c\" 2>&3 3>&-; s=$?;"
                              " printf \"\\n%s%d\\n\" \"$2\" \"$s\" >&3; exit \"$s\"";

void openssh_make_mark(char mark[OPENSSH_MARK_LEN + 1])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567"; /* 32 divides 256: no bias */
    unsigned char random[OPENSSH_MARK_LEN];

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        abort(); /* cannot happen below 256 bytes once the kernel's pool is set up */
    }
    for (size_t i = 0; i < OPENSSH_MARK_LEN; i++) {
        mark[i] = letters[random[i] % (sizeof(letters) - 1)];
    }
    mark[0] = '\n';
    mark[1] = mark[2] = '@';
    mark[OPENSSH_MARK_LEN - 1] = ' ';
    mark[OPENSSH_MARK_LEN] = '\0';
}

static bool is_plain(char c, const char *more)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr(more, c);
}

/* Encodes text so that every shell reads it the same way in single quotes, for %b of printf. */
static void add_encoded(struct str *out, const char *text)
{
    static const char plain[] = " _-+=:,./@%";

    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        if (is_plain((char)*at, plain)) {
            str_add_char(out, (char)*at);
        } else {
            str_addf(out, "\\0%03o", *at);
        }
    }
}

/*
 * Make a command that runs the given one in the login shell, inside a shell that prints its status. If that
 * is too long, the command is unchanged.
 */
static char *wrap(const char *command, const char *mark)
{
    struct str out = STR_INIT;

    str_addf(&out, "exec /bin/sh -c '%s' sh '", wrapper);
    add_encoded(&out, command);
    str_addf(&out, "' '%s'", mark + 1); /* the wrapper prints the mark's line break */
    if (out.len <= ARGUMENT_BYTES) {
        return str_detach(&out);
    }
    str_release(&out);
    return xstrdup(command);
}

static unsigned to_seconds(unsigned ms)
{
    return ms < 1000 ? 1 : (ms + 999) / 1000;
}

static void add_option(struct strlist *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_option(struct strlist *words, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    strlist_add(words, "-o");
    strlist_take(words, xvasprintf(format, args));
    va_end(args);
}

/* Quotes a word of a ProxyCommand for any shell of the caller, for ssh's own check of quotes, and against
 * token expansion. Only backslashes can be nested there. */
static void add_proxy_word(struct str *out, const char *word)
{
    static const char plain[] = "_-+=:,./@%";

    str_add_char(out, ' ');
    for (const char *at = word; *at != '\0'; at++) {
        str_addf(out, "%s%c%s", is_plain(*at, plain) ? "" : "\\", *at, *at == '%' ? "%" : "");
    }
}

static void add_way(struct strlist *words, const struct transport_setup *setup,
                    const struct endpoint *endpoint);

/* Like ProxyJump, but with our own options for the jump host: ssh does not pass its options on. */
static void add_jump(struct strlist *words, const struct transport_setup *setup, const struct endpoint *jump)
{
    AUTO_STRLIST struct strlist own = STRLIST_INIT;
    AUTO_STR struct str command = STR_INIT;

    add_way(&own, setup, jump);
    str_add(&command, "ssh");
    for (size_t i = 0; i < own.len; i++) {
        add_proxy_word(&command, own.items[i]);
    }
    str_add(&command, " -W \\[%h\\]:%p --");
    add_proxy_word(&command, jump->name);
    add_option(words, "ProxyCommand=%s", str_text(&command));
}

/* How the host is reached and trusted, and the time limits; ssh uses the first value of an option. */
static void add_way(struct strlist *words, const struct transport_setup *setup,
                    const struct endpoint *endpoint)
{
    add_option(words, "BatchMode=yes");
    add_option(words, "ControlMaster=no");
    add_option(words, "ConnectionAttempts=1");
    add_option(words, "StrictHostKeyChecking=%s", endpoint->accept_new ? "accept-new" : "yes");
    add_option(words, "ConnectTimeout=%u", to_seconds(transport_connect_ms(setup, endpoint)));
    add_option(words, "ServerAliveInterval=%u", to_seconds(transport_keepalive_ms(setup, endpoint)));
    add_option(words, "ServerAliveCountMax=%u", transport_max_silent(endpoint));
    if (endpoint->jump) {
        add_jump(words, setup, endpoint->jump);
    }
    strlist_copy(words, &endpoint->openssh_args);
}

void openssh_make_words(const struct endpoint *endpoint, const struct transport_setup *setup, int log,
                        const char *command, const char *mark, struct strlist *words)
{
    static const char *const fixed[] = {
        "ClearAllForwardings=yes",
        "RequestTTY=no",
        "RemoteCommand=none",
        "PermitLocalCommand=no",
        "ForwardAgent=no",
        "ForwardX11=no",
        "Tunnel=no",
        "LogLevel=DEBUG1",
        "EscapeChar=none",
        "SetEnv=MTLAUNCH_CLIENT=openssh", /* ssh uses the first SetEnv only */
    };

    strlist_add(words, "ssh");
    strlist_add(words, "-T");
    strlist_add(words, "-E");
    strlist_addf(words, "/proc/%ld/fd/%d", (long)getpid(), log);
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        add_option(words, "%s", fixed[i]);
    }
    add_way(words, setup, endpoint);
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
        if (value) {
            strlist_addf(variables, "%s=%s", names[i], value);
        }
    }
    strlist_add(variables, "LC_ALL=C"); /* its messages are read */
}
