/*
 * The colour kernels in AVX2, with exactly the same results as the scalar loops.
 *
 * 16 bits are computed as in the definition, in double, four pixels at a time: the same operations in the
 * same order give the same bits.
 *
 * 8 bits are computed in float, eight pixels at a time. If the result is in doubt, the pixel is computed
 * again in double. With t for the sum of the products plus 1/2 + 2^-20 (which `rounded` adds), the sample is
 * the integer part of t. Let
 *
 *     S = 255 * (|w0| + |w1| + |w2|) + |offset| + 1.
 *
 * The error of each weight as a float is at most 2^-24 of itself, which is 2^-24 S in t. Each of the three
 * fused multiply-adds rounds once, by at most 2^-24 S. The error of the definition in double is less than
 * 2^-49 S. So t in float is within 5 * 2^-24 S of t in double. If it is farther than that from every integer,
 * both have the same integer part. For sepia, one pixel in a thousand must be computed again, mostly because
 * of real ties of its coefficients in thousandths.
 */
#include "avx2.h"

#if defined(__x86_64__)

#include <math.h>

#include "colour.h"
#include "samples.h"

#pragma STDC FP_CONTRACT OFF

/* ---- Eight pixels of 8 bits ------------------------------------------------------------------ */

/* The channels of eight pixels, each in 32 bits. `whole` contains everything beside the colour. */
struct eight {
    __m256i r, g, b;
    /* RGBA: the pixels as they were read. */
    __m256i whole;
};

/* Bytes a, b, c, d of each half, each the low byte of 32 bits. */
#define SPREAD(a, b, c, d, e, f, g, h)                                                             \
    _mm256_setr_epi8(                                                                              \
        a, -1, -1, -1, b, -1, -1, -1, c, -1, -1, -1, d, -1, -1, -1, e, -1, -1, -1, f, -1, -1, -1,  \
        g, -1, -1, -1, h, -1, -1, -1)

AVX2_INLINE struct eight read_eight(const uint8_t *at, int channels)
{
    struct eight p;
    if (channels == 3) {
        /* 24 bytes: four pixels from byte 0 on, four that end with the last byte. */
        p.whole = _mm256_inserti128_si256(_mm256_castsi128_si256(load_16(at)), load_16(at + 8), 1);
        p.r = _mm256_shuffle_epi8(p.whole, SPREAD(0, 3, 6, 9, 4, 7, 10, 13));
        p.g = _mm256_shuffle_epi8(p.whole, SPREAD(1, 4, 7, 10, 5, 8, 11, 14));
        p.b = _mm256_shuffle_epi8(p.whole, SPREAD(2, 5, 8, 11, 6, 9, 12, 15));
    } else {
        const __m256i low = _mm256_set1_epi32(0xff);
        p.whole = load_32(at);
        p.r = _mm256_and_si256(p.whole, low);
        p.g = _mm256_and_si256(_mm256_srli_epi32(p.whole, 8), low);
        p.b = _mm256_and_si256(_mm256_srli_epi32(p.whole, 16), low);
    }
    return p;
}

