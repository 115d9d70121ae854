#include "png_palette.h"

#include "png_reader.h"

#include <string.h>

/* The palette that libpng has read, with the alpha of tRNS. */
void darkroom_png_copy_palette(darkroom_png_reader *reader)
{
    darkroom_png_palette *palette = &reader->palette;
    png_colorp colours = NULL;
    png_bytep alphas = NULL;
    int count = 0, alpha_count = 0;
    png_get_PLTE(reader->png, reader->info, &colours, &count);
    png_get_tRNS(reader->png, reader->info, &alphas, &alpha_count, NULL);
    palette->count = (unsigned)count;
    for (int i = 0; i < count; i++) {
        uint8_t *entry = palette->colours[i];
        entry[0] = colours[i].red;
        entry[1] = colours[i].green;
        entry[2] = colours[i].blue;
        entry[3] = i < alpha_count ? alphas[i] : 255;
    }
}

const uint8_t (*darkroom_png_reader_palette(
    const darkroom_png_reader *reader, unsigned *count))[4]
{
    const darkroom_png_header *h = &reader->header;
    *count = 0;
    if (reader->rows == NULL || reader->rows_left != h->height
        || h->color_type != PNG_COLOR_TYPE_PALETTE)
        return NULL;
    *count = reader->palette.count;
    return reader->palette.colours;
}

/* ---- Indices ---- */

/* From the right: the indices before a written pixel must still be read. */
static inline __attribute__((always_inline)) unsigned look_up(
    const darkroom_png_palette *palette, const uint8_t *indices, unsigned depth, uint8_t *out,
    size_t channels, size_t width)
{
    unsigned largest = 0;
    for (size_t i = width; i-- > 0;) {
        const unsigned index = pixel_at(indices, i, depth);
        largest = index > largest ? index : largest;
        memcpy(out + i * channels, palette->colours[index], channels);
    }
    return largest;
}

bool darkroom_png_look_up(
    const darkroom_png_palette *palette, const uint8_t *indices, int depth, uint8_t *out,
    int channels, size_t width)
{
    const unsigned bits = (unsigned)depth;
    unsigned largest;
    /* Constants, so that the loops copy whole pixels. */
    if (depth == 8 && channels == 3)
        largest = look_up(palette, indices, 8, out, 3, width);
    else if (depth == 8)
        largest = look_up(palette, indices, 8, out, 4, width);
    else if (channels == 3)
        largest = look_up(palette, indices, bits, out, 3, width);
    else
        largest = look_up(palette, indices, bits, out, 4, width);
    return largest < palette->count;
}

bool darkroom_png_unpack_indices(
    const darkroom_png_palette *palette, const uint8_t *indices, int depth, uint8_t *out,
    size_t width)
{
    unsigned largest = 0;
    if (depth == 8) {
        for (size_t i = 0; i < width; i++) {
            out[i] = indices[i];
            largest = indices[i] > largest ? indices[i] : largest;
        }
    } else {
        for (size_t i = 0; i < width; i++) {
            const unsigned index = pixel_at(indices, i, (unsigned)depth);
            out[i] = (uint8_t)index;
            largest = index > largest ? index : largest;
        }
    }
    return largest < palette->count;
}

void darkroom_png_pack_indices(const uint8_t *indices, size_t width, int bits, uint8_t *out)
{
    const size_t in_byte = 8 / (size_t)bits;
    for (size_t i = 0; i < width; i += in_byte) {
        unsigned byte = 0;
        for (size_t k = 0; k < in_byte; k++)
            byte = byte << bits | (i + k < width ? indices[i + k] : 0u);
        *out++ = (uint8_t)byte;
    }
}
