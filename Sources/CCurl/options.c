#include "CDarkroomCurl.h"

#include "library.h"

CURLcode darkroom_curl_set_long(CURL *handle, CURLoption option, long value)
{
    return LIBRARY(curl_easy_setopt)(handle, option, value);
}

CURLcode darkroom_curl_set_offset(CURL *handle, CURLoption option, curl_off_t value)
{
    return LIBRARY(curl_easy_setopt)(handle, option, value);
}

CURLcode darkroom_curl_set_string(CURL *handle, CURLoption option, const char *value)
{
    return LIBRARY(curl_easy_setopt)(handle, option, value);
}

CURLcode darkroom_curl_set_pointer(CURL *handle, CURLoption option, void *value)
{
    return LIBRARY(curl_easy_setopt)(handle, option, value);
}

CURLcode darkroom_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value)
{
    return LIBRARY(curl_easy_setopt)(handle, option, value);
}

CURLcode darkroom_curl_set_write(CURL *handle, curl_write_callback function, void *user)
{
    CURLcode result = LIBRARY(curl_easy_setopt)(handle, CURLOPT_WRITEFUNCTION, function);
    return result != CURLE_OK ? result : LIBRARY(curl_easy_setopt)(handle, CURLOPT_WRITEDATA, user);
}

CURLcode darkroom_curl_set_open_socket(CURL *handle, curl_opensocket_callback function, void *user)
{
    CURLcode result = LIBRARY(curl_easy_setopt)(handle, CURLOPT_OPENSOCKETFUNCTION, function);
    return result != CURLE_OK ? result : LIBRARY(curl_easy_setopt)(handle, CURLOPT_OPENSOCKETDATA, user);
}

CURLcode darkroom_curl_set_url(CURL *handle, CURLU *url)
{
    return LIBRARY(curl_easy_setopt)(handle, CURLOPT_CURLU, url);
}

CURLcode darkroom_curl_set_header(CURL *handle, curl_write_callback function, void *user)
{
    CURLcode result = LIBRARY(curl_easy_setopt)(handle, CURLOPT_HEADERFUNCTION, function);
    return result != CURLE_OK ? result : LIBRARY(curl_easy_setopt)(handle, CURLOPT_HEADERDATA, user);
}

CURLcode darkroom_curl_set_debug(CURL *handle, curl_debug_callback function, void *user)
{
    CURLcode result = LIBRARY(curl_easy_setopt)(handle, CURLOPT_DEBUGFUNCTION, function);
    return result != CURLE_OK ? result : LIBRARY(curl_easy_setopt)(handle, CURLOPT_DEBUGDATA, user);
}

CURLcode darkroom_curl_set_progress(CURL *handle, curl_xferinfo_callback function, void *user)
{
    CURLcode result = LIBRARY(curl_easy_setopt)(handle, CURLOPT_XFERINFOFUNCTION, function);
    return result != CURLE_OK ? result : LIBRARY(curl_easy_setopt)(handle, CURLOPT_XFERINFODATA, user);
}

long darkroom_curl_get_long(CURL *handle, CURLINFO info)
{
    long value = 0;
    return LIBRARY(curl_easy_getinfo)(handle, info, &value) == CURLE_OK ? value : 0;
}

curl_off_t darkroom_curl_get_offset(CURL *handle, CURLINFO info)
{
    curl_off_t value = 0;
    return LIBRARY(curl_easy_getinfo)(handle, info, &value) == CURLE_OK ? value : 0;
}

const char *darkroom_curl_get_string(CURL *handle, CURLINFO info)
{
    char *value = NULL;
    return LIBRARY(curl_easy_getinfo)(handle, info, &value) == CURLE_OK ? value : NULL;
}

void *darkroom_curl_get_private(CURL *handle)
{
    char *value = NULL;
    return LIBRARY(curl_easy_getinfo)(handle, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

CURLMcode darkroom_curl_multi_set_long(CURLM *multi, CURLMoption option, long value)
{
    return LIBRARY(curl_multi_setopt)(multi, option, value);
}

CURLMcode darkroom_curl_multi_set_socket(CURLM *multi, curl_socket_callback function, void *user)
{
    CURLMcode result = LIBRARY(curl_multi_setopt)(multi, CURLMOPT_SOCKETFUNCTION, function);
    return result != CURLM_OK ? result : LIBRARY(curl_multi_setopt)(multi, CURLMOPT_SOCKETDATA, user);
}

CURLMcode darkroom_curl_multi_set_timer(CURLM *multi, curl_multi_timer_callback function, void *user)
{
    CURLMcode result = LIBRARY(curl_multi_setopt)(multi, CURLMOPT_TIMERFUNCTION, function);
    return result != CURLM_OK ? result : LIBRARY(curl_multi_setopt)(multi, CURLMOPT_TIMERDATA, user);
}
