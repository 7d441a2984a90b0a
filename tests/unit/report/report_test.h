/* What the report tests share: cmocka with its own includes, and a look into JSON answers. */
#ifndef MTLAUNCH_TESTS_REPORT_TEST_H
#define MTLAUNCH_TESTS_REPORT_TEST_H

#include <jansson.h>

#include "test.h"

/* The one object of an answer: one line, nothing after it. */
static inline json_t *answer_object(const struct str *out)
{
    json_error_t problem;
    const char *text = str_text(out);
    assert_ptr_equal(strchr(text, '\n'), text + out->len - 1);
    json_t *object = json_loads(text, 0, &problem);
    if (!object)
        fail_msg("%s in %s", problem.text, text);
    return object;
}

/* The keys of object are exactly these, blanks between them, in this order. */
static inline void assert_keys(json_t *object, const char *expected)
{
    AUTO_STR struct str keys = STR_INIT;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        (void)value;
        str_addf(&keys, "%s%s", keys.len ? " " : "", key);
    }
    assert_string_equal(str_text(&keys), expected);
}

#endif
