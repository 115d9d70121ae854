/*
 * The passes of resize for opaque pictures of 8 bits: down the columns first, exactly. The result is floats (blend_8),
 * or with integers to the end: one plane for each channel, and then the pass along the rows of these planes.
 *
 * Weights are integers of 16 bits, and those of a sample have a sum of exactly 2^shift, so an even colour stays unchanged.
 * The sum of their absolute values is at most twice that. Between the passes, samples have RESAMPLE_FRACTION = 6
 * fractional bits: 2 * 255 * 2^6 < 2^15. With a shift of at most 21 in the first pass and of 15 in the second, all sums
 * fit 32 bits: 2 * 255 * 2^21 + 2^14 < 2^31 and 2 * 2^15 * 2 * 255 * 2^6 + 2^20 < 2^31. With integers, the order of
 * additions does not matter, so every processor gives the same bits.
 *
 * The error of the rounding between the passes is 2^-7 of a step, and at most twice that after the second pass. The
 * weights of the second pass are wrong by up to 2^-(shift + 1) each, so with n of them a sample is wrong by at most
 * 255 n 2^-(shift + 1) of a step, and usually by the square root of n instead of n.
 */
#include "resample_8.h"

#include "CDarkroomPixels.h"
#include "samples.h"

#pragma STDC FP_CONTRACT OFF

/* The number of samples whose sums are kept at a time, so that they stay in the first-level cache. */
enum { BLOCK = 510 };

/* ---- Down the columns ------------------------------------------------------------------------ */

/* The sums of `length` samples from sample `begin` on, each beginning with `first`. */
INLINE void sum_rows(
    const uint8_t *const *rows, const int16_t *weights, size_t count, int32_t first, size_t begin,
    size_t length, int32_t *sums)
{
    for (size_t i = 0; i < length; i++)
        sums[i] = first;
    for (size_t k = 0; k < count; k++) {
        const uint8_t *row = rows[k] + begin;
        const int32_t weight = weights[k];
        for (size_t i = 0; i < length; i++)
            sums[i] += weight * row[i];
    }
}

static void blend(
    const uint8_t *const *rows, const int16_t *weights, size_t count, float scale, float *out,
    size_t begin, size_t samples)
{
    for (; begin < samples; begin += BLOCK) {
        const size_t length = samples - begin < BLOCK ? samples - begin : BLOCK;
        int32_t sums[BLOCK];
        sum_rows(rows, weights, count, 0, begin, length, sums);
        for (size_t i = 0; i < length; i++)
            out[begin + i] = (float)sums[i] * scale;
    }
}

void darkroom_blend_8(
    const uint8_t *const *rows, const int16_t *weights, size_t count, int shift, float *out,
    size_t samples)
{
    const float scale = 1 / (float)(1u << shift);
    size_t done = 0;
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2)
        done = darkroom_blend_8_avx2(rows, weights, count, scale, out, samples);
#endif
    blend(rows, weights, count, scale, out, done, samples);
}

INLINE int16_t saturated(int32_t value)
{
    return (int16_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

static void blend_planes(
    const uint8_t *const *rows, const int16_t *weights, size_t count, int shift, int16_t *out,
    size_t plane, size_t begin, size_t pixels, size_t channels)
{
    const int down = shift - RESAMPLE_FRACTION;
    /* BLOCK is a whole number of pixels of one or three samples. */
    const size_t step = BLOCK / channels;
    for (; begin < pixels; begin += step) {
        const size_t length = pixels - begin < step ? pixels - begin : step;
        int32_t sums[BLOCK];
        sum_rows(
            rows, weights, count, 1 << (down - 1), begin * channels, length * channels, sums);
        for (size_t c = 0; c < channels; c++)
            for (size_t i = 0; i < length; i++)
                out[c * plane + begin + i] = saturated(sums[i * channels + c] >> down);
    }
}

void darkroom_blend_planes_8(
    const uint8_t *const *rows, const int16_t *weights, size_t count, int shift, int16_t *out,
    size_t plane, size_t pixels, int channels)
{
    size_t done = 0;
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX512 && __builtin_cpu_supports("avx512vnni"))
        done = darkroom_blend_planes_8_avx512(
            rows, weights, count, shift, out, plane, pixels, (size_t)channels);
    if (done == 0 && darkroom_cpu_level() >= DARKROOM_CPU_AVX2)
        done = darkroom_blend_planes_8_avx2(
            rows, weights, count, shift, out, plane, pixels, (size_t)channels);
#endif
    blend_planes(rows, weights, count, shift, out, plane, done, pixels, (size_t)channels);
}

/* ---- Along a row ----------------------------------------------------------------------------- */

static void convolve_planes(
    const int16_t *in, size_t plane, const uint32_t *first, const int16_t *weights, size_t taps,
    int shift, uint8_t *out, size_t begin, size_t pixels, size_t channels)
{
    const int down = shift + RESAMPLE_FRACTION;
    for (size_t i = begin; i < pixels; i++) {
        const int16_t *weight = weights + i * taps;
        for (size_t c = 0; c < channels; c++) {
            const int16_t *sample = in + c * plane + first[i];
            int32_t sum = 1 << (down - 1);
            for (size_t k = 0; k < taps; k++)
                sum += (int32_t)weight[k] * sample[k];
            sum >>= down;
            out[i * channels + c] = (uint8_t)(sum > 255 ? 255 : sum < 0 ? 0 : sum);
        }
    }
}

void darkroom_convolve_planes_8(
    const int16_t *in, size_t plane, const uint32_t *first, const int16_t *weights, size_t taps,
    int shift, uint8_t *out, size_t pixels, int channels)
{
    size_t done = 0;
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2)
        done = darkroom_convolve_planes_8_avx2(
            in, plane, first, weights, taps, shift, out, pixels, (size_t)channels);
#endif
    convolve_planes(
        in, plane, first, weights, taps, shift, out, done, pixels, (size_t)channels);
}
