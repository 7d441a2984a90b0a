/* Read a host file into a host list. The grammar is model/hostlist.h's; this adds the reading. */
#ifndef MTLAUNCH_INPUT_HOSTFILE_H
#define MTLAUNCH_INPUT_HOSTFILE_H

#include "base/error.h"
#include "base/strlist.h"
#include "model/hostlist.h"

/*
 * Read the file at path (as given, also the name that errors show) and append its hosts to list; warnings
 * of the parser are added to warnings. Errors: kind_host_list for a file that is missing, unreadable, larger
 * than HOSTLIST_TEXT_MAX bytes or wrong; list is then unchanged. A file that was named is never passed over.
 */
int hostfile_read(struct hostlist *list, const char *path, struct strlist *warnings, struct error *err);

#endif
