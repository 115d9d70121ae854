/*
 * PNG's row filters, chosen and applied.
 *
 * The rows are PNG's bytes: samples of 16 bits with the high byte first. They lie `stride` bytes
 * apart, each with DARKROOM_PNG_MARGIN bytes of zero before it: what a filter finds to the left of
 * the first pixel. DARKROOM_PNG_OVERHANG bytes after the last row may be read, and as many after
 * the output may be written.
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
 * Copies `count` rows that follow each other without gaps to `out`, `stride` bytes apart, and
 * writes the zeros before each; samples of 16 bits are turned round from the machine's order.
 */
void darkroom_png_lay_out(
    const void *rows, size_t row_bytes, size_t count, int depth, uint8_t *out, size_t stride);

/*
 * Filters `count` rows, each by that of the five filters whose bytes, taken as signed numbers,
 * have the least sum of magnitudes; of equals the first. That is the heuristic of PNG's
 * specification, chapter 12.8, and what libpng does. Above the first row lies the one at
 * rows - stride. `out` gets a filter's number and `row_bytes` bytes for each row, without gaps.
 */
void darkroom_png_choose(
    const uint8_t *rows, size_t stride, size_t row_bytes, int pixel_bytes, size_t count,
    uint8_t *out);

#endif
