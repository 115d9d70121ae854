/* The inverse DCT of two blocks at a time. */
#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#include "idct.h"

#define VECTOR __m256i
#define LANES 2
#define FN(name) name##_avx2
#define OP(name) _mm256_##name
#define BITS(name) _mm256_##name##_si256
#define TARGET __attribute__((target("avx2")))

TARGET static inline __m256i load_avx2(const int16_t *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

TARGET static inline __m256i broadcast_avx2(const int16_t *from)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)from));
}

TARGET static inline __m128i lane_avx2(__m256i v, int lane)
{
    return lane == 0 ? _mm256_castsi256_si128(v) : _mm256_extracti128_si256(v, 1);
}

TARGET static inline bool is_zero_avx2(__m256i v) { return _mm256_testz_si256(v, v); }

#include "idct_lanes.h"

#endif
