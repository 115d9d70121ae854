/* Colour filters: matrices, luma and tables. All are exact: sums in double, and one rounding. */
#include "CDarkroomPixels.h"
#include "colour.h"
#include "samples.h"

/* Fused multiply-adds would make the last bits of a sum depend on the machine. */
#pragma STDC FP_CONTRACT OFF

INLINE void matrix_loop(int depth, int channels, void *samples, size_t pixels, const double *matrix)
{
    const double max = full_scale(depth);
    /* Copied, because a store through `samples` might otherwise change them. */
    double m[9];
    memcpy(m, matrix, sizeof m);
    for (size_t i = 0; i < pixels; i++) {
        const size_t at = i * (size_t)channels;
        const double r = sample_at(samples, at, depth);
        const double g = sample_at(samples, at + 1, depth);
        const double b = sample_at(samples, at + 2, depth);
        put_sample(samples, at, depth, rounded(m[0] * r + m[1] * g + m[2] * b, max));
        put_sample(samples, at + 1, depth, rounded(m[3] * r + m[4] * g + m[5] * b, max));
        put_sample(samples, at + 2, depth, rounded(m[6] * r + m[7] * g + m[8] * b, max));
    }
}

void darkroom_matrix(void *samples, size_t pixels, int channels, int depth, const double matrix[9])
{
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2) {
        const size_t done = darkroom_matrix_avx2(samples, pixels, channels, depth, matrix);
        samples = row_after(samples, done, channels, depth);
        pixels -= done;
    }
#endif
    if (channels == 3)
        BY_DEPTH(matrix_loop, depth, 3, samples, pixels, matrix);
    else
        BY_DEPTH(matrix_loop, depth, 4, samples, pixels, matrix);
}

INLINE void luma_loop(
    int depth, int channels, const void *in, void *out, size_t pixels, const double *weights)
{
    const double max = full_scale(depth);
    double w[4];
    memcpy(w, weights, sizeof w);
    const size_t to = (size_t)channels - 2;
    for (size_t i = 0; i < pixels; i++) {
        const size_t at = i * (size_t)channels;
        const double r = sample_at(in, at, depth);
        const double g = sample_at(in, at + 1, depth);
        const double b = sample_at(in, at + 2, depth);
        /* Read before anything is written: `out` may lie over `in`. */
        const uint32_t alpha = channels == 4 ? sample_at(in, at + 3, depth) : 0;
        put_sample(out, i * to, depth, rounded(w[0] * r + w[1] * g + w[2] * b + w[3], max));
        if (channels == 4)
            put_sample(out, i * to + 1, depth, alpha);
    }
}

void darkroom_luma(
    const void *in, void *out, size_t pixels, int channels, int depth, const double weights[4])
{
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2) {
        const size_t done = darkroom_luma_avx2(in, out, pixels, channels, depth, weights);
        in = (const uint8_t *)in + done * (size_t)channels * (size_t)(depth / 8);
        out = row_after(out, done, channels - 2, depth);
        pixels -= done;
    }
#endif
    if (channels == 3)
        BY_DEPTH(luma_loop, depth, 3, in, out, pixels, weights);
    else
        BY_DEPTH(luma_loop, depth, 4, in, out, pixels, weights);
}

INLINE void tint_loop(
    int depth, int channels, const void *in, void *out, size_t pixels, const double *factors)
{
    const double max = full_scale(depth);
    const size_t to = (size_t)channels + 2;
    for (size_t i = 0; i < pixels; i++) {
        const double v = sample_at(in, i * (size_t)channels, depth);
        for (size_t c = 0; c < 3; c++)
            put_sample(out, i * to + c, depth, rounded(factors[c] * v, max));
        if (channels == 2)
            put_sample(out, i * to + 3, depth, sample_at(in, i * 2 + 1, depth));
    }
}

void darkroom_tint(
    const void *in, void *out, size_t pixels, int channels, int depth, const double factors[3])
{
    if (channels == 1)
        BY_DEPTH(tint_loop, depth, 1, in, out, pixels, factors);
    else
        BY_DEPTH(tint_loop, depth, 2, in, out, pixels, factors);
}

void darkroom_affine_table(void *table, int depth, double scale, double offset)
{
    const double max = full_scale(depth);
    const size_t count = depth == 8 ? 256 : 65536;
    for (size_t v = 0; v < count; v++)
        put_sample(table, v, depth, rounded(scale * (double)v + offset, max));
}

INLINE void map_loop(
    int depth, int channels, void *samples, size_t pixels, int first, int count,
    const void *table)
{
    for (size_t i = 0; i < pixels; i++) {
        for (int c = first; c < first + count; c++) {
            const size_t at = i * (size_t)channels + (size_t)c;
            put_sample(samples, at, depth, sample_at(table, sample_at(samples, at, depth), depth));
        }
    }
}

void darkroom_map(
    void *samples, size_t pixels, int channels, int depth, int first, int count,
    const void *table)
{
    if (count == channels) {
        pixels *= (size_t)channels;
        first = 0;
        count = channels = 1;
    }
#if defined(__x86_64__)
    if (depth == 8 && darkroom_cpu_level() >= DARKROOM_CPU_AVX2) {
        const size_t done = darkroom_map_avx2(samples, pixels, channels, first, count, table);
        samples = row_after(samples, done, channels, depth);
        pixels -= done;
    }
#endif
    if (channels == 1)
        BY_DEPTH(map_loop, depth, 1, samples, pixels, 0, 1, table);
    else if (channels == 2)
        BY_DEPTH(map_loop, depth, 2, samples, pixels, first, count, table);
    else
        BY_DEPTH(map_loop, depth, 4, samples, pixels, first, count, table);
}
