#include <stdlib.h>
#include <string.h>

#include "samples.h"

const bool samples_leave_nothing = true;
const darkroom_codec_options sample_options[] = {{0}};
const size_t sample_options_count = 0;

typedef struct {
    const char *name;
    uint32_t header, depth, compression;
    uint32_t masks[4];
    bool is_top_down, has_few_colours;
} kind;

static const kind kinds[] = {
    {.name = "1", .header = 40, .depth = 1}, {.name = "2", .header = 40, .depth = 2},
    {.name = "4", .header = 40, .depth = 4}, {.name = "8", .header = 40, .depth = 8},
    {.name = "8-few", .header = 40, .depth = 8, .has_few_colours = true},
    {.name = "16", .header = 40, .depth = 16}, {.name = "24", .header = 40, .depth = 24},
    {.name = "24-down", .header = 40, .depth = 24, .is_top_down = true}, {.name = "32", .header = 40, .depth = 32},
    {.name = "core-1", .header = 12, .depth = 1}, {.name = "core-4", .header = 12, .depth = 4},
    {.name = "core-8", .header = 12, .depth = 8}, {.name = "core-24", .header = 12, .depth = 24},
    {.name = "565", .header = 40, .depth = 16, .compression = 3, .masks = {0xf800, 0x7e0, 0x1f}},
    {.name = "fields-52", .header = 52, .depth = 32, .compression = 3, .masks = {0xff000000, 0xff0000, 0xff00}},
    {.name = "fields-56", .header = 56, .depth = 16, .compression = 3, .masks = {0xf00, 0xf0, 0xf, 0xf000}},
    {.name = "fields-108", .header = 108, .depth = 32, .compression = 3, .masks = {0xff0000, 0xff00, 0xff, 0xff000000}},
    {.name = "fields-124", .header = 124, .depth = 32, .compression = 3, .masks = {0x3ff00000, 0xffc00, 0x3ff, 0xc0000000}},
    {.name = "alpha-fields", .header = 40, .depth = 32, .compression = 6, .masks = {0xff, 0xff00, 0xff0000, 0xff000000}},
    {.name = "rle8", .header = 40, .depth = 8, .compression = 1}, {.name = "rle4", .header = 40, .depth = 4, .compression = 2},
    {.name = "rle8-108", .header = 108, .depth = 8, .compression = 1},
};

static uint32_t colours_of(const kind *kind)
{
    if (kind->depth > 8) return 0;
    return kind->has_few_colours ? 20 : 1u << kind->depth;
}

/* Colour `index` of the palette. */
static uint8_t palette(uint32_t index, unsigned channel) { return (uint8_t) sample_value(index * 3, 77, channel, 255); }

static uint32_t index_at(const kind *kind, uint32_t x, uint32_t y) { return sample_value(x, y, 0, colours_of(kind) - 1); }

/* The bits of a mask, and what is in them. */
static uint32_t most_of(uint32_t mask) { return mask ? mask >> __builtin_ctz(mask) : 0; }

static const uint32_t *masks_of(const kind *kind)
{
    static const uint32_t narrow[4] = {0x7c00, 0x3e0, 0x1f}, wide[4] = {0xff0000, 0xff00, 0xff};
    return kind->compression == 3 || kind->compression == 6 ? kind->masks : kind->depth == 16 ? narrow : wide;
}

static uint32_t pixel_at(const kind *kind, uint32_t x, uint32_t y)
{
    uint32_t pixel = 0;
    const uint32_t *masks = masks_of(kind);
    for (unsigned channel = 0; channel < 4; channel++)
        if (masks[channel]) pixel |= sample_value(x, y, channel, most_of(masks[channel])) << __builtin_ctz(masks[channel]);
    /* Bits without a meaning are not all 0. */
    return pixel | (kind->depth == 32 && !masks[3] && !kind->compression ? (x & 255) << 24 : 0);
}

static void put_plain(sample_file *file, const kind *kind, uint32_t width, uint32_t y)
{
    size_t start = file->count;
    uint32_t packed = 0, bits = 0;
    for (uint32_t x = 0; x < width; x++) {
        if (kind->depth > 8) {
            sample_put_number(file, pixel_at(kind, x, y), kind->depth / 8);
            continue;
        }
        packed = packed << kind->depth | index_at(kind, x, y);
        bits += kind->depth;
        if (bits == 8 || x + 1 == width) sample_put_number(file, packed << (8 - bits), 1);
        if (bits == 8) packed = bits = 0;
    }
    while ((file->count - start) % 4) sample_put_number(file, 0, 1);
}

