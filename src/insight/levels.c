/* How likely each message is the cause: by its class, and by what the log shows after it. */
#include <string.h>

#include "diagnosis_internal.h"
#include "reader_internal.h"

#define SURVIVED_LINES 200 /* an exception this many lines before the rank's next one did not end it */
#define SURVIVED_STEPS 4   /* the other ranks of a node may go on for a few steps after one has ended */
#define SURVIVED_LONG  30
#define LEVEL_COMMON   34 /* below exceptions and mistakes in the job */
#define LEVEL_OLD      38 /* it may have been there all the time */

/* --- what followed an event --------------------------------------------------------------------- */

/* Did the rank go on, as another exception much later shows? */
static bool was_survived(const struct evidence *evidence, const struct event *event)
{
    if (event->file || !event->exception) {
        return false;
    }
    for (size_t i = 0; i < evidence->events_len; i++) {
        const struct event *other = &evidence->events[i];
        if (other->exception && other->rank == event->rank && other->local_rank == event->local_rank &&
            other->line > event->line + SURVIVED_LINES) {
            return true;
        }
    }
    return false;
}

bool event_is_common(const struct event *event)
{
    bool common = (event->signature->generic || event->warning) && !event->exception && !event->message;
    return (common || event->aside) && !event->file;
}

bool event_is_consequence(const struct event *event)
{
    return event->signature->class == CLASS_VICTIM || event->signature->class == CLASS_ABSENT;
}

/* Is the other event certainly of the same process? */
static bool is_of_same(const struct ranking *ranking, const struct event *event, const struct event *other)
{
    if (event->prefixed) {
        return other->prefixed && other->rank == event->rank && other->local_rank == event->local_rank;
    }
    return ranking->nproc <= 1;
}

/*
 * torch puts the rank before an exception that ends a process with a process group. An exception without a
 * rank, followed by one with a rank, was only logged by the program. So was an exception followed by another
 * of the same process, unless the two are a chain. torchrun's own exceptions are consequences and do not
 * count.
 */
static bool has_later_exception(const struct ranking *ranking, const struct evidence *evidence,
                                const struct event *event)
{
    for (size_t i = 0; i < evidence->events_len; i++) {
        const struct event *other = &evidence->events[i];
        bool apart = other->exception && other->line > event->line && other->chain != event->chain;
        bool told = other->prefixed ? !event->prefixed || is_of_same(ranking, event, other)
                                    : !event_is_consequence(other) && is_of_same(ranking, event, other);
        if (apart && told) {
            return true;
        }
    }
    return false;
}

/*
 * Does a later line show that the process went on? It cannot after an exception that torch says ended the
 * process.
 */
static bool has_later_line(const struct ranking *ranking, const struct evidence *evidence,
                           const struct event *event, bool any_process)
{
    for (size_t i = 0; i < evidence->events_len && !event->prefixed; i++) {
        const struct event *other = &evidence->events[i];
        bool tells = event_is_consequence(other) ? !candidate_is(other, "SIG_EXCEPTION") : other->prefixed;
        bool own = any_process || is_of_same(ranking, event, other);
        if (tells && own && !event_is_common(other) && other->line > event->line &&
            other->chain != event->chain) {
            return true;
        }
    }
    return false;
}

/*
 * Did all workers end otherwise than by an exception, which they therefore survived? An exception ends a
 * process with status 1, and sometimes by an abort (*aborted).
 */
static bool ended_otherwise(const struct evidence *evidence, bool *aborted)
{
    for (size_t i = 0; i < evidence->children_len; i++) {
        int code = evidence->children[i].exit_code;
        *aborted = *aborted || code == -6;
        if (code == 1) {
            return false;
        }
    }
    /* the signal reached a torchrun whose workers still ran */
    return evidence->children_len > 0 || evidence->signalled != 0;
}

/* Did the program go on after the exception, for example because it only logged it? */
static bool was_handled(const struct ranking *ranking, const struct evidence *evidence,
                        const struct event *event)
{
    bool aborted = false;
    if (event->file || !event->exception || !evidence) {
        return false;
    }
    bool otherwise = ended_otherwise(evidence, &aborted);
    return (otherwise && !aborted) || has_later_exception(ranking, evidence, event) ||
           has_later_line(ranking, evidence, event, otherwise) || was_survived(evidence, event);
}

/* Does anything other than the end of a process explain why the node failed? */
static bool is_explained(const struct ranking *ranking, const struct evidence *evidence, bool victims_too)
{
    for (size_t i = 0; evidence && i < evidence->events_len; i++) {
        const struct event *event = &evidence->events[i];
        enum signature_class class = event->signature->class;
        bool tells = class < CLASS_VICTIM || (class == CLASS_VICTIM && victims_too);
        if (tells && !event_is_common(event) && !was_handled(ranking, evidence, event)) {
            return true;
        }
    }
    return false;
}

bool event_tells_nothing(const struct ranking *ranking, size_t node, const struct event *event)
{
    return event_is_common(event) || was_handled(ranking, ranking->nodes[node].evidence, event);
}

/*
 * A common line may be the last word of a program, unless the program went on or anything else explains its
 * end.
 */
static bool is_last_word(const struct ranking *ranking, const struct evidence *evidence,
                         const struct event *event)
{
    bool other = !event->fatal || evidence->steps > event->steps || evidence->signalled != 0 ||
                 is_explained(ranking, evidence, true);
    for (size_t i = 0; i < evidence->children_len && !other; i++) {
        other = evidence->children[i].exit_code < 0 && evidence->children[i].exit_code != -6;
    }
    return !other;
}

