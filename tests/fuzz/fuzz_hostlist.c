/*
 * Any text as a host file, as a list and as an expression of --exclude: what is taken keeps its limits and
 * folds to a text that names the same hosts; what is refused says what, where and what to do.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/strlist.h"
#include "fuzz.h"
#include "model/hostlist.h"
#include "model/kind.h"

/* Comparing each with each is for short lists. */
#define PAIRS_MAX 300

static void check_text(const char *text)
{
    CHECK(text == NULL || (strchr(text, '\r') == NULL && strchr(text, '\n') == NULL));
}

static void check_host(const struct host *host)
{
    CHECK(host->name != NULL && host->name[0] != '\0' && host->name[0] != '-' && strlen(host->name) <= 255);
    CHECK(strpbrk(host->name, " \t\"',[]@^#/") == NULL);
    CHECK(host->port <= 65535 && host->slots <= 1024);
    CHECK(host->user == NULL || (host->user[0] != '\0' && strpbrk(host->user, " \t@:") == NULL));
    CHECK(host->line > 0 && host->column > 0);
    check_text(host->user);
    check_text(host->addr);
    check_text(host->ifname);
    check_text(host->workdir);
    for (size_t i = 0; i < host->env.len; i++) {
        CHECK(env_name_valid(host->env.items[i].name));
        check_text(host->env.items[i].value);
    }
}

static void check_error(const struct error *err, enum hostlist_form form)
{
    CHECK(err->kind == &kind_host_list);
    CHECK(err->text[0] != '\0' && err->hint[0] != '\0');
    CHECK((err->file[0] != '\0') == (form == HOSTLIST_LINES));
    CHECK((err->line == 0) == (form == HOSTLIST_COMMAS || err->column == 0));
    for (const char *at = err->text; *at; at++) {
        CHECK((unsigned char)*at >= 0x20 || *at == '\t');
    }
}

/* Users that a list could not spell in front of '@' are left out of this check. */
static bool has_plain_users(const struct hostlist *list)
{
    for (size_t i = 0; i < list->len; i++) {
        if (list->items[i].user && strpbrk(list->items[i].user, ",[]\"'^#")) {
            return false;
        }
    }
    return true;
}

static void check_fold(const struct hostlist *list)
{
    struct hostlist again = HOSTLIST_INIT;
    AUTO_STR struct str folded = STR_INIT;
    AUTO_STR struct str twice = STR_INIT;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;
    AUTO_STRLIST struct strlist labels = STRLIST_INIT;

    hostlist_labels(list, &labels);
    CHECK(labels.len == list->len);
    hostlist_fold(list, &folded);
    if (!has_plain_users(list)) {
        return;
    }
    CHECK(hostlist_parse(&again, folded.data, folded.len, HOSTLIST_COMMAS, "fold", 0, &warnings, NULL) == 0);
    CHECK(warnings.len == 0);
    CHECK(again.len == list->len);
    for (size_t i = 0; i < list->len; i++) {
        CHECK(strcmp(again.items[i].name, list->items[i].name) == 0);
    }
    hostlist_fold(&again, &twice);
    CHECK(strcmp(folded.data, twice.data) == 0);
    hostlist_release(&again);
}

static void check_exclude(struct hostlist *list)
{
    struct error err = ERROR_INIT;
    size_t before = list->len;
    AUTO_FREE char *name = xstrdup(list->items[0].name);
    int result = hostlist_exclude(list, name, "--exclude", NULL, &err);

    if (result != 0) {
        check_error(&err, HOSTLIST_COMMAS);
        CHECK(list->len == before);
        return;
    }
    CHECK(list->len > 0 && list->len < before);
    for (size_t i = 0; i < list->len; i++) {
        CHECK(strcmp(list->items[i].name, name) != 0);
    }
}

static void check_list(struct hostlist *list)
{
    CHECK(list->len >= 1 && list->len <= HOSTLIST_MAX);
    for (size_t i = 0; i < list->len; i++) {
        check_host(&list->items[i]);
        for (size_t j = 0; list->len <= PAIRS_MAX && j < i; j++) {
            CHECK(!host_is_same(&list->items[i], &list->items[j]));
        }
    }
    check_fold(list);
    check_exclude(list);
}

static void check_form(const char *text, size_t len, enum hostlist_form form)
{
    struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    AUTO_STRLIST struct strlist warnings = STRLIST_INIT;
    bool lines = form == HOSTLIST_LINES;

    if (hostlist_parse(&list, text, len, form, lines ? "hosts" : "--hosts", lines, &warnings, &err) == 0) {
        check_list(&list);
    } else {
        check_error(&err, form);
    }
    CHECK(err.kind == NULL || list.len == 0);
    CHECK(warnings.len <= 21);
    hostlist_release(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hostlist list = HOSTLIST_INIT;
    const char *text = (const char *)data;
    AUTO_FREE char *expression = size > 0 ? xstrndup(text, size) : xstrdup("");

    check_form(text, size, HOSTLIST_LINES);
    check_form(text, size, HOSTLIST_COMMAS);
    CHECK(hostlist_parse(&list, "g[1-4]", 6, HOSTLIST_COMMAS, "x", 0, NULL, NULL) == 0);
    if (hostlist_exclude(&list, expression, "--exclude", NULL, NULL) != 0) {
        CHECK(list.len == 4);
    }
    CHECK(list.len >= 1);
    hostlist_release(&list);
    return 0;
}
