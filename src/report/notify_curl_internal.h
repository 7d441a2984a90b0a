/*
 * libcurl, loaded when the first notification is sent: linking it, with the twenty-five libraries that it
 * depends on, would cost every command 10 ms and 3 MiB. Include this instead of <curl/curl.h>.
 */
#ifndef MTLAUNCH_REPORT_NOTIFY_CURL_INTERNAL_H
#define MTLAUNCH_REPORT_NOTIFY_CURL_INTERNAL_H

#include <curl/curl.h>

#include "base/error.h"

#define CURL_FUNCTIONS(one)                                                                                  \
    one(easy_cleanup) one(easy_getinfo) one(easy_init) one(easy_setopt) one(easy_strerror) one(free)         \
        one(global_cleanup) one(global_init) one(multi_add_handle) one(multi_assign) one(multi_cleanup)      \
            one(multi_info_read) one(multi_init) one(multi_remove_handle) one(multi_setopt)                  \
                one(multi_socket_action) one(slist_append) one(slist_free_all) one(url) one(url_cleanup)     \
                    one(url_get) one(url_set)

struct curl_functions {
#define ONE(name) __typeof__(curl_##name) *name;
    CURL_FUNCTIONS(ONE)
#undef ONE
};

/* Filled by curl_load: libcurl.easy_init() is curl_easy_init(). */
extern struct curl_functions libcurl;

/* Load libcurl, once. Errors: kind_local with the loader's reason. */
int curl_load(struct error *err);

#endif
