/* Shared by the two implementations that undo PNG's row filters. */
#ifndef DARKROOM_PNG_UNFILTER_H
#define DARKROOM_PNG_UNFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "png_filters.h"

#if defined(__x86_64__)
/* The rows of darkroom_unfilter, whose filters are all valid; for DARKROOM_CPU_AVX2. */
void darkroom_undo_in_waves(
    const uint8_t *filtered, size_t rows, size_t row_bytes, int pixel_bytes, bool swaps,
    const uint8_t *above, uint8_t *out);
#endif

#endif
