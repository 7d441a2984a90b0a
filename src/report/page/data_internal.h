/* The values of a report as JSON, and how to read them back. */
#ifndef MTLAUNCH_REPORT_DATA_INTERNAL_H
#define MTLAUNCH_REPORT_DATA_INTERNAL_H

#include <stdint.h>

#include "base/json.h"
#include "report/page.h"

#define DATA_POINTS    256 /* at most this many per series */
#define DATA_HOSTS     8   /* nodes whose GPUs have their own line; of more nodes only the odd ones do */
#define DATA_HOSTS_ODD 3

/* A run's object: the status object with diagnosis, record, series and the ends of the logs. */
json_t *data_of_run(const struct report_run *view, const struct run_history *history);

/* Keys of the training's series, in the order of enum sample_number. */
extern const char *const data_training_keys[SAMPLE_NUMBERS];

const char *data_text(const json_t *object, const char *key); /* NULL: none */
double data_number(const json_t *object, const char *key);    /* NAN: none */
int64_t data_time(const json_t *object, const char *key);     /* epoch ms; 0: none */
int64_t data_time_of(const json_t *value);
size_t data_len(const json_t *object, const char *key); /* of an array; 0: none */

/* An array of numbers as doubles, with NAN for null; the caller frees it. len is set to its length. */
double *data_numbers(const json_t *object, const char *key, size_t *len);

#endif
