/*
 * Large Gaussian blurs, by cosines.
 *
 * The periodic Gaussian with the period P = 2 radius + 1 is a Fourier series (Poisson's sum):
 *
 *     (1 + 2 sum over m of exp(-(w sigma)^2 / 2) cos(w k)) / P        with w = 2 pi m / P
 *
 * A few of its terms are sufficient, because they decrease like a Gaussian. The weighted sum of a pixel's
 * window with one cosine follows from those of the two previous pixels. With f for the pixels, s for their
 * weighted sum, and e(t) = f(t + radius) - f(t - 1 - radius) for the pixel that enters the window minus the
 * one that leaves it:
 *
 *     s(t) = 2 cos(w) s(t - 1) - s(t - 2) + cos(m pi) cos(w / 2) (e(t) - e(t - 1)).
 *
 * The cost does not depend on sigma. (K. Sugimoto and S. Kamata, "Efficient constant-time Gaussian filtering
 * with sliding DCT/DST-5", 2015, use the same method.) Rounding errors remain in s, but grow no faster than
 * linearly with the picture: after 10^5 pixels they are about 10^-9 of full scale.
 */
#include <math.h>

#include "CDarkroomPixels.h"
#include "samples.h"

#pragma STDC FP_CONTRACT OFF

/* The number of terms that are summed at a time: their sums and factors fit the registers. */
enum { GROUP = DARKROOM_COSINES_FEW };

_Static_assert(
    DARKROOM_COSINES_MANY % GROUP == 0 && DARKROOM_COSINE_ROWS == 4,
    "a row for each number of a vector, and whole groups of terms");

void darkroom_cosines_make(
    struct darkroom_cosines *kernel, size_t radius, const double *weights, size_t terms)
{
    const double pi = 3.14159265358979323846;
    kernel->radius = radius;
    kernel->terms = terms;
    kernel->mean = 1 / (double)(2 * radius + 1);
    for (size_t m = 1; m <= terms; m++) {
        const double w = 2 * pi * (double)m * kernel->mean;
        kernel->turns[m - 1] = 2 * cos(w);
        kernel->gains[m - 1] = (m % 2 ? -1 : 1) * cos(w / 2) * kernel->mean * weights[m - 1];
    }
}

/* Four samples at `at`, of which `count` exist: colour times alpha, or alpha. */
INLINE void weighted_four(
    int depth, int channels, const void *row, size_t at, size_t count, four_doubles *out)
{
    four_numbers samples;
    if (count >= 4) {
        read_pixel(row, at, depth, &samples);
    } else {
        samples = (four_numbers){0, 0, 0, 0};
        for (size_t i = 0; i < count; i++)
            samples[i] = (int32_t)sample_at(row, at + i, depth);
    }
    const four_doubles v = __builtin_convertvector(samples, four_doubles);
    *out = v;
    if (channels == 4)
        *out = v * (four_doubles){v[3], v[3], v[3], 1};
    if (channels == 2)
        *out = v * (four_doubles){v[1], 1, v[3], 1};
}

/* Writes the samples of the four rows so that samples of one column are next to each other. */
INLINE void store_turned(const four_doubles rows[4], double *out)
{
    const four_doubles a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 2, 6);
    const four_doubles b = __builtin_shufflevector(rows[0], rows[1], 1, 5, 3, 7);
    const four_doubles c = __builtin_shufflevector(rows[2], rows[3], 0, 4, 2, 6);
    const four_doubles d = __builtin_shufflevector(rows[2], rows[3], 1, 5, 3, 7);
    const four_doubles turned[4] = {
        __builtin_shufflevector(a, c, 0, 1, 4, 5), __builtin_shufflevector(b, d, 0, 1, 4, 5),
        __builtin_shufflevector(a, c, 2, 3, 6, 7), __builtin_shufflevector(b, d, 2, 3, 6, 7)};
    memcpy(out, turned, sizeof turned);
}

/* Four samples' values in the state: the plain sum, e(t - 1), and s(t - 1), s(t - 2) of each term. */
INLINE size_t state_vectors(size_t terms) { return 2 + 2 * terms; }

INLINE void cosine_start_loop(
    int depth, int channels, four_doubles *state, const struct darkroom_cosines *kernel,
    const void *first, size_t samples)
{
    const size_t stride = state_vectors(kernel->terms);
    memset(state, 0, (samples + 3) / 4 * stride * sizeof *state);
    for (size_t at = 0; at < samples; at += 4) {
        four_doubles v;
        weighted_four(depth, channels, first, at, samples - at, &v);
        state[at / 4 * stride] = v * (double)(2 * kernel->radius + 1);
    }
}

void darkroom_cosine_start(
    double *state, const struct darkroom_cosines *kernel, const void *first, size_t pixels,
    int channels, int depth)
{
    const size_t samples = pixels * (size_t)channels;
    BY_CHANNELS(
        cosine_start_loop, depth, channels, (four_doubles *)(void *)state, kernel, first, samples);
}

