/* The two passes of resize. */
#include "CPixels.h"
#include "samples.h"

/* Sums are in double: a million small weights added up in float would drift by several percent. */
INLINE void convolve_loop(
    int channels, const float *in, float *out, size_t out_pixels, const uint32_t *first,
    const size_t *offsets, const float *weights)
{
    for (size_t i = 0; i < out_pixels; i++) {
        const float *pixel = in + (size_t)first[i] * (size_t)channels;
        double sums[4] = {0, 0, 0, 0};
        for (size_t k = offsets[i]; k < offsets[i + 1]; k++) {
            const double weight = weights[k];
            for (int c = 0; c < channels; c++)
                sums[c] += weight * pixel[c];
            pixel += channels;
        }
        for (int c = 0; c < channels; c++)
            out[i * (size_t)channels + (size_t)c] = (float)sums[c];
    }
}

void darkroom_convolve(
    const float *in, float *out, size_t out_pixels, int channels, const uint32_t *first,
    const size_t *offsets, const float *weights)
{
    switch (channels) {
    case 1: convolve_loop(1, in, out, out_pixels, first, offsets, weights); break;
    case 2: convolve_loop(2, in, out, out_pixels, first, offsets, weights); break;
    case 3: convolve_loop(3, in, out, out_pixels, first, offsets, weights); break;
    default: convolve_loop(4, in, out, out_pixels, first, offsets, weights); break;
    }
}

void darkroom_blend(
    const float *const *rows, const float *weights, size_t count, float *out, size_t samples)
{
    /* Columns in blocks, so that the sums stay in the first-level cache. */
    enum { BLOCK = 512 };
    double sums[BLOCK];
    for (size_t begin = 0; begin < samples; begin += BLOCK) {
        const size_t length = samples - begin < BLOCK ? samples - begin : BLOCK;
        memset(sums, 0, length * sizeof *sums);
        for (size_t k = 0; k < count; k++) {
            const double weight = weights[k];
            const float *row = rows[k] + begin;
            for (size_t i = 0; i < length; i++)
                sums[i] += weight * row[i];
        }
        for (size_t i = 0; i < length; i++)
            out[begin + i] = (float)sums[i];
    }
}
