/* The inner loops of resampling with integers in AVX2. resample_8.c has the plain ones and the limits. */
#include "resample_8.h"

#include "avx2.h"

#if defined(__x86_64__)

#pragma STDC FP_CONTRACT OFF

/* ---- Down the columns ------------------------------------------------------------------------ */

/*
 * Two rows at a time: their alternating bytes, extended to 16 bits, are pairs for the instruction that multiplies pairs
 * and adds the two products. Within each half of a register, unpacking keeps the order of four times four samples.
 */
AVX2_INLINE void add_rows(__m256i sums[4], __m256i above, __m256i below, __m256i weights)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = _mm256_unpacklo_epi8(above, below);
    const __m256i high = _mm256_unpackhi_epi8(above, below);
    const __m256i pairs[4] = {
        _mm256_unpacklo_epi8(low, zero), _mm256_unpackhi_epi8(low, zero),
        _mm256_unpacklo_epi8(high, zero), _mm256_unpackhi_epi8(high, zero)};
    for (int i = 0; i < 4; i++)
        sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(pairs[i], weights));
}

/* As many weights are paired at a time as the caller may have. */
enum { MOST = 1024 };

/* The pairs of weights. */
AVX2_INLINE void pair(const int16_t *weights, size_t count, int32_t pairs[MOST / 2])
{
    for (size_t k = 0; k + 2 <= count; k += 2)
        pairs[k / 2] = (int32_t)((uint32_t)(uint16_t)weights[k + 1] << 16 | (uint16_t)weights[k]);
}

/*
 * Adds 32 samples of all rows to the sums of four registers: those of samples 0-3 and 16-19, 4-7 and 20-23, and so on.
 */
AVX2_INLINE void sum_32(
    const uint8_t *const *rows, size_t at, const int32_t *pairs, const int16_t *weights,
    size_t count, __m256i sums[4])
{
    size_t k = 0;
    for (; k + 2 <= count; k += 2)
        add_rows(
            sums, load_32(rows[k] + at), load_32(rows[k + 1] + at), _mm256_set1_epi32(pairs[k / 2]));
    if (k < count)
        add_rows(
            sums, load_32(rows[k] + at), _mm256_setzero_si256(),
            _mm256_set1_epi32((uint16_t)weights[k]));
}

AVX2 size_t darkroom_blend_8_avx2(
    const uint8_t *const *rows, const int16_t *weights, size_t count, float scale, float *out,
    size_t samples)
{
    const __m256 scales = _mm256_set1_ps(scale);
    int32_t pairs[MOST / 2];
    if (count > MOST)
        return 0;
    pair(weights, count, pairs);
    size_t i = 0;
    for (; i + 32 <= samples; i += 32) {
        __m256i sums[4] = {
            _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
            _mm256_setzero_si256()};
        sum_32(rows, i, pairs, weights, count, sums);
        for (int half = 0; half < 2; half++) {
            const __m256i first = half ? _mm256_permute2x128_si256(sums[0], sums[1], 0x31)
                                       : _mm256_permute2x128_si256(sums[0], sums[1], 0x20);
            const __m256i second = half ? _mm256_permute2x128_si256(sums[2], sums[3], 0x31)
                                        : _mm256_permute2x128_si256(sums[2], sums[3], 0x20);
            float *to = out + i + 16 * half;
            _mm256_storeu_ps(to, _mm256_mul_ps(_mm256_cvtepi32_ps(first), scales));
            _mm256_storeu_ps(to + 8, _mm256_mul_ps(_mm256_cvtepi32_ps(second), scales));
        }
    }
    return i;
}

/*
 * 32 samples of the blended row: the first 16 in `out[0]`, the others in `out[1]`. Packing the first two registers of
 * sums, and the last two, and exchanging halves restores the order.
 */
