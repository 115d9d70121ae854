#include <string.h>

#include "picture.h"

/* Strips with interleaved samples: row by row. */
static void say_lines(picture *picture, uint8_t *row)
{
    uint8_t *line = codec_allocate(picture->call, (size_t) TIFFScanlineSize(picture->tiff), 1);
    const uint8_t *const planes[1] = {line};
    for (uint32_t y = 0; y < picture->height; y++) {
        picture_check(picture, TIFFReadScanline(picture->tiff, line, y, 0) >= 0, y, 1);
        picture_say(picture, planes, row);
    }
}

static unsigned plane_count(const picture *picture)
{
    bool has_alpha = picture->header.channels > picture->header.colour;
    return picture->planar == PLANARCONFIG_CONTIG ? 1u : picture->colours + (has_alpha ? 1u : 0u);
}

/* Strips with a plane for each sample: the strips of all planes at once. */
static void say_strips(picture *picture, uint8_t *row)
{
    uint32_t lines = 0;
    TIFFGetFieldDefaulted(picture->tiff, TIFFTAG_ROWSPERSTRIP, &lines);
    if (lines == 0) codec_fail(picture->call, DARKROOM_CODEC_DAMAGED, "the TIFF file's strips have no rows");
    if (lines > picture->height) lines = picture->height;
    size_t line = (size_t) TIFFScanlineSize(picture->tiff);
    uint8_t *strips[5];
    unsigned count = plane_count(picture);
    for (unsigned plane = 0; plane < count; plane++) strips[plane] = codec_allocate(picture->call, line, lines);
    for (uint32_t top = 0; top < picture->height; top += lines) {
        uint32_t some = picture->height - top < lines ? picture->height - top : lines;
        for (unsigned plane = 0; plane < count; plane++) {
            uint32_t strip = TIFFComputeStrip(picture->tiff, top, (uint16_t) plane);
            tmsize_t bytes = (tmsize_t) (line * some);
            picture_check(picture, TIFFReadEncodedStrip(picture->tiff, strip, strips[plane], bytes) >= 0, top, some);
        }
        for (uint32_t y = 0; y < some; y++) {
            const uint8_t *planes[5];
            for (unsigned plane = 0; plane < count; plane++) planes[plane] = strips[plane] + line * y;
            picture_say(picture, planes, row);
        }
    }
}

/* Tiles: a row of tiles at once, put beside each other. */
static void say_tiles(picture *picture, uint8_t *row)
{
    uint32_t width = 0, height = 0;
    TIFFGetField(picture->tiff, TIFFTAG_TILEWIDTH, &width);
    TIFFGetField(picture->tiff, TIFFTAG_TILELENGTH, &height);
    unsigned count = plane_count(picture);
    unsigned samples = picture->planar == PLANARCONFIG_CONTIG ? picture->samples : 1;
    size_t tile_line = (size_t) TIFFTileRowSize(picture->tiff);
    if (width == 0 || height == 0 || (size_t) width * samples * picture->bits % 8 != 0)
        codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED, "the TIFF file has tiles of %u x %u pixels, which are not read",
            width, height);
    uint32_t across = picture->width / width + (picture->width % width ? 1 : 0);
    size_t line = tile_line * across;
    if (height > picture->height) height = picture->height;
    uint8_t *tile = codec_allocate(picture->call, (size_t) TIFFTileSize(picture->tiff), 1);
    uint8_t *bands[5];
    for (unsigned plane = 0; plane < count; plane++) bands[plane] = codec_allocate(picture->call, line, height);
    for (uint32_t top = 0; top < picture->height; top += height) {
        uint32_t some = picture->height - top < height ? picture->height - top : height;
        for (unsigned plane = 0; plane < count; plane++)
            for (uint32_t column = 0; column < across; column++) {
                bool is_read = TIFFReadTile(picture->tiff, tile, column * width, top, 0, (uint16_t) plane) >= 0;
                picture_check(picture, is_read, top, some);
                for (uint32_t y = 0; y < some; y++)
                    memcpy(bands[plane] + line * y + tile_line * column, tile + tile_line * y, tile_line);
            }
        for (uint32_t y = 0; y < some; y++) {
            const uint8_t *planes[5];
            for (unsigned plane = 0; plane < count; plane++) planes[plane] = bands[plane] + line * y;
            picture_say(picture, planes, row);
        }
    }
}