/* Runs and literals in turn; on each third row, its second half is left out. */
static void put_packed(sample_file *file, const kind *kind, uint32_t width, uint32_t y, bool is_last)
{
    bool is_four = kind->depth == 4;
    uint32_t end = y % 3 == 2 ? width / 2 : width;
    for (uint32_t x = 0; x < end;) {
        uint32_t first = index_at(kind, x, y), run = 1;
        while (x + run < end && run < 255 && index_at(kind, x + run, y) == first) run++;
        uint32_t left = end - x < 9 ? end - x : 9;
        if (x % 2 == 0 || left < 3) {
            sample_put_number(file, run, 1);
            sample_put_number(file, is_four ? first << 4 | first : first, 1);
            x += run;
            continue;
        }
        sample_put_number(file, 0, 1);
        sample_put_number(file, left, 1);
        size_t start = file->count;
        for (uint32_t step = 0; step < left; step += is_four ? 2 : 1) {
            uint32_t value = index_at(kind, x + step, y);
            if (is_four) value = value << 4 | (step + 1 < left ? index_at(kind, x + step + 1, y) : 0);
            sample_put_number(file, value, 1);
        }
        if ((file->count - start) % 2) sample_put_number(file, 0, 1);
        x += left;
    }
    if (end < width && width - end <= 255) {
        sample_put(file, "\0\2", 2);
        sample_put_number(file, width - end, 2);
    }
    sample_put(file, is_last ? "\0\1" : "\0\0", 2);
}

static void put_header(sample_file *file, const kind *kind, uint32_t width, uint32_t height, uint32_t pixels)
{
    sample_put(file, "BM", 2);
    sample_put_number(file, 0, 4);
    sample_put_number(file, 0, 4);
    sample_put_number(file, pixels, 4);
    sample_put_number(file, kind->header, 4);
    unsigned size = kind->header == 12 ? 2 : 4;
    sample_put_number(file, width, size);
    sample_put_number(file, kind->is_top_down ? -height : height, size);
    sample_put_number(file, 1, 2);
    sample_put_number(file, kind->depth, 2);
    if (kind->header == 12) return;
    sample_put_number(file, kind->compression, 4);
    sample_put_number(file, 0, 4);
    sample_put_number(file, 2835, 4);
    sample_put_number(file, 2835, 4);
    sample_put_number(file, kind->has_few_colours ? 20 : 0, 4);
    sample_put_number(file, 0, 4);
    unsigned masks = kind->header >= 56 || kind->compression == 6 ? 4 : kind->compression == 3 || kind->header == 52 ? 3 : 0;
    for (unsigned mask = 0; mask < masks; mask++) sample_put_number(file, kind->masks[mask], 4);
    while (file->count < 14 + kind->header) sample_put_number(file, 0, 1);
}

static void put_palette(sample_file *file, const kind *kind)
{
    for (uint32_t index = 0; index < colours_of(kind); index++) {
        for (unsigned channel = 3; channel-- > 0;) sample_put_number(file, palette(index, channel), 1);
        if (kind->header > 12) sample_put_number(file, 0, 1);
    }
}

static uint8_t expected(const kind *kind, uint32_t width, uint32_t x, uint32_t row, unsigned channel)
{
    if (kind->depth <= 8) {
        bool is_left_out = (kind->compression == 1 || kind->compression == 2) && row % 3 == 2 && x >= width / 2;
        return palette(is_left_out ? 0 : index_at(kind, x, row), channel);
    }
    uint32_t most = most_of(masks_of(kind)[channel]);
    return (uint8_t) ((sample_value(x, row, channel, most) * 255 + most / 2) / most);
}

static void make(const kind *kind, uint32_t width, uint32_t height)
{
    sample_file file = {0};
    /* Once for the place of the pixels, then with it. */
    for (uint32_t turn = 0, pixels = 0; turn < 2; turn++) {
        pixels = (uint32_t) file.count;
        file.count = 0;
        put_header(&file, kind, width, height, pixels);
        put_palette(&file, kind);
    }
    for (uint32_t row = 0; row < height; row++) {
        if (kind->compression == 1 || kind->compression == 2) put_packed(&file, kind, width, row, row + 1 == height);
        else put_plain(&file, kind, width, row);
    }
    sample_picture picture = sample_of(width, height, DARKROOM_CODEC_RGB, kind->depth > 8 && masks_of(kind)[3] != 0, 8);
    uint8_t *rows = sample_allocate(codec_row_bytes(&picture.header), height), *to = rows;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (unsigned channel = 0; channel < picture.header.channels; channel++)
                *to++ = expected(kind, width, x, kind->is_top_down ? y : height - 1 - y, channel);
    picture.pixels = rows;
    sample_say(kind->name, file.bytes, file.count, &picture);
    free(rows);
    free(file.bytes);
}

void samples_make(uint32_t width, uint32_t height)
{
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) make(&kinds[index], width, height);
}
