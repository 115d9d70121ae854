#include "samples.h"

#include <stdlib.h>
#include <string.h>

uint32_t sample_value(uint32_t x, uint32_t y, unsigned channel, uint32_t most)
{
    uint32_t mixed = (x / 3 + 1) * UINT32_C(2654435761) ^ (y / 2 + 1) * UINT32_C(2246822519) ^ (channel + 1) * UINT32_C(3266489917);
    mixed ^= mixed >> 15;
    mixed *= UINT32_C(2246822519);
    mixed ^= mixed >> 13;
    return most >= UINT16_MAX ? mixed >> 16 : (mixed >> 8) % (most + 1);
}

uint8_t sample_smooth(uint32_t x, uint32_t y, unsigned channel)
{
    uint32_t place = channel == 0 ? x * 2 : channel == 1 ? y * 3 : x + y;
    /* Up and down again. */
    return (uint8_t) (place % 400 < 200 ? 20 + place % 400 : 20 + 400 - place % 400);
}

sample_picture sample_of(uint32_t width, uint32_t height, darkroom_codec_colour colour, bool has_alpha, uint32_t depth)
{
    return (sample_picture) {
        .header = {.width = width, .height = height, .colour = colour, .channels = colour + (has_alpha ? 1 : 0),
            .depth = depth, .source_depth = depth, .orientation = 1, .page = 1, .pages = 1, .cicp = {2, 2, 2, 1}},
        .page = 1};
}

uint8_t *sample_rows(const sample_picture *picture, bool is_smooth)
{
    const darkroom_codec_header *header = &picture->header;
    uint8_t *rows = sample_allocate(codec_row_bytes(header), header->height), *to = rows;
    for (uint32_t y = 0; y < header->height; y++)
        for (uint32_t x = 0; x < header->width; x++)
            for (unsigned channel = 0; channel < header->channels; channel++, to += header->depth / 8) {
                uint32_t most = header->depth == 16 ? 65535 : 255;
                uint16_t value = (uint16_t) (is_smooth ? sample_smooth(x, y, channel) * (most / 255)
                                                       : sample_value(x, y, channel, most));
                if (header->depth == 16) memcpy(to, &value, 2);
                else *to = (uint8_t) value;
            }
    return rows;
}

void *sample_allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    inside_require(memory != NULL, "there is memory for a sample");
    return memory;
}

void sample_put(sample_file *file, const void *bytes, size_t count)
{
    if (file->count + count > file->room) {
        file->room = (file->count + count) * 2;
        file->bytes = realloc(file->bytes, file->room);
        inside_require(file->bytes != NULL, "there is memory for a sample");
    }
    if (count > 0) memcpy(file->bytes + file->count, bytes, count);
    file->count += count;
}

void sample_put_number(sample_file *file, uint32_t value, unsigned bytes)
{
    for (unsigned index = 0; index < bytes; index++) {
        uint8_t byte = (uint8_t) (value >> 8 * index);
        sample_put(file, &byte, 1);
    }
}
