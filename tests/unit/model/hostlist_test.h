/* Host lists as text, for tables of expected results. */
#ifndef MTLAUNCH_TESTS_HOSTLIST_TEST_H
#define MTLAUNCH_TESTS_HOSTLIST_TEST_H

#include "model/hostlist.h"
#include "test.h"

/* "user@name:port slots=8 gpus=0,2 …", every field that is set, in a fixed order. */
static inline void host_write(const struct host *host, struct str *out)
{
    if (host->user)
        str_addf(out, "%s@", host->user);
    str_add(out, host->name);
    if (host->port)
        str_addf(out, ":%u", host->port);
    if (host->slots)
        str_addf(out, " slots=%u", host->slots);
    if (host->gpus)
        str_addf(out, " gpus=%s", host->gpus);
    if (host->addr)
        str_addf(out, " addr=%s", host->addr);
    if (host->ifname)
        str_addf(out, " ifname=%s", host->ifname);
    if (host->workdir)
        str_addf(out, " workdir=%s", host->workdir);
    if (host->python)
        str_addf(out, " python=%s", host->python);
    for (size_t i = 0; i < host->env.len; i++)
        str_addf(out, " env.%s=%s", host->env.items[i].name, host->env.items[i].value);
    if (host->ssh_always)
        str_add(out, " ssh=always");
}

/* All hosts, separated by '|'. Caller frees. */
static inline char *hostlist_write(const struct hostlist *list)
{
    AUTO_STR struct str out = STR_INIT;

    for (size_t i = 0; i < list->len; i++) {
        str_add(&out, i ? "|" : "");
        host_write(&list->items[i], &out);
    }
    return str_detach(&out);
}

struct accept_case {
    const char *text;
    const char *hosts; /* as hostlist_write shows them */
};

struct reject_case {
    const char *text;
    unsigned line, column;
    const char *message; /* the whole text */
    const char *hint;    /* a part of the hint */
};

static inline void check_accept(const struct accept_case *one, enum hostlist_form form)
{
    struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;

    if (hostlist_parse(&list, one->text, strlen(one->text), form,
                       form == HOSTLIST_LINES ? "hosts" : "--hosts", form == HOSTLIST_LINES, &warnings,
                       &err) != 0)
        fail_msg("refused '%s': %s", one->text, err.text);
    AUTO_FREE char *got = hostlist_write(&list);
    assert_string_equal(got, one->hosts);
    assert_int_equal(warnings.len, 0);
    hostlist_release(&list);
}

/* Lines are checked as a file "hosts", a list as "--hosts". */
static inline void check_reject(const struct reject_case *one, enum hostlist_form form)
{
    struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    AUTO_FREE char *message =
        form == HOSTLIST_LINES ? xstrdup(one->message) : xasprintf("--hosts: %s", one->message);

    if (hostlist_parse(&list, one->text, strlen(one->text), form,
                       form == HOSTLIST_LINES ? "hosts" : "--hosts", form == HOSTLIST_LINES, NULL, &err) == 0)
        fail_msg("accepted '%s'", one->text);
    assert_string_equal(err.text, message);
    assert_string_equal(err.file, form == HOSTLIST_LINES ? "hosts" : "");
    if (err.line != one->line || err.column != one->column)
        fail_msg("'%s': %u:%u instead of %u:%u", one->text, err.line, err.column, one->line, one->column);
    if (!strstr(err.hint, one->hint) || !one->hint[0])
        fail_msg("'%s': hint '%s' without '%s'", one->text, err.hint, one->hint);
    assert_ptr_equal(err.kind, &kind_host_list);
    assert_int_equal(list.len, 0);
    assert_null(list.items);
}

#endif
