/* Nodes that a run owes a visit (run.debts): knock at them until one answers, beside all other work. */
#ifndef MTLAUNCH_RUN_DEBTORS_INTERNAL_H
#define MTLAUNCH_RUN_DEBTORS_INTERNAL_H

#include <stdbool.h>

#include "crew_internal.h"

struct debtors;

struct debtors *debtors_open(struct crew *crew);
void debtors_free(struct debtors *debtors); /* after crew_close; NULL accepted */

/* Has one of them answered? The fleet's loop is stopped when one does. */
bool debtors_answer(const struct debtors *debtors);

/* It was visited: knock again where something is still owed. */
void debtors_go_on(struct debtors *debtors);

#endif
