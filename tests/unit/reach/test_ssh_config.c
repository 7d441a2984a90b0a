/* The reader of ssh_config: precedence, blocks, includes, tokens, and each message it can give. */

#include "reach/ssh_config.h"
#include "test.h"

/* A home folder of its own for each test. */
struct place {
    char *home, *config;
};

static int set_up(void **state)
{
    struct place *place = xcalloc(1, sizeof(*place));
    char template[] = "/tmp/mtlaunch-sshconfig-XXXXXX";
    AUTO_FREE char *folder = NULL;

    assert_non_null(mkdtemp(template));
    place->home = xstrdup(template);
    folder = xasprintf("%s/.ssh", template);
    assert_int_equal(mkdir(folder, 0700), 0);
    place->config = xasprintf("%s/config", folder);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *line = xasprintf("rm -rf %s", place->home);

    assert_int_equal(system(line), 0);
    free(place->home);
    free(place->config);
    free(place);
    return 0;
}

static void write_in(const struct place *place, const char *name, const char *text)
{
    AUTO_FREE char *path = xasprintf("%s/.ssh/%s", place->home, name);
    struct error err = ERROR_INIT;

    assert_int_equal(file_write_atomic(path, text, strlen(text), 0600, &err), 0);
}

static struct ssh_config *load(const struct place *place, const char *text)
{
    struct error err = ERROR_INIT;
    struct ssh_config *config;

    write_in(place, "config", text);
    config = ssh_config_load(place->config, place->home, NULL, NULL, &err);
    if (config == NULL) {
        print_error("%s\n", err.text);
    }
    assert_non_null(config);
    return config;
}

static void look_up(const struct ssh_config *config, const char *name, struct ssh_config_values *values)
{
    const struct ssh_config_query query = {.name = name, .local_user = "me"};

    assert_int_equal(ssh_config_lookup(config, &query, values, NULL), 0);
}

static void assert_lookup(const struct ssh_config *config, const char *name, const char *hostname,
                          const char *user, unsigned port)
{
    struct ssh_config_values values;

    look_up(config, name, &values);
    if (hostname == NULL) {
        assert_null(values.hostname);
    } else {
        assert_string_equal(values.hostname, hostname);
    }
    if (user == NULL) {
        assert_null(values.user);
    } else {
        assert_string_equal(values.user, user);
    }
    assert_int_equal(values.port, port);
    ssh_config_values_release(&values);
}

static void test_first_value_wins(void **state)
{
    struct ssh_config *config = load(*state, "Host a\n  User first\n  Port 2201\n"
                                             "Host a b\n  User second\n  HostName real-%h\n"
                                             "Host *\n  User everyone\n  Port 2299\n");

    assert_lookup(config, "a", "real-a", "first", 2201);
    assert_lookup(config, "b", "real-b", "second", 2299);
    assert_lookup(config, "c", NULL, "everyone", 2299);
    ssh_config_free(config);
}

static void test_patterns(void **state)
{
    struct ssh_config *config = load(*state, "Host g* !g13 !gx*\n  User yi\nHost ?1\n  Port 2201\n");

    assert_lookup(config, "g1", NULL, "yi", 2201);
    assert_lookup(config, "g13", NULL, NULL, 0);
    assert_lookup(config, "gxy", NULL, NULL, 0);
    assert_lookup(config, "G1", NULL, NULL, 2201);
    ssh_config_free(config);
}

/* Forms of a line: '=', quotes, comments, tabs, case of keywords, CRLF, a last line without its end. */
static void test_forms_of_lines(void **state)
{
    struct ssh_config *config = load(*state, "# comment\r\n\r\nuser=\"a b\"\r\n\tPORT = 2200 # why\r\n"
                                             "HostName\thost%%1\r\nIdentityFile \"~/my keys/%h\"");
    struct ssh_config_values values;

    assert_lookup(config, "x", "host%1", "a b", 2200);
    look_up(config, "x", &values);
    assert_int_equal(values.identity_files.len, 1);
    assert_string_equal(values.identity_files.items[0], "~/my keys/%h");
    ssh_config_values_release(&values);
    ssh_config_free(config);
}

