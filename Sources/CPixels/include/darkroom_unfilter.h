/* Undoes PNG's row filters. */
#ifndef DARKROOM_UNFILTER_H
#define DARKROOM_UNFILTER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Undoes the row filters of `rows` rows (PNG specification, section 9).
 *
 * `filtered` holds the rows from the decompressor, each after its filter's number. `out` gets them without
 * it, one after the other, `row_bytes` each, a whole number of pixels. `above` is the row above the first one
 * in the format of `out`: zeros at the top of a picture. `pixel_bytes` is 1, 2, 3, 4, 6 or 8. If `swaps` is
 * set, the two bytes of each sample are exchanged; `above` has them exchanged already, and `pixel_bytes` is
 * even. The three buffers do not overlap.
 *
 * Returns the number of processed rows: fewer than `rows` if the filter's number of the next one is not
 * valid.
 */
size_t darkroom_unfilter(
    const uint8_t *filtered, size_t rows, size_t row_bytes, int pixel_bytes, int swaps,
    const uint8_t *above, uint8_t *out);

#endif
