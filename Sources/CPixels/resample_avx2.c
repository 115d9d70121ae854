/* The inner loops of resampling in AVX2; resample.c says in which order sums are made. */
#include "resample.h"

#include "avx2.h"

#if defined(__x86_64__)

#pragma STDC FP_CONTRACT OFF

/* Weights for the lanes of one step, each repeated for all channels of its tap. */
AVX2_INLINE __m256 spread(const float *weights, int channels)
{
    if (channels == 1)
        return _mm256_loadu_ps(weights);
    if (channels == 2)
        return _mm256_permutevar8x32_ps(
            _mm256_castps128_ps256(_mm_loadu_ps(weights)),
            _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
    const __m256 two =
        _mm256_castps128_ps256(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)weights)));
    /* Three channels leave two lanes over, which nobody looks at. */
    return _mm256_permutevar8x32_ps(
        two, channels == 3 ? _mm256_setr_epi32(0, 0, 0, 1, 1, 1, 1, 1)
                           : _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1));
}

AVX2_INLINE size_t add_taps(
    size_t channels, const float *pixel, const float *weights, size_t taps, float *lanes)
{
    const size_t step = LANES / channels;
    /* Two taps of three channels are six floats, but eight are read: there must be a third tap. */
    const size_t needed = channels == 3 ? 3 : step;
    __m256 sums = _mm256_setzero_ps();
    size_t k = 0;
    for (; k + needed <= taps; k += step) {
        const __m256 products = _mm256_mul_ps(
            spread(weights + k, (int)channels), _mm256_loadu_ps(pixel + k * channels));
        sums = _mm256_add_ps(sums, products);
    }
    _mm256_storeu_ps(lanes, sums);
    return k;
}

AVX2 size_t darkroom_taps_avx2(
    const float *pixel, const float *weights, size_t taps, int channels, float lanes[LANES])
{
    switch (channels) {
    case 1: return add_taps(1, pixel, weights, taps, lanes);
    case 2: return add_taps(2, pixel, weights, taps, lanes);
    case 3: return add_taps(3, pixel, weights, taps, lanes);
    default: return add_taps(4, pixel, weights, taps, lanes);
    }
}

/*
 * Two rows at a time: their bytes in turn, made 16 bits wide, are pairs for the instruction that
 * multiplies pairs and adds the two products. Within each half of a register, unpacking takes the
 * four times four samples in order; the halves are put in order when they are written.
 */
AVX2_INLINE void add_pair(__m256i sums[4], __m256i above, __m256i below, __m256i weights)
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

AVX2_INLINE __m256i both_weights(int16_t first, int16_t second)
{
    return _mm256_set1_epi32((int)((uint32_t)(uint16_t)second << 16 | (uint16_t)first));
}

AVX2 size_t darkroom_blend_8_avx2(
    const uint8_t *const *rows, const int16_t *weights, size_t count, float scale, float *out,
    size_t samples)
{
    const __m256 scales = _mm256_set1_ps(scale);
    size_t i = 0;
    for (; i + 32 <= samples; i += 32) {
        __m256i sums[4] = {
            _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
            _mm256_setzero_si256()};
        size_t k = 0;
        for (; k + 2 <= count; k += 2)
            add_pair(
                sums, load_32(rows[k] + i), load_32(rows[k + 1] + i),
                both_weights(weights[k], weights[k + 1]));
        if (k < count)
            add_pair(
                sums, load_32(rows[k] + i), _mm256_setzero_si256(), both_weights(weights[k], 0));
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

#endif
