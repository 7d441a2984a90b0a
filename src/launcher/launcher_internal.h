/* The launchers themselves, one file each; only the table in launcher.c names them. */
#ifndef MTLAUNCH_LAUNCHER_LAUNCHER_INTERNAL_H
#define MTLAUNCH_LAUNCHER_LAUNCHER_INTERNAL_H

#include "launcher/launcher.h"

extern const struct launcher launcher_torchrun;
extern const struct launcher launcher_script;

#endif
