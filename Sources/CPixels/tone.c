/* Filters of single pixels that are not matrices: tables, thresholds, vignettes, flattening. */
#include <math.h>

#include "CDarkroomPixels.h"
#include "samples.h"

/* Fused multiply-adds would make the last bits of a product depend on the machine. */
#pragma STDC FP_CONTRACT OFF

void darkroom_power_table(void *table, int depth, double exponent)
{
    const double max = full_scale(depth);
    const size_t count = depth == 8 ? 256 : 65536;
    for (size_t v = 0; v < count; v++)
        put_sample(table, v, depth, rounded(max * pow((double)v / max, exponent), max));
}

void darkroom_level_table(void *table, int depth, uint32_t levels)
{
    const uint64_t max = depth == 8 ? 255 : 65535;
    const uint64_t steps = levels - 1;
    for (uint64_t v = 0; v <= max; v++) {
        const uint64_t level = (2 * v * steps + max) / (2 * max);
        put_sample(table, v, depth, (uint32_t)((2 * level * max + steps) / (2 * steps)));
    }
}

INLINE void threshold_loop(
    int depth, int channels, const void *in, void *out, size_t pixels, uint32_t least)
{
    const uint32_t white = depth == 8 ? 255 : 65535;
    const int alpha = has_alpha(channels);
    const size_t to = alpha ? 2 : 1;
    for (size_t i = 0; i < pixels; i++) {
        const size_t at = i * (size_t)channels;
        uint32_t luminance = 10000 * sample_at(in, at, depth);
        if (channels >= 3)
            luminance = 2126 * sample_at(in, at, depth) + 7152 * sample_at(in, at + 1, depth)
                + 722 * sample_at(in, at + 2, depth);
        /* Read before anything is written: `out` may lie over `in`. */
        const uint32_t a = alpha ? sample_at(in, at + (size_t)channels - 1, depth) : 0;
        put_sample(out, i * to, depth, luminance >= least ? white : 0);
        if (alpha)
            put_sample(out, i * to + 1, depth, a);
    }
}

BOTH(
    threshold,
    (const void *in, void *out, size_t pixels, int channels, int depth, uint32_t least),
    { BY_CHANNELS(threshold_loop, depth, channels, in, out, pixels, least); })

void darkroom_threshold(
    const void *in, void *out, size_t pixels, int channels, int depth, uint32_t least)
{
    BEST(threshold, in, out, pixels, channels, depth, least);
}

/* With integers: a product of two 16-bit samples and half of 65535 fit into 32 bits. The divisor is odd, so
 * there are no ties. */
INLINE void flatten_loop(
    int depth, int channels, const void *in, void *out, size_t pixels, const void *background)
{
    const uint32_t max = depth == 8 ? 255 : 65535;
    const size_t colours = (size_t)channels - 1;
    uint32_t below[3] = {0, 0, 0};
    for (size_t c = 0; c < colours; c++)
        below[c] = sample_at(background, c, depth);
    for (size_t i = 0; i < pixels; i++) {
        const size_t at = i * (size_t)channels;
        const uint32_t alpha = sample_at(in, at + colours, depth);
        for (size_t c = 0; c < colours; c++) {
            const uint32_t sum = alpha * sample_at(in, at + c, depth) + (max - alpha) * below[c];
            put_sample(out, i * colours + c, depth, (sum + max / 2) / max);
        }
    }
}

BOTH(
    flatten,
    (const void *in, void *out, size_t pixels, int channels, int depth, const void *background),
    {
        if (channels == 2)
            BY_DEPTH(flatten_loop, depth, 2, in, out, pixels, background);
        else
            BY_DEPTH(flatten_loop, depth, 4, in, out, pixels, background);
    })

void darkroom_flatten(
    const void *in, void *out, size_t pixels, int channels, int depth, const void *background)
{
    BEST(flatten, in, out, pixels, channels, depth, background);
}

/* Both halves of a row are equal. */
void darkroom_vignette_row(
    double *factors, size_t width, double row, double size, double amount, double radius,
    double softness)
{
    for (size_t x = 0; x < (width + 1) / 2; x++) {
        const double column = (double)(width - 1 - 2 * x);
        const double distance = sqrt((column * column + row * row) / size);
        double t = (distance - radius) / softness;
        t = t > 0 ? t : 0;
        t = t < 1 ? t : 1;
        factors[x] = 1 - amount * (t * t * (3 - 2 * t));
        factors[width - 1 - x] = factors[x];
    }
}

INLINE void scale_loop(
    int depth, int channels, void *row, size_t pixels, const double *factors)
{
    const double max = full_scale(depth);
    const size_t colours = (size_t)(has_alpha(channels) ? channels - 1 : channels);
    for (size_t i = 0; i < pixels; i++) {
        for (size_t c = 0; c < colours; c++) {
            const size_t at = i * (size_t)channels + c;
            put_sample(row, at, depth, rounded(sample_at(row, at, depth) * factors[i], max));
        }
    }
}

BOTH(
    scale_row, (void *row, size_t pixels, int channels, int depth, const double *factors),
    { BY_CHANNELS(scale_loop, depth, channels, row, pixels, factors); })

void darkroom_scale_row(
    void *row, size_t pixels, int channels, int depth, const double *factors)
{
    BEST(scale_row, row, pixels, channels, depth, factors);
}
