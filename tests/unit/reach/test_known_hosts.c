/* known_hosts: every form of a line, and each verdict. Hashed names are made by ssh-keygen's rule (sshd(8)).
 */
#include <signal.h>
#include <sys/resource.h>

#include "base/text.h"
#include "reach/authority_internal.h"
#include "reach/known_hosts_internal.h"
#include "test.h"

/* "host.example" and "[host.example]:2222", hashed by ssh-keygen -H of OpenSSH 9.2. */
#define HASH_PLAIN "|1|o9wl9CKx23YdxZdZTAnn6aJn2cc=|7rW+Ozqo+mi5lRUESPcWxmT4UC0="
#define HASH_PORT  "|1|xqbXlshLFvYZt56DiH+2KXsFx4Y=|OHV+lBWCvjf0F7ZZPmldORbbTMk="

/* The form of a hashed name, and whose name it is. */
static void test_hash(void **state)
{
    static const char *const broken[] = {
        "",
        "host.example",
        "|1|",
        "|1|o9wl9CKx23YdxZdZTAnn6aJn2cc=",
        "|1|o9wl9CKx23YdxZdZTAnn6aJn2cc=|",
        "|1|o9wl9CKx23YdxZdZTAnn6aJn2cc=|7rW+Ozqo+mi5lRUESPcWxmT4UC0",
        "|1|o9wl9CKx23YdxZdZTAnn6aJn2cc=|7rW+Ozqo+mi5lRUESPcWxmT4UC0==",
        "|1|o9wl9CKx23YdxZdZTAnn6aJn2cc=.7rW+Ozqo+mi5lRUESPcWxmT4UC0=",
        "|1|o9wl9CKx23YdxZdZTAnn6aJn2cc=|7rW+Ozqo+mi5lRUESPcWxm!4UC0=",
        "|2|o9wl9CKx23YdxZdZTAnn6aJn2cc=|7rW+Ozqo+mi5lRUESPcWxmT4UC0=",
    };
    struct known_hasher *hasher = known_hasher_new();
    struct known_hash plain, port;
    AUTO_STR struct str name = STR_INIT;

    (void)state;
    FOR_ROWS(i, broken, broken[i]) {
        if (known_hash_parse(broken[i], &plain)) {
            print_error("taken: %s\n", broken[i]);
        }
        assert_false(known_hash_parse(broken[i], &plain));
    }
    assert_true(known_hash_parse(HASH_PLAIN, &plain));
    assert_true(known_hash_parse(HASH_PORT, &port));
    assert_true(known_hash_matches(hasher, &plain, "host.example"));
    assert_true(known_hash_matches(hasher, &port, "[host.example]:2222"));
    assert_false(known_hash_matches(hasher, &plain, "[host.example]:2222"));
    assert_false(known_hash_matches(hasher, &plain, "host.exampl"));
    assert_false(known_hash_matches(hasher, &plain, ""));
    for (int i = 0; i < 300; i++) { /* longer than a block of the digest */
        str_add_char(&name, 'h');
        assert_false(known_hash_matches(hasher, &plain, str_text(&name)));
    }
    known_hasher_free(hasher);
    known_hasher_free(NULL);
}

struct place {
    char *dir, *path;
    struct strlist files;
};

static int set_up(void **state)
{
    struct place *place = xcalloc(1, sizeof(*place));
    char template[] = "/tmp/mtlaunch-known-XXXXXX";

    assert_non_null(mkdtemp(template));
    place->dir = xstrdup(template);
    place->path = xasprintf("%s/known_hosts", template);
    strlist_add(&place->files, "/no/such/file");
    strlist_add(&place->files, place->path);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *line = xasprintf("rm -rf %s", place->dir);

    assert_int_equal(system(line), 0);
    strlist_release(&place->files);
    free(place->dir);
    free(place->path);
    free(place);
    return 0;
}

static void write_known(const struct place *place, const char *text)
{
    struct error err = ERROR_INIT;

    assert_int_equal(file_write_atomic(place->path, text, strlen(text), 0600, &err), 0);
}

/* The verdict on key "AAAA<blob>" of that type, with a fresh reader. */
static int check(const struct place *place, struct known_name name, const char *type, const char *blob,
                 struct error *err)
{
    struct known_hosts *known = known_hosts_new();
    struct known_key key = {.type = type, .blob = blob, .fingerprint = "SHA256:abc"};
    int answer;

