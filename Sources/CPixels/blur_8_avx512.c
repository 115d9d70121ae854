/*
 * The blur with integers, in AVX-512.
 *
 * It computes the same sums as blur_8_avx2.c. Down the columns, the bytes above and below are placed next to each
 * other, and one instruction multiplies them by 1 and adds neighbours: their sums have 16 bits. Sixty-four samples at a
 * time are a cache line of each row, so no line is read twice.
 *
 * The last vector of a row ends where the row ends, and computes some samples again.
 */
#include "blur_8.h"

#include "avx512.h"

#if defined(__x86_64__)

/* How many samples each step of a pass makes. */
enum { COLUMN_STEP = 64, ROW_STEP = 32 };

/* The weights of the distances k and k + 1, for all lanes. There is no k + 1 beyond the radius. */
AVX512_INLINE __m512i pair_at(const int16_t *weights, size_t k, size_t radius)
{
    const uint32_t one = (uint16_t)weights[k];
    const uint32_t two = k < radius ? (uint16_t)weights[k + 1] : 0;
    return _mm512_set1_epi32((int)(two << 16 | one));
}

AVX512_INLINE __m512i plus_products(__m512i sum, __m512i values, __m512i weights)
{
    return _mm512_add_epi32(sum, _mm512_madd_epi16(values, weights));
}

/* The sums of 64 samples. Unpacking leaves four of each sixteen in one register. */
struct column_sums {
    __m512i of[4];
};

AVX512_INLINE void add_column_pair(
    struct column_sums *sums, __m512i above, __m512i below, __m512i next_above, __m512i next_below,
    __m512i weights)
{
    const __m512i ones = _mm512_set1_epi8(1);
    const __m512i low = _mm512_maddubs_epi16(_mm512_unpacklo_epi8(above, below), ones);
    const __m512i high = _mm512_maddubs_epi16(_mm512_unpackhi_epi8(above, below), ones);
    const __m512i next_low =
        _mm512_maddubs_epi16(_mm512_unpacklo_epi8(next_above, next_below), ones);
    const __m512i next_high =
        _mm512_maddubs_epi16(_mm512_unpackhi_epi8(next_above, next_below), ones);
    sums->of[0] = plus_products(sums->of[0], _mm512_unpacklo_epi16(low, next_low), weights);
    sums->of[1] = plus_products(sums->of[1], _mm512_unpackhi_epi16(low, next_low), weights);
    sums->of[2] = plus_products(sums->of[2], _mm512_unpacklo_epi16(high, next_high), weights);
    sums->of[3] = plus_products(sums->of[3], _mm512_unpackhi_epi16(high, next_high), weights);
}

AVX512 size_t darkroom_blur_columns_8_avx512(
    const uint8_t *const *rows, const int16_t *weights, size_t radius, int shift, int16_t *out,
    size_t samples)
{
    const int down = shift - FRACTION;
    const __m128i places = _mm_cvtsi32_si128(down);
    const __m512i half = _mm512_set1_epi32(1 << (down - 1));
    const __m512i none = _mm512_setzero_si512();
    /* Each register has eight samples of each sixteen. */
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const uint8_t *const *centre = rows + radius;
    if (samples < COLUMN_STEP)
        return 0;
    for (size_t place = 0; place < samples; place += COLUMN_STEP) {
        const size_t i = place < samples - COLUMN_STEP ? place : samples - COLUMN_STEP;
        struct column_sums sums = {{half, half, half, half}};
        for (size_t k = 0; k <= radius; k += 2) {
            const uint8_t *const *above = centre - k;
            const uint8_t *const *below = centre + k;
            const int is_pair = k < radius;
            add_column_pair(
                &sums, load_64(above[0] + i), k > 0 ? load_64(below[0] + i) : none,
                is_pair ? load_64(above[-1] + i) : none, is_pair ? load_64(below[1] + i) : none,
                pair_at(weights, k, radius));
        }
        for (int part = 0; part < 4; part++)
            sums.of[part] = _mm512_sra_epi32(sums.of[part], places);
        const __m512i low = _mm512_packs_epi32(sums.of[0], sums.of[1]);
        const __m512i high = _mm512_packs_epi32(sums.of[2], sums.of[3]);
        store_64(out + i, _mm512_permutex2var_epi64(low, first, high));
        store_64(out + i + 32, _mm512_permutex2var_epi64(low, second, high));
    }
    return samples;
}

struct row_sums {
    __m512i low, high;
};

AVX512_INLINE struct row_sums row_sums(
    const int16_t *centre, const int16_t *weights, size_t radius, size_t channels)
{
    struct row_sums sums = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    __m512i first = load_64(centre);
    const int16_t *left = centre;
    const int16_t *right = centre;
    for (size_t k = 0; k <= radius; k += 2) {
        if (k > 0)
            first = _mm512_add_epi16(load_64(left), load_64(right));
        __m512i second = _mm512_setzero_si512();
        if (k < radius)
            second = _mm512_add_epi16(load_64(left - channels), load_64(right + channels));
        const __m512i both = pair_at(weights, k, radius);
        sums.low = plus_products(sums.low, _mm512_unpacklo_epi16(first, second), both);
        sums.high = plus_products(sums.high, _mm512_unpackhi_epi16(first, second), both);
        left -= 2 * channels;
        right += 2 * channels;
    }
    return sums;
}

AVX512 size_t darkroom_blur_row_8_avx512(
    const int16_t *in, const int16_t *weights, size_t radius, int shift, uint8_t *out,
    size_t samples, size_t channels)
{
    const int down = shift + FRACTION;
    const __m128i places = _mm_cvtsi32_si128(down);
    const __m512i half = _mm512_set1_epi32(1 << (down - 1));
    const int16_t *centre = in + radius * channels;
    if (samples < ROW_STEP)
        return 0;
    for (size_t place = 0; place < samples; place += ROW_STEP) {
        const size_t i = place < samples - ROW_STEP ? place : samples - ROW_STEP;
        const struct row_sums sums = row_sums(centre + i, weights, radius, channels);
        const __m512i low = _mm512_sra_epi32(_mm512_add_epi32(sums.low, half), places);
        const __m512i high = _mm512_sra_epi32(_mm512_add_epi32(sums.high, half), places);
        /* Rounded samples are never more than 255 nor negative. */
        store_32(out + i, _mm512_cvtepi16_epi8(_mm512_packs_epi32(low, high)));
    }
    return samples;
}

#endif
