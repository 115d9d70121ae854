/* Large Gaussian blurs: two threefold box filters, mixed. Their sums down the columns are in blur.c. */
#include "CPixels.h"
#include "samples.h"

/* Fused multiply-adds would make the last bits of a sum depend on the machine. */
#pragma STDC FP_CONTRACT OFF

/*
 * One box filter in place: pixel i becomes the sum of pixels i … i + width - 1. The channels' sums do
 * not wait for each other.
 */
INLINE void running_sum(int channels, double *values, size_t width, size_t results)
{
    const size_t stride = (size_t)channels;
    double sums[4] = {0, 0, 0, 0};
    for (size_t k = 0; k < width; k++)
        for (size_t c = 0; c < stride; c++)
            sums[c] += values[k * stride + c];
    for (size_t i = 0; i + 1 < results; i++) {
        for (size_t c = 0; c < stride; c++) {
            const double leaving = values[i * stride + c];
            values[i * stride + c] = sums[c];
            sums[c] += values[(i + width) * stride + c] - leaving;
        }
    }
    for (size_t c = 0; c < stride; c++)
        values[(results - 1) * stride + c] = sums[c];
}

/* Three box filters along a row of which `row` has a copy of its own, and of the edges. */
INLINE void threefold(
    int channels, const double *row, double *work, const size_t *widths, size_t pixels)
{
    const size_t stride = (size_t)channels;
    const size_t margin = widths[0] + widths[1] + widths[2] - 3;
    const size_t left = margin / 2 * stride;
    const size_t end = left + pixels * stride;
    memcpy(work + left, row, pixels * stride * sizeof *row);
    for (size_t i = 0; i < left; i++) {
        work[i] = row[i % stride];
        work[end + i] = row[(pixels - 1) * stride + i % stride];
    }
    size_t results = pixels + margin;
    for (int pass = 0; pass < 3; pass++) {
        results -= widths[pass] - 1;
        running_sum(channels, work, widths[pass], results);
    }
}

INLINE void boxes_row_loop(
    int channels, const uint64_t *narrow, const uint64_t *wide, const size_t *widths,
    double share, double *scratch, float *out, size_t pixels)
{
    const size_t samples = pixels * (size_t)channels;
    const double a = share / (double)(widths[0] * widths[1] * widths[2]);
    const double b = (1 - share) / (double)(widths[3] * widths[4] * widths[5]);
    double *row = scratch;
    double *first = scratch + samples;
    double *second = scratch + 2 * samples;
    for (size_t i = 0; i < samples; i++)
        row[i] = a * (double)narrow[2 * samples + i] + b * (double)wide[2 * samples + i];
    threefold(channels, row, second, widths, pixels);
    memcpy(first, second, samples * sizeof *first);
    threefold(channels, row, second, widths + 3, pixels);
    for (size_t i = 0; i < samples; i++)
        out[i] = (float)(a * first[i] + b * second[i]);
}

void darkroom_boxes_row(
    const uint64_t *narrow, const uint64_t *wide, const size_t widths[6], double share,
    double *scratch, float *out, size_t pixels, int channels)
{
    switch (channels) {
    case 1: boxes_row_loop(1, narrow, wide, widths, share, scratch, out, pixels); break;
    case 2: boxes_row_loop(2, narrow, wide, widths, share, scratch, out, pixels); break;
    case 3: boxes_row_loop(3, narrow, wide, widths, share, scratch, out, pixels); break;
    default: boxes_row_loop(4, narrow, wide, widths, share, scratch, out, pixels); break;
    }
}
