/* Host keys that are not known, as `mtlaunch hosts --trust` shows them. */
#ifndef MTLAUNCH_REPORT_HOSTKEYS_H
#define MTLAUNCH_REPORT_HOSTKEYS_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "report/failure.h"

/* One key of one host. Borrowed. */
struct report_hostkey {
    const char *host;
    const char *type;        /* "ssh-ed25519" … */
    const char *fingerprint; /* "SHA256:…" */
    const char *file;        /* the known_hosts file it is added to */
};

/*
 * Append lines such as "g[1-3]: ssh-ed25519 SHA256:…": hosts with the same key on one line, in the order of
 * their first host.
 */
void report_hostkeys_text(const struct report_hostkey *keys, size_t count, struct str *out);

/*
 * {schema, keys: [{hosts, folded, type, fingerprint, file}], added, errors: [{kind, code, message, hint,
 * hosts, file, line, column}], error}. errors are about hosts whose keys could not be read; error (NULL:
 * null) is why the command failed.
 */
void report_hostkeys_json(const struct report_hostkey *keys, size_t count, size_t added,
                          const struct failures *failures, const struct error *error, struct str *out);

#endif
