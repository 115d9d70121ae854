/* The functions of libcurl that are used, in the loaded library. */
#ifndef DARKROOM_CURL_LIBRARY_H
#define DARKROOM_CURL_LIBRARY_H

/* Its macros would check the types of calls, but are in the way of pointers with the names of functions. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#define EACH_FUNCTION(does) \
    does(curl_easy_cleanup) does(curl_easy_getinfo) does(curl_easy_init) does(curl_easy_pause) \
    does(curl_easy_reset) does(curl_easy_setopt) does(curl_easy_strerror) does(curl_free) \
    does(curl_global_init) does(curl_multi_add_handle) does(curl_multi_cleanup) \
    does(curl_multi_info_read) does(curl_multi_init) does(curl_multi_perform) does(curl_multi_poll) \
    does(curl_multi_remove_handle) does(curl_multi_setopt) does(curl_multi_socket_action) \
    does(curl_multi_strerror) does(curl_slist_append) does(curl_slist_free_all) does(curl_url) \
    does(curl_url_cleanup) does(curl_url_dup) does(curl_url_get) does(curl_url_set) \
    does(curl_url_strerror) does(curl_version_info)

struct darkroom_curl_library {
#define POINTER(function) __typeof__(function) *function;
    EACH_FUNCTION(POINTER)
#undef POINTER
};

/* Ends the process if the library cannot be loaded. */
const struct darkroom_curl_library *darkroom_curl_library(void);

/* A function of the library, in parentheses: some names are also those of macros with arguments. */
#define LIBRARY(function) (darkroom_curl_library()->function)

#endif
