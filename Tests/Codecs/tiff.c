#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#include "samples.h"

const bool samples_leave_nothing = true;
const darkroom_codec_options sample_options[] = {{.compression = 0}, {.compression = 1, .effort = 3}, {.compression = 2}};
const size_t sample_options_count = sizeof sample_options / sizeof *sample_options;

/* 0 and NULL are what a plain file has: no compression, one plane, orientation 1, this machine's byte order. */
typedef struct {
    const char *name;
    uint16_t photometric, bits, samples, compression, extra, planar, orientation;
    bool is_tiled;
    const char *mode;
    unsigned tolerance;
    uint16_t fill_order, predictor;
    /* Smooth, for what loses. */
    bool is_smooth;
} kind;

static const kind kinds[] = {
    {.name = "gray-1", .photometric = 1, .bits = 1, .samples = 1},
    {.name = "white-1", .photometric = 0, .bits = 1, .samples = 1},
    {.name = "gray-2", .photometric = 1, .bits = 2, .samples = 1, .mode = "wb"},
    {.name = "gray-4", .photometric = 1, .bits = 4, .samples = 1},
    {.name = "gray-6", .photometric = 1, .bits = 6, .samples = 1},
    {.name = "white-8", .photometric = 0, .bits = 8, .samples = 1},
    {.name = "gray-8", .photometric = 1, .bits = 8, .samples = 1, .compression = COMPRESSION_LZW, .orientation = 3},
    {.name = "gray-12", .photometric = 1, .bits = 12, .samples = 1},
    {.name = "gray-16", .photometric = 1, .bits = 16, .samples = 1, .mode = "wb"},
    {.name = "white-16", .photometric = 0, .bits = 16, .samples = 1, .compression = COMPRESSION_ADOBE_DEFLATE, .predictor = 2},
    {.name = "gray-8-alpha", .photometric = 1, .bits = 8, .samples = 2, .extra = EXTRASAMPLE_UNASSALPHA, .compression = COMPRESSION_PACKBITS},
    {.name = "fax-3", .photometric = 0, .bits = 1, .samples = 1, .compression = COMPRESSION_CCITTFAX3},
    {.name = "fax-4", .photometric = 0, .bits = 1, .samples = 1, .compression = COMPRESSION_CCITTFAX4, .orientation = 6},
    {.name = "fax-4-gray", .photometric = 1, .bits = 1, .samples = 1, .compression = COMPRESSION_CCITTFAX4, .fill_order = 2},
    {.name = "palette-1", .photometric = 3, .bits = 1, .samples = 1},
    {.name = "palette-4", .photometric = 3, .bits = 4, .samples = 1},
    {.name = "palette-8", .photometric = 3, .bits = 8, .samples = 1, .compression = COMPRESSION_LZW, .mode = "wb"},
    {.name = "palette-8-tiles", .photometric = 3, .bits = 8, .samples = 1, .is_tiled = true},
    {.name = "rgb-8", .photometric = 2, .bits = 8, .samples = 3},
    {.name = "rgb-8-lzw", .photometric = 2, .bits = 8, .samples = 3, .compression = COMPRESSION_LZW, .predictor = 2},
    {.name = "rgb-4", .photometric = 2, .bits = 4, .samples = 3},
    {.name = "rgb-16", .photometric = 2, .bits = 16, .samples = 3, .compression = COMPRESSION_ADOBE_DEFLATE},
    {.name = "rgb-16-big", .photometric = 2, .bits = 16, .samples = 3, .mode = "wb8", .orientation = 8},
    {.name = "rgb-planes", .photometric = 2, .bits = 8, .samples = 3, .planar = 2, .compression = COMPRESSION_PACKBITS},
    {.name = "rgb-16-planes", .photometric = 2, .bits = 16, .samples = 3, .planar = 2, .compression = COMPRESSION_LZW, .mode = "wb"},
    {.name = "rgb-tiles", .photometric = 2, .bits = 8, .samples = 3, .is_tiled = true, .compression = COMPRESSION_ADOBE_DEFLATE, .predictor = 2},
    {.name = "rgb-tiles-planes", .photometric = 2, .bits = 8, .samples = 3, .is_tiled = true, .planar = 2, .compression = COMPRESSION_LZW},
    {.name = "gray-1-tiles", .photometric = 1, .bits = 1, .samples = 1, .is_tiled = true},
    {.name = "rgba-8", .photometric = 2, .bits = 8, .samples = 4, .extra = EXTRASAMPLE_UNASSALPHA, .compression = COMPRESSION_LZW},
    {.name = "rgba-16-planes", .photometric = 2, .bits = 16, .samples = 4, .extra = EXTRASAMPLE_UNASSALPHA, .planar = 2},
    {.name = "rgba-8-associated", .photometric = 2, .bits = 8, .samples = 4, .extra = EXTRASAMPLE_ASSOCALPHA},
    {.name = "rgba-16-associated", .photometric = 2, .bits = 16, .samples = 4, .extra = EXTRASAMPLE_ASSOCALPHA, .is_tiled = true},
    {.name = "rgb-8-extra", .photometric = 2, .bits = 8, .samples = 4, .extra = EXTRASAMPLE_UNSPECIFIED},
    {.name = "cmyk-8", .photometric = 5, .bits = 8, .samples = 4, .compression = COMPRESSION_LZW},
    {.name = "cmyk-16-planes", .photometric = 5, .bits = 16, .samples = 4, .planar = 2},
    {.name = "cmyk-8-alpha", .photometric = 5, .bits = 8, .samples = 5, .extra = EXTRASAMPLE_UNASSALPHA},
    {.name = "zstd", .photometric = 2, .bits = 8, .samples = 3, .compression = COMPRESSION_ZSTD},
    {.name = "lzma", .photometric = 2, .bits = 8, .samples = 3, .compression = COMPRESSION_LZMA},
    {.name = "jpeg-gray", .photometric = 1, .bits = 8, .samples = 1, .compression = COMPRESSION_JPEG, .tolerance = 12, .is_smooth = true},
    {.name = "jpeg-rgb", .photometric = 2, .bits = 8, .samples = 3, .compression = COMPRESSION_JPEG, .tolerance = 12, .is_smooth = true},
    {.name = "jpeg-ycc", .photometric = 6, .bits = 8, .samples = 3, .compression = COMPRESSION_JPEG, .tolerance = 40, .is_smooth = true},
    {.name = "jpeg-ycc-tiles", .photometric = 6, .bits = 8, .samples = 3, .compression = COMPRESSION_JPEG, .tolerance = 40, .is_smooth = true, .is_tiled = true},
};

