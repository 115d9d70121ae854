/*
 * The AVX2 paths of the colour kernels. Each processes as many pixels as it can from the start of the row and
 * returns their number. The scalar loops process the rest, or everything if 0 is returned.
 */
#ifndef DARKROOM_COLOUR_H
#define DARKROOM_COLOUR_H

#include <stddef.h>

#if defined(__x86_64__)

size_t darkroom_matrix_avx2(
    void *samples, size_t pixels, int channels, int depth, const double matrix[9]);

size_t darkroom_luma_avx2(
    const void *in, void *out, size_t pixels, int channels, int depth, const double weights[4]);

/* Samples of 8 bits; 1, 2 or 4 channels. */
size_t darkroom_map_avx2(
    void *samples, size_t pixels, int channels, int first, int count, const void *table);

#endif
#endif