    name.files = &place->files;
    *err = ERROR_INIT;
    answer = known_hosts_check(known, &name, &key, err);
    known_hosts_free(known);
    return answer;
}

static void assert_known(const struct place *place, const char *host, unsigned port)
{
    struct error err;

    if (check(place, (struct known_name){.hostname = host, .port = port}, "ssh-ed25519", "AAAAgood", &err) !=
        0) {
        print_error("%s:%u: %s\n", host, port, err.text);
    }
    assert_null(err.kind);
}

/* Nothing at all is known: accept-new may take the key. */
static void assert_unknown(const struct place *place, const char *host, unsigned port)
{
    struct error err;

    assert_int_equal(
        check(place, (struct known_name){.hostname = host, .port = port}, "ssh-ed25519", "AAAAgood", &err),
        -1);
    assert_true(error_is(&err, &kind_hostkey_unknown));
    assert_int_equal(err.line, 0);
    assert_non_null(strstr(err.text, "SHA256:abc"));
    assert_true(err.hint[0] != '\0');
}

static void test_plain_names(void **state)
{
    struct place *place = *state;

    write_known(place, "# comment\n\n  \nonly-a-name\nname type-only\n"
                       "Host.Example,10.0.0.1\tssh-ed25519  AAAAgood a comment\r\n"
                       "2001:db8::1 ssh-ed25519 AAAAgood");
    assert_known(place, "host.example", 22);
    assert_known(place, "HOST.example", 22);
    assert_known(place, "10.0.0.1", 22);
    assert_known(place, "2001:db8::1", 22);
    assert_known(place, "host.example", 2222); /* as ssh: a bare name serves every port */
    assert_unknown(place, "host", 22);
    assert_unknown(place, "10.0.0.11", 22);
}

static void test_ports(void **state)
{
    struct place *place = *state;

    write_known(place, "[host.example]:2222 ssh-ed25519 AAAAgood\n[other]:* ssh-ed25519 AAAAgood\n");
    assert_known(place, "host.example", 2222);
    assert_unknown(place, "host.example", 22);
    assert_unknown(place, "host.example", 2223);
    assert_known(place, "other", 2200);
    assert_unknown(place, "other", 22); /* as ssh: no port stands beside a name of port 22 */
    write_known(place, "[host.example]:22,[*]:22 ssh-ed25519 AAAAgood\n");
    assert_unknown(place, "host.example", 22);
}

/* What the bare name has is port 22's: another key there says nothing about another port. */
static void test_bare_name_and_other_ports(void **state)
{
    struct place *place = *state;
    const struct known_name name = {.hostname = "h", .port = 2222};
    struct error err;

    write_known(place, "h ssh-ed25519 AAAAold\nh ssh-rsa AAAArsa\n");
    assert_unknown(place, "h", 2222);
    write_known(place, "h ssh-rsa AAAArsa\n");
    assert_unknown(place, "h", 2222);
    write_known(place, "h ssh-ed25519 AAAAold\nh ssh-ed25519 AAAAgood\n");
    assert_known(place, "h", 2222);
    write_known(place, "@revoked h ssh-ed25519 AAAAgood\n");
    assert_int_equal(check(place, name, "ssh-ed25519", "AAAAgood", &err), -1);
    assert_true(error_is(&err, &kind_hostkey_revoked));
    /* Where the port's own lines hold another key, the bare name is not asked. */
    write_known(place, "h ssh-ed25519 AAAAgood\n[h]:2222 ssh-ed25519 AAAAold\n");
    assert_int_equal(check(place, name, "ssh-ed25519", "AAAAgood", &err), -1);
    assert_true(error_is(&err, &kind_hostkey_changed));
    assert_int_equal(err.line, 2);
    assert_non_null(strstr(err.hint, "ssh-keygen -R '[h]:2222' -f "));
    write_known(place, "h ssh-ed25519 AAAAgood\n[h]:2222 ssh-rsa AAAArsa\n");
    assert_int_equal(check(place, name, "ssh-ed25519", "AAAAgood", &err), -1);
    assert_true(error_is(&err, &kind_hostkey_unknown));
    assert_int_equal(err.line, 2);
}