/* ---- Files in memory ---- */

typedef struct {
    sample_file file;
    size_t place;
} sink;

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t count)
{
    sink *sink = handle;
    size_t left = sink->place < sink->file.count ? sink->file.count - sink->place : 0, some = (size_t) count < left ? (size_t) count : left;
    memcpy(to, sink->file.bytes + sink->place, some);
    sink->place += some;
    return (tmsize_t) some;
}

static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t count)
{
    sink *sink = handle;
    while (sink->file.count < sink->place + (size_t) count) sample_put(&sink->file, "", 1);
    memcpy(sink->file.bytes + sink->place, from, (size_t) count);
    sink->place += (size_t) count;
    return count;
}

static toff_t seek(thandle_t handle, toff_t offset, int from)
{
    sink *sink = handle;
    size_t start = from == SEEK_CUR ? sink->place : from == SEEK_END ? sink->file.count : 0;
    return sink->place = start + (size_t) offset;
}

static int close_file(thandle_t handle) { return handle == NULL; }

static toff_t size(thandle_t handle) { return ((sink *) handle)->file.count; }

/* ---- Samples ---- */

static uint16_t colours_of(const kind *kind) { return kind->photometric == 5 ? 4 : kind->photometric == 2 || kind->photometric == 6 ? 3 : 1; }

