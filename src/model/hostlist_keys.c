/*
 * The settings of an entry, in one table. To add one: a line in `keys`, a set and a show function; the table
 * of tests/unit/model/test_hostlist_keys.c fails for a key without a case of its own.
 */
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"
#include "model/hostlist_internal.h"
#include "model/kind.h"

#define SLOTS_MAX 1024

enum key_id {
    KEY_SLOTS,
    KEY_GPUS,
    KEY_ADDR,
    KEY_USER,
    KEY_PORT,
    KEY_IFNAME,
    KEY_WORKDIR,
    KEY_PYTHON,
    KEY_SSH,
    KEY_COUNT
};

struct key {
    const char *name;
    int (*set)(struct host *host, const char *value, struct error *err);
    /* Append the value, or nothing if it is not set. NULL for keys that distinguish hosts (user, port). */
    void (*show)(const struct host *host, struct str *out);
    bool commas; /* a value may contain commas */
    struct hostlist_key_doc doc;
};

static int refuse(struct error *err, const char *key, const char *value)
{
    return error_set(err, &kind_host_list, "'%s=%s' is not allowed", key,
                     hostlist_token(value, strlen(value)).text);
}

/* slots= and gpus= must agree; gpus= alone counts as slots. */
static int check_slots(struct host *host, struct error *err)
{
    unsigned count = 1;

    if (!host->gpus) {
        return 0;
    }
    for (const char *at = host->gpus; *at; at++) {
        count += *at == ',';
    }
    if (host->slots && host->slots != count) {
        error_set(err, &kind_host_list, "slots=%u does not match gpus=%s, which names %u", host->slots,
                  hostlist_token(host->gpus, strlen(host->gpus)).text, count);
        return error_hint(err, "leave slots= out: the GPUs of gpus= are counted");
    }
    host->slots = count;
    return 0;
}

static int set_slots(struct host *host, const char *value, struct error *err)
{
    uint64_t slots;

    if (!text_to_uint(value, 1, SLOTS_MAX, &slots)) {
        refuse(err, "slots", value);
        return error_hint(err, "give the number of GPUs, 1 to %d: slots=8", SLOTS_MAX);
    }
    host->slots = (unsigned)slots;
    return check_slots(host, err);
}

static void show_slots(const struct host *host, struct str *out)
{
    if (host->slots) {
        str_addf(out, "%u", host->slots);
    }
}

static int refuse_gpus(struct error *err, const char *value, const char *why)
{
    error_set(err, &kind_host_list, "'gpus=%s': %s", hostlist_token(value, strlen(value)).text, why);
    return error_hint(err,
                      "list the numbers of the GPUs, each once: gpus=0-3 or gpus=0,2 (in a list of hosts "
                      "gpus=\"0,2\")");
}

/* Add one number or range of gpus= to list, and mark it in seen. */
static int add_gpus(struct str *list, bool seen[SLOTS_MAX], const char *item, const char *value,
                    struct error *err)
{
    uint64_t low, high;
    const char *dash = strchr(item, '-');
    AUTO_FREE char *first = xstrndup(item, dash ? (size_t)(dash - item) : strlen(item));

    if (!text_to_uint(first, 0, UINT64_MAX, &low) ||
        !text_to_uint(dash ? dash + 1 : first, 0, UINT64_MAX, &high)) {
        return refuse_gpus(err, value, "not a list of numbers");
    }
    if (high < low) {
        return refuse_gpus(err, value, "the range is reversed");
    }
    if (high >= SLOTS_MAX) {
        return refuse_gpus(err, value, "numbers go up to 1023");
    }
    for (uint64_t gpu = low; gpu <= high; gpu++) {
        if (seen[gpu]) {
            return refuse_gpus(err, value, "a GPU is named twice");
        }
        seen[gpu] = true;
        str_addf(list, "%s%u", list->len ? "," : "", (unsigned)gpu);
    }
    return 0;
}

static int set_gpus(struct host *host, const char *value, struct error *err)
{
    bool seen[SLOTS_MAX] = {false};
    AUTO_STR struct str list = STR_INIT;
    const char *at = value;

    for (;;) {
        AUTO_FREE char *item = xstrndup(at, strcspn(at, ","));
        if (add_gpus(&list, seen, item, value, err) < 0) {
            return -1;
        }
        at += strlen(item);
        if (*at == '\0') {
            break;
        }
        at++;
    }
    host->gpus = str_detach(&list);
    return check_slots(host, err);
}

static void show_gpus(const struct host *host, struct str *out)
{
    if (host->gpus) {
        str_add(out, host->gpus);
    }
}

static int set_addr(struct host *host, const char *value, struct error *err)
{
    if (hostlist_addr_check(value, err) < 0) {
        return -1;
    }
    host->addr = xstrdup(value);
    return 0;
}

