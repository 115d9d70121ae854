/*
 * Chooses and applies PNG's row filters.
 *
 * The rows are in PNG's format: samples of 16 bits have the high byte first. They are `stride` bytes apart,
 * and DARKROOM_PNG_MARGIN zero bytes precede each: a filter finds these to the left of the first pixel.
 * DARKROOM_PNG_OVERHANG bytes after the last row may be read, and the same number after the output may be
 * written.
 */
#ifndef DARKROOM_CHOOSE_H
#define DARKROOM_CHOOSE_H

#include <stddef.h>
#include <stdint.h>

enum {
    DARKROOM_PNG_MARGIN = 8,    /* the largest pixel */
    DARKROOM_PNG_OVERHANG = 32, /* a vector */
};

/*
 * Copies `count` rows without gaps to `out`, `stride` bytes apart, and writes the zeros before each. The
 * bytes of 16-bit samples are swapped from the machine's order.
 */
void darkroom_png_lay_out(
    const void *rows, size_t row_bytes, size_t count, int depth, uint8_t *out, size_t stride);

/*
 * Filters `count` rows, each with that one of the five filters whose bytes, as signed numbers, have the least
 * sum of magnitudes; of equal ones, the first. This is the heuristic of PNG's specification, chapter 12.8,
 * and of libpng. The row above the first one is at rows - stride. `out` gets a filter's number and
 * `row_bytes` bytes for each row, without gaps.
 */
void darkroom_png_choose(
    const uint8_t *rows, size_t stride, size_t row_bytes, int pixel_bytes, size_t count,
    uint8_t *out);

/* The same with one filter for all rows, from 0 to 4. */
void darkroom_png_apply(
    const uint8_t *rows, size_t stride, size_t row_bytes, int pixel_bytes, size_t count, int filter,
    uint8_t *out);

#endif
