/* Run by the build: prints the manual page for a given file name, such as mtlaunch.1. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "cmd/man_internal.h"

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < manuals_count; i++) {
        AUTO_STR struct str text = STR_INIT;
        AUTO_FREE char *file = xasprintf("%s.%d", manuals[i].name, manuals[i].section);
        if (strcmp(file, argv[1]) == 0) {
            manual_write(&manuals[i], &text);
            return fwrite(text.data, 1, text.len, stdout) == text.len && fflush(stdout) == 0 ? 0 : 1;
        }
    }
    fprintf(stderr, "mtlaunch-man: no such page\n");
    return 2;
}
