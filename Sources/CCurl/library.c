#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "CDarkroomCurl.h"

/* The ABI of libcurl since 7.16. */
static const char soname[] = "libcurl.so.4";

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct darkroom_curl_library library;
static char problem[256];

static void load(void)
{
    /* It is never closed: other libraries may have left functions of theirs to be called when a thread ends. */
    void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        snprintf(problem, sizeof problem, "%s", dlerror());
        return;
    }
#define FIND(function)                                                                          \
    library.function = (__typeof__(library.function))dlsym(handle, #function);                  \
    if (library.function == NULL) {                                                             \
        snprintf(problem, sizeof problem, "%s has no %s: it is too old", soname, #function); \
        return;                                                                                 \
    }
    EACH_FUNCTION(FIND)
#undef FIND
    CURLcode result = (library.curl_global_init)(CURL_GLOBAL_DEFAULT);
    if (result != CURLE_OK)
        snprintf(problem, sizeof problem, "%s: %s", soname, (library.curl_easy_strerror)(result));
}

const char *darkroom_curl_load(void)
{
    pthread_once(&once, load);
    return problem[0] == '\0' ? NULL : problem;
}

const struct darkroom_curl_library *darkroom_curl_library(void)
{
    const char *missing = darkroom_curl_load();
    if (missing == NULL)
        return &library;
    fprintf(stderr, "%s\n", missing);
    abort();
}

const char *darkroom_curl_version(void)
{
    return darkroom_curl_load() == NULL ? LIBRARY(curl_version_info)(CURLVERSION_FIRST)->version : NULL;
}
