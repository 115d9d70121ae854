/* The inner loops of resampling in AVX2. resample.c describes the order of additions. */
#include "resample.h"

#include "avx2.h"

#if defined(__x86_64__)

#pragma STDC FP_CONTRACT OFF

/* Eight words. If eight words are read from 8 - n on, the first n are set. */
static const int32_t first_lanes[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

/* Reads exactly n floats, and zeros for the rest. */
AVX2_INLINE __m256 read_some(const float *from, size_t n)
{
    return _mm256_maskload_ps(from, load_32(first_lanes + 8 - n));
}

/* Weights for the lanes of one step: each is repeated for all channels of its tap. */
AVX2_INLINE __m256 spread(__m256 weights, size_t channels)
{
    switch (channels) {
    case 1: return weights;
    case 2:
        return _mm256_permutevar8x32_ps(weights, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
    case 3:
        /* Two lanes are left over, which are not used. */
        return _mm256_permutevar8x32_ps(weights, _mm256_setr_epi32(0, 0, 0, 1, 1, 1, 1, 1));
    default:
        return _mm256_permutevar8x32_ps(weights, _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1));
    }
}

/* The weights of a whole step. */
AVX2_INLINE __m256 step_weights(const float *weights, size_t channels)
{
    if (channels == 1)
        return _mm256_loadu_ps(weights);
    if (channels == 2)
        return _mm256_castps128_ps256(_mm_loadu_ps(weights));
    return _mm256_castps128_ps256(
        _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)weights)));
}

/*
 * The last step may have fewer taps. Missing ones are read as 0. The addition of 0 · 0 changes no sum,
 * because none is -0: they begin with 0.
 */
AVX2_INLINE __m256 sum_of_taps(
    size_t channels, const float *pixel, const float *weights, size_t taps)
{
    const size_t step = LANES / channels;
    /* Two taps of three channels are six floats, but eight are read, so there must be a third tap. */
    const size_t needed = channels == 3 ? 3 : step;
    __m256 sums = _mm256_setzero_ps();
    size_t k = 0;
    for (; k + needed <= taps; k += step) {
        const __m256 weight = spread(step_weights(weights + k, channels), channels);
        sums = _mm256_add_ps(
            sums, _mm256_mul_ps(weight, _mm256_loadu_ps(pixel + k * channels)));
    }
    if (k < taps) {
        const __m256 weight = spread(read_some(weights + k, taps - k), channels);
        sums = _mm256_add_ps(
            sums, _mm256_mul_ps(weight, read_some(pixel + k * channels, (taps - k) * channels)));
    }
    return sums;
}

/* Adds up the lanes of each channel and writes them. */
AVX2_INLINE void fold(size_t channels, __m256 sums, float *out)
{
    __m128 low = _mm256_castps256_ps128(sums);
    if (channels == 3) {
        const __m256 second =
            _mm256_permutevar8x32_ps(sums, _mm256_setr_epi32(3, 4, 5, 5, 5, 5, 5, 5));
        low = _mm_add_ps(low, _mm256_castps256_ps128(second));
        store_8(out, _mm_castps_si128(low));
        _mm_store_ss(out + 2, _mm_movehl_ps(low, low));
        return;
    }
    low = _mm_add_ps(low, _mm256_extractf128_ps(sums, 1));
    if (channels == 4) {
        _mm_storeu_ps(out, low);
        return;
    }
    low = _mm_add_ps(low, _mm_movehl_ps(low, low));
    if (channels == 2)
        store_8(out, _mm_castps_si128(low));
    else
        _mm_store_ss(out, _mm_add_ss(low, _mm_movehdup_ps(low)));
}

AVX2_INLINE void convolve(
    size_t channels, const float *in, float *out, size_t out_pixels, const uint32_t *first,
    const size_t *offsets, const float *weights)
{
    for (size_t i = 0; i < out_pixels; i++) {
        const size_t taps = offsets[i + 1] - offsets[i];
        const float *pixel = in + (size_t)first[i] * channels;
        float *to = out + i * channels;
        if (taps <= FLOAT_TAPS)
            fold(channels, sum_of_taps(channels, pixel, weights + offsets[i], taps), to);
        else
            convolve_long((int)channels, pixel, weights + offsets[i], taps, to);
    }
}

AVX2 void darkroom_convolve_avx2(
    const float *in, float *out, size_t out_pixels, int channels, const uint32_t *first,
    const size_t *offsets, const float *weights)
{
    switch (channels) {
    case 1: convolve(1, in, out, out_pixels, first, offsets, weights); break;
    case 2: convolve(2, in, out, out_pixels, first, offsets, weights); break;
    case 3: convolve(3, in, out, out_pixels, first, offsets, weights); break;
    default: convolve(4, in, out, out_pixels, first, offsets, weights); break;
    }
}

#endif
