/* The rows' loops, 32 samples at a time. What is left at the end is done by plain C. */
#if defined(__x86_64__)

#include <immintrin.h>

#include "rows.h"

#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2")))

AVX2_INLINE __m256i load_32(const uint8_t *from) { return _mm256_loadu_si256((const __m256i *)from); }
AVX2_INLINE void store_32(uint8_t *to, __m256i v) { _mm256_storeu_si256((__m256i *)to, v); }

/* 16 samples as numbers of 16 bits. */
AVX2_INLINE __m256i load_16(const uint8_t *from)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)from));
}

AVX2_INLINE __m256i three_to_one(__m256i near, __m256i far)
{
    return _mm256_add_epi16(_mm256_add_epi16(near, near), _mm256_add_epi16(near, far));
}

/* Interleaves 16 numbers below 256 with 16 others. */
AVX2_INLINE __m256i interleaved(__m256i even, __m256i odd)
{
    return _mm256_or_si256(even, _mm256_slli_epi16(odd, 8));
}

AVX2 size_t darkroom_widen_avx2(const uint8_t *in, size_t count, uint8_t *out)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m256i here = load_16(in + i);
        const __m256i even = three_to_one(here, load_16(in + i - 1));
        const __m256i odd = three_to_one(here, load_16(in + i + 1));
        store_32(
            out + 2 * i,
            interleaved(
                _mm256_srli_epi16(_mm256_add_epi16(even, _mm256_set1_epi16(1)), 2),
                _mm256_srli_epi16(_mm256_add_epi16(odd, _mm256_set1_epi16(2)), 2)));
    }
    return i;
}

AVX2 size_t darkroom_widen_between_avx2(
    const uint8_t *near, const uint8_t *far, size_t count, uint8_t *out)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m256i before = three_to_one(load_16(near + i - 1), load_16(far + i - 1));
        const __m256i here = three_to_one(load_16(near + i), load_16(far + i));
        const __m256i after = three_to_one(load_16(near + i + 1), load_16(far + i + 1));
        const __m256i even =
            _mm256_add_epi16(three_to_one(here, before), _mm256_set1_epi16(8));
        const __m256i odd = _mm256_add_epi16(three_to_one(here, after), _mm256_set1_epi16(7));
        store_32(out + 2 * i, interleaved(_mm256_srli_epi16(even, 4), _mm256_srli_epi16(odd, 4)));
    }
    return i;
}

AVX2 size_t darkroom_blend_avx2(
    const uint8_t *near, const uint8_t *far, unsigned bias, size_t count, uint8_t *out)
{
    const __m256i rounding = _mm256_set1_epi16((short)bias);
    size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        __m256i sums[2];
        for (size_t k = 0; k < 2; k++)
            sums[k] = _mm256_srli_epi16(
                _mm256_add_epi16(
                    three_to_one(load_16(near + i + 16 * k), load_16(far + i + 16 * k)), rounding),
                2);
        const __m256i bytes = _mm256_packus_epi16(sums[0], sums[1]);
        store_32(out + i, _mm256_permute4x64_epi64(bytes, 0xd8));
    }
    return i;
}

/* Where the 16 bytes of each channel in a lane go, in the first, second and third 16 bytes of the pixels. */
#define PLACES(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                                     \
    _mm256_setr_epi8(                                                                              \
        a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, a, b, c, d, e, f, g, h, i, j, k, l, m, n,  \
        o, p)


/* 32 pixels of 32 samples of each channel. */
AVX2_INLINE void store_rgb(uint8_t *out, __m256i r, __m256i g, __m256i b)
{
    /* Every third byte of each channel's, in the order in which the pixels have them. */
    const __m256i spread_r = PLACES(0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10, 5);
    const __m256i spread_g = PLACES(5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10);
    const __m256i spread_b = PLACES(10, 5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15);
    const __m256i at_0 = PLACES(-1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1);
    const __m256i at_1 = PLACES(0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0);
    r = _mm256_shuffle_epi8(r, spread_r);
    g = _mm256_shuffle_epi8(g, spread_g);
    b = _mm256_shuffle_epi8(b, spread_b);
    const __m256i first = _mm256_blendv_epi8(_mm256_blendv_epi8(b, g, at_1), r, at_0);
    const __m256i second = _mm256_blendv_epi8(_mm256_blendv_epi8(r, b, at_1), g, at_0);
    const __m256i third = _mm256_blendv_epi8(_mm256_blendv_epi8(g, r, at_1), b, at_0);
    store_32(out, _mm256_permute2x128_si256(first, second, 0x20));
    store_32(out + 32, _mm256_permute2x128_si256(third, first, 0x30));
    store_32(out + 64, _mm256_permute2x128_si256(second, third, 0x31));
}