AVX2_INLINE void write_eight(uint8_t *at, int channels, const struct eight *p)
{
    __m256i pixels = _mm256_or_si256(
        p->r, _mm256_or_si256(_mm256_slli_epi32(p->g, 8), _mm256_slli_epi32(p->b, 16)));
    if (channels == 3) {
        pixels = _mm256_shuffle_epi8(
            pixels,
            _mm256_setr_epi8(
                0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1, 0, 1, 2, 4, 5, 6, 8, 9, 10,
                12, 13, 14, -1, -1, -1, -1));
        pixels = _mm256_permutevar8x32_epi32(pixels, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
        store_16(at, _mm256_castsi256_si128(pixels));
        store_8(at + 16, _mm256_extracti128_si256(pixels, 1));
    } else {
        const __m256i alpha = _mm256_set1_epi32((int)0xff000000u);
        store_32(at, _mm256_or_si256(pixels, _mm256_and_si256(p->whole, alpha)));
    }
}

/* One channel's weights as floats, and the offset that is added to their sum. */
struct row {
    __m256 r, g, b, add;
};

AVX2_INLINE struct row row_of(const double *weights, double offset)
{
    return (struct row){
        _mm256_set1_ps((float)weights[0]), _mm256_set1_ps((float)weights[1]),
        _mm256_set1_ps((float)weights[2]), _mm256_set1_ps((float)(offset + (0.5 + 0x1p-20)))};
}

/* The possible error of t in float; see the beginning of this file. */
static double doubt(const double *weights, double offset)
{
    const double sum = fabs(weights[0]) + fabs(weights[1]) + fabs(weights[2]);
    /* The sixth part is more than the error of the conversion to a float. */
    return 6 * 0x1p-24 * (255 * sum + fabs(offset) + 1);
}

/* Weights whose sums are too inexact in float, or exceed its range. */
static int too_rough(double doubt) { return !(doubt < 0.125); }

/*
 * One channel of the result. `nearest` becomes the distance of t from the nearest integer, if it was greater
 * before. Below 1/2 and above 255 1/2 everything is clamped, so there is no doubt.
 */
AVX2_INLINE __m256i weigh(
    const struct row *row, __m256 r, __m256 g, __m256 b, __m256 *nearest)
{
    __m256 t = _mm256_fmadd_ps(row->r, r, row->add);
    t = _mm256_fmadd_ps(row->g, g, t);
    t = _mm256_fmadd_ps(row->b, b, t);
    t = _mm256_max_ps(t, _mm256_set1_ps(0.5F));
    t = _mm256_min_ps(t, _mm256_set1_ps(255.5F));
    const __m256 whole =
        _mm256_round_ps(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    /* Exact: the difference of two near floats. */
    const __m256 distance = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), _mm256_sub_ps(t, whole));
    *nearest = _mm256_min_ps(*nearest, distance);
    return _mm256_cvttps_epi32(t);
}

/* The definition, for one channel of one pixel. */
static uint32_t weigh_exactly(const double *w, double offset, const uint8_t *pixel)
{
    return rounded(w[0] * pixel[0] + w[1] * pixel[1] + w[2] * pixel[2] + offset, 255);
}

/* Computes the pixels whose bits are set again, from their original values. */
static __attribute__((noinline)) void matrix_again(
    uint8_t *at, const uint8_t *was, int channels, unsigned pixels, const double *matrix)
{
    for (; pixels != 0; pixels &= pixels - 1) {
        const size_t i = (size_t)__builtin_ctz(pixels) * (size_t)channels;
        for (size_t c = 0; c < 3; c++)
            at[i + c] = (uint8_t)weigh_exactly(matrix + 3 * c, 0, was + i);
    }
}

AVX2_INLINE size_t matrix_8(
    int channels, uint8_t *samples, size_t pixels, const double *matrix)
{
    double worst = 0;
    for (int c = 0; c < 9; c += 3)
        worst = fmax(worst, doubt(matrix + c, 0));
    if (too_rough(worst))
        return 0;
    const __m256 near = _mm256_set1_ps((float)worst);
    const struct row rows[3] = {
        row_of(matrix, 0), row_of(matrix + 3, 0), row_of(matrix + 6, 0)};
    size_t i = 0;
    for (; i + 8 <= pixels; i += 8) {
        uint8_t *at = samples + i * (size_t)channels;
        struct eight p = read_eight(at, channels);
        const __m256 r = _mm256_cvtepi32_ps(p.r);
        const __m256 g = _mm256_cvtepi32_ps(p.g);
        const __m256 b = _mm256_cvtepi32_ps(p.b);
        __m256 nearest = _mm256_set1_ps(1);
        p.r = weigh(&rows[0], r, g, b, &nearest);
        p.g = weigh(&rows[1], r, g, b, &nearest);
        p.b = weigh(&rows[2], r, g, b, &nearest);
        const unsigned unsure =
            (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(nearest, near, _CMP_LE_OQ));
        if (__builtin_expect(unsure != 0, 0)) {
            uint8_t was[32];
            memcpy(was, at, 8 * (size_t)channels);
            write_eight(at, channels, &p);
            matrix_again(at, was, channels, unsure, matrix);
        } else {
            write_eight(at, channels, &p);
        }
    }
    return i;
}

