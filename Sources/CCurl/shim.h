/* libcurl, and typed wrappers for its variadic functions, which Swift cannot call. Each wrapper takes one of
 * the types of an option's argument. The wrong type for an option is undefined behaviour, so the wrapper's
 * name is the type in the option's manual page. */
#ifndef DARKROOM_CCURL_SHIM_H
#define DARKROOM_CCURL_SHIM_H

#include <curl/curl.h>

/* Options that take a long: numbers below 2^31, switches and bit masks. */
static inline CURLcode darkroom_curl_set_long(CURL *handle, CURLoption option, long value)
{
    return curl_easy_setopt(handle, option, value);
}

/* Options that take a curl_off_t: their names end in _LARGE. */
static inline CURLcode darkroom_curl_set_offset(CURL *handle, CURLoption option, curl_off_t value)
{
    return curl_easy_setopt(handle, option, value);
}

/* Options that take a string, which libcurl copies. NULL resets the option. */
static inline CURLcode darkroom_curl_set_string(CURL *handle, CURLoption option, const char *value)
{
    return curl_easy_setopt(handle, option, value);
}

/* Options that take a pointer, which libcurl keeps: user data, buffers. */
static inline CURLcode darkroom_curl_set_pointer(CURL *handle, CURLoption option, void *value)
{
    return curl_easy_setopt(handle, option, value);
}

/* Options that take a list, which libcurl keeps but does not own. */
static inline CURLcode darkroom_curl_set_list(CURL *handle, CURLoption option,
                                              struct curl_slist *value)
{
    return curl_easy_setopt(handle, option, value);
}

/* CURLOPT_WRITEFUNCTION with its CURLOPT_WRITEDATA. */
static inline CURLcode darkroom_curl_set_write(CURL *handle, curl_write_callback function,
                                               void *user)
{
    CURLcode result = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, function);
    return result != CURLE_OK ? result : curl_easy_setopt(handle, CURLOPT_WRITEDATA, user);
}

/* CURLOPT_OPENSOCKETFUNCTION with its CURLOPT_OPENSOCKETDATA. */
static inline CURLcode darkroom_curl_set_open_socket(CURL *handle, curl_opensocket_callback function,
                                                     void *user)
{
    CURLcode result = curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, function);
    return result != CURLE_OK ? result : curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, user);
}

/* CURLOPT_CURLU: the URL, which libcurl keeps but does not own. */
static inline CURLcode darkroom_curl_set_url(CURL *handle, CURLU *url)
{
    return curl_easy_setopt(handle, CURLOPT_CURLU, url);
}

/* CURLOPT_HEADERFUNCTION with its CURLOPT_HEADERDATA. */
static inline CURLcode darkroom_curl_set_header(CURL *handle, curl_write_callback function,
                                                void *user)
{
    CURLcode result = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, function);
    return result != CURLE_OK ? result : curl_easy_setopt(handle, CURLOPT_HEADERDATA, user);
}

/* CURLOPT_DEBUGFUNCTION with its CURLOPT_DEBUGDATA. */
static inline CURLcode darkroom_curl_set_debug(CURL *handle, curl_debug_callback function,
                                               void *user)
{
    CURLcode result = curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, function);
    return result != CURLE_OK ? result : curl_easy_setopt(handle, CURLOPT_DEBUGDATA, user);
}

/* CURLOPT_XFERINFOFUNCTION with its CURLOPT_XFERINFODATA. */
static inline CURLcode darkroom_curl_set_progress(CURL *handle, curl_xferinfo_callback function,
                                                  void *user)
{
    CURLcode result = curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, function);
    return result != CURLE_OK ? result : curl_easy_setopt(handle, CURLOPT_XFERINFODATA, user);
}

/* An info of curl_easy_getinfo that is a long; 0 if there is none. */
static inline long darkroom_curl_get_long(CURL *handle, CURLINFO info)
{
    long value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

/* An info of curl_easy_getinfo that is a curl_off_t: its name ends in _T. 0 if there is none. */
static inline curl_off_t darkroom_curl_get_offset(CURL *handle, CURLINFO info)
{
    curl_off_t value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

/* An info of curl_easy_getinfo that is a string, owned by the handle until its next transfer; NULL if there
 * is none. */
static inline const char *darkroom_curl_get_string(CURL *handle, CURLINFO info)
{
    char *value = NULL;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : NULL;
}

/* CURLINFO_PRIVATE: the pointer given as CURLOPT_PRIVATE, or NULL. */
static inline void *darkroom_curl_get_private(CURL *handle)
{
    char *value = NULL;
    return curl_easy_getinfo(handle, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

/* Options of a multi handle that take a long. */
static inline CURLMcode darkroom_curl_multi_set_long(CURLM *multi, CURLMoption option, long value)
{
    return curl_multi_setopt(multi, option, value);
}

/* CURLMOPT_SOCKETFUNCTION with its CURLMOPT_SOCKETDATA. */
static inline CURLMcode darkroom_curl_multi_set_socket(CURLM *multi, curl_socket_callback function,
                                                       void *user)
{
    CURLMcode result = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, function);
    return result != CURLM_OK ? result : curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, user);
}

/* CURLMOPT_TIMERFUNCTION with its CURLMOPT_TIMERDATA. */
static inline CURLMcode darkroom_curl_multi_set_timer(CURLM *multi,
                                                      curl_multi_timer_callback function,
                                                      void *user)
{
    CURLMcode result = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, function);
    return result != CURLM_OK ? result : curl_multi_setopt(multi, CURLMOPT_TIMERDATA, user);
}

#endif
