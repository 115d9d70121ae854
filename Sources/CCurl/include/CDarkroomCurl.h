/* libcurl, loaded on demand: it brings some thirty libraries, and a program that needs none of them starts in half the
 * time.
 *
 * Types and constants are those of curl.h. Its functions have `darkroom_` before their names; each calls the function in
 * the loaded library. darkroom_curl_load() comes before them: without the library they end the process.
 *
 * Swift cannot call variadic functions. They have typed wrappers, which take one of the types of an option's argument.
 * The wrong type for an option is undefined behaviour, so the wrapper's name is the type in the option's manual page. */
#ifndef DARKROOM_CURL_H
#define DARKROOM_CURL_H

#include <curl/curl.h>

/* Loads libcurl and sets up its global state, at the first call. The state is never cleaned up: who calls does not know
 * of others. Returns NULL, or what has failed, as text; then it fails at each call. Any thread may call it. */
const char *darkroom_curl_load(void);

/* The version of the loaded libcurl, "7.88.1"; NULL if it cannot be loaded. */
const char *darkroom_curl_version(void);

CURL *darkroom_curl_easy_init(void);
void darkroom_curl_easy_cleanup(CURL *handle);
void darkroom_curl_easy_reset(CURL *handle);
CURLcode darkroom_curl_easy_pause(CURL *handle, int directions);
const char *darkroom_curl_easy_strerror(CURLcode code);
void darkroom_curl_free(void *memory);

CURLM *darkroom_curl_multi_init(void);
CURLMcode darkroom_curl_multi_cleanup(CURLM *multi);
CURLMcode darkroom_curl_multi_add_handle(CURLM *multi, CURL *handle);
CURLMcode darkroom_curl_multi_remove_handle(CURLM *multi, CURL *handle);
CURLMcode darkroom_curl_multi_perform(CURLM *multi, int *running);
CURLMcode darkroom_curl_multi_poll(CURLM *multi, struct curl_waitfd *others, unsigned count,
                                   int milliseconds, int *ready);
CURLMcode darkroom_curl_multi_socket_action(CURLM *multi, curl_socket_t socket, int events, int *running);
CURLMsg *darkroom_curl_multi_info_read(CURLM *multi, int *left);
const char *darkroom_curl_multi_strerror(CURLMcode code);

struct curl_slist *darkroom_curl_slist_append(struct curl_slist *list, const char *text);
void darkroom_curl_slist_free_all(struct curl_slist *list);

CURLU *darkroom_curl_url(void);
void darkroom_curl_url_cleanup(CURLU *url);
CURLU *darkroom_curl_url_dup(CURLU *url);
CURLUcode darkroom_curl_url_get(CURLU *url, CURLUPart part, char **text, unsigned flags);
CURLUcode darkroom_curl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned flags);
const char *darkroom_curl_url_strerror(CURLUcode code);

/* Options that take a long: numbers below 2^31, switches and bit masks. */
CURLcode darkroom_curl_set_long(CURL *handle, CURLoption option, long value);

/* Options that take a curl_off_t: their names end in _LARGE. */
CURLcode darkroom_curl_set_offset(CURL *handle, CURLoption option, curl_off_t value);

/* Options that take a string, which libcurl copies. NULL resets the option. */
CURLcode darkroom_curl_set_string(CURL *handle, CURLoption option, const char *value);

/* Options that take a pointer, which libcurl keeps: user data, buffers. */
CURLcode darkroom_curl_set_pointer(CURL *handle, CURLoption option, void *value);

/* Options that take a list, which libcurl keeps but does not own. */
CURLcode darkroom_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value);

/* CURLOPT_WRITEFUNCTION with its CURLOPT_WRITEDATA. */
CURLcode darkroom_curl_set_write(CURL *handle, curl_write_callback function, void *user);

/* CURLOPT_OPENSOCKETFUNCTION with its CURLOPT_OPENSOCKETDATA. */
CURLcode darkroom_curl_set_open_socket(CURL *handle, curl_opensocket_callback function, void *user);

/* CURLOPT_CURLU: the URL, which libcurl keeps but does not own. */
CURLcode darkroom_curl_set_url(CURL *handle, CURLU *url);

/* CURLOPT_HEADERFUNCTION with its CURLOPT_HEADERDATA. */
CURLcode darkroom_curl_set_header(CURL *handle, curl_write_callback function, void *user);

/* CURLOPT_DEBUGFUNCTION with its CURLOPT_DEBUGDATA. */
CURLcode darkroom_curl_set_debug(CURL *handle, curl_debug_callback function, void *user);

/* CURLOPT_XFERINFOFUNCTION with its CURLOPT_XFERINFODATA. */
CURLcode darkroom_curl_set_progress(CURL *handle, curl_xferinfo_callback function, void *user);

/* An info of curl_easy_getinfo that is a long; 0 if there is none. */
long darkroom_curl_get_long(CURL *handle, CURLINFO info);

/* An info of curl_easy_getinfo that is a curl_off_t: its name ends in _T. 0 if there is none. */
curl_off_t darkroom_curl_get_offset(CURL *handle, CURLINFO info);

/* An info of curl_easy_getinfo that is a string, owned by the handle until its next transfer; NULL if there is none. */
const char *darkroom_curl_get_string(CURL *handle, CURLINFO info);

/* CURLINFO_PRIVATE: the pointer given as CURLOPT_PRIVATE, or NULL. */
void *darkroom_curl_get_private(CURL *handle);

/* Options of a multi handle that take a long. */
CURLMcode darkroom_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);

/* CURLMOPT_SOCKETFUNCTION with its CURLMOPT_SOCKETDATA. */
CURLMcode darkroom_curl_multi_set_socket(CURLM *multi, curl_socket_callback function, void *user);

/* CURLMOPT_TIMERFUNCTION with its CURLMOPT_TIMERDATA. */
CURLMcode darkroom_curl_multi_set_timer(CURLM *multi, curl_multi_timer_callback function, void *user);

#endif
