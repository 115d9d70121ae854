#include "rows.h"

#include <string.h>

#include "darkroom_cpu.h"

/* How much of a row the SIMD does, and 0 without it. */
#if defined(__x86_64__)
#define DONE(name, ...)                                                                            \
    (darkroom_cpu_level() >= DARKROOM_CPU_AVX512     ? name##_avx512(__VA_ARGS__)                  \
         : darkroom_cpu_level() >= DARKROOM_CPU_AVX2 ? name##_avx2(__VA_ARGS__)                    \
                                                     : 0)
#else
#define DONE(name, ...) 0
#endif

void darkroom_jpeg_widen(const uint8_t *in, size_t count, uint8_t *out)
{
    for (size_t i = DONE(darkroom_jpeg_widen, in, count, out); i < count; i++) {
        out[2 * i] = (uint8_t)((3 * in[i] + in[(ptrdiff_t)i - 1] + 1) >> 2);
        out[2 * i + 1] = (uint8_t)((3 * in[i] + in[i + 1] + 2) >> 2);
    }
}

void darkroom_jpeg_widen_between(const uint8_t *near, const uint8_t *far, size_t count, uint8_t *out)
{
    for (size_t i = DONE(darkroom_jpeg_widen_between, near, far, count, out); i < count;
         i++) {
        const ptrdiff_t k = (ptrdiff_t)i;
        const int before = 3 * near[k - 1] + far[k - 1], here = 3 * near[k] + far[k];
        const int after = 3 * near[k + 1] + far[k + 1];
        out[2 * i] = (uint8_t)((3 * here + before + 8) >> 4);
        out[2 * i + 1] = (uint8_t)((3 * here + after + 7) >> 4);
    }
}

void darkroom_jpeg_blend(
    const uint8_t *near, const uint8_t *far, unsigned bias, size_t count, uint8_t *out)
{
    for (size_t i = DONE(darkroom_jpeg_blend, near, far, bias, count, out); i < count; i++)
        out[i] = (uint8_t)((3u * near[i] + far[i] + bias) >> 2);
}

void darkroom_jpeg_repeat(const uint8_t *in, size_t count, unsigned times, uint8_t *out)
{
    if (times == 2)
        for (size_t i = 0; i < count; i++)
            out[2 * i] = out[2 * i + 1] = in[i];
    else if (times == 4)
        for (size_t i = 0; i < count; i++) {
            const uint32_t four = in[i] * 0x01010101u;
            memcpy(out + 4 * i, &four, 4);
        }
    else
        for (size_t i = 0; i < count; i++)
            memset(out + i * times, in[i], times);
}

static inline uint8_t clamped(int value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

void darkroom_jpeg_rgb_from_ycc(
    const uint8_t *y, const uint8_t *cb, const uint8_t *cr, size_t count, uint8_t *out)
{
    for (size_t i = DONE(darkroom_jpeg_rgb_from_ycc, y, cb, cr, count, out); i < count;
         i++) {
        const int b = cb[i] - 128, r = cr[i] - 128, half = 1 << 15;
        out[3 * i] = clamped(y[i] + ((DARKROOM_RED_CR * r + half) >> 16));
        out[3 * i + 1] =
            clamped(y[i] + ((DARKROOM_GREEN_CB * b + DARKROOM_GREEN_CR * r + half) >> 16));
        out[3 * i + 2] = clamped(y[i] + ((DARKROOM_BLUE_CB * b + half) >> 16));
    }
}

void darkroom_jpeg_rgb_from_planes(
    const uint8_t *r, const uint8_t *g, const uint8_t *b, size_t count, uint8_t *out)
{
    for (size_t i = DONE(darkroom_jpeg_rgb_from_planes, r, g, b, count, out); i < count;
         i++) {
        out[3 * i] = r[i];
        out[3 * i + 1] = g[i];
        out[3 * i + 2] = b[i];
    }
}
