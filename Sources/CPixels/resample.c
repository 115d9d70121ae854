/*
 * The two passes of resize.
 *
 * With up to FLOAT_TAPS taps, sums are calculated in float, in several lanes that are added at the end in a
 * fixed order, so that every processor gives the same bits. With n additions in a lane, and weights whose
 * absolute values have a sum of at most 1.5, the error is below n * 2^-24 * 1.5 of full scale. No lane has
 * more than 64 additions, and at most 3 add up the lanes: the error is at most 0.4 of a step of 16 bits, and
 * usually a few hundredths. Longer sums are calculated in double: in float, a million small weights would
 * have an error of several percent.
 */
#include "CDarkroomPixels.h"
#include "resample.h"
#include "samples.h"

#pragma STDC FP_CONTRACT OFF

/* ---- Along a row ----------------------------------------------------------------------------- */

/*
 * Tap k of channel c is added to lane (k mod step) * channels + c. A step has as many taps as there are
 * pixels in LANES floats. At the end, the lanes of a channel are added in halves: lane i and lane i + 4 (or
 * 3, for three channels), then i and i + 2, then i and i + 1.
 */
INLINE void convolve_short(
    int channels, const float *pixel, const float *weights, size_t taps, float *out)
{
    const size_t step = (size_t)(LANES / channels);
    float lanes[LANES] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (size_t k = 0; k < taps; k++) {
        float *lane = lanes + k % step * (size_t)channels;
        for (int c = 0; c < channels; c++)
            lane[c] += weights[k] * pixel[k * (size_t)channels + (size_t)c];
    }
    for (int half = channels == 3 ? 3 : 4; half >= channels; half /= 2)
        for (int i = 0; i < half; i++)
            lanes[i] += lanes[i + half];
    memcpy(out, lanes, (size_t)channels * sizeof *out);
}

INLINE void convolve_loop(
    int channels, const float *in, float *out, size_t out_pixels, const uint32_t *first,
    const size_t *offsets, const float *weights)
{
    for (size_t i = 0; i < out_pixels; i++) {
        const size_t taps = offsets[i + 1] - offsets[i];
        const float *pixel = in + (size_t)first[i] * (size_t)channels;
        float *to = out + i * (size_t)channels;
        if (taps <= FLOAT_TAPS)
            convolve_short(channels, pixel, weights + offsets[i], taps, to);
        else
            convolve_long(channels, pixel, weights + offsets[i], taps, to);
    }
}

void darkroom_convolve(
    const float *in, float *out, size_t out_pixels, int channels, const uint32_t *first,
    const size_t *offsets, const float *weights)
{
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2) {
        darkroom_convolve_avx2(in, out, out_pixels, channels, first, offsets, weights);
        return;
    }
#endif
    switch (channels) {
    case 1: convolve_loop(1, in, out, out_pixels, first, offsets, weights); break;
    case 2: convolve_loop(2, in, out, out_pixels, first, offsets, weights); break;
    case 3: convolve_loop(3, in, out, out_pixels, first, offsets, weights); break;
    default: convolve_loop(4, in, out, out_pixels, first, offsets, weights); break;
    }
}

/* ---- Down the columns ------------------------------------------------------------------------ */

/* Columns are processed in blocks, so that the sums stay in the first-level cache. */
enum { BLOCK = 512 };

/* Even and odd rows have two sums, which are added at the end. */
INLINE void blend_short(
    const float *const *rows, const float *weights, size_t count, float *out, size_t begin,
    size_t length)
{
    float sums[2][BLOCK];
    memset(sums, 0, sizeof sums);
    size_t k = 0;
    for (; k + 2 <= count; k += 2) {
        const float *even = rows[k] + begin;
        const float *odd = rows[k + 1] + begin;
        for (size_t i = 0; i < length; i++) {
            sums[0][i] += weights[k] * even[i];
            sums[1][i] += weights[k + 1] * odd[i];
        }
    }
    if (k < count)
        for (size_t i = 0; i < length; i++)
            sums[0][i] += weights[k] * rows[k][begin + i];
    for (size_t i = 0; i < length; i++)
        out[begin + i] = sums[0][i] + sums[1][i];
}

INLINE void blend_long(
    const float *const *rows, const float *weights, size_t count, float *out, size_t begin,
    size_t length)
{
    double sums[BLOCK];
    memset(sums, 0, sizeof sums);
    for (size_t k = 0; k < count; k++) {
        const double weight = weights[k];
        const float *row = rows[k] + begin;
        for (size_t i = 0; i < length; i++)
            sums[i] += weight * row[i];
    }
    for (size_t i = 0; i < length; i++)
        out[begin + i] = (float)sums[i];
}

INLINE void blend_loop(
    const float *const *rows, const float *weights, size_t count, float *out, size_t samples)
{
    for (size_t begin = 0; begin < samples; begin += BLOCK) {
        const size_t length = samples - begin < BLOCK ? samples - begin : BLOCK;
        if (count <= FLOAT_TAPS)
            blend_short(rows, weights, count, out, begin, length);
        else
            blend_long(rows, weights, count, out, begin, length);
    }
}

BOTH(
    blend,
    (const float *const *rows, const float *weights, size_t count, float *out, size_t samples),
    { blend_loop(rows, weights, count, out, samples); })

void darkroom_blend(
    const float *const *rows, const float *weights, size_t count, float *out, size_t samples)
{
    BEST(blend, rows, weights, count, out, samples);
}
