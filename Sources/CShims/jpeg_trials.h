/* A picture as the coefficients of a JPEG before they are quantised, for trials of qualities. */
#ifndef DARKROOM_JPEG_TRIALS_H
#define DARKROOM_JPEG_TRIALS_H

#include "jpeg_trap.h"

typedef struct darkroom_jpeg_trials darkroom_jpeg_trials;

/* What `darkroom_jpeg_trials_new` allocates. `has_fine` and `has_coarse`: at which resolutions colour is kept. */
uint64_t darkroom_jpeg_trials_bytes(uint32_t width, uint32_t height, bool is_gray, bool has_fine, bool has_coarse);

/* NULL if there is no memory. */
darkroom_jpeg_trials *darkroom_jpeg_trials_new(
    uint32_t width, uint32_t height, bool is_gray, bool has_fine, bool has_coarse);
void darkroom_jpeg_trials_free(darkroom_jpeg_trials *trials);

/* The next row, gray or RGB. Its coefficients are those that libjpeg-turbo computes (JDCT_ISLOW). */
void darkroom_jpeg_trials_row(darkroom_jpeg_trials *trials, const uint8_t *row);

/* Lets `info`, whose parameters are set, write these coefficients, quantised with its tables: begins the file as
 * jpeg_start_compress does. jpeg_finish_compress then writes the rest. `info` can write nothing else afterwards. */
void darkroom_jpeg_trials_start(darkroom_jpeg_trials *trials, j_compress_ptr info);

/* The similarity (darkroom_quality.h) of the brightness that a decoder gets with these tables, and of the picture's. */
double darkroom_jpeg_trials_similarity(darkroom_jpeg_trials *trials, const JQUANT_TBL *table);

#endif