/* Was the rank aborted by the watchdog, as happens when it has lost another rank? */
static bool was_aborted(const struct evidence *evidence, const struct event *abort)
{
    for (size_t i = 0; i < evidence->events_len; i++) {
        const struct event *event = &evidence->events[i];
        bool same = event->rank >= 0 ? event->rank == abort->rank
                                     : event->local_rank < 0 || event->local_rank == abort->local_rank;
        if (event_is_consequence(event) && same) {
            return true;
        }
    }
    return false;
}

static unsigned class_level(const struct signature *signature)
{
    static const unsigned levels[] = {
        [CLASS_ROOT] = 20,           [CLASS_NODE] = 10,           [CLASS_CONF] = 30,
        [CLASS_ABSENT] = 40,         [CLASS_AMBIG] = LEVEL_AMBIG, [CLASS_VICTIM] = LEVEL_NEVER,
        [CLASS_NOISE] = LEVEL_NEVER,
    };
    return signature->hardware ? 5 : levels[signature->class] + (signature->wraps ? 3 : 0);
}

/* Did the program go on to its training, here or on another node? */
static bool has_begun(const struct ranking *ranking, size_t node, const struct event *event)
{
    const struct evidence *evidence = ranking->nodes[node].evidence;
    return ranking->trained || (evidence && evidence->steps > event->steps);
}

/* Did the training go on after it? A hardware fault may take longer to stop it. */
static bool was_outlived(const struct evidence *evidence, const struct event *event)
{
    /* of a flood only one line in LINE_LATER is read */
    bool flood = candidate_is(event, "NAN_LOSS") && event->steps >= LINE_USES;
    unsigned enough = flood ? 2 * LINE_LATER : event->signature->hardware ? SURVIVED_LONG : SURVIVED_STEPS;
    return evidence && !event->file && evidence->steps - event->steps >= enough;
}

void ranking_note_steps(struct ranking *ranking)
{
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct evidence *evidence = ranking->nodes[i].evidence;
        ranking->trained = ranking->trained || (evidence && evidence->steps >= SURVIVED_STEPS);
        ranking->completed = ranking->completed || (evidence && evidence->completed);
    }
}

/* Is the event no cause, whatever its row says, because the program went on or ended well? */
static bool is_harmless(const struct ranking *ranking, size_t node, const struct event *event)
{
    const struct node_end *end = &ranking->nodes[node];
    const bool said = event->exception || event->signature->generic;
    if (event->warning && strncmp(event->signature->id, "RDZV_", 5) == 0) {
        return has_begun(ranking, node, event);
    }
    if (end->exit_status == 0 && !end->stopped && (said || !ranking->failed)) {
        return true;
    }
    if (event->exception && !ranking->failed && ranking->completed) {
        return true;
    }
    return !ranking->failed &&
           (was_outlived(end->evidence, event) || (said && !event->late) ||
            (!event->exception && !candidate_is(event, "NAN_LOSS") && has_begun(ranking, node, event)));
}

/* An exception is the likelier cause the nearer it is to the end. */
static unsigned exception_level(const struct ranking *ranking, size_t node, const struct event *event,
                                unsigned level)
{
    if (was_handled(ranking, ranking->nodes[node].evidence, event)) {
        return LEVEL_HANDLED;
    }
    return event->late || !event->exception ? level : level + 10;
}

static unsigned common_level(const struct ranking *ranking, const struct evidence *evidence,
                             const struct event *event, unsigned level)
{
    bool warns =
        event->warning && !candidate_is(event, "RDZV_DNS"); /* torch retries the lookup and logs only this */
    if (level >= LEVEL_AMBIG || !evidence || warns || !is_last_word(ranking, evidence, event)) {
        return LEVEL_UNLIKELY;
    }
    return level > LEVEL_COMMON ? level : LEVEL_COMMON;
}

/* The level of a row whose weight depends on more than its class; 0: no such row. */
static unsigned special_level(const struct ranking *ranking, size_t node, const struct event *event)
{
    const struct evidence *evidence = ranking->nodes[node].evidence;
    if (candidate_is(event, "EXIT_SIGABRT")) {
        return evidence && was_aborted(evidence, event) ? LEVEL_NEVER : LEVEL_AMBIG;
    }
    if (candidate_is(event, "EXIT_STATUS")) {
        bool bare = event->groups[1] && strcmp(event->groups[1], "1") == 0;
        return is_explained(ranking, evidence, bare) ? LEVEL_NEVER : bare ? 45 : 28;
    }
    if (candidate_is(event, "NAN_LOSS") && !event->exception) {
        return LEVEL_AMBIG - 5; /* it ended nothing */
    }
    if (candidate_is(event, "COLLECTIVE_UNJOINED")) {
        return 39; /* it names the ranks: more certain than silence (LEVEL_SILENT) */
    }
    return candidate_is(event, "PY_EXCEPTION") ? exception_level(ranking, node, event, 25) : 0;
}

unsigned ranking_level(const struct ranking *ranking, size_t node, const struct event *event)
{
    const struct evidence *evidence = ranking->nodes[node].evidence;
    const struct signature *signature = event->signature;
    unsigned level = class_level(signature);
    if (is_harmless(ranking, node, event)) {
        return LEVEL_NEVER;
    }
    if (level < LEVEL_AMBIG && was_outlived(evidence, event)) {
        return LEVEL_HANDLED;
    }
    if (event_is_common(event) && signature->class < CLASS_ABSENT) {
        return common_level(ranking, evidence, event, level);
    }
    if (signature->class == CLASS_NODE && !signature->hardware && !event->fatal && event->text &&
        has_begun(ranking, node, event)) {
        return LEVEL_OLD;
    }
    unsigned special = special_level(ranking, node, event);
    if (special > 0) {
        return special;
    }
    return event->exception && signature->class < CLASS_ABSENT ? exception_level(ranking, node, event, level)
                                                               : level;
}
