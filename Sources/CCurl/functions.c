#include "CDarkroomCurl.h"

#include "library.h"

CURL *darkroom_curl_easy_init(void)
{
    return LIBRARY(curl_easy_init)();
}

void darkroom_curl_easy_cleanup(CURL *handle)
{
    LIBRARY(curl_easy_cleanup)(handle);
}

void darkroom_curl_easy_reset(CURL *handle)
{
    LIBRARY(curl_easy_reset)(handle);
}

CURLcode darkroom_curl_easy_pause(CURL *handle, int directions)
{
    return LIBRARY(curl_easy_pause)(handle, directions);
}

const char *darkroom_curl_easy_strerror(CURLcode code)
{
    return LIBRARY(curl_easy_strerror)(code);
}

void darkroom_curl_free(void *memory)
{
    LIBRARY(curl_free)(memory);
}

CURLM *darkroom_curl_multi_init(void)
{
    return LIBRARY(curl_multi_init)();
}

CURLMcode darkroom_curl_multi_cleanup(CURLM *multi)
{
    return LIBRARY(curl_multi_cleanup)(multi);
}

CURLMcode darkroom_curl_multi_add_handle(CURLM *multi, CURL *handle)
{
    return LIBRARY(curl_multi_add_handle)(multi, handle);
}

CURLMcode darkroom_curl_multi_remove_handle(CURLM *multi, CURL *handle)
{
    return LIBRARY(curl_multi_remove_handle)(multi, handle);
}

CURLMcode darkroom_curl_multi_perform(CURLM *multi, int *running)
{
    return LIBRARY(curl_multi_perform)(multi, running);
}

CURLMcode darkroom_curl_multi_poll(CURLM *multi, struct curl_waitfd *others, unsigned count,
                                   int milliseconds, int *ready)
{
    return LIBRARY(curl_multi_poll)(multi, others, count, milliseconds, ready);
}

CURLMcode darkroom_curl_multi_socket_action(CURLM *multi, curl_socket_t socket, int events, int *running)
{
    return LIBRARY(curl_multi_socket_action)(multi, socket, events, running);
}

CURLMsg *darkroom_curl_multi_info_read(CURLM *multi, int *left)
{
    return LIBRARY(curl_multi_info_read)(multi, left);
}

const char *darkroom_curl_multi_strerror(CURLMcode code)
{
    return LIBRARY(curl_multi_strerror)(code);
}

struct curl_slist *darkroom_curl_slist_append(struct curl_slist *list, const char *text)
{
    return LIBRARY(curl_slist_append)(list, text);
}

void darkroom_curl_slist_free_all(struct curl_slist *list)
{
    LIBRARY(curl_slist_free_all)(list);
}

CURLU *darkroom_curl_url(void)
{
    return LIBRARY(curl_url)();
}

void darkroom_curl_url_cleanup(CURLU *url)
{
    LIBRARY(curl_url_cleanup)(url);
}

CURLU *darkroom_curl_url_dup(CURLU *url)
{
    return LIBRARY(curl_url_dup)(url);
}

CURLUcode darkroom_curl_url_get(CURLU *url, CURLUPart part, char **text, unsigned flags)
{
    return LIBRARY(curl_url_get)(url, part, text, flags);
}

CURLUcode darkroom_curl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned flags)
{
    return LIBRARY(curl_url_set)(url, part, text, flags);
}

const char *darkroom_curl_url_strerror(CURLUcode code)
{
    return LIBRARY(curl_url_strerror)(code);
}
