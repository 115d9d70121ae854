#include "darkroom_versions.h"

#include <stdio.h>

#include <jpeglib.h>
#include <libdeflate.h>
#include <png.h>
#include <zlib.h>

#include "darkroom_loaded.h"

#define TEXT_OF(token) #token
#define TEXT(macro) TEXT_OF(macro)

const char *darkroom_libpng_version(void)
{
    return png_get_libpng_ver(NULL);
}

const char *darkroom_zlib_version(void)
{
    return zlibVersion();
}

const char *darkroom_libjpeg_turbo_version(void)
{
    return TEXT(LIBJPEG_TURBO_VERSION);
}

const char *darkroom_libdeflate_version(void)
{
    return LIBDEFLATE_VERSION_STRING;
}

uint64_t darkroom_picture_identity(void)
{
    /* The C library has the functions of text, the other one those of numbers. */
    static const char *const libraries[] = {"libpng", "libz.", "libjpeg", "libdeflate", "libm.", "libc.", NULL};
    return darkroom_loaded_identity(libraries);
}
