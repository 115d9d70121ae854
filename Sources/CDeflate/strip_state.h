/* The data of a strip between its calls. */
#ifndef DARKROOM_STRIP_STATE_H
#define DARKROOM_STRIP_STATE_H

#include "darkroom_deflate.h"
#include "darkroom_strip.h"
#include "matches.h"

#include <darkroom_choose.h>

struct darkroom_strip {
    size_t row_bytes, stride, room, rows;
    int pixel_bytes, depth;
    darkroom_effort effort;
    int is_first;
    /*
     * A seam is the last rows of a strip, two of deflate's windows, if these repeat themselves: the next
     * strip finds its matches in them. Both strips must use the same bytes for the seam without waiting for
     * each other. Therefore only the seam's rows decide whether it is filtered. 0 if rows are too long or too
     * short for a seam.
     */
    size_t seam_rows;
    int has_seam;   /* at its end */
    int knows_seam; /* at the end of the strip above, whose rows are here as well */
    /* In the layout for filters. Above the strip's own rows there are those of a seam and one more. */
    uint8_t *pixels;
    uint8_t *filtered;   /* the strip's own lines; those of the seam above lie before them */
    uint8_t *uniform;    /* the same with one filter for all rows, often none; made when needed */
    const uint8_t *lines; /* those of the two that the chunk's data are made of */
    uint8_t *chunk;
    size_t chunk_room; /* of its data */
    size_t chunk_bytes;
    uint8_t *trial; /* where a second way is tried out, of the same room; made when needed */
    void *scratch;
    void *pixel_scratch, *search_scratch; /* made when needed */
    darkroom_matcher matcher;
    uint32_t adler;
};

/* The bytes of a row with its filter's number. */
static inline size_t line_bytes(const darkroom_strip *strip)
{
    return strip->row_bytes + 1;
}

static inline size_t seam_bytes(const darkroom_strip *strip)
{
    return strip->seam_rows * line_bytes(strip);
}

/* The bytes of all lines. */
static inline size_t filtered_bytes(const darkroom_strip *strip)
{
    return strip->rows * line_bytes(strip);
}

/* The memory of row `index` of the strip, from 0. The rows above the strip precede it. */
static inline uint8_t *pixel_row(const darkroom_strip *strip, size_t index)
{
    return strip->pixels + (index + strip->seam_rows + 1) * strip->stride + DARKROOM_PNG_MARGIN;
}

/* Compresses the rows of a strip to `data`. Sets `length` to the number of bytes, and calculates the Adler-32
 * of the lines in the strip. */
darkroom_strip_result darkroom_strip_compress(
    darkroom_strip *strip, uint8_t *data, size_t *length);

#endif
