/*
 * How the kernels read and write samples.
 *
 * Everything here is inlined with a constant depth and channel count, so that one text serves 8 and
 * 16 bits and one to four channels, and the compiler sees a loop of its own for each of them.
 */
#ifndef DARKROOM_SAMPLES_H
#define DARKROOM_SAMPLES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "avx2.h"
#include "darkroom_cpu.h"

#define INLINE static inline __attribute__((always_inline))

/*
 * BOTH(name, (parameters), { statements }) compiles the statements twice, into name_plain and
 * name_avx2: the same operations in the same order, so the same results, but the compiler may use
 * wider registers in the second. BEST(name, arguments) calls the one that fits the processor.
 *
 * A file that does so with floats must have #pragma STDC FP_CONTRACT OFF, for the second could
 * otherwise fuse multiplications with additions.
 */
#if defined(__x86_64__)
#define BOTH(name, parameters, ...)                                                                \
    static void name##_plain parameters __VA_ARGS__                                                \
    AVX2 static void name##_avx2 parameters __VA_ARGS__
#define BEST(name, ...)                                                                            \
    do {                                                                                           \
        if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2)                                             \
            name##_avx2(__VA_ARGS__);                                                              \
        else                                                                                       \
            name##_plain(__VA_ARGS__);                                                             \
    } while (0)
#else
#define BOTH(name, parameters, ...) static void name##_plain parameters __VA_ARGS__
#define BEST(name, ...) name##_plain(__VA_ARGS__)
#endif

INLINE uint32_t sample_at(const void *row, size_t index, int depth)
{
    return depth == 8 ? ((const uint8_t *)row)[index] : ((const uint16_t *)row)[index];
}

INLINE void put_sample(void *row, size_t index, int depth, uint32_t value)
{
    if (depth == 8)
        ((uint8_t *)row)[index] = (uint8_t)value;
    else
        ((uint16_t *)row)[index] = (uint16_t)value;
}

/*
 * The one rounding of all filters: floor(x + 1/2), clamped to 0…max, a tie going up.
 *
 * Coefficients such as 0.393 have no exact binary form, so a sum that is a tie on paper may come
 * out a few units of 2^-52 below it. What lies less than 2^-20 of a step below a tie counts as
 * the tie: far more than the error of such sums, far less than anyone can see.
 */
INLINE uint32_t rounded(double x, double max)
{
    x = x > 0 ? x : 0;
    x = x < max ? x : max;
    return (uint32_t)(int32_t)(x + (0.5 + 0x1p-20));
}

/* What is left of a row after some pixels. */
INLINE void *row_after(void *row, size_t pixels, int channels, int depth)
{
    return (uint8_t *)row + pixels * (size_t)channels * (size_t)(depth / 8);
}

INLINE double full_scale(int depth) { return depth == 8 ? 255 : 65535; }

INLINE int has_alpha(int channels) { return channels == 2 || channels == 4; }

/* Copies one pixel; `bytes` is a constant where this is inlined, so this is one or two moves. */
INLINE void copy_pixel(void *out, const void *in, size_t bytes) { memcpy(out, in, bytes); }

/*
 * Calls `loop` with constants for depth and channels. Its arguments follow; they may not contain
 * `depth` or `channels` themselves.
 */
#define BY_DEPTH(loop, depth, ...)                                                                 \
    do {                                                                                           \
        if ((depth) == 8)                                                                          \
            loop(8, __VA_ARGS__);                                                                  \
        else                                                                                       \
            loop(16, __VA_ARGS__);                                                                 \
    } while (0)

#define BY_CHANNELS(loop, depth, channels, ...)                                                    \
    do {                                                                                           \
        switch (channels) {                                                                        \
        case 1: BY_DEPTH(loop, depth, 1, __VA_ARGS__); break;                                      \
        case 2: BY_DEPTH(loop, depth, 2, __VA_ARGS__); break;                                      \
        case 3: BY_DEPTH(loop, depth, 3, __VA_ARGS__); break;                                      \
        default: BY_DEPTH(loop, depth, 4, __VA_ARGS__); break;                                     \
        }                                                                                          \
    } while (0)

#endif