static bool has_alpha(const kind *kind)
{
    return kind->samples > colours_of(kind) && kind->extra != EXTRASAMPLE_UNSPECIFIED;
}

static uint32_t stored(const kind *kind, uint32_t x, uint32_t y, unsigned channel)
{
    uint32_t most = (1u << kind->bits) - 1;
    uint32_t value = kind->is_smooth ? sample_smooth(x, y, channel) : sample_value(x, y, channel, most);
    if (kind->extra != EXTRASAMPLE_ASSOCALPHA || channel + 1u == kind->samples) return value;
    /* Not more than the alpha. */
    return (uint32_t) ((uint64_t) value * stored(kind, x, y, kind->samples - 1) / most);
}

/* Packs `count` pixels of a row, from `x` on, of all channels or of one. Pixels right of the picture repeat the last one. */
static void pack(const kind *kind, uint8_t *to, uint32_t x, uint32_t y, uint32_t count, uint32_t width, int plane)
{
    unsigned first = plane < 0 ? 0 : (unsigned) plane, end = plane < 0 ? kind->samples : first + 1;
    size_t bit = 0;
    for (uint32_t step = 0; step < count; step++)
        for (unsigned channel = first; channel < end; channel++, bit += kind->bits) {
            uint32_t value = stored(kind, x + step < width ? x + step : width - 1, y, channel);
            uint16_t wide = (uint16_t) value;
            if (kind->bits == 16) memcpy(to + bit / 8, &wide, 2);
            else
                for (unsigned place = 0; place < kind->bits; place++)
                    if (value >> (kind->bits - 1 - place) & 1) to[(bit + place) / 8] |= (uint8_t) (128 >> (bit + place) % 8);
        }
}

static uint16_t palette(uint32_t index, unsigned channel) { return (uint16_t) (sample_value(index * 3, 9, channel, 255) * 257); }

static void set_tags(TIFF *tiff, const kind *kind, uint32_t width, uint32_t height)
{
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, kind->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind->samples);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, kind->planar ? kind->planar : PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind->compression ? kind->compression : COMPRESSION_NONE);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind->photometric);
    if (kind->orientation) TIFFSetField(tiff, TIFFTAG_ORIENTATION, kind->orientation);
    if (kind->fill_order) TIFFSetField(tiff, TIFFTAG_FILLORDER, kind->fill_order);
    if (kind->predictor) TIFFSetField(tiff, TIFFTAG_PREDICTOR, kind->predictor);
    if (kind->samples > colours_of(kind)) TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &kind->extra);
    if (kind->photometric == PHOTOMETRIC_PALETTE) {
        static uint16_t colours[3][256];
        for (unsigned channel = 0; channel < 3; channel++)
            for (uint32_t index = 0; index < 1u << kind->bits; index++) colours[channel][index] = palette(index, channel);
        TIFFSetField(tiff, TIFFTAG_COLORMAP, colours[0], colours[1], colours[2]);
    }
    if (kind->compression == COMPRESSION_JPEG) TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, 95);
    if (kind->photometric == PHOTOMETRIC_YCBCR) TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    if (kind->is_tiled) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 32);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
    } else TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, height > 64 ? 64 : height > 16 ? 16 : height);
}

static void put_tiles(TIFF *tiff, const kind *kind, uint32_t width, uint32_t height, int plane)
{
    size_t bytes = (size_t) TIFFTileSize(tiff), line = (size_t) TIFFTileRowSize(tiff);
    for (uint32_t y = 0; y < height; y += 16)
        for (uint32_t x = 0; x < width; x += 32) {
            uint8_t *tile = sample_allocate(bytes, 1);
            for (uint32_t row = 0; row < 16; row++)
                pack(kind, tile + line * row, x, y + row < height ? y + row : height - 1, 32, width, plane);
            inside_require(TIFFWriteTile(tiff, tile, x, y, 0, (uint16_t) (plane < 0 ? 0 : plane)) >= 0, "libtiff writes a tile");
            free(tile);
        }
}