static void test_patterns(void **state)
{
    struct place *place = *state;

    write_known(place, "*.example,!bad.example,10.0.0.? ssh-ed25519 AAAAgood\n");
    assert_known(place, "a.example", 22);
    assert_known(place, "10.0.0.7", 22);
    assert_unknown(place, "bad.example", 22);
    assert_unknown(place, "10.0.0.77", 22);
}

static void test_hashed_names(void **state)
{
    struct place *place = *state;

    write_known(place, "|1|broken ssh-ed25519 AAAAgood\n|2|x|y ssh-ed25519 AAAAgood\n" HASH_PLAIN
                       " ssh-ed25519 AAAAgood\n");
    assert_known(place, "host.example", 22);
    assert_known(place, "Host.Example", 22);
    assert_unknown(place, "host2.example", 22);
    write_known(place, HASH_PORT " ssh-ed25519 AAAAgood\n");
    assert_known(place, "host.example", 2222);
    assert_unknown(place, "host.example", 22);
}

static void test_several_keys(void **state)
{
    struct place *place = *state;
    struct error err;
    struct known_hosts *known = known_hosts_new();
    struct known_name name = {.hostname = "h", .port = 22, .files = &place->files};
    AUTO_STRLIST struct strlist types = STRLIST_INIT, again = STRLIST_INIT;

    write_known(
        place,
        "h ssh-rsa AAAArsa\nh ssh-ed25519 AAAAold\nh ssh-ed25519 AAAAgood\n@revoked h ssh-dss AAAAx\n");
    assert_known(place, "h", 22);
    assert_int_equal(known_hosts_types(known, &name, true, &types, &err), 0);
    assert_int_equal(types.len, 2);
    assert_string_equal(types.items[0], "ssh-rsa");
    assert_string_equal(types.items[1], "ssh-ed25519");
    assert_int_equal(known_hosts_types(known, &name, false, &again, &err), 0);
    assert_int_equal(again.len, 2);
    known_hosts_free(known);
}

/* Names that are hashed are looked for only when it has to be exact; one type of all of them is told. */
static void test_types_of_hashed(void **state)
{
    struct place *place = *state;
    struct error err;
    struct known_hosts *known;
    struct known_name name = {.hostname = "other", .port = 22, .files = &place->files};
    AUTO_STRLIST struct strlist types = STRLIST_INIT, none = STRLIST_INIT;

    write_known(place, HASH_PORT " ssh-rsa AAAAgood\n");
    known = known_hosts_new();
    assert_int_equal(known_hosts_types(known, &name, false, &types, &err), 0);
    assert_int_equal(types.len, 1);
    assert_string_equal(types.items[0], "ssh-rsa");
    assert_int_equal(known_hosts_types(known, &name, true, &none, &err), 0);
    assert_int_equal(none.len, 0);
    known_hosts_free(known);
    write_known(place, HASH_PORT " ssh-rsa AAAAgood\n" HASH_PORT " ssh-ed25519 AAAAgood\n");
    known = known_hosts_new();
    assert_int_equal(known_hosts_types(known, &name, false, &none, &err), 0);
    assert_int_equal(none.len, 0);
    known_hosts_free(known);
}

