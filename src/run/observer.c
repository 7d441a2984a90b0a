/* Passes messages and events of the use cases to the observer, and masks secrets. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "node_set_internal.h"
#include "observer_internal.h"
#include "transport/fleet.h"

__attribute__((format(printf, 3, 0))) static void report(void (*callback)(void *, const char *), void *ctx,
                                                         const char *format, va_list args)
{
    if (callback) {
        AUTO_FREE char *text = xvasprintf(format, args);
        callback(ctx, text);
    }
}

void report_info(const struct run_context *context, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(context->observer->info, context->observer->ctx, format, args);
    va_end(args);
}

void report_warn(const struct run_context *context, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(context->observer->warn, context->observer->ctx, format, args);
    va_end(args);
}

void run_mask(const struct run_context *context, char **text)
{
    if (*text && context->secrets.len > 0) {
        struct str masked = STR_INIT;
        text_add_masked(&masked, *text, &context->secrets);
        free(*text);
        *text = str_detach(&masked);
    }
}

void run_context_release(struct run_context *context)
{
    node_set_release_signals(context);
    strlist_release(&context->secrets);
    fleet_free(context->kept);
    context->kept = NULL;
}

void run_note_event(const struct run_context *context, const struct run *run, const char *event,
                    const char *host, const char *format, ...)
{
    struct error err = ERROR_INIT;
    va_list args;
    va_start(args, format);
    AUTO_FREE char *text = xvasprintf(format, args);
    va_end(args);
    if (run_store_add_event(context->store, run->name, clock_real_ms(), event, host, text, &err) != 0) {
        report_warn(context, "%s", err.text);
    }
    if (context->observer->verbose) {
        char now[CLOCK_TEXT_SIZE];
        AUTO_FREE char *line = xasprintf("%s %s%s%s: %s", clock_format_utc(clock_real_ms(), now), event,
                                         host ? " " : "", host ? host : "", text);
        context->observer->verbose(context->observer->ctx, line);
    }
    if (context->observer->event) {
        context->observer->event(context->observer->ctx, run, event, host, text);
    }
}