static void put_lines(TIFF *tiff, const kind *kind, uint32_t width, uint32_t height, int plane)
{
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *line = sample_allocate((size_t) TIFFScanlineSize(tiff), 1);
        pack(kind, line, 0, y, width, width, plane);
        inside_require(TIFFWriteScanline(tiff, line, y, (uint16_t) (plane < 0 ? 0 : plane)) >= 0, "libtiff writes a row");
        free(line);
    }
}

/* What a reader must find: 8 or 16 bits, no palette, black is 0, alpha is straight. */
static uint32_t expected(const kind *kind, uint32_t x, uint32_t y, unsigned channel, unsigned colours)
{
    if (kind->photometric == PHOTOMETRIC_PALETTE) return palette(stored(kind, x, y, 0), channel) >> 8;
    uint32_t most_in = (1u << kind->bits) - 1, most = kind->bits > 8 ? 65535 : 255;
    uint64_t value = stored(kind, x, y, channel);
    value = (value * most + most_in / 2) / most_in;
    if (kind->photometric == PHOTOMETRIC_MINISWHITE) return most - (uint32_t) value;
    if (kind->extra != EXTRASAMPLE_ASSOCALPHA || channel == colours) return (uint32_t) value;
    uint64_t alpha = stored(kind, x, y, colours);
    uint64_t straight = alpha ? (value * most + alpha / 2) / alpha : 0;
    return (uint32_t) (straight > most ? most : straight);
}

/* The file cut off in the middle, and with other bytes in the middle of the data, which libtiff writes before the tags. Only
 * what contradicts itself can be noticed: codes that do not exist, and rows of another length. */
static void say_damaged(const kind *kind, const sample_file *file, sample_picture picture)
{
    static const uint8_t bytes[][12] = {{0}, {255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0}};
    bool is_noticed = kind->compression == COMPRESSION_CCITTFAX3 || kind->compression == COMPRESSION_CCITTFAX4
        || kind->compression == COMPRESSION_JPEG;
    if (!is_noticed || file->count < 4096) return;
    char name[100];
    snprintf(name, sizeof name, "%s-cut", kind->name);
    picture.failure = DARKROOM_CODEC_TRUNCATED;
    sample_say(name, file->bytes, file->count / 2, &picture);
    uint8_t *damaged = sample_allocate(file->count, 1);
    memcpy(damaged, file->bytes, file->count);
    memcpy(damaged + file->count / 3, bytes[kind->compression == COMPRESSION_JPEG], sizeof bytes[0]);
    snprintf(name, sizeof name, "%s-damaged", kind->name);
    picture.failure = DARKROOM_CODEC_DAMAGED;
    sample_say(name, damaged, file->count, &picture);
    free(damaged);
}

static void say(const kind *kind, const sample_file *file, uint32_t width, uint32_t height, uint32_t pages)
{
    darkroom_codec_colour colour = kind->photometric == 5 ? DARKROOM_CODEC_CMYK
        : kind->photometric <= 1 ? DARKROOM_CODEC_GRAY : DARKROOM_CODEC_RGB;
    sample_picture picture = sample_of(width, height, colour, has_alpha(kind), kind->bits > 8 ? 16 : 8);
    picture.header.orientation = kind->orientation ? kind->orientation : 1;
    picture.header.pages = picture.page = picture.header.page = pages;
    picture.tolerance = kind->tolerance;
    uint8_t *rows = sample_allocate(codec_row_bytes(&picture.header), height), *to = rows;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (unsigned channel = 0; channel < picture.header.channels; channel++, to += picture.header.depth / 8) {
                uint16_t value = (uint16_t) expected(kind, x, y, channel, colour);
                if (picture.header.depth == 16) memcpy(to, &value, 2);
                else *to = (uint8_t) value;
            }
    picture.pixels = rows;
    sample_say(kind->name, file->bytes, file->count, &picture);
    say_damaged(kind, file, picture);
    free(rows);
}

