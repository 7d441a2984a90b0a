/* Lists the tables of signatures, and looks up their rows and the names of their classes. */
#include "insight/signature.h"

#include <string.h>

#include "base/alloc.h"
#include "signatures_internal.h"

const struct signature_table *const signature_tables[] = {
    &signatures_process, &signatures_torchrun, &signatures_watchdog, &signatures_nccl,
    &signatures_gpu,     &signatures_host,     &signatures_config,   &signatures_launch,
};
const size_t signature_tables_len = ARRAY_LEN(signature_tables);

const char *signature_class_name(enum signature_class class)
{
    static const char *const names[] = {
        [CLASS_ROOT] = "ROOT",     [CLASS_NODE] = "NODE",   [CLASS_CONF] = "CONF",
        [CLASS_ABSENT] = "ABSENT", [CLASS_AMBIG] = "AMBIG", [CLASS_VICTIM] = "VICTIM",
        [CLASS_NOISE] = "NOISE",
    };
    return names[class];
}

const struct signature *signature_find(const char *id)
{
    for (size_t i = 0; i < signature_tables_len; i++) {
        for (size_t j = 0; j < signature_tables[i]->len; j++) {
            if (strcmp(signature_tables[i]->rows[j].id, id) == 0) {
                return &signature_tables[i]->rows[j];
            }
        }
    }
    return NULL;
}
