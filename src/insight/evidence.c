/* Stores the evidence from the log of one node. */
#include "insight/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reader_internal.h"

void evidence_init(struct evidence *evidence)
{
    *evidence = (struct evidence){.signalled_at = -1, .met_at = -1};
}

static void event_release(struct event *event)
{
    free(event->text);
    free(event->file);
    free(event->place);
    for (size_t i = 0; i < SIGNATURE_GROUPS; i++) {
        free(event->groups[i]);
    }
}

void evidence_release(struct evidence *evidence)
{
    for (size_t i = 0; i < evidence->events_len; i++) {
        event_release(&evidence->events[i]);
    }
    free(evidence->events);
    for (size_t i = 0; i < evidence->children_len; i++) {
        free(evidence->children[i].text);
    }
    free(evidence->children);
    for (size_t i = 0; i < evidence->faults_len; i++) {
        free(evidence->faults[i].text);
        free(evidence->faults[i].place);
    }
    free(evidence->faults);
    for (size_t i = 0; i < evidence->recorded_len; i++) {
        free(evidence->recorded[i].group);
        free(evidence->recorded[i].op);
        free(evidence->recorded[i].place);
        free(evidence->recorded[i].ranks);
    }
    free(evidence->recorded);
    free(evidence->init_open);
    free(evidence->enqueued);
    free(evidence->ranks);
    free(evidence->nccl_version);
    free(evidence->network);
    free(evidence->interface);
    free(evidence->ib_link);
    free(evidence->start.text);
    *evidence = (struct evidence){0};
}

struct event *evidence_add_event(struct evidence *evidence, const struct signature *signature)
{
    evidence->events =
        xgrow(evidence->events, evidence->events_len, &evidence->events_cap, sizeof(struct event));
    struct event *event = &evidence->events[evidence->events_len++];
    *event = (struct event){.signature = signature, .rank = -1, .local_rank = -1, .time = -1};
    return event;
}

void evidence_note_rank(struct evidence *evidence, long rank)
{
    for (size_t i = 0; i < evidence->ranks_len; i++) {
        if (evidence->ranks[i] == rank) {
            return;
        }
    }
    if (rank < 0 || evidence->ranks_len == EVIDENCE_RANKS) {
        return;
    }
    evidence->ranks = xgrow(evidence->ranks, evidence->ranks_len, &evidence->ranks_cap, sizeof(long));
    evidence->ranks[evidence->ranks_len++] = rank;
}