static void show_addr(const struct host *host, struct str *out)
{
    if (host->addr) {
        str_add(out, host->addr);
    }
}

static int set_user(struct host *host, const char *value, struct error *err)
{
    if (host->user) {
        error_set(err, &kind_host_list, "'user=%s' and '%s@' both name a user",
                  hostlist_token(value, strlen(value)).text,
                  hostlist_token(host->user, strlen(host->user)).text);
        return error_hint(err, "name the user once");
    }
    if (hostlist_user_check(value, strlen(value), err) < 0) {
        return -1;
    }
    host->user = xstrdup(value);
    return 0;
}

static int set_port(struct host *host, const char *value, struct error *err)
{
    uint64_t port;

    if (host->port) {
        error_set(err, &kind_host_list, "'port=%s' and ':%u' both name a port",
                  hostlist_token(value, strlen(value)).text, host->port);
        return error_hint(err, "name the port once");
    }
    if (!text_to_uint(value, 1, 65535, &port)) {
        refuse(err, "port", value);
        return error_hint(err, "a port is a number from 1 to 65535");
    }
    host->port = (unsigned)port;
    return 0;
}

/* A name that the kernel accepts (dev_valid_name in net/core/dev.c) and that NCCL does not read as a list. */
static int set_ifname(struct host *host, const char *value, struct error *err)
{
    size_t len = strlen(value);

    if (len == 0 || len >= IF_NAMESIZE || strcmp(value, ".") == 0 || strcmp(value, "..") == 0 ||
        strpbrk(value, " \t/:,") || value[0] == '=' || value[0] == '^') {
        refuse(err, "ifname", value);
        return error_hint(err, "give the exact name of one interface, at most %d characters: ifname=eth0",
                          IF_NAMESIZE - 1);
    }
    host->ifname = xstrdup(value);
    return 0;
}

static void show_ifname(const struct host *host, struct str *out)
{
    if (host->ifname) {
        str_add(out, host->ifname);
    }
}

static int set_workdir(struct host *host, const char *value, struct error *err)
{
    if (value[0] == '\0') {
        refuse(err, "workdir", value);
        return error_hint(err, "give a folder on the node, or leave workdir= out");
    }
    host->workdir = xstrdup(value);
    return 0;
}

static void show_workdir(const struct host *host, struct str *out)
{
    if (host->workdir) {
        str_add(out, host->workdir);
    }
}

/* "none" changes how the program is started, which the job decides, not a host. */
static int set_python(struct host *host, const char *value, struct error *err)
{
    if (value[0] == '\0' || value[0] == '-' || strcmp(value, "none") == 0) {
        refuse(err, "python", value);
        return error_hint(err, "give the interpreter on this host, such as python=/opt/venv/bin/python3");
    }
    host->python = xstrdup(value);
    return 0;
}

static void show_python(const struct host *host, struct str *out)
{
    if (host->python) {
        str_add(out, host->python);
    }
}

static int set_ssh(struct host *host, const char *value, struct error *err)
{
    if (strcmp(value, "auto") != 0 && strcmp(value, "always") != 0) {
        refuse(err, "ssh", value);
        return error_hint(err, "write ssh=auto or ssh=always");
    }
    host->ssh_always = strcmp(value, "always") == 0;
    return 0;
}

static void show_ssh(const struct host *host, struct str *out)
{
    if (host->ssh_always) {
        str_add(out, "always");
    }
}

static const struct key keys[KEY_COUNT] = {
    [KEY_SLOTS] = {"slots",
                   set_slots,
                   show_slots,
                   false,
                   {"slots=N", "The number of GPUs, 1 to 1024: processes of the job on this host.",
                    "slots=8"}},
    [KEY_GPUS] = {"gpus",
                  set_gpus,
                  show_gpus,
                  true,
                  {"gpus=LIST", "The GPUs to use, by number. Sets CUDA_VISIBLE_DEVICES and counts as slots.",
                   "gpus=0-3"}},
    [KEY_ADDR] = {"addr",
                  set_addr,
                  show_addr,
                  false,
                  {"addr=ADDRESS", "The address by which the other nodes reach this host.",
                   "addr=10.0.0.33"}},
    [KEY_USER] = {"user",
                  set_user,
                  NULL,
                  false,
                  {"user=NAME", "The user to log in as; the same as NAME@ in front of the host.",
                   "user=train"}},
    [KEY_PORT] = {"port",
                  set_port,
                  NULL,
                  false,
                  {"port=N", "The port of sshd; the same as :N after the host.", "port=2222"}},
    [KEY_IFNAME] = {"ifname",
                    set_ifname,
                    show_ifname,
                    false,
                    {"ifname=INTERFACE", "The network interface for NCCL and gloo.", "ifname=bond0"}},
    [KEY_WORKDIR] = {"workdir",
                     set_workdir,
                     show_workdir,
                     true,
                     {"workdir=FOLDER", "The working folder on this host, instead of the job's.",
                      "workdir=/ssd/code"}},
    [KEY_PYTHON] = {"python",
                    set_python,
                    show_python,
                    true,
                    {"python=PATH", "The Python of this host, instead of the job's.",
                     "python=/opt/venv/bin/python3"}},
    [KEY_SSH] = {"ssh",
                 set_ssh,
                 show_ssh,
                 false,
                 {"ssh=auto|always", "always: use ssh even if the host is this machine.", "ssh=always"}},
};

