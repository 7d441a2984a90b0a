/* Names of signals on the command line. */
#ifndef MTLAUNCH_CMD_SIGNALS_INTERNAL_H
#define MTLAUNCH_CMD_SIGNALS_INTERNAL_H

#include "base/error.h"

/*
 * The canonical name of the signal that word names (static text); NULL with kind_usage, and a similar name as
 * hint. where: "" or " for --signal", printed after the word in the message.
 */
const char *cmd_signal_name(const char *word, const char *where, struct error *err);

#endif