static __attribute__((noinline)) void luma_again(
    uint8_t *out, const uint8_t *was, int channels, unsigned pixels, const double *weights)
{
    for (; pixels != 0; pixels &= pixels - 1) {
        const size_t i = (size_t)__builtin_ctz(pixels);
        out[i * (size_t)(channels - 2)] =
            (uint8_t)weigh_exactly(weights, weights[3], was + i * (size_t)channels);
    }
}

AVX2_INLINE size_t luma_8(
    int channels, const uint8_t *in, uint8_t *out, size_t pixels, const double *weights)
{
    const double worst = doubt(weights, weights[3]);
    if (too_rough(worst))
        return 0;
    const __m256 near = _mm256_set1_ps((float)worst);
    const struct row row = row_of(weights, weights[3]);
    size_t i = 0;
    for (; i + 8 <= pixels; i += 8) {
        const uint8_t *from = in + i * (size_t)channels;
        uint8_t *to = out + i * (size_t)(channels - 2);
        const struct eight p = read_eight(from, channels);
        __m256 nearest = _mm256_set1_ps(1);
        const __m256i gray = weigh(
            &row, _mm256_cvtepi32_ps(p.r), _mm256_cvtepi32_ps(p.g), _mm256_cvtepi32_ps(p.b),
            &nearest);
        const unsigned unsure =
            (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(nearest, near, _CMP_LE_OQ));
        /* Saved before anything is written: `out` may overlap `in`. */
        uint8_t was[32];
        if (__builtin_expect(unsure != 0, 0))
            memcpy(was, from, 8 * (size_t)channels);
        __m256i packed = gray;
        if (channels == 4)
            packed = _mm256_or_si256(
                gray, _mm256_slli_epi32(_mm256_srli_epi32(p.whole, 24), 16));
        const __m128i words = _mm_packus_epi32(
            _mm256_castsi256_si128(gray), _mm256_extracti128_si256(gray, 1));
        if (channels == 4) {
            /* Gray in the low half of each 32 bits, alpha in the high one: 16 bits each. */
            const __m128i low = _mm256_castsi256_si128(packed);
            const __m128i high = _mm256_extracti128_si256(packed, 1);
            store_16(to, _mm_packus_epi16(low, high));
        } else {
            store_8(to, _mm_packus_epi16(words, words));
        }
        if (__builtin_expect(unsure != 0, 0))
            luma_again(to, was, channels, unsure, weights);
    }
    return i;
}

/* ---- Four pixels of 16 bits ------------------------------------------------------------------ */

struct four {
    /* Each channel in 32 bits. */
    __m128i r, g, b, a;
};

/* Words a and b of a register as the first or the last two of four 32-bit numbers. */
#define FIRST(a, b)                                                                                \
    _mm_setr_epi8(2 * (a), 2 * (a) + 1, -1, -1, 2 * (b), 2 * (b) + 1, -1, -1, -1, -1, -1, -1, -1,  \
        -1, -1, -1)
#define LAST(a, b)                                                                                 \
    _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, 2 * (a), 2 * (a) + 1, -1, -1, 2 * (b),           \
        2 * (b) + 1, -1, -1)
#define PICK(low, a, b, high, c, d)                                                                \
    _mm_or_si128(_mm_shuffle_epi8(low, FIRST(a, b)), _mm_shuffle_epi8(high, LAST(c, d)))

AVX2_INLINE struct four read_four(const uint16_t *at, int channels)
{
    struct four p;
    const __m128i low = load_16(at);
    if (channels == 3) {
        /* 24 bytes: 16 from the first on, and the 16 that end with the last. */
        const __m128i high = load_16(at + 4);
        p.r = PICK(low, 0, 3, high, 2, 5);
        p.g = PICK(low, 1, 4, high, 3, 6);
        p.b = PICK(low, 2, 5, high, 4, 7);
        p.a = _mm_setzero_si128();
    } else {
        const __m128i high = load_16(at + 8);
        p.r = PICK(low, 0, 4, high, 0, 4);
        p.g = PICK(low, 1, 5, high, 1, 5);
        p.b = PICK(low, 2, 6, high, 2, 6);
        p.a = PICK(low, 3, 7, high, 3, 7);
    }
    return p;
}

