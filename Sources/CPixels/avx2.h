/*
 * For files with AVX2 paths: the attribute of functions that may use these instructions, and the intrinsics.
 * Everything in such a file is inside `#if defined(__x86_64__)`.
 *
 * Callers of these functions must check darkroom_cpu_level() first.
 */
#ifndef DARKROOM_AVX2_H
#define DARKROOM_AVX2_H

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi2,fma")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2,bmi2,fma")))

AVX2_INLINE __m128i load_16(const void *from) { return _mm_loadu_si128((const __m128i *)from); }
AVX2_INLINE __m256i load_32(const void *from) { return _mm256_loadu_si256((const __m256i *)from); }
AVX2_INLINE void store_8(void *to, __m128i v) { _mm_storel_epi64((__m128i *)to, v); }
AVX2_INLINE void store_16(void *to, __m128i v) { _mm_storeu_si128((__m128i *)to, v); }
AVX2_INLINE void store_32(void *to, __m256i v) { _mm256_storeu_si256((__m256i *)to, v); }

#endif
#endif
