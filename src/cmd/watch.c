/* `status --watch` on a terminal: asks the nodes, draws, and handles keys and signals meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "base/term.h"
#include "base/text.h"
#include "cmd/runs_internal.h"
#include "model/kind.h"
#include "report/output.h"
#include "report/stacks.h"
#include "watch_internal.h"

#define LOG_LINES     500
#define DRAW_MS       50              /* between two frames while a log grows */
#define MESSAGES_MAX  ((size_t)16384) /* bytes kept to print at the end */
#define CORNER_OFFSET strlen("2026-11-29 ")

/* --- messages ----------------------------------------------------------------------------------- */

/*
 * stderr is the same screen, so a message is shown in the footer, and printed to stderr when the screen is
 * left.
 */
static void on_message(void *ctx, const char *line, size_t len)
{
    struct watch *watch = ctx;
    const size_t text_len = len > 0 && line[len - 1] == '\n' ? len - 1 : len;
    free(watch->message);
    watch->message = xstrndup(line, text_len);
    watch->message_ms = clock_mono_ms();
    if (watch->messages.len + len <= MESSAGES_MAX && !strstr(str_text(&watch->messages), watch->message)) {
        str_add_mem(&watch->messages, line, len);
    }
}

static void say(struct watch *watch, char *text)
{
    free(watch->message);
    watch->message = text;
    watch->message_ms = clock_mono_ms();
}

/* --- keys and signals --------------------------------------------------------------------------- */

static void end_now(struct watch *watch, int number)
{
    watch->quit = true;
    watch->signal = number;
    run_context_interrupt(&watch->session->context);
}

static void leave_page(struct watch *watch)
{
    watch->wants_stacks = false;
    run_view_unfollow(watch->view);
    if (watch->reads_stacks || !run_state_is_live(run_view_run(watch->view)->state)) {
        run_view_wake(watch->view);
    }
}

static void do_action(struct watch *watch, enum watch_action action)
{
    switch (action) {
    case WATCH_NOTHING:
        break;
    case WATCH_QUIT:
        end_now(watch, 0);
        break;
    case WATCH_BACK:
        leave_page(watch);
        break;
    case WATCH_SHOW_LOG:
        leave_page(watch);
        watch->chose_node = true;
        logpage_release(&watch->log);
        logpage_init(&watch->log);
        run_view_follow(watch->view, watch->place.node, LOG_LINES);
        break;
    case WATCH_READ_STACKS:
        run_view_unfollow(watch->view);
        watch->wants_stacks = !watch->reads_stacks;
        if (!watch->reads_stacks) {
            run_view_wake(watch->view);
        }
        break;
    case WATCH_NO_SUCH_NODE:
        say(watch, xasprintf("run '%s' has %zu nodes: 0 to %zu", watch->name, watch->place.nodes,
                             watch->place.nodes - 1));
        break;
    }
}

static void on_key(void *ctx, int key)
{
    struct watch *watch = ctx;
    size_t lines, room;
    watch_measure(watch, &lines, &room);
    watch->message_ms = INT64_MIN / 2; /* the message has been read */
    do_action(watch, watch_place_key(&watch->place, key, lines, room));
    if (!watch->quit) {
        watch_draw(watch);
    }
}

static void on_redraw(void *ctx)
{
    struct watch *watch = ctx;
    size_t rows;
    term_size(STDOUT_FILENO, &rows, &watch->session->call->style.columns);
    watch_draw(watch);
    if (watch->view && !watch->reads_stacks) {
        run_view_wake(watch->view); /* so that its tables fit the new width */
    }
}

static void on_alarm(void *ctx)
{
    struct watch *watch = ctx;
    logpage_flush(&watch->log);
    watch_draw(watch);
}

static void on_end(void *ctx, int number)
{
    end_now(ctx, number);
}

static void on_log(void *ctx, const char *bytes, size_t len)
{
    struct watch *watch = ctx;
    logpage_feed(&watch->log, bytes, len);
    terminal_set_alarm(&watch->terminal, DRAW_MS);
}

/* --- asking ------------------------------------------------------------------------------------- */

static int look_at_run(struct watch *watch, struct error *err)
{
    if (run_view_look(watch->view, err) != 0) {
        return -1;
    }
    const struct run *run = run_view_run(watch->view);
    const long failed = run_first_failure(run);
    watch->place.nodes = run->nodes_len;
    if (!watch->chose_node && failed >= 0) {
        watch->place.node = (size_t)failed;
    }
    str_reset(&watch->picture);
    session_picture(watch->session, run, &watch->picture);
    return status_exit_code(run->state);
}

/* Query and update what is shown. Returns the exit code, or -1. */
static int look(struct watch *watch, struct error *err)
{
    struct report_style *style = &watch->session->call->style;
    char time[CLOCK_TEXT_SIZE];
    AUTO_STR struct str runs = STR_INIT;
    style->now_ms = clock_real_ms();
    int code = watch->view ? look_at_run(watch, err) : runs_picture(watch->session, true, &runs, err);
    failures_release(&watch->session->call->failures);
    if (code < 0) {
        return -1;
    }
    if (!watch->view) {
        str_reset(&watch->picture);
        str_add(&watch->picture, runs.len > 0 ? str_text(&runs) : "no runs\n");
    }
    snprintf(watch->seen, sizeof(watch->seen), "%s", clock_format_local(style->now_ms, time) + CORNER_OFFSET);
    return code;
}