/* Four rows further down for four samples. */
INLINE void step_four(
    int depth, int channels, four_doubles *state, const struct darkroom_cosines *kernel,
    const void *const *entering, const void *const *leaving, double *out, size_t at, size_t count)
{
    four_doubles plain = state[0];
    four_doubles previous = state[1];
    four_doubles change[4], sums[4];
    for (int row = 0; row < 4; row++) {
        four_doubles in, gone;
        weighted_four(depth, channels, entering[row], at, count, &in);
        weighted_four(depth, channels, leaving[row], at, count, &gone);
        const four_doubles e = in - gone;
        plain += e;
        sums[row] = plain * kernel->mean;
        change[row] = e - previous;
        previous = e;
    }
    state[0] = plain;
    state[1] = previous;
    for (size_t m = 0; m < kernel->terms; m++) {
        four_doubles *s = state + 2 + 2 * m;
        four_doubles last = s[0];
        four_doubles before = s[1];
        for (int row = 0; row < 4; row++) {
            const four_doubles next =
                kernel->turns[m] * last + (kernel->gains[m] * change[row] - before);
            before = last;
            last = next;
            sums[row] += next;
        }
        s[0] = last;
        s[1] = before;
    }
    store_turned(sums, out + 4 * at);
}

INLINE void cosine_step_loop(
    int depth, int channels, four_doubles *state, const struct darkroom_cosines *kernel,
    const void *const *entering, const void *const *leaving, double *out, size_t samples)
{
    const size_t stride = state_vectors(kernel->terms);
    size_t at = 0;
    for (; at + 4 <= samples; at += 4, state += stride)
        step_four(depth, channels, state, kernel, entering, leaving, out, at, 4);
    if (at < samples)
        step_four(depth, channels, state, kernel, entering, leaving, out, at, samples - at);
}

BOTH(
    cosine_step,
    (four_doubles *state, const struct darkroom_cosines *kernel, const void *const *entering,
     const void *const *leaving, double *out, size_t samples, int channels, int depth),
    {
        BY_CHANNELS(
            cosine_step_loop, depth, channels, state, kernel, entering, leaving, out, samples);
    })

void darkroom_cosine_step(
    double *state, const struct darkroom_cosines *kernel, const void *const entering[4],
    const void *const leaving[4], double *out, size_t pixels, int channels, int depth)
{
    const size_t samples = pixels * (size_t)channels;
    four_doubles *vectors = (four_doubles *)(void *)state;
    BEST(cosine_step, vectors, kernel, entering, leaving, out, samples, channels, depth);
}

/* One group of terms along one channel of four rows; the first also has the plain sum. */
INLINE void row_group(
    int is_first, const four_doubles *in, const struct darkroom_cosines *kernel, size_t group,
    four_doubles *out, size_t pixels, size_t stride)
{
    const ptrdiff_t radius = (ptrdiff_t)kernel->radius;
    const ptrdiff_t end = (ptrdiff_t)pixels - 1;
    const double *turns = kernel->turns + group;
    const double *gains = kernel->gains + group;
    const four_doubles zero = {0, 0, 0, 0};
    four_doubles last[GROUP] = {zero, zero, zero, zero};
    four_doubles before[GROUP] = {zero, zero, zero, zero};
    four_doubles plain = in[0] * (double)(2 * radius + 1);
    four_doubles previous = zero;
    /* The window begins to the left of the row, where all pixels equal the first one. */
    for (ptrdiff_t t = 1 - radius; t <= end; t++) {
        const ptrdiff_t entering = t + radius < end ? t + radius : end;
        const ptrdiff_t leaving = t - 1 - radius > 0 ? t - 1 - radius : 0;
        const four_doubles e = in[(size_t)entering * stride] - in[(size_t)leaving * stride];
        const four_doubles change = e - previous;
        previous = e;
        plain += e;
        four_doubles sum = is_first ? plain * kernel->mean : zero;
        for (int m = 0; m < GROUP; m++) {
            const four_doubles next = turns[m] * last[m] + (gains[m] * change - before[m]);
            before[m] = last[m];
            last[m] = next;
            sum += next;
        }
        if (t >= 0) {
            four_doubles *to = out + (size_t)t * stride;
            *to = is_first ? sum : *to + sum;
        }
    }
}

BOTH(
    cosine_rows,
    (const four_doubles *in, const struct darkroom_cosines *kernel, four_doubles *out,
     size_t pixels, size_t channels),
    {
        for (size_t c = 0; c < channels; c++) {
            row_group(1, in + c, kernel, 0, out + c, pixels, channels);
            for (size_t group = GROUP; group < kernel->terms; group += GROUP)
                row_group(0, in + c, kernel, group, out + c, pixels, channels);
        }
    })

void darkroom_cosine_rows(
    const double *in, const struct darkroom_cosines *kernel, double *out, size_t pixels,
    int channels)
{
    const four_doubles *from = (const four_doubles *)(const void *)in;
    four_doubles *to = (four_doubles *)(void *)out;
    BEST(cosine_rows, from, kernel, to, pixels, (size_t)channels);
}

void darkroom_cosine_row(const double *in, size_t row, float *out, size_t samples)
{
    for (size_t i = 0; i < samples; i++)
        out[i] = (float)in[4 * i + row];
}