AVX2_INLINE void blend_32(
    const uint8_t *const *rows, size_t at, const int32_t *pairs, const int16_t *weights,
    size_t count, int down, __m256i out[2])
{
    const __m256i half = _mm256_set1_epi32(1 << (down - 1));
    __m256i sums[4] = {half, half, half, half};
    sum_32(rows, at, pairs, weights, count, sums);
    const __m128i by = _mm_cvtsi32_si128(down);
    for (int i = 0; i < 4; i++)
        sums[i] = _mm256_sra_epi32(sums[i], by);
    const __m256i first = _mm256_packs_epi32(sums[0], sums[1]);
    const __m256i second = _mm256_packs_epi32(sums[2], sums[3]);
    out[0] = _mm256_permute2x128_si256(first, second, 0x20);
    out[1] = _mm256_permute2x128_si256(first, second, 0x31);
}

/*
 * 48 samples of 16 pixels to 16 samples of each of three planes. `x` has them in order. Halves are exchanged so that each
 * half of a, b and c together has eight pixels in a row. Sample s of these 24 belongs to channel s mod 3.
 */
AVX2_INLINE void store_planes(const __m256i x[3], int16_t *out, size_t plane)
{
    const __m256i a = _mm256_blend_epi32(x[0], x[1], 0xF0);
    const __m256i b = _mm256_permute2x128_si256(x[0], x[2], 0x21);
    const __m256i c = _mm256_blend_epi32(x[1], x[2], 0xF0);
    const __m256i red = _mm256_blend_epi16(_mm256_blend_epi16(a, b, 0x92), c, 0x24);
    const __m256i green = _mm256_blend_epi16(_mm256_blend_epi16(a, b, 0x24), c, 0x49);
    const __m256i blue = _mm256_blend_epi16(_mm256_blend_epi16(a, b, 0x49), c, 0x92);
    const __m256i red_order = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15, 4, 5, 10, 11));
    const __m256i green_order = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(2, 3, 8, 9, 14, 15, 4, 5, 10, 11, 0, 1, 6, 7, 12, 13));
    const __m256i blue_order = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(4, 5, 10, 11, 0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15));
    store_32(out, _mm256_shuffle_epi8(red, red_order));
    store_32(out + plane, _mm256_shuffle_epi8(green, green_order));
    store_32(out + 2 * plane, _mm256_shuffle_epi8(blue, blue_order));
}

AVX2 size_t darkroom_blend_planes_8_avx2(
    const uint8_t *const *rows, const int16_t *weights, size_t count, int shift, int16_t *out,
    size_t plane, size_t pixels, size_t channels)
{
    int32_t pairs[MOST / 2];
    if (count > MOST)
        return 0;
    pair(weights, count, pairs);
    const int down = shift - RESAMPLE_FRACTION;
    size_t i = 0;
    if (channels == 1) {
        for (; i + 32 <= pixels; i += 32) {
            __m256i row[2];
            blend_32(rows, i, pairs, weights, count, down, row);
            store_32(out + i, row[0]);
            store_32(out + i + 16, row[1]);
        }
        return i;
    }
    for (; i + 32 <= pixels; i += 32) {
        __m256i row[6];
        for (size_t part = 0; part < 3; part++)
            blend_32(rows, 3 * i + 32 * part, pairs, weights, count, down, row + 2 * part);
        store_planes(row, out + i, plane);
        store_planes(row + 3, out + i + 16, plane);
    }
    return i;
}

/* ---- Along a row ----------------------------------------------------------------------------- */

/* Pixels of the result at a time. */
enum { GROUP = 8 };

/* The sums of eight pixels in one plane. `taps` is a multiple of 16. */
AVX2_INLINE __m256i sums_of_group(
    const int16_t *plane, const uint32_t *first, const int16_t *weights, size_t taps)
{
    __m256i sums[GROUP];
    for (size_t pixel = 0; pixel < GROUP; pixel++) {
        const int16_t *sample = plane + first[pixel];
        const int16_t *weight = weights + pixel * taps;
        sums[pixel] = _mm256_madd_epi16(load_32(sample), load_32(weight));
        for (size_t k = 16; k < taps; k += 16)
            sums[pixel] = _mm256_add_epi32(
                sums[pixel], _mm256_madd_epi16(load_32(sample + k), load_32(weight + k)));
    }
    /* In each half: the sums of that half for four pixels. */
    const __m256i low = _mm256_hadd_epi32(
        _mm256_hadd_epi32(sums[0], sums[1]), _mm256_hadd_epi32(sums[2], sums[3]));
    const __m256i high = _mm256_hadd_epi32(
        _mm256_hadd_epi32(sums[4], sums[5]), _mm256_hadd_epi32(sums[6], sums[7]));
    return _mm256_add_epi32(
        _mm256_permute2x128_si256(low, high, 0x20), _mm256_permute2x128_si256(low, high, 0x31));
}

