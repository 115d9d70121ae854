/* The AVX2 paths of resampling, and the definitions that they share with the plain ones. */
#ifndef DARKROOM_RESAMPLE_H
#define DARKROOM_RESAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "samples.h"

#pragma STDC FP_CONTRACT OFF

/* The maximum number of taps whose sums may be in float; see resample.c. */
enum { FLOAT_TAPS = 128 };

/* The sums of a row have this number of lanes; see resample.c. */
enum { LANES = 8 };

/* One output pixel of more than FLOAT_TAPS taps, in double. */
INLINE void convolve_long(
    int channels, const float *pixel, const float *weights, size_t taps, float *out)
{
    double sums[4] = {0, 0, 0, 0};
    for (size_t k = 0; k < taps; k++) {
        const double weight = weights[k];
        for (int c = 0; c < channels; c++)
            sums[c] += weight * pixel[c];
        pixel += channels;
    }
    for (int c = 0; c < channels; c++)
        out[c] = (float)sums[c];
}

#if defined(__x86_64__)

/* The same as darkroom_convolve. */
void darkroom_convolve_avx2(
    const float *in, float *out, size_t out_pixels, int channels, const uint32_t *first,
    const size_t *offsets, const float *weights);

#endif
#endif
