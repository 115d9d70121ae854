#ifndef DARKROOM_CCURL_SHIM_H
#define DARKROOM_CCURL_SHIM_H

#include <curl/curl.h>

#endif