/* A key that is added counts at once, stands in the file once, and the file stays its owner's alone. */
static void test_adding(void **state)
{
    struct place *place = *state;
    struct known_hosts *known = known_hosts_new(), *other = known_hosts_new();
    struct known_name name = {.hostname = "New.Example", .port = 2222, .files = &place->files};
    struct known_key key = {.type = "ssh-ed25519", .blob = "AAAAgood", .fingerprint = "SHA256:abc"};
    AUTO_STR struct str text = STR_INIT;
    struct error err = ERROR_INIT;
    struct stat st;

    assert_int_equal(known_hosts_check(known, &name, &key, &err), -1);
    assert_int_equal(known_hosts_check(other, &name, &key, &err), -1);
    assert_int_equal(known_hosts_add(known, &name, &key, place->path, &err), 0);
    assert_int_equal(known_hosts_check(known, &name, &key, &err), 0);
    assert_int_equal(known_hosts_add(other, &name, &key, place->path, &err), 0); /* as another process */
    assert_int_equal(file_read(place->path, 10000, &text, &err), 0);
    assert_string_equal(str_text(&text), "[new.example]:2222 ssh-ed25519 AAAAgood\n");
    assert_int_equal(stat(place->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    key.blob = "AAAAother";
    assert_int_equal(known_hosts_check(known, &name, &key, &err), -1);
    assert_true(error_is(&err, &kind_hostkey_changed));
    known_hosts_free(known);
    known_hosts_free(other);
    unlink(place->path);
    write_known(place, "h ssh-rsa AAAAx"); /* its last line has no end */
    known = known_hosts_new();
    assert_int_equal(known_hosts_add(known, &name, &key, place->path, &err), 0);
    known_hosts_free(known);
    str_reset(&text);
    assert_int_equal(file_read(place->path, 10000, &text, &err), 0);
    assert_string_equal(str_text(&text), "h ssh-rsa AAAAx\n[new.example]:2222 ssh-ed25519 AAAAother\n");
}

static void assert_holds(const struct place *place, const char *wanted)
{
    AUTO_STR struct str text = STR_INIT;

    assert_int_equal(file_read(place->path, 10000, &text, NULL), 0);
    assert_string_equal(str_text(&text), wanted);
}

/* Only the very line counts as there, whatever ends it. */
static void test_adding_what_is_there(void **state)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"# [h]:22 ssh-ed25519 AAAA\n# h ssh-ed25519 AAAA\n#h ssh-ed25519 AAAA\n",
         "# [h]:22 ssh-ed25519 AAAA\n# h ssh-ed25519 AAAA\n#h ssh-ed25519 AAAA\nh ssh-ed25519 AAAA\n"},
        {"h ssh-ed25519 AAAAB\n", "h ssh-ed25519 AAAAB\nh ssh-ed25519 AAAA\n"},
        {"\nx ssh-rsa AAAA\r\nh ssh-ed25519 AAAA\r\n", NULL},
        {"h ssh-ed25519 AAAA", NULL},
        {"h ssh-ed25519 AAAA a comment\n", NULL},
        {"x ssh-rsa AAAA\r\n", "x ssh-rsa AAAA\r\nh ssh-ed25519 AAAA\n"},
        {"", "h ssh-ed25519 AAAA\n"},
    };
    struct place *place = *state;

    FOR_ROWS(i, cases, cases[i].before) {
        write_known(place, cases[i].before);
        assert_int_equal(known_hosts_append(place->path, "h ssh-ed25519 AAAA\n", NULL, NULL), 0);
        assert_holds(place, cases[i].after != NULL ? cases[i].after : cases[i].before);
    }
}

