/* Rows of samples: interpolation of coarse colour, and conversion to pixels. */
#ifndef DARKROOM_JPEG_ROWS_H
#define DARKROOM_JPEG_ROWS_H

#include <stddef.h>
#include <stdint.h>

enum {
    /* Before and after a row of samples there may be this many that mean nothing, except one. */
    DARKROOM_ROW_MARGIN = 64,
};

/*
 * The interpolations weigh the nearer sample three times as much as the farther one, in each direction. The
 * samples before the first one and after the last one are there, as copies of these. Outputs of `count`
 * samples may be followed by up to DARKROOM_ROW_MARGIN others.
 */

/* Twice as many samples, alternately rounded with 1/4 and 2/4. */
void darkroom_jpeg_widen(const uint8_t *in, size_t count, uint8_t *out);

/* The same between two rows, rounded with 8/16 and 7/16. */
void darkroom_jpeg_widen_between(const uint8_t *near, const uint8_t *far, size_t count, uint8_t *out);

/* As many samples between two rows, rounded with `bias`/4. */
void darkroom_jpeg_blend(
    const uint8_t *near, const uint8_t *far, unsigned bias, size_t count, uint8_t *out);

/* Each sample `times` times. */
void darkroom_jpeg_repeat(const uint8_t *in, size_t count, unsigned times, uint8_t *out);

/* RGB of JFIF's YCbCr, by factors of 16 bits after the point. The output ends with the last pixel. */
void darkroom_jpeg_rgb_from_ycc(
    const uint8_t *y, const uint8_t *cb, const uint8_t *cr, size_t count, uint8_t *out);

/* RGB of red, green and blue. */
void darkroom_jpeg_rgb_from_planes(
    const uint8_t *r, const uint8_t *g, const uint8_t *b, size_t count, uint8_t *out);

/* The factors of the conversion, times 2^16. */
enum {
    DARKROOM_RED_CR = 91881,
    DARKROOM_GREEN_CB = -22554,
    DARKROOM_GREEN_CR = -46802,
    DARKROOM_BLUE_CB = 116130,
};

#if defined(__x86_64__)
/* These do a part of the row, from its beginning, and return how many inputs or pixels that was. */
#define DARKROOM_ROW_LOOPS(level)                                                                  \
    size_t darkroom_jpeg_widen_##level(const uint8_t *in, size_t count, uint8_t *out);             \
    size_t darkroom_jpeg_widen_between_##level(                                                    \
        const uint8_t *near, const uint8_t *far, size_t count, uint8_t *out);                      \
    size_t darkroom_jpeg_blend_##level(                                                            \
        const uint8_t *near, const uint8_t *far, unsigned bias, size_t count, uint8_t *out);       \
    size_t darkroom_jpeg_rgb_from_ycc_##level(                                                     \
        const uint8_t *y, const uint8_t *cb, const uint8_t *cr, size_t count, uint8_t *out);       \
    size_t darkroom_jpeg_rgb_from_planes_##level(                                                  \
        const uint8_t *r, const uint8_t *g, const uint8_t *b, size_t count, uint8_t *out);

DARKROOM_ROW_LOOPS(avx2)
DARKROOM_ROW_LOOPS(avx512)
#endif

#endif
