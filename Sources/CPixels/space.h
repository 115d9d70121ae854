/*
 * The SIMD paths of the conversion between colour spaces. Each converts as many pixels as it can from the start of the
 * row and returns their number. The scalar loop converts the rest.
 */
#ifndef DARKROOM_SPACE_H
#define DARKROOM_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include "CDarkroomPixels.h"

enum { DARKROOM_SPACE_KNOTS = 1025 };

struct darkroom_space {
    /* The light of each value, for each channel: 0 to 32767. */
    _Alignas(64) uint16_t light[3][256];
    /* The same from 0 to 1, at each 64th value of 16 bits and after the last one, to be interpolated. */
    float wide[3][DARKROOM_SPACE_KNOTS];
    /* From the source's light to the result's, by rows, times 8192: less than 4. */
    int16_t matrix[9];
    float wide_matrix[9];
};

enum {
    /* Light has 15 bits: 32767 is white. */
    LIGHT_MOST = 32767,
    /* The matrix has 13 bits after the point. */
    MATRIX_SHIFT = 13,
    /* Values have 7 bits after the point before they are rounded. */
    VALUE_SHIFT = 7,
    /* Below this light, a segment of the curve has 16 steps; from it on, 256. */
    FINE_LIGHT = 2048,
};

/* sRGB's curve from light to values as 256 segments: 128 fine ones, and from 128 + 8 on the others. The value is
 * start + rise × part / 256, where `part` is how far the light is into the segment, in 256ths. */
struct space_curve {
    _Alignas(64) uint16_t start[256];
    _Alignas(64) uint16_t rise[256];
    /* Both, the rise in the upper half, for gathers. */
    _Alignas(64) uint32_t both[256];
};

const struct space_curve *darkroom_space_curve(void);

#if defined(__x86_64__)
size_t darkroom_space_8_avx2(uint8_t *samples, size_t pixels, int channels, const darkroom_space *space);
size_t darkroom_space_8_avx512(uint8_t *samples, size_t pixels, int channels, const darkroom_space *space);
#endif

#endif
