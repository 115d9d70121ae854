/* The versions of the libraries that decide the bytes of pictures, as text. Macros of their headers, and functions with
 * the type of a macro, are not in Swift's modules. */
#ifndef DARKROOM_VERSIONS_H
#define DARKROOM_VERSIONS_H

#include <stdint.h>

/* libpng and zlib: of the loaded library. */
const char *darkroom_libpng_version(void);
const char *darkroom_zlib_version(void);

/* libjpeg-turbo and libdeflate: of the headers. A loaded library does not tell its version. */
const char *darkroom_libjpeg_turbo_version(void);
const char *darkroom_libdeflate_version(void);

/* Tells the program, and the libraries that decide the bytes of pictures, from others of these versions
 * (darkroom_loaded.h). */
uint64_t darkroom_picture_identity(void);

#endif
