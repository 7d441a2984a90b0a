/* Values of the job file that have their own rules; program, arguments, environment and hosts are in separate
 * files. */
#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "input/jobfile_internal.h"
#include "model/host.h"
#include "model/kind.h"

#define JOB_NAME_MAX  200
#define INTERFACE_MAX 15 /* IFNAMSIZ of linux/if.h, less its NUL */

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            return true;
        }
    }
    return false;
}

static void replace(char **place, char *text)
{
    auto_free(place);
    *place = text;
}

int read_job_name(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    const char *text = reader_text(reader, node, path);
    if (!text) {
        return -1;
    }
    if (has_control(text) || strlen(text) > JOB_NAME_MAX) {
        reader_fail_value(reader, node, path, "one line of up to 200 bytes");
        return error_hint(reader->err, "give a short name, such as 'job: pretrain'");
    }
    replace(&reader->job->name, xstrdup(text));
    return 0;
}

int read_hostfile(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    const char *text = reader_text(reader, node, path);
    if (!text) {
        return -1;
    }
    reader->hostfile = node;
    replace(&reader->job->hostfile, reader_path(reader, text));
    reader->job->hostfile_line = node->doc->is_option ? 0 : node->line;
    return 0;
}

int read_shell(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    static const char *const names[] = {"auto", "bash", "sh"};
    const char *text = reader_text(reader, node, path);
    if (!text) {
        return -1;
    }
    bool known = text[0] == '/' && !has_control(text);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        known = known || strcmp(text, names[i]) == 0;
    }
    if (!known) {
        reader_fail_value(reader, node, path, "auto, bash, sh, or the absolute path of a shell");
        const char *near = text_nearest(text, names, ARRAY_LEN(names));
        return near ? error_hint(reader->err, "did you mean '%s'?", near)
                    : reader_hint_write(reader, node, path, "auto");
    }
    replace(&reader->job->shell, xstrdup(text));
    return 0;
}

int read_identity(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    const char *text = reader_text(reader, node, path);
    if (!text) {
        return -1;
    }
    AUTO_FREE char *file = reader_absolute_path(reader, text);
    if (!file_exists(file)) {
        yaml_fail(node, reader->err, &kind_identity_missing, "'%s': no file '%s'", path, file);
        return error_hint(reader->err, "name a private key that is there, or leave it out");
    }
    size_t len = strlen(file);
    AUTO_FREE char *private_half = text_ends(file, ".pub") ? xstrndup(file, len - strlen(".pub")) : NULL;
    if (private_half && file_exists(private_half)) {
        if (reader->warnings) {
            strlist_addf(reader->warnings,
                         "'%s' is the public key '%s': the private key '%s' is used instead", path, text,
                         private_half);
        }
        replace(&reader->job->reach.identity, xstrdup(private_half));
        return 0;
    }
    replace(&reader->job->reach.identity, xstrdup(file));
    return 0;
}

int read_signal(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    const char *text = reader_text(reader, node, path);
    if (!text) {
        return -1;
    }
    const char *name = job_signal_name(text);
    if (!name) {
        const char *bare = text_starts(text, "SIG") ? text + 3 : text;
        const char *near = text_nearest(bare, job_signal_names, job_signal_names_count);
        reader_fail_value(reader, node, path, "the name of a signal, such as TERM or INT");
        return error_hint(reader->err, near ? "did you mean '%s'?" : "use '%s'", near ? near : "TERM");
    }
    replace(&reader->job->stop_signal, xstrdup(name));
    return 0;
}

static bool is_ipv4(const char *text)
{
    struct in_addr address;
    return inet_pton(AF_INET, text, &address) == 1;
}

int check_address(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    const char *text = node->text;
    const char *colon = strchr(text, ':');
    const char *hint = "give the name or the address of the first host";
    if (strpbrk(text, "[]")) {
        hint = "write an IPv6 address without brackets";
    } else if (colon && !strchr(colon + 1, ':')) {
        hint = "the port has a key of its own: master.port";
    } else if (strchr(text, '@')) {
        hint = "leave the user out";
    } else if (strspn(text, "0123456789.") == strlen(text) && !is_ipv4(text)) {
        hint = "an IPv4 address is four numbers from 0 to 255 without leading zeros, such as 10.0.0.7";
    } else if (text[0] != '-' && !strpbrk(text, " \t,/='\"") && !has_control(text)) {
        return 0;
    }
    reader_fail_value(reader, node, path, "auto, or one name or address");
    return error_hint(reader->err, "%s", hint);
}

int check_interface(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    const char *text = node->text;
    if (strlen(text) <= INTERFACE_MAX && !strpbrk(text, " \t/,=^:") && !has_control(text)) {
        return 0;
    }
    reader_fail_value(reader, node, path, "auto, or the name of one network interface");
    return error_hint(reader->err, "'ip -brief address' on a node lists its interfaces");
}

/* The rest of a hop's grammar is checked where the hop is resolved. */
int check_jump(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    const char *text = node->text;
    bool good = text[0] != ',' && text[strlen(text) - 1] != ',' && !strstr(text, ",,");

    if (good && text[0] != '-' && !strpbrk(text, " \t\"'`$;&|<>(){}\\") && !has_control(text)) {
        return 0;
    }
    reader_fail_value(reader, node, path, "[user@]host[:port], several separated by commas, or none");
    return reader_hint_write(reader, node, path, "user@gateway:22");
}

int check_user(struct job_reader *reader, const struct yaml_node *node, const char *path)
{
    const char *text = node->text;
    if (host_user_is_valid(text, strlen(text))) {
        return 0;
    }
    reader_fail_value(
        reader, node, path,
        "a user's name without blanks, '@', ':' and characters of the shell, not beginning with '-'");
    return error_hint(reader->err, "write the name alone, as `id -un` prints it on the node");
}