AVX2_INLINE void write_four(uint16_t *at, int channels, const struct four *p)
{
    const __m128i rg = _mm_or_si128(p->r, _mm_slli_epi32(p->g, 16));
    const __m128i ba = _mm_or_si128(p->b, _mm_slli_epi32(p->a, 16));
    const __m128i low = _mm_unpacklo_epi32(rg, ba);
    const __m128i high = _mm_unpackhi_epi32(rg, ba);
    if (channels == 3) {
        const __m128i close = _mm_setr_epi8(
            0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, -1, -1, -1, -1);
        const __m128i first = _mm_shuffle_epi8(low, close);
        const __m128i second = _mm_shuffle_epi8(high, close);
        store_16(at, _mm_or_si128(first, _mm_slli_si128(second, 12)));
        store_8(at + 8, _mm_srli_si128(second, 4));
    } else {
        store_16(at, low);
        store_16(at + 8, high);
    }
}

/* The definition, for one channel of four pixels. */
AVX2_INLINE __m128i weigh_four(const double *w, const double *offset, __m256d r, __m256d g, __m256d b)
{
    __m256d x = _mm256_add_pd(
        _mm256_mul_pd(_mm256_set1_pd(w[0]), r), _mm256_mul_pd(_mm256_set1_pd(w[1]), g));
    x = _mm256_add_pd(x, _mm256_mul_pd(_mm256_set1_pd(w[2]), b));
    if (offset)
        x = _mm256_add_pd(x, _mm256_set1_pd(*offset));
    x = _mm256_max_pd(x, _mm256_setzero_pd());
    x = _mm256_min_pd(x, _mm256_set1_pd(65535));
    return _mm256_cvttpd_epi32(_mm256_add_pd(x, _mm256_set1_pd(0.5 + 0x1p-20)));
}

AVX2_INLINE size_t matrix_16(
    int channels, uint16_t *samples, size_t pixels, const double *matrix)
{
    double m[9];
    memcpy(m, matrix, sizeof m);
    size_t i = 0;
    for (; i + 4 <= pixels; i += 4) {
        uint16_t *at = samples + i * (size_t)channels;
        struct four p = read_four(at, channels);
        const __m256d r = _mm256_cvtepi32_pd(p.r);
        const __m256d g = _mm256_cvtepi32_pd(p.g);
        const __m256d b = _mm256_cvtepi32_pd(p.b);
        p.r = weigh_four(m, NULL, r, g, b);
        p.g = weigh_four(m + 3, NULL, r, g, b);
        p.b = weigh_four(m + 6, NULL, r, g, b);
        write_four(at, channels, &p);
    }
    return i;
}

AVX2_INLINE size_t luma_16(
    int channels, const uint16_t *in, uint16_t *out, size_t pixels, const double *weights)
{
    double w[4];
    memcpy(w, weights, sizeof w);
    size_t i = 0;
    for (; i + 4 <= pixels; i += 4) {
        const struct four p = read_four(in + i * (size_t)channels, channels);
        const __m128i gray = weigh_four(
            w, &w[3], _mm256_cvtepi32_pd(p.r), _mm256_cvtepi32_pd(p.g), _mm256_cvtepi32_pd(p.b));
        uint16_t *to = out + i * (size_t)(channels - 2);
        if (channels == 4)
            store_16(to, _mm_or_si128(gray, _mm_slli_epi32(p.a, 16)));
        else
            store_8(to, _mm_packus_epi32(gray, gray));
    }
    return i;
}

/* ---- By channels and depth ------------------------------------------------------------------- */

AVX2 size_t darkroom_matrix_avx2(
    void *samples, size_t pixels, int channels, int depth, const double matrix[9])
{
    if (depth == 8)
        return channels == 3 ? matrix_8(3, samples, pixels, matrix)
                             : matrix_8(4, samples, pixels, matrix);
    return channels == 3 ? matrix_16(3, samples, pixels, matrix)
                         : matrix_16(4, samples, pixels, matrix);
}

AVX2 size_t darkroom_luma_avx2(
    const void *in, void *out, size_t pixels, int channels, int depth, const double weights[4])
{
    if (depth == 8)
        return channels == 3 ? luma_8(3, in, out, pixels, weights)
                             : luma_8(4, in, out, pixels, weights);
    return channels == 3 ? luma_16(3, in, out, pixels, weights)
                         : luma_16(4, in, out, pixels, weights);
}

#endif
