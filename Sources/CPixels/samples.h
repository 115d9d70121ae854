/*
 * How the kernels read and write samples.
 *
 * Everything here is inlined with a constant depth and channel count. So one source text serves 8 and 16 bits
 * and one to four channels, and the compiler makes a separate loop for each of them.
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
 * BOTH(name, (parameters), { statements }) compiles the statements twice, into name_plain and name_avx2: the
 * same operations in the same order, so the results are the same, but the compiler may use wider registers in
 * the second. BEST(name, arguments) calls the one that fits the processor.
 *
 * A file that uses this with floats must have #pragma STDC FP_CONTRACT OFF, because the second could
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
 * The only rounding of all filters: floor(x + 1/2), clamped to 0…max, with ties rounded up.
 *
 * Coefficients such as 0.393 have no exact binary form, so a sum that is exactly a tie may be calculated as a
 * few units of 2^-52 below it. A value less than 2^-20 of a step below a tie counts as the tie: this is far
 * more than the error of such sums, and far less than anyone can see.
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

/*
 * Four samples at a time, a pixel of RGBA. Standard C has no such types, but clang has them and uses the
 * registers of the processor.
 */
typedef float four_floats __attribute__((vector_size(16)));
typedef double four_doubles __attribute__((vector_size(32)));
typedef int64_t four_masks __attribute__((vector_size(32)));
typedef int32_t four_numbers __attribute__((vector_size(16)));
typedef uint16_t four_words __attribute__((vector_size(8)));
typedef uint8_t four_bytes __attribute__((vector_size(4)));

/* `rounded`, four times. */
INLINE void rounded_four(const four_doubles *x, double max, four_numbers *samples)
{
    const four_doubles most = {max, max, max, max};
    const four_doubles positive = (four_doubles)((four_masks)*x & (*x > 0));
    const four_masks within = positive < most;
    const four_doubles clamped =
        (four_doubles)(((four_masks)positive & within) | ((four_masks)most & ~within));
    *samples = __builtin_convertvector(clamped + (0.5 + 0x1p-20), four_numbers);
}

INLINE void read_pixel(const void *row, size_t at, int depth, four_numbers *pixel)
{
    if (depth == 8) {
        four_bytes bytes;
        memcpy(&bytes, (const uint8_t *)row + at, sizeof bytes);
        *pixel = __builtin_convertvector(bytes, four_numbers);
    } else {
        four_words words;
        memcpy(&words, (const uint16_t *)row + at, sizeof words);
        *pixel = __builtin_convertvector(words, four_numbers);
    }
}

INLINE void write_pixel(void *row, size_t at, int depth, const four_numbers *pixel)
{
    if (depth == 8) {
        const four_bytes bytes = __builtin_convertvector(*pixel, four_bytes);
        memcpy((uint8_t *)row + at, &bytes, sizeof bytes);
    } else {
        const four_words words = __builtin_convertvector(*pixel, four_words);
        memcpy((uint16_t *)row + at, &words, sizeof words);
    }
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
