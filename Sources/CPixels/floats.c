/* Samples to rows of floats, colour multiplied by alpha, and back. */
#include "CDarkroomPixels.h"
#include "floats.h"
#include "samples.h"

#pragma STDC FP_CONTRACT OFF

INLINE void load_light(
    int depth, int channels, const void *in, float *out, size_t pixels, const float *light)
{
    for (size_t i = 0; i < pixels; i++) {
        const size_t at = i * (size_t)channels;
        const size_t colours = (size_t)(has_alpha(channels) ? channels - 1 : channels);
        const float alpha = has_alpha(channels) ? (float)sample_at(in, at + colours, depth) : 1;
        for (size_t c = 0; c < colours; c++)
            out[at + c] = light[sample_at(in, at + c, depth)] * alpha;
        if (has_alpha(channels))
            out[at + colours] = alpha;
    }
}

INLINE void load_encoded(int depth, int channels, const void *in, float *out, size_t pixels)
{
    load_samples(depth, channels, in, 0, out, pixels * (size_t)channels);
}

BOTH(
    load,
    (const void *in, float *out, size_t pixels, int channels, int depth, const float *light), {
        if (light)
            BY_CHANNELS(load_light, depth, channels, in, out, pixels, light);
        else
            BY_CHANNELS(load_encoded, depth, channels, in, out, pixels);
    })

void darkroom_load(
    const void *in, float *out, size_t pixels, int channels, int depth, const float *light)
{
    BEST(load, in, out, pixels, channels, depth, light);
}

/* How light becomes samples; see darkroom_store_light. */
struct encoder {
    const float *thresholds;
    const uint16_t *starts;
    uint32_t cells;
};

INLINE uint32_t encoded(const struct encoder *encoder, double light, uint32_t max)
{
    light = light > 0 ? light : 0;
    light = light < 1 ? light : 1;
    uint32_t sample = encoder->starts[(uint32_t)(light * encoder->cells)];
    while (sample < max && light >= encoder->thresholds[sample + 1])
        sample++;
    return sample;
}

INLINE uint32_t stored(const struct encoder *encoder, double value, double max)
{
    return encoder ? encoded(encoder, value, (uint32_t)max) : rounded(value, max);
}

INLINE void store_loop(
    int depth, int channels, const float *in, void *out, size_t pixels,
    const struct encoder *encoder)
{
    const double max = full_scale(depth);
    for (size_t i = 0; i < pixels; i++) {
        const size_t at = i * (size_t)channels;
        const size_t colours = (size_t)(has_alpha(channels) ? channels - 1 : channels);
        if (!has_alpha(channels)) {
            for (size_t c = 0; c < colours; c++)
                put_sample(out, at + c, depth, stored(encoder, in[at + c], max));
            continue;
        }
        const double alpha = in[at + colours];
        const uint32_t alpha_sample = rounded(alpha, max);
        for (size_t c = 0; c < colours; c++) {
            const uint32_t v = alpha_sample ? stored(encoder, in[at + c] / alpha, max) : 0;
            put_sample(out, at + c, depth, v);
        }
        put_sample(out, at + colours, depth, alpha_sample);
    }
}

/* The same for RGBA, a pixel at a time. */
INLINE void store_pixels(int depth, const float *in, void *out, size_t pixels)
{
    const double max = full_scale(depth);
    for (size_t at = 0; at < 4 * pixels; at += 4) {
        four_floats floats;
        memcpy(&floats, in + at, sizeof floats);
        const double alpha = floats[3];
        const int visible = rounded(alpha, max) > 0;
        const double divisor = visible ? alpha : 1;
        const four_doubles divisors = {divisor, divisor, divisor, 1};
        const four_doubles pixel = __builtin_convertvector(floats, four_doubles) / divisors;
        four_numbers samples;
        rounded_four(&pixel, max, &samples);
        samples &= visible ? -1 : 0;
        write_pixel(out, at, depth, &samples);
    }
}

INLINE void store_encoded(int depth, int channels, const float *in, void *out, size_t pixels)
{
    if (channels == 4)
        store_pixels(depth, in, out, pixels);
    else
        store_loop(depth, channels, in, out, pixels, NULL);
}

BOTH(store, (const float *in, void *out, size_t pixels, int channels, int depth), {
    BY_CHANNELS(store_encoded, depth, channels, in, out, pixels);
})

void darkroom_store(const float *in, void *out, size_t pixels, int channels, int depth)
{
    BEST(store, in, out, pixels, channels, depth);
}

void darkroom_store_light(
    const float *in, void *out, size_t pixels, int channels, int depth, const float *thresholds,
    const uint16_t *starts, uint32_t cells)
{
    const struct encoder encoder = {thresholds, starts, cells};
    BY_CHANNELS(store_loop, depth, channels, in, out, pixels, &encoder);
}
