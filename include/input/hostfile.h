/* Reads host files. model/hostlist.h has their grammar. */
#ifndef MTLAUNCH_INPUT_HOSTFILE_H
#define MTLAUNCH_INPUT_HOSTFILE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/strlist.h"
#include "model/hostlist.h"

/*
 * Read the file at path (as given, also the name that errors show) and append its hosts to list; context (may
 * be NULL) is handed to the parser. Errors: kind_host_list for a file that is missing, unreadable, larger
 * than HOSTLIST_TEXT_MAX bytes or wrong; list is then unchanged. A file that was named is never skipped.
 */
int hostfile_read(struct hostlist *list, const char *path, const struct hostlist_context *context,
                  struct error *err);

/*
 * Was a file given in place of an expression? True for one word that can only mean a file: a path, a name
 * with a suffix such as ".txt", or the usual name of a host file that exists.
 */
bool hostfile_is_meant(const char *text);

#endif
