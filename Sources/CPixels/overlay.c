/* One picture over another. */
#include "CDarkroomPixels.h"
#include "samples.h"

/* Fused multiply-adds would make the last bits of a sum depend on the machine. */
#pragma STDC FP_CONTRACT OFF

INLINE void over_loop(
    int depth, int channels, int over_depth, void *base, const void *over, size_t pixels,
    double opacity)
{
    const double max = full_scale(depth);
    const double over_max = full_scale(over_depth);
    const size_t colours = (size_t)(has_alpha(channels) ? channels - 1 : channels);
    for (size_t i = 0; i < pixels; i++) {
        const size_t at = i * (size_t)channels;
        const size_t over_at = i * (colours + 1);
        const double share = opacity * sample_at(over, over_at + colours, over_depth) / over_max;
        if (share <= 0)
            continue;
        double rest = 1 - share;
        double alpha = 1;
        if (has_alpha(channels)) {
            rest *= sample_at(base, at + colours, depth) / max;
            alpha = share + rest;
            put_sample(base, at + colours, depth, rounded(alpha * max, max));
        }
        for (size_t c = 0; c < colours; c++) {
            double top = sample_at(over, over_at + c, over_depth);
            if (over_depth != depth)
                top = top * max / over_max;
            const double sum = share * top + rest * sample_at(base, at + c, depth);
            put_sample(base, at + c, depth, rounded(sum / alpha, max));
        }
    }
}

INLINE void over_8(
    int depth, int channels, void *base, const void *over, size_t pixels, double opacity)
{
    over_loop(depth, channels, 8, base, over, pixels, opacity);
}

INLINE void over_16(
    int depth, int channels, void *base, const void *over, size_t pixels, double opacity)
{
    over_loop(depth, channels, 16, base, over, pixels, opacity);
}

void darkroom_over(
    void *base, int channels, int depth, const void *over, int over_depth, size_t pixels,
    double opacity)
{
    if (over_depth == 8)
        BY_CHANNELS(over_8, depth, channels, base, over, pixels, opacity);
    else
        BY_CHANNELS(over_16, depth, channels, base, over, pixels, opacity);
}

/* Whether two pixels look the same: no sample differs by more than `tolerance`, or both are
 * transparent. */
INLINE int alike(
    int depth, int channels, const void *a, size_t i, const void *b, size_t j, uint32_t tolerance)
{
    const size_t from = i * (size_t)channels;
    const size_t to = j * (size_t)channels;
    if (has_alpha(channels)) {
        const size_t alpha = (size_t)channels - 1;
        if ((sample_at(a, from + alpha, depth) | sample_at(b, to + alpha, depth)) == 0)
            return 1;
    }
    for (size_t c = 0; c < (size_t)channels; c++) {
        const uint32_t v = sample_at(a, from + c, depth);
        const uint32_t w = sample_at(b, to + c, depth);
        if ((v > w ? v - w : w - v) > tolerance)
            return 0;
    }
    return 1;
}

INLINE void border_loop(
    int depth, int channels, const void *row, const void *corner, size_t pixels,
    uint32_t tolerance, size_t *left, size_t *right)
{
    size_t first = 0;
    while (first < pixels && alike(depth, channels, row, first, corner, 0, tolerance))
        first++;
    size_t end = pixels;
    while (end > first && alike(depth, channels, row, end - 1, corner, 0, tolerance))
        end--;
    *left = first;
    *right = pixels - end;
}

void darkroom_border(
    const void *row, const void *corner, size_t pixels, int channels, int depth,
    uint32_t tolerance, size_t *left, size_t *right)
{
    BY_CHANNELS(
        border_loop, depth, channels, row, corner, pixels, tolerance, left, right);
}
