/* U19: the host's name inside a message of ssh is no difference between hosts. */

#include "test.h"
#include "transport/openssh/openssh_internal.h"

static char name[] = "g0001", hostname[] = "g0001.example.org";

/* Messages as OpenSSH 9.2 prints them. */
static const struct {
    const char *said, *told;
} cases[] = {
    {"ssh: ada@g0001.example.org: Permission denied (publickey).",
     "ssh: login as 'ada': Permission denied (publickey)."},
    {"ssh: ada@10.0.0.1: Permission denied (publickey).",
     "ssh: login as 'ada': Permission denied (publickey)."},
    {"ssh: connect to host g0001 port 22: Connection refused",
     "ssh: connect to host port 22: Connection refused"},
    {"ssh: Could not resolve hostname G0001: Name or service not known",
     "ssh: Could not resolve hostname: Name or service not known"},
    {"connection lost: ssh: Connection to g0001 closed by remote host.",
     "connection lost: ssh: Connection to the host closed by remote host."},
    {"connection lost: ssh: Timeout, server g0001 not responding.",
     "connection lost: ssh: Timeout, server not responding."},
    {"ssh: Connection closed by 10.0.0.1 port 22", "ssh: Connection closed by the host port 22"},
    {"ssh: Received disconnect from 2001:db8::1 port 22:2: Too many authentication failures",
     "ssh: Received disconnect from the host port 22:2: Too many authentication failures"},
    {"ssh: [g0001]:2222: no route", "ssh: no route"},
    {"ssh: g00012 is another host, and g0001x too", "ssh: g00012 is another host, and g0001x too"},
    {"the host key is not known: ssh-ed25519 SHA256:abc",
     "the host key is not known: ssh-ed25519 SHA256:abc"},
};

static void test_names(void **state)
{
    const struct endpoint endpoint = {.name = name, .hostname = hostname};

    (void)state;
    FOR_ROWS(i, cases, cases[i].said) {
        struct error err = ERROR_INIT;
        error_set(&err, &kind_auth_failed, "%s", cases[i].said);
        error_hint(&err, "a hint");
        openssh_drop_name(&endpoint, &err);
        assert_string_equal(err.text, cases[i].told);
        assert_string_equal(err.hint, "a hint");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
