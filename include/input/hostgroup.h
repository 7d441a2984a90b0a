/* Where the groups of a host list ("@name") are found: host files of the current folder and of the user. */
#ifndef MTLAUNCH_INPUT_HOSTGROUP_H
#define MTLAUNCH_INPUT_HOSTGROUP_H

#include "model/hostlist.h"

/*
 * Groups read from NAME or NAME.txt of ./hosts/, ./ and HOME/.config/mtlaunch/hosts/, in this order. home is
 * borrowed and may be NULL. A group that is not there: the error lists where it was looked for.
 */
struct hostlist_groups hostgroup_files(const char *home);

#endif
