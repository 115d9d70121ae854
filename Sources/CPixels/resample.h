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
 * Makes output pixels from `begin` on, up to the first that has more than FLOAT_TAPS taps, and
 * returns that one or `end`.
 */
size_t darkroom_convolve_avx2(
    const float *in, float *out, size_t begin, size_t end, int channels, const uint32_t *first,
    const size_t *offsets, const float *weights);

/* Does as many samples as it can and returns their number. */
size_t darkroom_blend_8_avx2(
    const uint8_t *const *rows, const int16_t *weights, size_t count, float scale, float *out,
    size_t samples);

#endif
#endif