/* libtiff converts the whole picture into red, green, blue and associated alpha. */
static void say_converted(picture *picture, uint8_t *row)
{
    char words[1024] = "";
    TIFFRGBAImage image;
    if (!TIFFRGBAImageBegin(&image, picture->tiff, 1, words))
        codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED, "libtiff: %s", words);
    /* The rows as in the file. */
    image.req_orientation = image.orientation;
    uint32_t *pixels = codec_allocate(picture->call, (size_t) picture->width * picture->height, sizeof *pixels);
    picture_check(picture, TIFFRGBAImageGet(&image, pixels, picture->width, picture->height), 0, picture->height);
    for (uint32_t y = 0; y < picture->height; y++) {
        const uint32_t *from = pixels + (size_t) picture->width * y;
        for (uint32_t x = 0; x < picture->width; x++) {
            row[x * 3] = (uint8_t) TIFFGetR(from[x]);
            row[x * 3 + 1] = (uint8_t) TIFFGetG(from[x]);
            row[x * 3 + 2] = (uint8_t) TIFFGetB(from[x]);
        }
        codec_rows(picture->call, row, codec_row_bytes(&picture->header), 1);
    }
}

/* What a decoder of libtiff needs: LZMA the largest dictionary of its presets, Zstandard its usual window. */
static uint64_t decoder_memory(uint16_t compression)
{
    return (compression == COMPRESSION_LZMA ? UINT64_C(68) : compression == COMPRESSION_ZSTD ? 16 : 4) << 20;
}

/* What the ways to the rows allocate, what libtiff does for a strip or tile, and its decoders. */
static uint64_t memory(const picture *picture)
{
    uint64_t pixels = (uint64_t) picture->width * picture->height, row = codec_row_bytes(&picture->header);
    uint64_t line = (uint64_t) TIFFScanlineSize64(picture->tiff), rest = row + line + decoder_memory(picture->compression);
    if (TIFFIsTiled(picture->tiff)) {
        uint32_t width = 1, height = 0;
        TIFFGetField(picture->tiff, TIFFTAG_TILEWIDTH, &width);
        TIFFGetField(picture->tiff, TIFFTAG_TILELENGTH, &height);
        if (height > picture->height) height = picture->height;
        uint64_t tile = (uint64_t) TIFFTileSize64(picture->tiff);
        if (picture->is_converted) return pixels * 4 + tile * 6 + rest;
        uint64_t across = picture->width / (width ? width : 1) + 1;
        return (uint64_t) TIFFTileRowSize64(picture->tiff) * across * height * plane_count(picture) + tile * 3 + rest;
    }
    uint64_t strip = (uint64_t) TIFFStripSize64(picture->tiff), all = line * picture->height;
    if (strip > all) strip = all;
    if (picture->is_converted) return pixels * 4 + strip * 2 + rest;
    return strip * plane_count(picture) + strip + rest;
}

void tiff_decode(darkroom_codec_call *call)
{
    size_t count;
    tiff_file from = {.call = call, .bytes = codec_source(call, &count)};
    from.count = count;
    /* An empty file has no bytes. */
    if (count == 0) codec_fail(call, DARKROOM_CODEC_TRUNCATED, "the TIFF file is empty");
    picture picture = {.call = call, .file = &from, .tiff = tiff_open(&from, "r")};
    if (!picture.tiff) picture_fail(&picture);
    picture_read_tags(&picture);
    darkroom_codec_header *header = &picture.header;
    header->memory = memory(&picture);
    codec_begin(call, *header, picture_metadata(&picture));
    uint8_t *row = codec_allocate(call, codec_row_bytes(header), 1);
    picture_begin_rows();
    if (picture.is_converted) say_converted(&picture, row);
    else if (TIFFIsTiled(picture.tiff)) say_tiles(&picture, row);
    else if (plane_count(&picture) > 1) say_strips(&picture, row);
    else say_lines(&picture, row);
}