size_t hostlist_key_docs(const struct hostlist_key_doc **docs)
{
    static const struct hostlist_key_doc env = {"env.NAME=VALUE", "A variable of the program on this host.",
                                                "env.NCCL_IB_HCA=mlx5_0"};
    for (size_t i = 0; docs && i < KEY_COUNT; i++) {
        docs[i] = &keys[i].doc;
    }
    if (docs) {
        docs[KEY_COUNT] = &env;
    }
    return KEY_COUNT + 1;
}

static int apply_env(struct host *host, const char *key, const char *value, struct error *err)
{
    const char *name = key + strlen("env.");

    if (env_get(&host->env, name)) {
        error_set(err, &kind_host_list, "'%s' is given twice", hostlist_token(key, strlen(key)).text);
        return error_hint(err, "give each name once");
    }
    if (env_check_settable(name, value, err) < 0) {
        if (err) {
            err->kind = &kind_host_list;
        }
        return -1;
    }
    env_set(&host->env, name, value, "host list");
    return 0;
}

bool hostlist_key_takes_commas(const char *key)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(key, keys[i].name) == 0) {
            return keys[i].commas;
        }
    }
    return text_starts(key, "env.");
}

const char *hostlist_key_nearest(const char *word)
{
    const char *names[KEY_COUNT];

    for (size_t i = 0; i < KEY_COUNT; i++) {
        names[i] = keys[i].name;
    }
    return text_nearest(word, names, KEY_COUNT);
}

static int refuse_unknown(const char *key, const char *value, struct error *err)
{
    const char *nearest = hostlist_key_nearest(key);
    const char *shown = hostlist_is_secret(key) ? "***" : value;

    error_set(err, &kind_host_list, "unknown key '%s' in '%s=%s'", hostlist_token(key, strlen(key)).text,
              hostlist_token(key, strlen(key)).text, hostlist_token(shown, strlen(shown)).text);
    if (nearest) {
        return error_hint(err, "did you mean '%s='?", nearest);
    }
    if (env_name_valid(key) && strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(key)) {
        return error_hint(
            err,
            "keys are slots, gpus, addr, user, port, ifname, workdir, python, ssh and env.NAME; an "
            "environment variable is written env.%s=",
            hostlist_token(key, strlen(key)).text);
    }
    return error_hint(err,
                      "keys are slots, gpus, addr, user, port, ifname, workdir, python, ssh and env.NAME");
}

int hostlist_key_apply(struct hostlist_entry *entry, const char *key, const char *value, struct error *err)
{
    if (text_starts(key, "env.")) {
        return apply_env(&entry->host, key, value, err);
    }
    for (unsigned i = 0; i < KEY_COUNT; i++) {
        if (strcmp(key, keys[i].name) != 0) {
            continue;
        }
        if (entry->keys_seen & 1u << i) {
            error_set(err, &kind_host_list, "'%s=' is given twice", key);
            return error_hint(err, "give each key once");
        }
        entry->keys_seen |= 1u << i;
        return keys[i].set(&entry->host, value, err);
    }
    return refuse_unknown(key, value, err);
}

static bool env_equal(const struct host *a, const struct host *b, const char **name)
{
    for (size_t i = 0; i < a->env.len; i++) {
        const struct env_var *other = env_get(&b->env, a->env.items[i].name);
        *name = a->env.items[i].name;
        if (!other || strcmp(other->value, a->env.items[i].value) != 0) {
            return false;
        }
    }
    return true;
}

static char *describe(const struct key *key, const struct str *value)
{
    if (value->len == 0) {
        return xasprintf("no %s=", key->name);
    }
    return xasprintf("%s=%s", key->name, hostlist_token(value->data, value->len).text);
}

