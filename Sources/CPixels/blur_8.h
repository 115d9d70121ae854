/* The AVX2 and AVX-512 paths of the blur with integers. Each processes as many samples as it can from the start
 * of the row and returns their number. */
#ifndef DARKROOM_BLUR_8_H
#define DARKROOM_BLUR_8_H

#include <stddef.h>
#include <stdint.h>

/* The number of fractional bits of a sample between the passes. */
enum { FRACTION = 6 };

#if defined(__x86_64__)

size_t darkroom_blur_columns_8_avx2(
    const uint8_t *const *rows, const int16_t *weights, size_t radius, int shift, int16_t *out,
    size_t samples);

/* Fills `bytes`, or `floats` where that is not NULL. */
size_t darkroom_blur_row_8_avx2(
    const int16_t *in, const int16_t *weights, size_t radius, int shift, uint8_t *bytes,
    float *floats, size_t samples, size_t channels);

size_t darkroom_blur_columns_8_avx512(
    const uint8_t *const *rows, const int16_t *weights, size_t radius, int shift, int16_t *out,
    size_t samples);

/* The same for bytes only. */
size_t darkroom_blur_row_8_avx512(
    const int16_t *in, const int16_t *weights, size_t radius, int shift, uint8_t *out,
    size_t samples, size_t channels);

#endif
#endif
