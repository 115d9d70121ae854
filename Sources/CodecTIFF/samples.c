#include <string.h>

#include "picture.h"

/* Reads one sample of a row that is packed without gaps. */
static uint32_t sample(const uint8_t *row, size_t index, unsigned bits)
{
    if (bits == 8) return row[index];
    if (bits == 16) {
        uint16_t value;
        memcpy(&value, row + index * 2, 2);
        return value;
    }
    size_t first = index * bits;
    if (8 % bits == 0) return row[first / 8] >> (8 - bits - first % 8) & ((1u << bits) - 1);
    uint32_t value = 0;
    for (size_t bit = first; bit < (index + 1) * bits; bit++) value = value << 1 | (row[bit / 8] >> (7 - bit % 8) & 1);
    return value;
}

static void put(uint8_t *row, size_t index, unsigned depth, uint32_t value)
{
    if (depth == 8) {
        row[index] = (uint8_t) value;
        return;
    }
    uint16_t wide = (uint16_t) value;
    memcpy(row + index * 2, &wide, 2);
}

/* Whether the file has its samples as the rows do. */
static bool is_plain(const picture *picture)
{
    return picture->bits == picture->header.depth && picture->samples == picture->header.channels
        && picture->planar == PLANARCONFIG_CONTIG && picture->alpha != EXTRASAMPLE_ASSOCALPHA
        && (picture->photometric == PHOTOMETRIC_RGB || picture->photometric == PHOTOMETRIC_MINISBLACK
            || picture->photometric == PHOTOMETRIC_SEPARATED || picture->photometric == PHOTOMETRIC_YCBCR);
}

/* Associated alpha becomes straight. */
static void straighten(uint32_t *values, uint16_t colours, uint32_t most)
{
    uint32_t alpha = values[colours];
    for (uint16_t channel = 0; channel < colours; channel++) {
        uint64_t straight = alpha ? ((uint64_t) values[channel] * most + alpha / 2) / alpha : 0;
        values[channel] = straight > most ? most : (uint32_t) straight;
    }
}

/* Converts one pixel: from the values of the file to those of the rows. */
static void convert_pixel(const picture *picture, uint32_t *values)
{
    const darkroom_codec_header *header = &picture->header;
    uint32_t most_in = (1u << picture->bits) - 1, most = header->depth == 16 ? 65535 : 255;
    bool has_alpha = header->channels > header->colour;
    if (picture->photometric == PHOTOMETRIC_PALETTE) {
        uint32_t index = values[0];
        if (has_alpha) values[3] = (values[1] * most + most_in / 2) / most_in;
        for (unsigned channel = 0; channel < 3; channel++)
            values[channel] = picture->palette[channel][index] / picture->palette_divisor;
        return;
    }
    if (picture->photometric == PHOTOMETRIC_CIELAB || picture->photometric == PHOTOMETRIC_ICCLAB)
        return lab_convert(values, picture->bits, picture->photometric == PHOTOMETRIC_CIELAB);
    if (most != most_in)
        for (unsigned channel = 0; channel < header->channels; channel++)
            values[channel] = (values[channel] * most + most_in / 2) / most_in;
    if (picture->photometric == PHOTOMETRIC_MINISWHITE) values[0] = most - values[0];
    if (has_alpha && picture->alpha == EXTRASAMPLE_ASSOCALPHA) straighten(values, picture->colours, most);
}

/* Converts a row. */
static void convert(const picture *picture, const uint8_t *const *planes, uint8_t *to)
{
    const darkroom_codec_header *header = &picture->header;
    bool is_interleaved = picture->planar == PLANARCONFIG_CONTIG || picture->samples == 1;
    uint16_t count = picture->colours + (header->channels > header->colour ? 1 : 0);
    for (uint32_t x = 0; x < picture->width; x++) {
        uint32_t values[5] = {0};
        for (uint16_t channel = 0; channel < count; channel++) {
            const uint8_t *row = planes[is_interleaved ? 0 : channel];
            values[channel] = sample(row, is_interleaved ? (size_t) x * picture->samples + channel : x, picture->bits);
        }
        convert_pixel(picture, values);
        for (unsigned channel = 0; channel < header->channels; channel++)
            put(to, (size_t) x * header->channels + channel, header->depth, values[channel]);
    }
}

void picture_say(const picture *picture, const uint8_t *const *planes, uint8_t *row)
{
    bool is_ready = is_plain(picture);
    if (!is_ready) convert(picture, planes, row);
    codec_rows(picture->call, is_ready ? planes[0] : row, codec_row_bytes(&picture->header), 1);
}