/* Apply one setting of a group's entry, which must not contradict the host's own. */
static int merge_text(char **to, const char *from, const char *key, const struct host *host,
                      const char *group, struct error *err)
{
    if (!from || (*to && strcmp(*to, from) == 0)) {
        return 0;
    }
    if (*to) {
        error_set(err, &kind_host_list, "'%s=%s' of '@%s', but the group gives '%s' %s=%s (%s:%u)", key,
                  hostlist_token(from, strlen(from)).text, group, host->name, key,
                  hostlist_token(*to, strlen(*to)).text, host->file, host->line);
        return error_hint(err, "keep one of the two");
    }
    *to = xstrdup(from);
    return 0;
}

static int merge_number(unsigned *to, unsigned from, const char *key, const struct host *host,
                        const char *group, struct error *err)
{
    if (*to && from && *to != from) {
        error_set(err, &kind_host_list, "'%s=%u' of '@%s', but the group gives '%s' %s=%u (%s:%u)", key, from,
                  group, host->name, key, *to, host->file, host->line);
        return error_hint(err, "keep one of the two");
    }
    *to = *to ? *to : from;
    return 0;
}

int hostlist_keys_merge(struct host *host, const struct host *extra, const char *group, struct error *err)
{
    if (merge_text(&host->user, extra->user, "user", host, group, err) < 0 ||
        merge_text(&host->addr, extra->addr, "addr", host, group, err) < 0 ||
        merge_text(&host->ifname, extra->ifname, "ifname", host, group, err) < 0 ||
        merge_text(&host->workdir, extra->workdir, "workdir", host, group, err) < 0 ||
        merge_text(&host->python, extra->python, "python", host, group, err) < 0 ||
        merge_number(&host->port, extra->port, "port", host, group, err) < 0 ||
        merge_text(&host->gpus, extra->gpus, "gpus", host, group, err) < 0 ||
        merge_number(&host->slots, extra->slots, "slots", host, group, err) < 0) {
        return -1;
    }
    host->ssh_always = host->ssh_always || extra->ssh_always;
    for (size_t i = 0; i < extra->env.len; i++) {
        const struct env_var *var = &extra->env.items[i];
        const struct env_var *own = env_get(&host->env, var->name);
        if (own && strcmp(own->value, var->value) != 0) {
            error_set(err, &kind_host_list, "'env.%s=' of '@%s', but the group gives '%s' another (%s:%u)",
                      var->name, group, host->name, host->file, host->line);
            return error_hint(err, "keep one of the two");
        }
        env_set(&host->env, var->name, var->value, "host list");
    }
    return 0;
}

bool hostlist_keys_equal(const struct host *a, const struct host *b, char **what_a, char **what_b)
{
    const char *name = NULL;

    for (size_t i = 0; i < KEY_COUNT; i++) {
        AUTO_STR struct str value_a = STR_INIT;
        AUTO_STR struct str value_b = STR_INIT;
        if (!keys[i].show) {
            continue;
        }
        keys[i].show(a, &value_a);
        keys[i].show(b, &value_b);
        if (strcmp(str_text(&value_a), str_text(&value_b)) == 0) {
            continue;
        }
        *what_a = describe(&keys[i], &value_a);
        *what_b = describe(&keys[i], &value_b);
        return false;
    }
    if (env_equal(a, b, &name) && env_equal(b, a, &name)) {
        return true;
    }
    *what_a = xasprintf("%s env.%s=", env_get(&a->env, name) ? "one" : "no", name);
    *what_b = xasprintf("%s env.%s=", env_get(&b->env, name) ? "another" : "no", name);
    return false;
}

/* A value that begins with a quote, or holds a blank or a comma, is put in the quotes that it does not
 * contain.
 */
static void write_setting(const char *key, const char *value, struct str *out)
{
    const char *quote = "";

    if (value[0] == '\0' || strpbrk(value, " \t,\"'")) {
        quote = strchr(value, '"') ? "'" : "\"";
    }
    str_addf(out, " %s=%s%s%s", key, quote, value, quote);
}

void hostlist_write_entry(const struct host *host, struct str *out)
{
    if (host->user) {
        str_addf(out, "%s@", host->user);
    }
    if (host->port) {
        AUTO_FREE char *place = host_join_port(host->name, host->port);
        str_add(out, place);
    } else {
        str_add(out, host->name);
    }
    for (size_t i = 0; i < KEY_COUNT; i++) {
        AUTO_STR struct str value = STR_INIT;
        if (keys[i].show) {
            keys[i].show(host, &value);
        }
        if (value.len > 0 && !(i == KEY_SLOTS && host->gpus)) {
            write_setting(keys[i].name, str_text(&value), out);
        }
    }
    for (size_t i = 0; i < host->env.len; i++) {
        AUTO_FREE char *key = xasprintf("env.%s", host->env.items[i].name);
        write_setting(key, host->env.items[i].value, out);
    }
}