static void read_stacks(struct watch *watch)
{
    struct run_stacks_result result;
    struct error err = ERROR_INIT;
    watch->wants_stacks = false;
    watch->reads_stacks = true;
    watch_draw(watch);
    int code = run_view_stacks(watch->view, &result, &err);
    watch->reads_stacks = false;
    str_reset(&watch->stacks);
    if (code == 0) {
        report_stacks_text(&result, watch->session->call->options.full, &watch->stacks);
    } else {
        str_addf(&watch->stacks, "%s\n", err.text);
    }
    for (size_t i = 0; code == 0 && i < result.problems_len; i++) {
        text_add_line(&watch->stacks, result.problems[i].host, strlen(result.problems[i].host));
        str_add(&watch->stacks, ": ");
        text_add_line(&watch->stacks, result.problems[i].text, strlen(result.problems[i].text));
        str_add(&watch->stacks, "\n");
    }
    run_stacks_result_release(&result);
}

static bool has_ended(const struct watch *watch)
{
    return watch->view && !run_state_is_live(run_view_run(watch->view)->state);
}

/* Stop watching a run that has ended, unless its log or stacks are being read. */
static int watch_until_end(struct watch *watch, struct error *err)
{
    watch_draw(watch);
    for (int code = 0; !watch->quit;) {
        code = look(watch, err);
        if (code < 0) {
            return -1;
        }
        if (has_ended(watch) && watch->place.page == WATCH_STATUS) {
            return code;
        }
        watch_draw(watch);
        int result = 0;
        if (!watch->wants_stacks) {
            result = watch->view ? run_view_pause(watch->view, WATCH_PERIOD_MS, err)
                                 : run_pause(&watch->session->context, WATCH_PERIOD_MS, err);
        }
        if (result != 0) {
            return watch->quit ? code : -1;
        }
        if (watch->wants_stacks) {
            read_stacks(watch);
            watch_draw(watch);
        }
    }
    return 0;
}

/* --- the whole watch ---------------------------------------------------------------------------- */

static void begin(struct watch *watch)
{
    struct session *session = watch->session;
    size_t rows;
    session->context.want_gpus = watch->view;
    session->call->style.bar = false;
    term_size(STDOUT_FILENO, &rows, &session->call->style.columns);
    session->console.take_log = on_log;
    session->console.take_log_ctx = watch;
    session->console.observer.works[RUN_WORK_TERMINAL] = (struct run_work){
        .ready = terminal_ready, .ctx = &watch->terminal, .fd = terminal_fd(&watch->terminal)};
    msg_set_taker(on_message, watch);
}

static void end(struct watch *watch)
{
    run_view_free(watch->view);
    watch->session->console.observer.works[RUN_WORK_TERMINAL].ready = NULL;
    watch->session->console.take_log = NULL;
    terminal_close(&watch->terminal);
    msg_set_taker(NULL, NULL);
    msg_write(str_text(&watch->messages), watch->messages.len);
    str_release(&watch->messages);
    free(watch->message);
    logpage_release(&watch->log);
    str_release(&watch->stacks);
    str_release(&watch->picture);
}

/* Set err to what ended the watch, unless it was the run's own end or a key. */
static int outcome(struct watch *watch, int code, struct error *err)
{
    static const char untouched[] = "the run was not touched";
    if (watch->error.kind) {
        *err = watch->error;
        return -1;
    }
    switch (watch->signal) {
    case 0:
        break;
    case SIGTERM:
        return error_set(err, &kind_terminated, "terminated; %s", untouched);
    case SIGHUP:
        return error_set(err, &kind_hung_up, "ended by SIGHUP; %s", untouched);
    default:
        return error_set(err, &kind_interrupted, "interrupted; %s", untouched);
    }
    if (watch->quit) {
        const struct run *run = watch->view ? run_view_run(watch->view) : NULL;
        return run && run->name ? status_exit_code(run->state) : 0;
    }
    return code;
}

int watch_on_terminal(struct session *session, const char *name, struct error *err)
{
    static const struct terminal_handler handler = {
        .key = on_key, .redraw = on_redraw, .alarm = on_alarm, .end = on_end};
    struct watch watch = {.session = session, .name = name, .place.has_pages = name};
    AUTO_STR struct str last = STR_INIT;
    logpage_init(&watch.log);
    int code = terminal_open(&watch.terminal, &handler, &watch, err);
    if (code == 0) {
        watch.view = name ? run_view_new(&session->context, name) : NULL;
        begin(&watch);
        code = watch_until_end(&watch, err);
        code = outcome(&watch, code, err);
        if (!watch.quit && code >= 0) {
            str_add(&last, str_text(&watch.picture));
        }
    }
    end(&watch);
    return output_print_last(&last, code, err);
}
