/* Which nodes meet in which round of the all-reduce test: a round robin, or a sample of one. */
#include "check/comm.h"

size_t comm_count_rounds(size_t nodes)
{
    if (nodes < 2) {
        return 0;
    }
    return nodes % 2 == 0 ? nodes - 1 : nodes;
}

/*
 * The circle method: the last of an even number of seats stays, the others turn. With an odd number of nodes,
 * the last seat is empty, and the node that meets it rests.
 */
void comm_find_partners(size_t nodes, size_t round, size_t *partner)
{
    size_t turning = comm_count_rounds(nodes); /* seats that turn; the last one has this number */
    for (size_t node = 0; node < nodes; node++) {
        size_t other = round;
        if (node < turning) {
            other = (2 * round + turning - node) % turning;
            other = other == node ? turning : other;
        }
        partner[node] = other < nodes ? other : node;
    }
}

size_t comm_choose_round(size_t nodes, size_t count, size_t number)
{
    return number * comm_count_rounds(nodes) / count;
}
