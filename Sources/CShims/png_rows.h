/* Reads the rows of a picture that is not interlaced without libpng: two to four times as fast, for the usual kinds of
 * PNG. */
#ifndef DARKROOM_PNG_ROWS_H
#define DARKROOM_PNG_ROWS_H

#include "png_lines.h"
#include "png_palette.h"

typedef struct darkroom_png_rows darkroom_png_rows;

/* Whether pictures with this header can be read without libpng: those that have no single transparent colour. */
bool darkroom_png_rows_can_read(const darkroom_png_header *header, bool has_transparency);

/* What one pixel takes in the file, in bits. */
size_t darkroom_png_pixel_bits(const darkroom_png_header *header);

/* Whether unfiltered rows are not yet those that are handed out. */
bool darkroom_png_is_expanded(const darkroom_png_header *header);

/* Makes such a row, of `width` pixels, one of whole samples. Returns false if an index is not in the palette. */
bool darkroom_png_expand(
    const darkroom_png_header *header, const darkroom_png_palette *palette, const uint8_t *packed,
    uint8_t *out, size_t width);

/* How many lines are unfiltered together if the longest ones have `line_bytes`. */
uint32_t darkroom_png_group(size_t line_bytes);

/* `palette` is copied if the header says that there is one. The source has been read up to the header of the
 * first IDAT. No allocation is larger than `largest`. */
darkroom_png_result darkroom_png_rows_new(
    darkroom_png_rows **rows, darkroom_png_source *source, const darkroom_png_header *header,
    const darkroom_png_palette *palette, size_t largest);
void darkroom_png_rows_free(darkroom_png_rows *rows);

/* Rows of a picture with a palette are indices from here on, of 8 bits each. They are examined all the same. */
void darkroom_png_rows_keep_indices(darkroom_png_rows *rows);

/* Reads the next `count` rows into `out`, and sets `done` to the number that it has read. With the last row
 * of the picture, the compressed data must have ended, including its checksum. */
darkroom_png_result darkroom_png_rows_read(
    darkroom_png_rows *rows, uint8_t *out, uint32_t count, uint32_t *done);

/* The same in two steps, which may use two threads: one fetches `count` lines of darkroom_png_rows_line_bytes
 * each, the other makes rows from earlier ones. Each step is used by one thread at a time, in the picture's
 * order. The second reports errors, as darkroom_png_rows_read does for the same numbers of rows. */
void darkroom_png_rows_fetch(
    darkroom_png_rows *rows, uint8_t *lines, uint32_t count, darkroom_png_fetched *fetched);
darkroom_png_result darkroom_png_rows_undo(
    darkroom_png_rows *rows, const uint8_t *lines, const darkroom_png_fetched *fetched, uint8_t *out,
    uint32_t *done);
size_t darkroom_png_rows_line_bytes(const darkroom_png_rows *rows);

/* See darkroom_png_lines_surplus. */
void darkroom_png_rows_surplus(const darkroom_png_rows *rows, uint64_t *extra, uint64_t *surplus);

/* The error message; "" without an error. */
const char *darkroom_png_rows_message(const darkroom_png_rows *rows);

#endif
