/* PNG's row filters undone. */
#ifndef DARKROOM_UNFILTER_H
#define DARKROOM_UNFILTER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Undoes the row filters of `rows` rows (PNG specification, section 9).
 *
 * `filtered` holds the rows as they come out of the decompressor, each led by its filter's number;
 * `out` receives them without it, one after the other, `row_bytes` each, a whole number of pixels.
 * `above` is the row over the first one as `out` would have it: zeros at the top of a picture.
 * `pixel_bytes` is 1, 2, 3, 4, 6 or 8. Where `swaps` is set, the two bytes of each sample change
 * places on the way, and `above` has them so already; `pixel_bytes` is even then. The three
 * buffers do not overlap.
 *
 * Returns how many rows it has done: fewer than `rows` where the next one's filter has a number
 * that there is not.
 */
size_t darkroom_unfilter(
    const uint8_t *filtered, size_t rows, size_t row_bytes, int pixel_bytes, int swaps,
    const uint8_t *above, uint8_t *out);

#endif
