/* The rows' loops, 32 bytes at a time. */
#if defined(__x86_64__)

#include <immintrin.h>

#include "rows.h"

#define VECTOR __m256i
#define BYTES 32
#define FN(name) name##_avx2
#define OP(name) _mm256_##name
#define BITS(name) _mm256_##name##_si256
#define TARGET __attribute__((target("avx2")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2")))

AVX2_INLINE __m256i load_avx2(const uint8_t *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

AVX2_INLINE __m256i load_half_avx2(const uint8_t *from)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)from));
}

AVX2_INLINE void store_avx2(uint8_t *to, __m256i v) { _mm256_storeu_si256((__m256i *)to, v); }

AVX2_INLINE __m256i broadcast_avx2(const uint8_t *from)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)from));
}

AVX2_INLINE __m256i in_order_avx2(__m256i v) { return _mm256_permute4x64_epi64(v, 0xd8); }

/* Bytes 0, 3, … 15 of each lane, or bytes 1, 4, … 13. */
static const uint8_t thirds_avx2[2][16] = {
    {255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255},
    {0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0},
};

AVX2_INLINE __m256i pick_avx2(__m256i a, __m256i b, int first)
{
    return _mm256_blendv_epi8(a, b, broadcast_avx2(thirds_avx2[first]));
}

AVX2_INLINE void store_lanes_avx2(uint8_t *out, __m256i first, __m256i second, __m256i third)
{
    store_avx2(out, _mm256_permute2x128_si256(first, second, 0x20));
    store_avx2(out + 32, _mm256_permute2x128_si256(third, first, 0x30));
    store_avx2(out + 64, _mm256_permute2x128_si256(second, third, 0x31));
}

#include "rows_lanes.h"

#endif