static void test_identity_files_add_up(void **state)
{
    struct ssh_config *config =
        load(*state, "Host a\nIdentityFile ~/.ssh/one\nHost *\nIdentityFile ~/.ssh/two\n"
                     "IdentityFile ~/.ssh/one\nUserKnownHostsFile /k1 /k2\n"
                     "UserKnownHostsFile /k3\nGlobalKnownHostsFile /g\nHostKeyAlias alias\n");
    struct ssh_config_values values;

    look_up(config, "a", &values);
    assert_int_equal(values.identity_files.len, 2);
    assert_string_equal(values.identity_files.items[0], "~/.ssh/one");
    assert_string_equal(values.identity_files.items[1], "~/.ssh/two");
    assert_int_equal(values.user_known_hosts.len, 2);
    assert_string_equal(values.user_known_hosts.items[1], "/k2");
    assert_int_equal(values.global_known_hosts.len, 1);
    assert_string_equal(values.host_key_alias, "alias");
    ssh_config_values_release(&values);
    ssh_config_free(config);
}

/* Blocks are judged where they stand: with the HostName and the User known by then. */
static void test_match_blocks(void **state)
{
    struct ssh_config *config =
        load(*state, "Match final all\n  User weak\n  Port 2201\nMatch user me\n  HostName real\n"
                     "Match host real,other originalhost A\n  User strong\nMatch user me\n  Port 1\n"
                     "Match !localuser me\n  Port 2\nMatch canonical host real # why\n  Port 3\n");

    assert_lookup(config, "a", "real", "strong", 2201);
    assert_lookup(config, "b", "real", "weak", 1); /* its user was "me" in the first walk */
    ssh_config_free(config);
}

/* exec is never run; the values say that its block might have held. */
static void test_match_exec(void **state)
{
    const struct place *place = *state;
    AUTO_FREE char *mark = xasprintf("%s/ran", place->home);
    AUTO_FREE char *text =
        xasprintf("Match host b exec \"touch %s\"\n  HostName wrong\nMatch tagged x !host b\n  Port 3\n"
                  "Host c\n  PKCS11Provider none\nHost *\n  PKCS11Provider /lib/x\n",
                  mark);
    struct ssh_config *config = load(place, text);
    AUTO_STRLIST struct strlist notes = STRLIST_INIT;
    struct ssh_config_values values;
    struct error err = ERROR_INIT;
    static const struct {
        const char *name, *only;
        unsigned line;
    } cases[] = {{"b", "Match exec", 1}, {"a", "Match tagged", 3}};

    FOR_ROWS(i, cases, cases[i].name) {
        look_up(config, cases[i].name, &values);
        assert_null(values.hostname);
        assert_int_equal(values.port, 0);
        assert_string_equal(values.openssh_only, cases[i].only);
        assert_int_equal(values.openssh_place.line, cases[i].line);
        ssh_config_values_release(&values);
    }
    assert_false(file_exists(mark));
    ssh_config_free(config);
    config = ssh_config_load(place->config, place->home, NULL, &notes, &err);
    assert_non_null(config);
    assert_int_equal(notes.len, 2);
    assert_non_null(strstr(notes.items[0], "config:1: 'Match exec' is not evaluated here"));
    ssh_config_free(config);
}

/* A keyword that only OpenSSH acts on, switched off for one host. */
static void test_openssh_only(void **state)
{
    struct ssh_config *config = load(
        *state, "Host off\n  CanonicalizeHostname no\nHost on\n  CanonicalizeHostname yes\n  HostName h\n");
    struct ssh_config_values values;

    look_up(config, "off", &values);
    assert_null(values.openssh_only);
    ssh_config_values_release(&values);
    look_up(config, "on", &values);
    assert_string_equal(values.openssh_only, "CanonicalizeHostname");
    assert_int_equal(values.openssh_place.line, 4);
    ssh_config_values_release(&values);
    ssh_config_free(config);
}

/* What decides over a login and libssh has no part in; a list of algorithms only where it adds to the
 * default.
 */
