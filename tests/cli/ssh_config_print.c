/*
 * Prints what our reader makes of a configuration, in the words of `ssh -G`: FILE HOME NAME [USER]. Only the
 * keywords that act. Used by test_ssh_config.py.
 */
#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reach/ssh_config.h"

static void print_list(const char *keyword, const struct strlist *values)
{
    for (size_t i = 0; i < values->len; i++) {
        printf("%s %s\n", keyword, values->items[i]);
    }
}

static void print_line(const char *keyword, const struct strlist *values)
{
    if (values->len > 0) {
        printf("%s", keyword);
    }
    for (size_t i = 0; i < values->len; i++) {
        printf(" %s", values->items[i]);
    }
    if (values->len > 0) {
        printf("\n");
    }
}

static void print_name(const struct ssh_config_values *values, const char *name)
{
    printf("hostname ");
    for (const char *p = values->hostname != NULL ? values->hostname : name; *p != '\0'; p++) {
        putchar(values->hostname != NULL || strchr(name, ':') != NULL ? *p : tolower((unsigned char)*p));
    }
    printf("\n");
}

static void print_text(const char *keyword, const char *value)
{
    if (value != NULL) {
        printf("%s %s\n", keyword, value);
    }
}

static void print_values(const struct ssh_config_values *values, const char *name, const char *local_user)
{
    static const char *const stricts[] = {"ask", "ask", "true", "accept-new", "false"};

    print_name(values, name);
    print_text("user", values->user != NULL ? values->user : local_user);
    printf("port %u\n", values->port != 0 ? values->port : 22);
    print_text("hostkeyalias", values->host_key_alias);
    print_list("identityfile", &values->identity_files);
    print_list("certificatefile", &values->certificate_files);
    print_text("identityagent", values->identity_agent);
    printf("identitiesonly %s\n", values->identities_only == SSH_CONFIG_YES ? "yes" : "no");
    printf("compression %s\n", values->compression == SSH_CONFIG_YES ? "yes" : "no");
    printf("stricthostkeychecking %s\n", stricts[values->strict]);
    print_line("userknownhostsfile", &values->user_known_hosts);
    print_line("globalknownhostsfile", &values->global_known_hosts);
    if (values->connect_timeout_s < 0) {
        printf("connecttimeout none\n");
    } else {
        printf("connecttimeout %d\n", values->connect_timeout_s);
    }
    printf("serveraliveinterval %d\n", values->alive_interval_s < 0 ? 0 : values->alive_interval_s);
    printf("serveralivecountmax %d\n", values->alive_count_max < 0 ? 3 : values->alive_count_max);
    printf("addressfamily %s\n", values->address_family == AF_INET    ? "inet"
                                 : values->address_family == AF_INET6 ? "inet6"
                                                                      : "any");
    print_text("proxyjump", values->proxy_jump);
    print_text("proxycommand", values->proxy_command);
    print_text("openssh-only", values->openssh_only);
}

int main(int argc, char **argv)
{
    struct ssh_config_query query = {0};
    struct ssh_config_values values;
    struct ssh_config *config;
    struct error err = ERROR_INIT;
    struct passwd *caller = getpwuid(getuid());

    if (argc < 4 || caller == NULL) {
        return 64;
    }
    config = ssh_config_load(argv[1], argv[2], NULL, NULL, &err);
    if (config == NULL) {
        printf("error %u\n", err.line);
        return 1;
    }
    query.name = argv[3];
    query.user = argv[4];
    query.local_user = caller->pw_name;
    if (ssh_config_lookup(config, &query, &values, &err) != 0) {
        printf("error %u\n", err.line);
        ssh_config_free(config);
        return 1;
    }
    print_values(&values, argv[3], caller->pw_name);
    ssh_config_values_release(&values);
    ssh_config_free(config);
    return 0;
}
