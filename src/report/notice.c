/* Makes an event safe to send: bounded, valid UTF-8, secrets masked. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/hostlist.h"
#include "report/notify_internal.h"

/* Cut at the beginning of a character, so that the rest stays valid UTF-8. */
static void cut(struct str *text, size_t max)
{
    if (text->len <= max) {
        return;
    }
    while (max > 0 && ((unsigned char)text->data[max] & 0xc0) == 0x80) {
        max--;
    }
    str_truncate(text, max);
    str_add(text, "…");
}

/*
 * Secrets are masked before the text is cut or changed, because a part of a secret is a secret. The caller
 * frees.
 */
static char *clean(const char *text, const struct strlist *secrets, size_t max)
{
    if (!text) {
        return NULL;
    }
    AUTO_STR struct str masked = STR_INIT;
    struct str safe = STR_INIT;
    text_add_masked(&masked, text, secrets);
    text_add_lines(&safe, str_text(&masked), masked.len);
    cut(&safe, max);
    return str_detach(&safe);
}

void notice_init(struct notice *notice, const struct notify_event *event, const struct strlist *secrets)
{
    *notice = (struct notice){
        .kind = event->kind,
        .time_ms = event->time_ms,
        .attempt = event->attempt,
        .exit_status = event->exit_status,
        .run = clean(event->run, secrets, NOTICE_LINE_MAX),
        .job = clean(event->job, secrets, NOTICE_LINE_MAX),
        .run_id = clean(event->run_id, secrets, NOTICE_LINE_MAX),
        .reason = clean(event->reason, secrets, NOTICE_TEXT_MAX),
        .head = clean(event->head, secrets, NOTICE_LINE_MAX),
    };
    for (size_t i = 0; event->hosts && i < event->hosts->len; i++) {
        if (notice->hosts.len < NOTICE_HOSTS_MAX) {
            strlist_take(&notice->hosts, clean(event->hosts->items[i], secrets, NOTICE_LINE_MAX));
        } else {
            notice->hosts_left_out++;
        }
    }
    size_t lines = event->lines ? event->lines->len : 0;
    size_t first = lines > NOTICE_LINES_MAX ? lines - NOTICE_LINES_MAX : 0;
    for (size_t i = first; i < lines; i++) {
        strlist_take(&notice->lines, clean(event->lines->items[i], secrets, NOTICE_LINE_MAX));
    }
}

void notice_release(struct notice *notice)
{
    free(notice->run);
    free(notice->job);
    free(notice->run_id);
    free(notice->reason);
    free(notice->head);
    strlist_release(&notice->hosts);
    strlist_release(&notice->lines);
    *notice = (struct notice){0};
}

void notice_add_title(const struct notice *notice, struct str *out)
{
    str_addf(out, "run '%s' %s%s", notice->run ? notice->run : "?", notice->kind == NOTIFY_LOST ? "is " : "",
             notify_event_names[notice->kind]);
    if (notice->hosts.len) {
        str_add(out, notice->kind == NOTIFY_STALLED ? ", behind: " : " on ");
        hostlist_fold_names(notice->hosts.items, notice->hosts.len, out);
        if (notice->hosts_left_out) {
            str_addf(out, " and %zu more", notice->hosts_left_out);
        }
    }
    if (notice->exit_status > 0) {
        str_addf(out, " (exit status %d)", notice->exit_status);
    }
}

void notice_add_text(const struct notice *notice, struct str *out)
{
    notice_add_title(notice, out);
    if (notice->job) {
        str_addf(out, "\njob %s", notice->job);
    }
    if (notice->attempt) {
        str_addf(out, ", attempt %u", notice->attempt);
    }
    if (notice->head) {
        str_addf(out, ", started from %s", notice->head);
    }
    if (notice->reason && notice->reason[0]) {
        str_addf(out, "\n%s", notice->reason);
    }
    for (size_t i = 0; i < notice->lines.len; i++) {
        str_addf(out, "\n> %s", notice->lines.items[i]);
    }
}
