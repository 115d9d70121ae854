/* The AVX2 paths of resampling. */
#ifndef DARKROOM_RESAMPLE_H
#define DARKROOM_RESAMPLE_H

#include <stddef.h>
#include <stdint.h>

/* The taps whose sums may be kept in float; see resample.c. */
enum { FLOAT_TAPS = 128 };

/* The sums of a row are kept in this many lanes; see resample.c. */
enum { LANES = 8 };

#if defined(__x86_64__)

/*
 * Adds the taps it can into `lanes` and returns how many those were: a multiple of LANES / channels
 * (rounded down), without reading beyond the last tap.
 */
size_t darkroom_taps_avx2(
    const float *pixel, const float *weights, size_t taps, int channels, float lanes[LANES]);

/* Does as many samples as it can and returns their number. */
size_t darkroom_blend_8_avx2(
    const uint8_t *const *rows, const int16_t *weights, size_t count, float scale, float *out,
    size_t samples);

#endif
#endif
