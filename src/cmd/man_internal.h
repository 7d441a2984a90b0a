/* The manual page mtlaunch(1), from the tables of commands, options and exit codes: man(7), see groff_man(7).
 */
#ifndef MTLAUNCH_CMD_MAN_INTERNAL_H
#define MTLAUNCH_CMD_MAN_INTERNAL_H

#include "base/str.h"

void man_page(struct str *out);

#endif
