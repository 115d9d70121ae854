/* The pass down the columns of resampling with integers, in AVX-512 with VNNI. resample_8.c has the plain one and the
 * limits. */
#include "resample_8.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>

#define TARGET "avx2,bmi2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni"
#define AVX512 __attribute__((target(TARGET)))
#define AVX512_INLINE static inline __attribute__((always_inline, target(TARGET)))

/* As many weights are divided at a time as the caller may have. Larger ones have no signed upper byte. */
enum { MOST = 1024, LARGEST = 32639 };

/*
 * The weights of four rows in four bytes. An instruction multiplies four samples by four signed bytes and adds the
 * products. A weight has 16 bits, so it is 256 times an upper byte plus a signed lower one. The sums of both are added at
 * the end. On the way they may exceed 32 bits, but the result does not.
 */
typedef struct {
    int32_t upper[MOST / 4], lower[MOST / 4];
} quads;

static bool divide(const int16_t *weights, size_t count, quads *out)
{
    for (size_t k = 0; k < count; k += 4) {
        uint32_t upper = 0, lower = 0;
        for (size_t i = 0; i < 4 && k + i < count; i++) {
            if (weights[k + i] > LARGEST)
                return false;
            const int32_t low = (int8_t)(weights[k + i] & 255);
            const int32_t up = (weights[k + i] - low) / 256;
            upper |= (uint32_t)(uint8_t)up << 8 * i;
            lower |= (uint32_t)(uint8_t)low << 8 * i;
        }
        out->upper[k / 4] = (int32_t)upper;
        out->lower[k / 4] = (int32_t)lower;
    }
    return true;
}

/* Adds 64 samples of four rows to the sums. Unpacking keeps the order of four times four samples in each quarter of a
 * register. */
AVX512_INLINE void add_rows(
    __m512i upper[4], __m512i lower[4], const __m512i rows[4], __m512i up, __m512i low)
{
    const __m512i a = _mm512_unpacklo_epi8(rows[0], rows[1]);
    const __m512i b = _mm512_unpackhi_epi8(rows[0], rows[1]);
    const __m512i c = _mm512_unpacklo_epi8(rows[2], rows[3]);
    const __m512i d = _mm512_unpackhi_epi8(rows[2], rows[3]);
    const __m512i fours[4] = {
        _mm512_unpacklo_epi16(a, c), _mm512_unpackhi_epi16(a, c), _mm512_unpacklo_epi16(b, d),
        _mm512_unpackhi_epi16(b, d)};
    for (int i = 0; i < 4; i++) {
        upper[i] = _mm512_dpbusd_epi32(upper[i], fours[i], up);
        lower[i] = _mm512_dpbusd_epi32(lower[i], fours[i], low);
    }
}

/* 64 samples of the blended row, in order. */
AVX512_INLINE void blend_64(
    const uint8_t *const *rows, size_t at, const quads *weights, size_t count, int down,
    __m512i out[2])
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i half = _mm512_set1_epi32(1 << (down - 1));
    __m512i upper[4] = {zero, zero, zero, zero}, lower[4] = {half, half, half, half};
    size_t k = 0;
    for (; k + 4 <= count; k += 4) {
        __m512i four[4];
        for (int i = 0; i < 4; i++)
            four[i] = _mm512_loadu_si512(rows[k + (size_t)i] + at);
        add_rows(
            upper, lower, four, _mm512_set1_epi32(weights->upper[k / 4]),
            _mm512_set1_epi32(weights->lower[k / 4]));
    }
    if (k < count) {
        __m512i four[4] = {zero, zero, zero, zero};
        for (size_t i = 0; k + i < count; i++)
            four[i] = _mm512_loadu_si512(rows[k + i] + at);
        add_rows(
            upper, lower, four, _mm512_set1_epi32(weights->upper[k / 4]),
            _mm512_set1_epi32(weights->lower[k / 4]));
    }
    const __m128i by = _mm_cvtsi32_si128(down);
    __m512i sums[4];
    for (int i = 0; i < 4; i++)
        sums[i] = _mm512_sra_epi32(
            _mm512_add_epi32(_mm512_slli_epi32(upper[i], 8), lower[i]), by);
    /* Each quarter of `first` has samples 0-7 of its 16, and of `second` 8-15. */
    const __m512i first = _mm512_packs_epi32(sums[0], sums[1]);
    const __m512i second = _mm512_packs_epi32(sums[2], sums[3]);
    out[0] = _mm512_permutex2var_epi64(first, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), second);
    out[1] = _mm512_permutex2var_epi64(first, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), second);
}

/* 96 samples of 32 pixels to 32 samples of each of three planes. */
AVX512_INLINE void store_planes(__m512i x, __m512i y, __m512i z, int16_t *out, size_t plane)
{
    /* The places of a channel's samples in `x` and `y`. Then the places in these and `z`. */
    int16_t both[3][32], rest[3][32];
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 32; i++) {
            const int sample = 3 * i + c;
            both[c][i] = (int16_t)(sample < 64 ? sample : 0);
            rest[c][i] = (int16_t)(sample < 64 ? i : 32 + sample - 64);
        }
    }
    for (int c = 0; c < 3; c++) {
        const __m512i near = _mm512_permutex2var_epi16(x, _mm512_loadu_si512(both[c]), y);
        _mm512_storeu_si512(
            out + (size_t)c * plane,
            _mm512_permutex2var_epi16(near, _mm512_loadu_si512(rest[c]), z));
    }
}

enum { PIXELS = 64 };

/* So many pixels, or samples of a gray picture. */
AVX512_INLINE void blend_pixels(
    const uint8_t *const *rows, const quads *weights, size_t count, int down, int16_t *out,
    size_t plane, size_t begin, size_t channels)
{
    __m512i row[6];
    for (size_t part = 0; part < channels; part++)
        blend_64(rows, channels * begin + 64 * part, weights, count, down, row + 2 * part);
    if (channels == 1) {
        _mm512_storeu_si512(out + begin, row[0]);
        _mm512_storeu_si512(out + begin + 32, row[1]);
    } else {
        store_planes(row[0], row[1], row[2], out + begin, plane);
        store_planes(row[3], row[4], row[5], out + begin + 32, plane);
    }
}

AVX512_INLINE void blend_row(
    const uint8_t *const *rows, const quads *weights, size_t count, int down, int16_t *out,
    size_t plane, size_t pixels, size_t channels)
{
    for (size_t i = 0; i + PIXELS <= pixels; i += PIXELS)
        blend_pixels(rows, weights, count, down, out, plane, i, channels);
    /* The last ones, some of them again. */
    if (pixels % PIXELS != 0)
        blend_pixels(rows, weights, count, down, out, plane, pixels - PIXELS, channels);
}

AVX512 size_t darkroom_blend_planes_8_avx512(
    const uint8_t *const *rows, const int16_t *weights, size_t count, int shift, int16_t *out,
    size_t plane, size_t pixels, size_t channels)
{
    quads divided;
    if (count > MOST || pixels < PIXELS || !divide(weights, count, &divided))
        return 0;
    const int down = shift - RESAMPLE_FRACTION;
    if (channels == 1)
        blend_row(rows, &divided, count, down, out, plane, pixels, 1);
    else
        blend_row(rows, &divided, count, down, out, plane, pixels, 3);
    return pixels;
}

#endif
