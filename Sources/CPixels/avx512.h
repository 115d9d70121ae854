/*
 * For files with AVX-512 paths: the attribute of functions that may use these instructions, and the intrinsics.
 * Everything in such a file is inside `#if defined(__x86_64__)`.
 *
 * Callers of these functions must check darkroom_cpu_level() first.
 */
#ifndef DARKROOM_AVX512_H
#define DARKROOM_AVX512_H

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi2,fma")))
#define AVX512_INLINE                                                                              \
    static inline __attribute__((                                                                  \
        always_inline, target("avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi2,fma")))

AVX512_INLINE __m512i load_64(const void *from) { return _mm512_loadu_si512(from); }
AVX512_INLINE void store_64(void *to, __m512i v) { _mm512_storeu_si512(to, v); }
AVX512_INLINE void store_32(void *to, __m256i v) { _mm256_storeu_si256((__m256i *)to, v); }

#endif
#endif
