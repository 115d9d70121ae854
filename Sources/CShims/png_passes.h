/* Reads the rows of an interlaced picture without libpng. */
#ifndef DARKROOM_PNG_PASSES_H
#define DARKROOM_PNG_PASSES_H

#include "png_rows.h"

enum { DARKROOM_PNG_PASSES = 7 };

typedef struct darkroom_png_passes darkroom_png_passes;

/* `palette` is copied if the header says that there is one. The source has been read up to the header of the
 * first IDAT. No allocation is larger than `largest`. */
darkroom_png_result darkroom_png_passes_new(
    darkroom_png_passes **passes, darkroom_png_source *source, const darkroom_png_header *header,
    const darkroom_png_palette *palette, size_t largest);
void darkroom_png_passes_free(darkroom_png_passes *passes);

/* Adds to the next `count` rows of a pass what it has of them, and sets `done` to the number of rows before an
 * error. All rows are requested in each pass. With the last row of the last one, the compressed data must have
 * ended, including its checksum. */
darkroom_png_result darkroom_png_passes_read(
    darkroom_png_passes *passes, uint8_t *out, uint32_t count, uint32_t *done);

/* See darkroom_png_lines_surplus. */
void darkroom_png_passes_surplus(
    const darkroom_png_passes *passes, uint64_t *extra, uint64_t *surplus);

/* The error message; "" without an error. */
const char *darkroom_png_passes_message(const darkroom_png_passes *passes);

#endif
