/*
 * The blur with integers, in AVX2.
 *
 * Sixteen samples at a time: the samples at the distances k and k + 1 are added from both sides, the two sums
 * are placed next to each other with 16 bits each, and one instruction multiplies such pairs by a pair of
 * weights and adds the products in 32 bits. The distance 0 has one side only. Unpacking and packing both work
 * on the halves of a register, so the order is correct at the end.
 */
#include "blur_8.h"

#include "avx2.h"

#if defined(__x86_64__)

#pragma STDC FP_CONTRACT OFF

struct sums {
    __m256i low, high;
};

AVX2_INLINE void add_pair(
    struct sums *sums, __m256i first, __m256i second, const int16_t *weights, size_t count)
{
    const uint32_t one = (uint16_t)weights[0];
    const uint32_t two = count > 1 ? (uint16_t)weights[1] : 0;
    const __m256i both = _mm256_set1_epi32((int)(two << 16 | one));
    const __m256i low = _mm256_unpacklo_epi16(first, second);
    const __m256i high = _mm256_unpackhi_epi16(first, second);
    sums->low = _mm256_add_epi32(sums->low, _mm256_madd_epi16(low, both));
    sums->high = _mm256_add_epi32(sums->high, _mm256_madd_epi16(high, both));
}

AVX2_INLINE __m256i widened(const uint8_t *at) { return _mm256_cvtepu8_epi16(load_16(at)); }

AVX2 size_t darkroom_blur_columns_8_avx2(
    const uint8_t *const *rows, const int16_t *weights, size_t radius, int shift, int16_t *out,
    size_t samples)
{
    const int down = shift - FRACTION;
    const __m128i places = _mm_cvtsi32_si128(down);
    const __m256i half = _mm256_set1_epi32(1 << (down - 1));
    const uint8_t *const *centre = rows + radius;
    size_t i = 0;
    for (; i + 16 <= samples; i += 16) {
        struct sums sums = {half, half};
        __m256i first = widened(centre[0] + i);
        for (size_t k = 0; k <= radius; k += 2) {
            const uint8_t *const *above = centre - k;
            const uint8_t *const *below = centre + k;
            if (k > 0)
                first = _mm256_add_epi16(widened(above[0] + i), widened(below[0] + i));
            __m256i second = _mm256_setzero_si256();
            if (k < radius)
                second = _mm256_add_epi16(widened(above[-1] + i), widened(below[1] + i));
            add_pair(&sums, first, second, weights + k, radius + 1 - k);
        }
        const __m256i packed = _mm256_packs_epi32(
            _mm256_sra_epi32(sums.low, places), _mm256_sra_epi32(sums.high, places));
        store_32(out + i, packed);
    }
    return i;
}

AVX2_INLINE struct sums row_sums(
    const int16_t *centre, const int16_t *weights, size_t radius, size_t channels)
{
    struct sums sums = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    __m256i first = load_32(centre);
    const int16_t *left = centre;
    const int16_t *right = centre;
    for (size_t k = 0; k <= radius; k += 2) {
        if (k > 0)
            first = _mm256_add_epi16(load_32(left), load_32(right));
        __m256i second = _mm256_setzero_si256();
        if (k < radius)
            second = _mm256_add_epi16(load_32(left - channels), load_32(right + channels));
        add_pair(&sums, first, second, weights + k, radius + 1 - k);
        left -= 2 * channels;
        right += 2 * channels;
    }
    return sums;
}

AVX2 size_t darkroom_blur_row_8_avx2(
    const int16_t *in, const int16_t *weights, size_t radius, int shift, uint8_t *bytes,
    float *floats, size_t samples, size_t channels)
{
    const int down = shift + FRACTION;
    const __m128i places = _mm_cvtsi32_si128(down);
    const __m256i half = _mm256_set1_epi32(1 << (down - 1));
    const __m256 scale = _mm256_set1_ps(1 / (float)(1u << down));
    const int16_t *centre = in + radius * channels;
    size_t i = 0;
    for (; i + 16 <= samples; i += 16) {
        const struct sums sums = row_sums(centre + i, weights, radius, channels);
        if (floats) {
            const __m256i first = _mm256_permute2x128_si256(sums.low, sums.high, 0x20);
            const __m256i second = _mm256_permute2x128_si256(sums.low, sums.high, 0x31);
            _mm256_storeu_ps(floats + i, _mm256_mul_ps(_mm256_cvtepi32_ps(first), scale));
            _mm256_storeu_ps(floats + i + 8, _mm256_mul_ps(_mm256_cvtepi32_ps(second), scale));
        } else {
            const __m256i low = _mm256_sra_epi32(_mm256_add_epi32(sums.low, half), places);
            const __m256i high = _mm256_sra_epi32(_mm256_add_epi32(sums.high, half), places);
            const __m256i words = _mm256_packs_epi32(low, high);
            store_16(
                bytes + i, _mm_packus_epi16(
                               _mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
        }
    }
    return i;
}

#endif