/* The last page of `pages` is the sample. */
static void make(const kind *kind, uint32_t width, uint32_t height, uint32_t pages)
{
    sink sink = {0};
    TIFF *tiff = TIFFClientOpen("a sample", kind->mode ? kind->mode : "w", &sink, read_bytes, write_bytes, seek, close_file, size, NULL, NULL);
    inside_require(tiff != NULL, "libtiff makes a sample");
    for (uint32_t page = 1; page <= pages; page++) {
        uint32_t w = page < pages ? 3 : width, h = page < pages ? 2 : height;
        set_tags(tiff, kind, w, h);
        for (int plane = kind->planar == 2 ? 0 : -1; plane < (kind->planar == 2 ? kind->samples : 0); plane++) {
            if (kind->is_tiled) put_tiles(tiff, kind, w, h, plane);
            else put_lines(tiff, kind, w, h, plane);
        }
        inside_require(TIFFWriteDirectory(tiff), "libtiff writes a directory");
    }
    TIFFClose(tiff);
    say(kind, &sink.file, width, height, pages);
    free(sink.file.bytes);
}

/* Colours of CIE L*a*b*, and what sRGB has for them, by the formulas of both standards and the matrix of Bradford. */
static void make_lab(uint16_t bits)
{
    static const int8_t colours[][2] = {{0, 0}, {-100, 0}, {100, 0}, {0, 0}, {0, 60}};
    static const uint8_t lightness[] = {255, 128, 128, 128, 200}, expected[][3] = {
        {255, 255, 255}, {0, 152, 117}, {255, 0, 125}, {119, 119, 119}, {218, 192, 76}};
    enum { COUNT = sizeof lightness };
    sink sink = {0};
    const kind kind = {.name = bits == 8 ? "lab-8" : "lab-16", .photometric = PHOTOMETRIC_CIELAB, .bits = bits, .samples = 3};
    TIFF *tiff = TIFFClientOpen("a sample", "w", &sink, read_bytes, write_bytes, seek, close_file, size, NULL, NULL);
    inside_require(tiff != NULL, "libtiff makes a sample");
    set_tags(tiff, &kind, COUNT, 1);
    uint8_t narrow[COUNT * 3];
    uint16_t wide[COUNT * 3];
    for (unsigned index = 0; index < COUNT * 3; index++) {
        int value = index % 3 == 0 ? lightness[index / 3] : colours[index / 3][index % 3 - 1];
        narrow[index] = (uint8_t) value;
        wide[index] = (uint16_t) (value * (index % 3 == 0 ? 257 : 256));
    }
    inside_require(TIFFWriteScanline(tiff, bits == 8 ? (void *) narrow : (void *) wide, 0, 0) >= 0, "libtiff writes a row");
    TIFFClose(tiff);
    sample_picture picture = sample_of(COUNT, 1, DARKROOM_CODEC_RGB, false, bits);
    for (unsigned index = 0; index < COUNT * 3; index++) wide[index] = expected[index / 3][index % 3] * 257;
    picture.pixels = bits == 8 ? expected[0] : (const uint8_t *) wide;
    picture.tolerance = 2;
    sample_say(kind.name, sink.file.bytes, sink.file.count, &picture);
    free(sink.file.bytes);
}

void samples_make(uint32_t width, uint32_t height)
{
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++)
        if (!kinds[index].compression || TIFFIsCODECConfigured(kinds[index].compression)) make(&kinds[index], width, height, 1);
    make_lab(8);
    make_lab(16);
    kind paged = kinds[6];
    paged.name = "pages";
    make(&paged, width, height, 3);
}
