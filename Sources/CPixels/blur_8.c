/*
 * Gaussian blur of opaque pictures of 8 bits, with integers.
 *
 * Weights are integers of 16 bits with a sum of exactly 2^shift, so an even colour stays unchanged. Between
 * the passes, samples have FRACTION = 6 fractional bits: 255 has 14 bits and the sum of two of them 15, so
 * they fit the multiplication of signed 16 bits. With a shift of at most 17, all sums fit 32 bits: 255 * 2^6
 * * 2^17 + 2^22 < 2^31.
 *
 * The error of the rounding between the passes is 2^-7 of a step, that of the weights 2^-(shift + 1) of their
 * unit. For 8 bits this is far below the half step of the last rounding.
 */
#include "blur_8.h"

#include "CDarkroomPixels.h"
#include "samples.h"

#pragma STDC FP_CONTRACT OFF

/* The number of samples whose sums are kept at a time, so that they stay in the first-level cache. */
enum { BLOCK = 512 };

static void blur_columns(
    const uint8_t *const *rows, const int16_t *weights, size_t radius, int shift, int16_t *out,
    size_t begin, size_t samples)
{
    const int down = shift - FRACTION;
    for (; begin < samples; begin += BLOCK) {
        const size_t length = samples - begin < BLOCK ? samples - begin : BLOCK;
        int32_t sums[BLOCK];
        for (size_t i = 0; i < length; i++)
            sums[i] = (1 << (down - 1)) + weights[0] * rows[radius][begin + i];
        for (size_t k = 1; k <= radius; k++) {
            const uint8_t *above = rows[radius - k] + begin;
            const uint8_t *below = rows[radius + k] + begin;
            for (size_t i = 0; i < length; i++)
                sums[i] += weights[k] * (int16_t)(above[i] + below[i]);
        }
        for (size_t i = 0; i < length; i++)
            out[begin + i] = (int16_t)(sums[i] >> down);
    }
}

void darkroom_blur_columns_8(
    const uint8_t *const *rows, const int16_t *weights, size_t radius, int shift, int16_t *out,
    size_t samples)
{
    size_t done = 0;
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX512)
        done = darkroom_blur_columns_8_avx512(rows, weights, radius, shift, out, samples);
    else if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2)
        done = darkroom_blur_columns_8_avx2(rows, weights, radius, shift, out, samples);
#endif
    blur_columns(rows, weights, radius, shift, out, done, samples);
}

static void blur_row(
    const int16_t *in, const int16_t *weights, size_t radius, int shift, uint8_t *bytes,
    float *floats, size_t begin, size_t samples, size_t channels)
{
    const int down = shift + FRACTION;
    const float scale = 1 / (float)(1u << down);
    for (; begin < samples; begin += BLOCK) {
        const size_t length = samples - begin < BLOCK ? samples - begin : BLOCK;
        const int16_t *centre = in + radius * channels + begin;
        int32_t sums[BLOCK];
        for (size_t i = 0; i < length; i++)
            sums[i] = weights[0] * centre[i];
        for (size_t k = 1; k <= radius; k++) {
            const int16_t *left = centre - k * channels;
            const int16_t *right = centre + k * channels;
            for (size_t i = 0; i < length; i++)
                sums[i] += weights[k] * (int16_t)(left[i] + right[i]);
        }
        for (size_t i = 0; i < length; i++) {
            if (floats)
                floats[begin + i] = (float)sums[i] * scale;
            else
                bytes[begin + i] = (uint8_t)((sums[i] + (1 << (down - 1))) >> down);
        }
    }
}

INLINE void blur_row_8(
    const int16_t *in, const int16_t *weights, size_t radius, int shift, uint8_t *bytes,
    float *floats, size_t pixels, int channels)
{
    const size_t samples = pixels * (size_t)channels;
    size_t done = 0;
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX512 && floats == NULL)
        done = darkroom_blur_row_8_avx512(
            in, weights, radius, shift, bytes, samples, (size_t)channels);
    else if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2)
        done = darkroom_blur_row_8_avx2(
            in, weights, radius, shift, bytes, floats, samples, (size_t)channels);
#endif
    blur_row(
        in, weights, radius, shift, bytes, floats, done, samples, (size_t)channels);
}

void darkroom_blur_row_8(
    const int16_t *in, const int16_t *weights, size_t radius, int shift, uint8_t *out,
    size_t pixels, int channels)
{
    blur_row_8(in, weights, radius, shift, out, NULL, pixels, channels);
}

void darkroom_blur_row_8_unrounded(
    const int16_t *in, const int16_t *weights, size_t radius, int shift, float *out,
    size_t pixels, int channels)
{
    blur_row_8(in, weights, radius, shift, NULL, out, pixels, channels);
}
