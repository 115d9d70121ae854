/* The rows' loops, 64 bytes at a time. */
#if defined(__x86_64__)

#include <immintrin.h>

#include "rows.h"

#define VECTOR __m512i
#define BYTES 64
#define FN(name) name##_avx512
#define OP(name) _mm512_##name
#define BITS(name) _mm512_##name##_si512
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define AVX512_INLINE                                                                              \
    static inline __attribute__((always_inline, target("avx512f,avx512bw,avx512dq,avx512vl")))

AVX512_INLINE __m512i load_avx512(const uint8_t *from) { return _mm512_loadu_si512(from); }

AVX512_INLINE __m512i load_half_avx512(const uint8_t *from)
{
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)from));
}

AVX512_INLINE void store_avx512(uint8_t *to, __m512i v) { _mm512_storeu_si512(to, v); }

AVX512_INLINE __m512i broadcast_avx512(const uint8_t *from)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)from));
}

AVX512_INLINE __m512i in_order_avx512(__m512i v)
{
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), v);
}

/* Bytes 0, 3, … 15 of each lane, or bytes 1, 4, … 13. */
AVX512_INLINE __m512i pick_avx512(__m512i a, __m512i b, int first)
{
    return _mm512_mask_blend_epi8(first == 0 ? 0x9249924992499249u : 0x2492249224922492u, a, b);
}

AVX512_INLINE void store_lanes_avx512(uint8_t *out, __m512i first, __m512i second, __m512i third)
{
    /* 0 to 7 are quarters of a lane pair of the first argument, 8 to 15 those of the second one. */
    const __m512i a = _mm512_permutex2var_epi64(
        first, _mm512_setr_epi64(0, 1, 8, 9, 0, 0, 2, 3), second);
    const __m512i b = _mm512_permutex2var_epi64(
        second, _mm512_setr_epi64(2, 3, 10, 11, 0, 0, 4, 5), third);
    const __m512i c = _mm512_permutex2var_epi64(
        third, _mm512_setr_epi64(4, 5, 14, 15, 0, 0, 6, 7), first);
    store_avx512(
        out, _mm512_mask_permutexvar_epi64(a, 0x30, _mm512_setr_epi64(0, 0, 0, 0, 0, 1, 0, 0), third));
    store_avx512(
        out + 64,
        _mm512_mask_permutexvar_epi64(b, 0x30, _mm512_setr_epi64(0, 0, 0, 0, 4, 5, 0, 0), first));
    store_avx512(
        out + 128,
        _mm512_mask_permutexvar_epi64(c, 0x30, _mm512_setr_epi64(0, 0, 0, 0, 6, 7, 0, 0), second));
}

#include "rows_lanes.h"

#endif
