/* Run by the build: prints the manual page. */
#include <stdio.h>

#include "cmd/man_internal.h"

int main(void)
{
    AUTO_STR struct str page = STR_INIT;
    man_page(&page);
    return fwrite(page.data, 1, page.len, stdout) == page.len && fflush(stdout) == 0 ? 0 : 1;
}