AVX2 size_t darkroom_rgb_from_planes_avx2(
    const uint8_t *r, const uint8_t *g, const uint8_t *b, size_t count, uint8_t *out)
{
    size_t i = 0;
    for (; i + 32 <= count; i += 32)
        store_rgb(out + 3 * i, load_32(r + i), load_32(g + i), load_32(b + i));
    return i;
}

/* (factor · v + 2^15) / 2^16, rounded down, for |factor| < 2^15: twice v has 9 bits. */
AVX2_INLINE __m256i times(__m256i v, int factor)
{
    const __m256i doubled = _mm256_add_epi16(v, v);
    const __m256i product = _mm256_mulhi_epi16(doubled, _mm256_set1_epi16((short)factor));
    return _mm256_srai_epi16(_mm256_add_epi16(product, _mm256_set1_epi16(1)), 1);
}

struct colour {
    __m256i r, g, b;
};

/* 16 pixels; the part of a factor that is a whole number is added apart. */
AVX2_INLINE struct colour convert(__m256i y, __m256i cb, __m256i cr)
{
    const __m256i middle = _mm256_set1_epi16(128);
    const __m256i half = _mm256_set1_epi32(1 << 15);
    const __m256i factors = _mm256_set1_epi32(
        (int)((uint32_t)(uint16_t)DARKROOM_GREEN_CB
              | (uint32_t)(DARKROOM_GREEN_CR + (1 << 16)) << 16));
    cb = _mm256_sub_epi16(cb, middle);
    cr = _mm256_sub_epi16(cr, middle);
    const __m256i low = _mm256_madd_epi16(_mm256_unpacklo_epi16(cb, cr), factors);
    const __m256i high = _mm256_madd_epi16(_mm256_unpackhi_epi16(cb, cr), factors);
    const __m256i green = _mm256_packs_epi32(
        _mm256_srai_epi32(_mm256_add_epi32(low, half), 16),
        _mm256_srai_epi32(_mm256_add_epi32(high, half), 16));
    const __m256i red = _mm256_add_epi16(cr, times(cr, DARKROOM_RED_CR - (1 << 16)));
    const __m256i blue = _mm256_add_epi16(
        _mm256_add_epi16(cb, cb), times(cb, DARKROOM_BLUE_CB - (2 << 16)));
    return (struct colour){
        _mm256_add_epi16(y, red),
        _mm256_add_epi16(y, _mm256_sub_epi16(green, cr)),
        _mm256_add_epi16(y, blue)};
}

AVX2 size_t darkroom_rgb_from_ycc_avx2(
    const uint8_t *y, const uint8_t *cb, const uint8_t *cr, size_t count, uint8_t *out)
{
    const __m256i zero = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        const __m256i ys = load_32(y + i), cbs = load_32(cb + i), crs = load_32(cr + i);
        /* The halves of each lane, which packing puts together again. */
        const struct colour low = convert(
            _mm256_unpacklo_epi8(ys, zero), _mm256_unpacklo_epi8(cbs, zero),
            _mm256_unpacklo_epi8(crs, zero));
        const struct colour high = convert(
            _mm256_unpackhi_epi8(ys, zero), _mm256_unpackhi_epi8(cbs, zero),
            _mm256_unpackhi_epi8(crs, zero));
        store_rgb(
            out + 3 * i, _mm256_packus_epi16(low.r, high.r), _mm256_packus_epi16(low.g, high.g),
            _mm256_packus_epi16(low.b, high.b));
    }
    return i;
}

#endif
