/* Kernels over rows of pixels. */
#ifndef DARKROOM_CPIXELS_H
#define DARKROOM_CPIXELS_H

#include <stddef.h>
#include <stdint.h>

#endif
