/* Palettes, and indices of 1 to 8 bits. */
#ifndef DARKROOM_PNG_PALETTE_H
#define DARKROOM_PNG_PALETTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DARKROOM_PNG_PALETTE_WORDS "a pixel has an index that is not in the palette"

/* The values of a palette's indices: red, green, blue and alpha. */
typedef struct {
    uint8_t colours[256][4];
    unsigned count;
} darkroom_png_palette;

/* The pixel at `index` of a row whose pixels have `depth` bits. */
static inline __attribute__((always_inline)) unsigned pixel_at(
    const uint8_t *packed, size_t index, unsigned depth)
{
    const size_t bit = index * depth;
    return (unsigned)packed[bit / 8] >> (8 - depth - bit % 8) & ((1u << depth) - 1);
}

/* Looks up `width` indices of `depth` bits, the first in a byte's upper bits, as pixels of 3 or 4 channels.
 * `indices` may be at the start of `out` if they have 8 bits. Returns false, with a partly meaningless row,
 * if an index is not in the palette. */
bool darkroom_png_look_up(
    const darkroom_png_palette *palette, const uint8_t *indices, int depth, uint8_t *out,
    int channels, size_t width);

/* The same, but the result is the indices, of 8 bits each. `indices` may be `out` if they have 8 bits. */
bool darkroom_png_unpack_indices(
    const darkroom_png_palette *palette, const uint8_t *indices, int depth, uint8_t *out,
    size_t width);

#endif
