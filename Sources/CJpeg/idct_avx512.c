/* The inverse DCT of four blocks at a time. */
#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#include "idct.h"

#define VECTOR __m512i
#define LANES 4
#define FN(name) name##_avx512
#define OP(name) _mm512_##name
#define BITS(name) _mm512_##name##_si512
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

TARGET static inline __m512i load_avx512(const int16_t *from)
{
    return _mm512_loadu_si512(from);
}

TARGET static inline __m512i broadcast_avx512(const int16_t *from)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)from));
}

TARGET static inline __m128i lane_avx512(__m512i v, int lane)
{
    switch (lane) {
    case 0: return _mm512_castsi512_si128(v);
    case 1: return _mm512_extracti32x4_epi32(v, 1);
    case 2: return _mm512_extracti32x4_epi32(v, 2);
    default: return _mm512_extracti32x4_epi32(v, 3);
    }
}

TARGET static inline bool is_zero_avx512(__m512i v)
{
    return _mm512_test_epi32_mask(v, v) == 0;
}

#include "idct_lanes.h"

#endif