static void test_openssh_only_by_value(void **state)
{
    static const struct {
        const char *line, *only;
    } cases[] = {
        {"BindAddress 10.0.0.1", "BindAddress"},
        {"BindInterface eth1", "BindInterface"},
        {"NoHostAuthenticationForLocalhost yes", "NoHostAuthenticationForLocalhost"},
        {"NoHostAuthenticationForLocalhost no", NULL},
        {"Ciphers +aes128-cbc", "Ciphers"},
        {"Ciphers aes128-ctr", NULL},
        {"KexAlgorithms \"+diffie-hellman-group1-sha1\"", "KexAlgorithms"},
        {"KexAlgorithms -diffie-hellman-group1-sha1", NULL},
        {"MACs=+hmac-md5", "MACs"},
        {"MACs ^hmac-sha2-256", NULL},
        {"HostKeyAlgorithms +ssh-rsa", "HostKeyAlgorithms"},
        {"PubkeyAcceptedAlgorithms +ssh-rsa", "PubkeyAcceptedAlgorithms"},
        {"PubkeyAcceptedKeyTypes +ssh-rsa", "PubkeyAcceptedKeyTypes"},
        {"IdentityFile ~/.ssh/%C", "%C in IdentityFile"},
        {"IdentityFile ~/.ssh/%%C", NULL},
        {"CertificateFile %h/%%%C-cert.pub", "%C in CertificateFile"},
        {"UserKnownHostsFile /k/%h /k/%C", "%C in UserKnownHostsFile"},
    };

    FOR_ROWS(i, cases, cases[i].line) {
        AUTO_FREE char *text = xasprintf("Host a\n  %s\n", cases[i].line);
        struct ssh_config *config = load(*state, text);
        struct ssh_config_values values;

        look_up(config, "b", &values);
        assert_null(values.openssh_only);
        ssh_config_values_release(&values);
        look_up(config, "a", &values);
        if (cases[i].only == NULL) {
            assert_null(values.openssh_only);
        } else {
            assert_string_equal(values.openssh_only, cases[i].only);
            assert_int_equal(values.openssh_place.line, 2);
        }
        ssh_config_values_release(&values);
        ssh_config_free(config);
    }
}

static void test_ignore_unknown(void **state)
{
    const struct place *place = *state;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;
    struct error err = ERROR_INIT;
    struct ssh_config *config;

    write_in(place, "config", "IgnoreUnknown Foo*,UseKeychain\nFooBar yes\nOther no\n");
    config = ssh_config_load(place->config, place->home, &warnings, NULL, &err);
    assert_non_null(config);
    assert_int_equal(warnings.len, 1);
    assert_non_null(strstr(warnings.items[0], "'Other'"));
    ssh_config_free(config);
}

/* What is included inside a block holds only where the block does; its own blocks end with the file. */
static void test_includes(void **state)
{
    const struct place *place = *state;
    struct ssh_config *config;

    write_in(place, "a.conf", "User included\nHost b\n  Port 2202\n");
    write_in(place, "z.conf", "Match final all\n  Port 2299\n");
    config = load(
        place, "Host a*\n  Include a.*f\n  Port 2200\nHost *\nInclude no-such-file\nInclude ~/.ssh/z.conf\n");
    assert_lookup(config, "a", NULL, "included", 2200);
    assert_lookup(config, "b", NULL, NULL, 2299); /* b stands in a file that holds for a* alone */
    ssh_config_free(config);
}

static void test_include_of_itself(void **state)
{
    const struct place *place = *state;
    struct error err = ERROR_INIT;

    write_in(place, "config", "Include config\n");
    assert_null(ssh_config_load(place->config, place->home, NULL, NULL, &err));
    assert_true(error_is(&err, &kind_ssh_config));
    assert_non_null(strstr(err.text, "nested"));
}

static void test_proxies(void **state)
{
    struct ssh_config *config =
        load(*state, "Host direct\n  ProxyJump none\nHost d*\n  ProxyCommand nc \"%h\" %p\n"
                     "Host behind\n  ProxyJump u@gate:2222,next # why\n  ProxyCommand nc %h\n"
                     "Host plain\n  ProxyCommand none\n  ProxyJump gate\n");
    struct ssh_config_values values;

    look_up(config, "direct", &values);
    assert_null(values.proxy_jump);
    assert_string_equal(values.proxy_command, "nc \"%h\" %p"); /* "none" keeps off jumps alone */
    assert_int_equal(values.proxy_place.line, 4);
    assert_true(strstr(values.proxy_place.file, "/config") != NULL);
    ssh_config_values_release(&values);
    look_up(config, "behind", &values);
    assert_string_equal(values.proxy_jump, "u@gate:2222,next");
    assert_int_equal(values.proxy_place.line, 6);
    assert_null(values.proxy_command);
    ssh_config_values_release(&values);
    look_up(config, "plain", &values);
    assert_null(values.proxy_jump);
    assert_null(values.proxy_command);
    ssh_config_values_release(&values);
    ssh_config_free(config);
}