/* The end of a child that was forked with that answer. */
static int end_of(pid_t child)
{
    int status = -1;

    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Several processes at once, some with the same key: every line stands there once and whole. */
static void test_adding_at_once(void **state)
{
    enum { CHILDREN = 8, LINES = 12 };
    struct place *place = *state;
    AUTO_FREE char *lock = xasprintf("%s.mtlaunch-lock", place->path);
    AUTO_STR struct str text = STR_INIT;
    pid_t children[CHILDREN];
    int ends = 0, lines = 0;

    for (int c = 0; c < CHILDREN; c++) {
        children[c] = fork();
        for (int i = 0; children[c] == 0 && i < LINES; i++) {
            AUTO_FREE char *own = xasprintf("h%d-%d ssh-ed25519 AAAA%d\n", c, i, c);
            AUTO_FREE char *shared = xasprintf("all%d ssh-ed25519 AAAA\n", i);
            if (known_hosts_append(place->path, own, NULL, NULL) != 0 ||
                known_hosts_append(place->path, shared, NULL, NULL) != 0) {
                _exit(1);
            }
        }
        if (children[c] == 0) {
            _exit(0);
        }
    }
    for (int c = 0; c < CHILDREN; c++) {
        ends |= end_of(children[c]);
    }
    assert_int_equal(ends, 0);
    assert_int_equal(file_read(place->path, 100000, &text, NULL), 0);
    for (const char *at = str_text(&text); *at != '\0'; at = strchr(at, '\n') + 1, lines++) {
        AUTO_FREE char *line = xasprintf("\n%.*s\n", (int)strcspn(at, "\n"), at);
        assert_null(strstr(at, line)); /* not again */
        assert_true(text_starts(at, "h") || text_starts(at, "all"));
        assert_non_null(strstr(line, " ssh-ed25519 AAAA"));
    }
    assert_int_equal(lines, CHILDREN * LINES + LINES);
    assert_false(file_exists(lock));
}

/* Who holds the lock is waited for. */
static void test_adding_to_a_locked_file(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *path = xasprintf("%s.mtlaunch-lock", place->path);
    int lock = file_lock(path, 0, NULL);
    pid_t child = fork();

    assert_true(lock >= 0);
    if (child == 0) {
        close(lock);
        _exit(known_hosts_append(place->path, "h ssh-ed25519 AAAA\n", NULL, NULL) == 0 ? 0 : 1);
    }
    usleep(200 * 1000);
    assert_false(file_exists(place->path));
    unlink(path);
    close(lock);
    assert_int_equal(end_of(child), 0);
    assert_holds(place, "h ssh-ed25519 AAAA\n");
}

/* A link stays one, also where its target is not there yet. */
static void test_adding_through_a_link(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *target = xasprintf("%s/elsewhere", place->dir);
    AUTO_STR struct str text = STR_INIT;
    struct stat st;

    assert_int_equal(symlink("elsewhere", place->path), 0);
    assert_int_equal(known_hosts_append(place->path, "h ssh-ed25519 AAAA\n", NULL, NULL), 0);
    assert_int_equal(known_hosts_append(place->path, "i ssh-ed25519 AAAA\n", NULL, NULL), 0);
    assert_int_equal(lstat(place->path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(file_read(target, 1000, &text, NULL), 0);
    assert_string_equal(str_text(&text), "h ssh-ed25519 AAAA\ni ssh-ed25519 AAAA\n");
}

/* In a child that is not root: nothing is read-only for root. */
static void test_adding_in_a_read_only_folder(void **state)
{
    struct place *place = *state;
    pid_t child;

    write_known(place, "i ssh-ed25519 AAAA\n");
    assert_int_equal(chmod(place->dir, 0555), 0);
    child = fork();
    if (child == 0) {
        struct error err = ERROR_INIT;
        if (getuid() == 0 && setuid(65534) != 0) {
            _exit(2);
        }
        _exit(known_hosts_append(place->path, "h ssh-ed25519 AAAA\n", NULL, &err) == -1 &&
                      error_is(&err, &kind_local) && strstr(err.text, place->path) != NULL &&
                      strstr(err.text, "permission denied") != NULL
                  ? 0
                  : 1);
    }
    assert_int_equal(end_of(child), 0);
    assert_int_equal(chmod(place->dir, 0700), 0);
    assert_holds(place, "i ssh-ed25519 AAAA\n");
}

/* The key counts from now on, whether it is written or not. */
static bool is_taken(const char *path)
{
    struct known_hosts *known = known_hosts_new();
    AUTO_STRLIST struct strlist files = STRLIST_INIT;
    struct known_name name = {.hostname = "h", .port = 22, .files = &files};
    struct known_key key = {.type = "ssh-ed25519", .blob = "AAAA", .fingerprint = "SHA256:abc"};
    struct error err = ERROR_INIT;
    bool taken;

    strlist_add(&files, path);
    taken = known_hosts_add(known, &name, &key, path, &err) == 0 && err.kind == NULL &&
            known_hosts_check(known, &name, &key, &err) == 0;
    known_hosts_free(known);
    return taken;
}

/* What the caller may not write is taken unwritten; a file is written without its folder. */
static void test_taking_unwritten(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *other = xasprintf("%s/other", place->dir), *folder = xasprintf("%s/no", place->dir);
    AUTO_FREE char *missing = xasprintf("%s/known_hosts", folder);
    pid_t child;

    write_known(place, "i ssh-ed25519 AAAA\n");
    assert_int_equal(chmod(place->path, 0666), 0);
    assert_true(is_taken(missing));
    assert_false(file_exists(folder));
    assert_int_equal(chmod(place->dir, 0555), 0);
    child = fork();
    if (child == 0) {
        if (getuid() == 0 && setuid(65534) != 0) {
            _exit(2);
        }
        _exit(is_taken(other) && is_taken(missing) && is_taken(place->path) ? 0 : 1);
    }
    assert_int_equal(end_of(child), 0);
    assert_int_equal(chmod(place->dir, 0700), 0);
    assert_false(file_exists(other));
    assert_holds(place, "i ssh-ed25519 AAAA\nh ssh-ed25519 AAAA\n");
}

/* The caller's own ~/.ssh is made; a disk that takes no more is trouble. */
static void test_adding_for_the_first_time(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *folder = xasprintf("%s/.ssh", place->dir);
    AUTO_FREE char *path = xasprintf("%s/known_hosts", folder);
    struct stat st;
    pid_t child = fork();

    if (child == 0) {
        const struct rlimit none = {0, 0};
        setenv("HOME", place->dir, 1);
        if (!is_taken(path)) {
            _exit(1);
        }
        signal(SIGXFSZ, SIG_IGN);
        _exit(setrlimit(RLIMIT_FSIZE, &none) == 0 && !is_taken(place->path) ? 0 : 2);
    }
    assert_int_equal(end_of(child), 0);
    assert_int_equal(stat(folder, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > 0);
}

static void test_adding_beside_a_longer_name(void **state)
{
    struct place *place = *state;
    struct known_hosts *known = known_hosts_new();
    struct known_name name = {.hostname = "10.0.0.1", .port = 22, .files = &place->files};
    struct known_key key = {.type = "ssh-ed25519", .blob = "AAAAgood", .fingerprint = "SHA256:abc"};
    AUTO_STR struct str text = STR_INIT;
    struct error err = ERROR_INIT;

    write_known(place, "110.0.0.1 ssh-ed25519 AAAAgood\n");
    assert_int_equal(known_hosts_add(known, &name, &key, place->path, &err), 0);
    assert_int_equal(file_read(place->path, 10000, &text, &err), 0);
    assert_string_equal(str_text(&text), "110.0.0.1 ssh-ed25519 AAAAgood\n10.0.0.1 ssh-ed25519 AAAAgood\n");
    known_hosts_free(known);
}

static char *find_authority(struct place *place, const char *alias, const char *hostname, unsigned port)
{
    struct ssh_authorities *authorities = ssh_authorities_new();
    const struct known_name name = {
        .alias = alias, .hostname = hostname, .port = port, .files = &place->files};
    char *found = ssh_authorities_find(authorities, &name);

    ssh_authorities_free(authorities);
    return found;
}

static void test_authorities(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *second = xasprintf("%s:2", place->path), *third = xasprintf("%s:3", place->path);
    static const struct {
        const char *alias, *hostname;
        unsigned port, line;
    } cases[] = {
        {NULL, "G1.example", 22, 2},
        {NULL, "g1.example", 2222, 2},
        {NULL, "bad.example", 22, 0},
        {NULL, "g1", 22, 0},
        {"g1.example", "10.0.0.1", 22, 2},
        {NULL, "h", 2222, 3},
        {NULL, "h", 22, 0},
        {NULL, "plain", 22, 0},
    };

    write_known(place, "plain ssh-ed25519 AAAA # @cert-authority\n"
                       "@cert-authority *.Example,!bad.example ssh-ed25519 AAAA\r\n"
                       "  @cert-authority\t[h]:2222 ssh-rsa BBBB\n"
                       "@cert-authority\n@cert-authorityx h ssh-rsa BBBB\n@revoked plain ssh-rsa CCCC");
    FOR_ROWS(i, cases, cases[i].alias) {
        AUTO_FREE char *found = find_authority(place, cases[i].alias, cases[i].hostname, cases[i].port);
        if (cases[i].line == 0) {
            assert_null(found);
        } else {
            assert_string_equal(found, cases[i].line == 2 ? second : third);
        }
    }
    unlink(place->path);
    assert_null(find_authority(place, NULL, "g1.example", 22));
    assert_null(ssh_authorities_find(NULL, &(struct known_name){.hostname = "h", .files = &place->files}));
}

/* Nothing is written to what is no file; a folder that is missing is said. */
static void test_adding_elsewhere(void **state)
{
    struct place *place = *state;
    struct known_hosts *known = known_hosts_new();
    struct known_name name = {.hostname = "h", .port = 22, .files = &place->files};
    struct known_key key = {.type = "ssh-ed25519", .blob = "AAAAgood", .fingerprint = "SHA256:abc"};
    struct error err = ERROR_INIT;

    assert_int_equal(known_hosts_add(known, &name, &key, "/dev/null", &err), 0);
    assert_false(file_exists("/dev/null.mtlaunch-lock"));
    assert_int_equal(known_hosts_append("/proc/no-such/known_hosts", "h ssh-ed25519 AAAA\n", NULL, &err), -1);
    assert_true(error_is(&err, &kind_local));
    assert_non_null(strstr(err.text, "cannot write '/proc/no-such/known_hosts'"));
    known_hosts_free(known);
}

static void test_changed(void **state)
{
    struct place *place = *state;
    struct error err;

    write_known(place, "# comment\nother ssh-ed25519 AAAAgood\nh ssh-ed25519 AAAAold\n");
    assert_int_equal(
        check(place, (struct known_name){.hostname = "h", .port = 22}, "ssh-ed25519", "AAAAgood", &err), -1);
    assert_true(error_is(&err, &kind_hostkey_changed));
    assert_string_equal(err.file, place->path);
    assert_int_equal(err.line, 3);
    assert_non_null(strstr(err.text, "line 3 of"));
    assert_non_null(strstr(err.hint, "ssh-keygen -R 'h' -f "));
}

/* Only a key of another type is known: not the same alarm, but no trust either. */
static void test_other_type(void **state)
{
    struct place *place = *state;
    struct error err;

    write_known(place, "h ssh-rsa AAAArsa\n");
    assert_int_equal(
        check(place, (struct known_name){.hostname = "h", .port = 22}, "ssh-ed25519", "AAAAgood", &err), -1);
    assert_true(error_is(&err, &kind_hostkey_unknown));
    assert_non_null(strstr(err.text, "known is ssh-rsa"));
    assert_int_equal(err.line, 1);
}

static void test_revoked(void **state)
{
    struct place *place = *state;
    struct error err;

    write_known(place, "h ssh-ed25519 AAAAgood\n@revoked * ssh-ed25519 AAAAgood\n");
    assert_int_equal(
        check(place, (struct known_name){.hostname = "h", .port = 2222}, "ssh-ed25519", "AAAAgood", &err),
        -1);
    assert_true(error_is(&err, &kind_hostkey_revoked));
    assert_int_equal(err.line, 2);
    assert_true(err.hint[0] != '\0');
}

static void test_authorities_are_no_host_keys(void **state)
{
    struct place *place = *state;

    write_known(place, "@cert-authority * ssh-ed25519 AAAAgood\n");
    assert_unknown(place, "h", 22);
}

static void test_alias(void **state)
{
    struct place *place = *state;
    struct error err;
    struct known_name name = {.alias = "Cluster", .hostname = "10.0.0.1", .port = 2222};

    write_known(place, "cluster ssh-ed25519 AAAAgood\n");
    assert_int_equal(check(place, name, "ssh-ed25519", "AAAAgood", &err), 0);
    write_known(place, "10.0.0.1 ssh-ed25519 AAAAgood\n[cluster]:2222 ssh-ed25519 AAAAgood\n");
    assert_int_equal(check(place, name, "ssh-ed25519", "AAAAgood", &err), -1);
    assert_true(error_is(&err, &kind_hostkey_unknown));
}

static void test_unreadable(void **state)
{
    struct place *place = *state;
    struct strlist files = STRLIST_INIT;
    struct known_hosts *known = known_hosts_new();
    struct known_name name = {.hostname = "h", .port = 22, .files = &files};
    struct known_key key = {.type = "ssh-ed25519", .blob = "AAAAgood", .fingerprint = "SHA256:abc"};
    AUTO_STRLIST struct strlist types = STRLIST_INIT;
    struct error err = ERROR_INIT;

    strlist_add(&files, place->dir); /* a folder */
    assert_int_equal(known_hosts_check(known, &name, &key, &err), -1);
    assert_true(error_is(&err, &kind_local));
    assert_int_equal(strncmp(err.text, "known hosts: ", 13), 0);
    assert_int_equal(known_hosts_types(known, &name, true, &types, &err), -1);
    known_hosts_free(known);
    strlist_release(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),
        cmocka_unit_test_setup_teardown(test_plain_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bare_name_and_other_ports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_patterns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hashed_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_several_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_types_of_hashed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adding, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adding_beside_a_longer_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adding_what_is_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adding_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adding_to_a_locked_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adding_through_a_link, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adding_in_a_read_only_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_taking_unwritten, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adding_for_the_first_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_authorities, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adding_elsewhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_changed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_type, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_revoked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_authorities_are_no_host_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_alias, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unreadable, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
