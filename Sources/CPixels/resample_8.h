/* The SIMD paths of resampling with integers. Each processes as many pixels (or samples) as it can from the start of the
 * row and returns their number. */
#ifndef DARKROOM_RESAMPLE_8_H
#define DARKROOM_RESAMPLE_8_H

#include <stddef.h>
#include <stdint.h>

/* The number of fractional bits of a sample between the passes. */
enum { RESAMPLE_FRACTION = 6 };

#if defined(__x86_64__)

size_t darkroom_blend_8_avx2(
    const uint8_t *const *rows, const int16_t *weights, size_t count, float scale, float *out,
    size_t samples);

size_t darkroom_blend_planes_8_avx2(
    const uint8_t *const *rows, const int16_t *weights, size_t count, int shift, int16_t *out,
    size_t plane, size_t pixels, size_t channels);

/* The same with AVX-512 and VNNI. It processes all pixels or none: few, and large weights, are left to AVX2. */
size_t darkroom_blend_planes_8_avx512(
    const uint8_t *const *rows, const int16_t *weights, size_t count, int shift, int16_t *out,
    size_t plane, size_t pixels, size_t channels);

size_t darkroom_convolve_planes_8_avx2(
    const int16_t *in, size_t plane, const uint32_t *first, const int16_t *weights, size_t taps,
    int shift, uint8_t *out, size_t pixels, size_t channels);

#endif
#endif
