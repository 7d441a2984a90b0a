/* A series of numbers as one short line of bars. Pure. */
#ifndef MTLAUNCH_REPORT_SPARK_H
#define MTLAUNCH_REPORT_SPARK_H

#include <stddef.h>

#include "base/str.h"

/*
 * Append at most width bars, from the lowest number (▁) to the highest (█). If there are more numbers than
 * bars, each bar is the mean of its share. Numbers that are not finite are left out; a bar without any is a
 * blank. Returns how many bars there are: 0 when no number is finite.
 */
size_t spark_add(const double *values, size_t len, size_t width, struct str *out);

#endif