static void test_unknown_keyword_is_one_warning(void **state)
{
    const struct place *place = *state;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;
    struct error err = ERROR_INIT;
    struct ssh_config *config;

    write_in(place, "config",
             "FooBar yes\nServerAliveInterval 5\nfoobar no\nUser u\nGSSAPIAuthentication yes\n");
    config = ssh_config_load(place->config, place->home, &warnings, NULL, &err);
    assert_non_null(config);
    assert_int_equal(warnings.len, 1);
    assert_non_null(strstr(warnings.items[0], "config:1: unknown keyword 'FooBar', ignored"));
    assert_lookup(config, "x", NULL, "u", 0);
    ssh_config_free(config);
}

static void test_malformed_lines(void **state)
{
    static const struct {
        const char *text, *wanted;
        unsigned line;
    } cases[] = {
        {"User u\nPort 70000\n", "port '70000' is neither a number from 1 to 65535", 2},
        {"Port no-such-service\n", "port 'no-such-service' is neither a number from 1 to 65535 nor the", 1},
        {"Host x\n\n  User\n", "'User' has no argument", 3},
        {"Host\n", "'Host' has no argument", 1},
        {"Match\n", "'Match' has no argument", 1},
        {"Include\n", "'Include' has no argument", 1},
        {"ServerAliveInterval\n", "'ServerAliveInterval' has no argument", 1},
        {"User \"u\n", "a quote is not closed", 1},
        {"HostName a b\n", "'HostName' takes one argument, 2 are given", 1},
        {"Match frob x\n", "'frob' is not a criterion of 'Match'", 1},
        {"Match user\n", "'Match user' has no argument", 1},
        {"Match # none\n", "'Match' has no argument", 1},
        {"Match user a host b all\n", "'all' cannot be combined", 1},
        {"Match all user x\n", "'all' cannot be combined", 1},
        {"ConnectTimeout soon\n", "time 'soon' is neither 'none' nor a time", 1},
        {"ServerAliveInterval 99999999999999999999\n", "is neither 'none' nor a time", 1},
        {"ServerAliveCountMax many\n", "number 'many' is not a number", 1},
        {"ConnectTimeout None\n", "time 'None' is neither 'none' nor a time", 1},
        {"ServerAliveCountMax 2147483648\n", "is not a number from 0 to 2147483647", 1},
        {"UserKnownHostsFile /a none\n", "'none' cannot be combined with other files", 1},
        {"GlobalKnownHostsFile /a ''\n", "a file's name is empty", 1},
        {"ProxyJump a/b\n", "jump 'a/b' is not written as", 1},
        {"ProxyJump ssh://a/b\n", "jump 'ssh://a/b' is not written as", 1},
        {"IdentitiesOnly maybe\n", "value 'maybe' is not one of: yes", 1},
        {"StrictHostKeyChecking perhaps\n", "value 'perhaps' is not one of: ask", 1},
        {"ProxyJump a,\n", "jump 'a,' is not written as", 1},
        {"ProxyJump @a\n", "jump '@a'", 1},
        {"ProxyJump [::1:22\n", "jump '[::1:22'", 1},
        {"ProxyJump [x\n", "jump '[x'", 1}, /* S11: no arithmetic on NULL */
        {"ProxyJump [\n", "jump '['", 1},
        {"ProxyJump ssh://u@[x\n", "jump 'ssh://u@[x'", 1},
        {"ProxyJump a:0\n", "jump 'a:0'", 1},
        {"AddressFamily ipx\n", "value 'ipx' is not one of: any, inet, inet6", 1},
    };
    const struct place *place = *state;

    FOR_ROWS(i, cases, cases[i].text) {
        struct error err = ERROR_INIT;
        write_in(place, "config", cases[i].text);
        assert_null(ssh_config_load(place->config, place->home, NULL, NULL, &err));
        assert_true(error_is(&err, &kind_ssh_config));
        if (strstr(err.text, cases[i].wanted) == NULL) {
            print_error("case %zu: %s\n", i, err.text);
        }
        assert_non_null(strstr(err.text, cases[i].wanted));
        assert_string_equal(err.file, place->config);
        assert_int_equal(err.line, cases[i].line);
    }
}

