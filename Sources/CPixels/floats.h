/* Shared by floats.c and blur.c: reading samples as floats. */
#ifndef DARKROOM_FLOATS_H
#define DARKROOM_FLOATS_H

#include "samples.h"

/* Eight samples: two pixels of RGBA, or four of gray and alpha. Standard C has no shuffles, but clang has
 * them for every processor. */
typedef float eight_floats __attribute__((vector_size(32)));
typedef uint8_t eight_bytes __attribute__((vector_size(8)));
typedef uint16_t eight_words __attribute__((vector_size(16)));

/* Samples at … at + 7 as floats, colour multiplied by alpha; 2 or 4 channels. */
INLINE void load_eight(int depth, int channels, const void *in, size_t at, eight_floats *out)
{
    eight_floats v;
    if (depth == 8) {
        eight_bytes samples;
        memcpy(&samples, (const uint8_t *)in + at, sizeof samples);
        v = __builtin_convertvector(samples, eight_floats);
    } else {
        eight_words samples;
        memcpy(&samples, (const uint16_t *)in + at, sizeof samples);
        v = __builtin_convertvector(samples, eight_floats);
    }
    if (channels == 4) {
        const eight_floats alpha = __builtin_shufflevector(v, v, 3, 3, 3, 3, 7, 7, 7, 7);
        *out = __builtin_shufflevector(v * alpha, v, 0, 1, 2, 11, 4, 5, 6, 15);
    } else {
        const eight_floats alpha = __builtin_shufflevector(v, v, 1, 1, 3, 3, 5, 5, 7, 7);
        *out = __builtin_shufflevector(v * alpha, v, 0, 9, 2, 11, 4, 13, 6, 15);
    }
}

/* The same for one sample, and any number of channels. Alpha is a pixel's last sample: with 2 or 4
 * channels, where the lowest bits of the index are all set. */
INLINE float load_one(int depth, int channels, const void *in, size_t at)
{
    const float v = (float)sample_at(in, at, depth);
    const size_t alpha = at | (size_t)(channels - 1);
    return !has_alpha(channels) || at == alpha ? v : v * (float)sample_at(in, alpha, depth);
}

/* Samples first … first + samples - 1 of a row as floats, colour multiplied by alpha. */
INLINE void load_samples(
    int depth, int channels, const void *in, size_t first, float *out, size_t samples)
{
    size_t i = 0;
    for (; has_alpha(channels) && i + 8 <= samples; i += 8) {
        eight_floats v;
        load_eight(depth, channels, in, first + i, &v);
        memcpy(out + i, &v, sizeof v);
    }
    for (; i < samples; i++)
        out[i] = load_one(depth, channels, in, first + i);
}

#endif