/* Eight bytes, in the lower half. */
AVX2_INLINE __m128i rounded(__m256i sums, int down)
{
    const __m256i half = _mm256_set1_epi32(1 << (down - 1));
    const __m256i values = _mm256_sra_epi32(_mm256_add_epi32(sums, half), _mm_cvtsi32_si128(down));
    const __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
    return _mm_packus_epi16(words, words);
}

/* 24 bytes of eight pixels from eight bytes of each channel. */
AVX2_INLINE void store_pixels(uint8_t *out, __m128i red, __m128i green, __m128i blue)
{
    /* Red and green of a pixel are neighbours: pixel p has bytes 2 p and 2 p + 1. */
    const __m128i both = _mm_unpacklo_epi8(red, green);
    const __m128i first = _mm_or_si128(
        _mm_shuffle_epi8(
            both, _mm_setr_epi8(0, 1, -1, 2, 3, -1, 4, 5, -1, 6, 7, -1, 8, 9, -1, 10)),
        _mm_shuffle_epi8(
            blue, _mm_setr_epi8(-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1)));
    const __m128i second = _mm_or_si128(
        _mm_shuffle_epi8(
            both, _mm_setr_epi8(11, -1, 12, 13, -1, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1)),
        _mm_shuffle_epi8(
            blue, _mm_setr_epi8(-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, -1, -1, -1, -1, -1, -1)));
    store_16(out, first);
    store_8(out + 16, second);
}

AVX2_INLINE size_t convolve_groups(
    const int16_t *in, size_t plane, const uint32_t *first, const int16_t *weights, size_t taps,
    int shift, uint8_t *out, size_t pixels, size_t channels)
{
    const int down = shift + RESAMPLE_FRACTION;
    size_t i = 0;
    for (; i + GROUP <= pixels; i += GROUP) {
        __m128i bytes[3];
        for (size_t c = 0; c < channels; c++)
            bytes[c] = rounded(
                sums_of_group(in + c * plane, first + i, weights + i * taps, taps), down);
        if (channels == 1)
            store_8(out + i, bytes[0]);
        else
            store_pixels(out + 3 * i, bytes[0], bytes[1], bytes[2]);
    }
    return i;
}

AVX2_INLINE size_t convolve_taps(
    const int16_t *in, size_t plane, const uint32_t *first, const int16_t *weights, size_t taps,
    int shift, uint8_t *out, size_t pixels, size_t channels)
{
    if (channels == 1)
        return convolve_groups(in, plane, first, weights, taps, shift, out, pixels, 1);
    return convolve_groups(in, plane, first, weights, taps, shift, out, pixels, 3);
}

AVX2 size_t darkroom_convolve_planes_8_avx2(
    const int16_t *in, size_t plane, const uint32_t *first, const int16_t *weights, size_t taps,
    int shift, uint8_t *out, size_t pixels, size_t channels)
{
    /* The usual numbers have functions of their own, in which the sums stay in registers. */
    switch (taps) {
    case 16: return convolve_taps(in, plane, first, weights, 16, shift, out, pixels, channels);
    case 32: return convolve_taps(in, plane, first, weights, 32, shift, out, pixels, channels);
    case 48: return convolve_taps(in, plane, first, weights, 48, shift, out, pixels, channels);
    case 64: return convolve_taps(in, plane, first, weights, 64, shift, out, pixels, channels);
    default: return convolve_taps(in, plane, first, weights, taps, shift, out, pixels, channels);
    }
}

#endif