/* An error in an included file names that file. */
static void test_malformed_include(void **state)
{
    const struct place *place = *state;
    struct error err = ERROR_INIT;

    write_in(place, "bad.conf", "\nPort 0\n");
    write_in(place, "config", "Include bad.conf\n");
    assert_null(ssh_config_load(place->config, place->home, NULL, NULL, &err));
    assert_non_null(strstr(err.file, "/bad.conf"));
    assert_int_equal(err.line, 2);
    assert_string_equal(err.source, "Port 0");
}

static void test_nul_byte(void **state)
{
    const struct place *place = *state;
    struct error err = ERROR_INIT;

    assert_int_equal(file_write_atomic(place->config, "User a\0b\n", 9, 0600, &err), 0);
    assert_null(ssh_config_load(place->config, place->home, NULL, NULL, &err));
    assert_non_null(strstr(err.text, "NUL byte"));
}

static void test_which_files(void **state)
{
    const struct place *place = *state;
    struct error err = ERROR_INIT;
    struct ssh_config *config;

    assert_null(ssh_config_load("/no/such/config", place->home, NULL, NULL, &err));
    assert_true(error_is(&err, &kind_ssh_config));
    assert_non_null(strstr(err.text, "'/no/such/config' cannot be read"));
    config = ssh_config_load("none", place->home, NULL, NULL, &err);
    assert_non_null(config);
    assert_lookup(config, "x", NULL, NULL, 0);
    ssh_config_free(config);
    config = ssh_config_load(NULL, place->home, NULL, NULL, &err); /* none in this home folder */
    assert_non_null(config);
    ssh_config_free(config);
    write_in(place, "config", "Host only-here\nUser mine\n");
    config = ssh_config_load(NULL, place->home, NULL, NULL, &err);
    assert_non_null(config);
    assert_lookup(config, "only-here", NULL, "mine", 0);
    ssh_config_free(config);
    config = ssh_config_load("~/.ssh/config", place->home, NULL, NULL, &err);
    assert_non_null(config);
    assert_lookup(config, "only-here", NULL, "mine", 0);
    ssh_config_free(config);
}

static void test_open_to_others(void **state)
{
    const struct place *place = *state;
    struct error err = ERROR_INIT;

    write_in(place, "config", "User u\n");
    assert_int_equal(chmod(place->config, 0666), 0);
    assert_null(ssh_config_load(NULL, place->home, NULL, NULL, &err));
    assert_true(error_is(&err, &kind_ssh_config));
    assert_non_null(strstr(err.text, "is writable by others (mode 0666)"));
    assert_string_equal(err.file, place->config);
}

/* What Fedora and Debian ship: included files with "Match final all" and keywords of many kinds. */
static void test_fedora(void **state)
{
    const struct place *place = *state;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT, notes = STRLIST_INIT;
    struct error err = ERROR_INIT;
    struct ssh_config *config;

    write_in(place, "50-redhat.conf",
             "Match final all\n\tInclude crypto.config\n\tGSSAPIAuthentication yes\n\tForwardX11Trusted yes\n"
             "\tSendEnv LANG LC_CTYPE\n\tSendEnv XMODIFIERS\n");
    write_in(place, "crypto.config",
             "Ciphers aes256-gcm@openssh.com\nGSSAPIKexAlgorithms gss-curve25519-sha256-\n"
             "PubkeyAcceptedAlgorithms ecdsa-sha2-nistp256\nRequiredRSASize 2048\n");
    write_in(place, "config", "Include 50*.conf\nHost g1\n  HostName 10.0.0.1\n");
    config = ssh_config_load(place->config, place->home, &warnings, &notes, &err);
    assert_non_null(config);
    assert_int_equal(warnings.len, 0);
    assert_int_equal(notes.len, 0);
    assert_lookup(config, "g1", "10.0.0.1", NULL, 0);
    ssh_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_first_value_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_patterns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_forms_of_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_identity_files_add_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_match_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_match_exec, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_openssh_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_openssh_only_by_value, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ignore_unknown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_includes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_include_of_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_proxies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_keyword_is_one_warning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_malformed_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_malformed_include, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nul_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_which_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_open_to_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fedora, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
