#include <stdlib.h>
#include <string.h>

#include "tiff.h"

/* The picture as its tags say. */
typedef struct {
    darkroom_codec_call *call;
    TIFF *tiff;
    uint32_t width, height;
    uint16_t bits, samples, photometric, planar, compression;
    /* Samples of a pixel that are colours, and the kind of the next one. */
    uint16_t colours, alpha;
    uint16_t *palette[3];
    /* What a value of the palette is divided by. */
    uint16_t palette_divisor;
    /* Whether libtiff converts the pixels. */
    bool is_converted;
    darkroom_codec_header header;
} picture;

enum { NO_ALPHA = 0xffff };

_Noreturn static void fail(const picture *picture)
{
    bool is_short = strstr(tiff_words, "Read error") || strstr(tiff_words, "ot enough data")
        || strstr(tiff_words, "remature") || strstr(tiff_words, "past end") || strstr(tiff_words, "got 0 bytes");
    bool is_memory = strstr(tiff_words, "emory") != NULL;
    darkroom_codec_result result = is_memory ? DARKROOM_CODEC_MEMORY
        : is_short ? DARKROOM_CODEC_TRUNCATED : DARKROOM_CODEC_DAMAGED;
    codec_fail(picture->call, result, "libtiff: %s", tiff_words[0] ? tiff_words : "the file is damaged");
}

static uint32_t number(TIFF *tiff, uint32_t tag)
{
    uint16_t value = 0;
    TIFFGetFieldDefaulted(tiff, tag, &value);
    return value;
}

/* Goes to the page, and counts all. Smaller copies and masks are no pages. */
static void find_page(picture *picture)
{
    uint32_t wanted = codec_page(picture->call), count = 0;
    tdir_t found = 0;
    bool is_found = false;
    do {
        uint32_t kind = 0;
        TIFFGetField(picture->tiff, TIFFTAG_SUBFILETYPE, &kind);
        if (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) continue;
        count++;
        if (count != wanted) continue;
        found = TIFFCurrentDirectory(picture->tiff);
        is_found = true;
    } while (TIFFReadDirectory(picture->tiff));
    /* A file whose only picture says it is a smaller copy has that one. */
    if (count == 0) {
        count = 1;
        is_found = wanted == 1;
    }
    if (!is_found)
        codec_fail(picture->call, DARKROOM_CODEC_NO_PAGE, "the file has %u %s, and no page %u", count,
            count == 1 ? "page" : "pages", wanted);
    if (!TIFFSetDirectory(picture->tiff, found)) fail(picture);
    picture->header.page = wanted;
    picture->header.pages = count;
}

static void refuse(const picture *picture, const char *what, unsigned value)
{
    codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED, "the TIFF file has %s %u, which is not read", what, value);
}

/* Raw files of cameras look like TIFF: DNG has a version, others have a small copy of the picture first and the sensor's
 * data beneath it. */
static void refuse_raw(picture *picture)
{
    uint8_t *version = NULL;
    uint16_t count = 0;
    uint64_t *beneath = NULL;
    uint32_t kind = 0;
    const char *maker = NULL;
    bool is_raw = TIFFGetField(picture->tiff, TIFFTAG_DNGVERSION, &version) != 0;
    TIFFGetField(picture->tiff, TIFFTAG_SUBFILETYPE, &kind);
    if (TIFFGetField(picture->tiff, TIFFTAG_MAKE, &maker) && kind & FILETYPE_REDUCEDIMAGE)
        is_raw |= TIFFGetField(picture->tiff, TIFFTAG_SUBIFD, &count, &beneath) && count > 0;
    if (is_raw)
        codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED,
            "this is a raw file of a camera, which is not read; develop it to TIFF or JPEG, for example with darktable-cli");
}

static void read_tags(picture *picture)
{
    TIFF *tiff = picture->tiff;
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &picture->width)
        || !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &picture->height))
        codec_fail(picture->call, DARKROOM_CODEC_DAMAGED, "the TIFF file does not say how large its picture is");
    picture->bits = (uint16_t) number(tiff, TIFFTAG_BITSPERSAMPLE);
    picture->samples = (uint16_t) number(tiff, TIFFTAG_SAMPLESPERPIXEL);
    picture->planar = (uint16_t) number(tiff, TIFFTAG_PLANARCONFIG);
    picture->compression = (uint16_t) number(tiff, TIFFTAG_COMPRESSION);
    uint16_t photometric;
    /* A file without it is gray or, with three samples, coloured. */
    picture->photometric = TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric) ? photometric
        : picture->samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    uint32_t format = number(tiff, TIFFTAG_SAMPLEFORMAT);
    if (format == SAMPLEFORMAT_IEEEFP || format == SAMPLEFORMAT_COMPLEXIEEEFP)
        codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED, "the TIFF file has floating-point samples, which are not read");
    if (format == SAMPLEFORMAT_INT || format == SAMPLEFORMAT_COMPLEXINT)
        codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED, "the TIFF file has signed samples, which are not read");
    if (picture->bits == 0 || picture->bits > 16) refuse(picture, "bits per sample:", picture->bits);
    if (!TIFFIsCODECConfigured(picture->compression)) refuse(picture, "the compression", picture->compression);
}

static void read_palette(picture *picture)
{
    uint16_t **palette = picture->palette;
    if (picture->bits > 8 || !TIFFGetField(picture->tiff, TIFFTAG_COLORMAP, &palette[0], &palette[1], &palette[2]))
        codec_fail(picture->call, DARKROOM_CODEC_DAMAGED, "the TIFF file has no colours for its numbers");
    /* Some writers give colours of 8 bits. */
    picture->palette_divisor = 1;
    for (unsigned index = 0; index < 1u << picture->bits; index++)
        for (unsigned channel = 0; channel < 3; channel++)
            if (palette[channel][index] > 255) picture->palette_divisor = 256;
}

static void read_alpha(picture *picture)
{
    uint16_t count = 0, *kinds = NULL;
    picture->alpha = NO_ALPHA;
    if (picture->samples <= picture->colours) return;
    bool is_told = TIFFGetField(picture->tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) && count > 0;
    /* Some writers do not say what a fourth sample is. */
    if (!is_told && picture->photometric == PHOTOMETRIC_RGB && picture->samples == 4) picture->alpha = EXTRASAMPLE_UNASSALPHA;
    if (!is_told) return;
    if (kinds[0] == EXTRASAMPLE_ASSOCALPHA || kinds[0] == EXTRASAMPLE_UNASSALPHA) picture->alpha = kinds[0];
}

/* The colours of the rows, from the tags. */
static void choose_colours(picture *picture)
{
    darkroom_codec_header *header = &picture->header;
    header->colour = DARKROOM_CODEC_RGB;
    picture->colours = 3;
    switch (picture->photometric) {
        case PHOTOMETRIC_MINISWHITE:
        case PHOTOMETRIC_MINISBLACK:
            header->colour = DARKROOM_CODEC_GRAY;
            picture->colours = 1;
            break;
        case PHOTOMETRIC_PALETTE:
            picture->colours = 1;
            read_palette(picture);
            break;
        case PHOTOMETRIC_RGB: break;
        case PHOTOMETRIC_SEPARATED:
            if (number(picture->tiff, TIFFTAG_INKSET) != INKSET_CMYK)
                codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED, "the TIFF file has inks other than CMYK");
            header->colour = DARKROOM_CODEC_CMYK;
            picture->colours = 4;
            break;
        case PHOTOMETRIC_YCBCR:
            if (picture->compression == COMPRESSION_JPEG && picture->planar == PLANARCONFIG_CONTIG)
                TIFFSetField(picture->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
            else picture->is_converted = true;
            break;
        case PHOTOMETRIC_CIELAB:
        case PHOTOMETRIC_ICCLAB:
            /* libtiff's own conversion leaves white yellow: it does not adapt D50 to the white of sRGB. */
            if ((picture->bits == 8 || picture->bits == 16) && picture->samples >= 3) lab_prepare();
            else picture->is_converted = true;
            break;
        case PHOTOMETRIC_ITULAB: picture->is_converted = true; break;
        default: refuse(picture, "the photometric interpretation", picture->photometric);
    }
    if (picture->compression == COMPRESSION_OJPEG) picture->is_converted = true;
    if (picture->is_converted) {
        char words[1024] = "";
        if (!TIFFRGBAImageOK(picture->tiff, words))
            codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED, "libtiff: %s", words);
        header->colour = DARKROOM_CODEC_RGB;
    } else if (picture->samples < picture->colours) refuse(picture, "samples per pixel:", picture->samples);
    read_alpha(picture);
}

static void read_resolution(picture *picture)
{
    float x = 0, y = 0;
    double unit = number(picture->tiff, TIFFTAG_RESOLUTIONUNIT) == RESUNIT_CENTIMETER ? 100 : 1 / 0.0254;
    if (number(picture->tiff, TIFFTAG_RESOLUTIONUNIT) == RESUNIT_NONE) return;
    if (!TIFFGetField(picture->tiff, TIFFTAG_XRESOLUTION, &x) || !TIFFGetField(picture->tiff, TIFFTAG_YRESOLUTION, &y))
        return;
    double pixels_x = x * unit + 0.5, pixels_y = y * unit + 0.5;
    if (!(pixels_x >= 1 && pixels_x < UINT32_MAX && pixels_y >= 1 && pixels_y < UINT32_MAX)) return;
    picture->header.pixels_x = (uint32_t) pixels_x;
    picture->header.pixels_y = (uint32_t) pixels_y;
}

static codec_blob blob(TIFF *tiff, uint32_t tag)
{
    uint32_t count = 0;
    void *bytes = NULL;
    if (!TIFFGetField(tiff, tag, &count, &bytes)) return (codec_blob) {NULL, 0};
    return (codec_blob) {bytes, count};
}

/* ---- Samples ---- */

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

/* Converts a row. Plane `p` of `stride` samples begins at `planes[p]`; an interleaved picture has one. */
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

static void say(const picture *picture, const uint8_t *const *planes, uint8_t *row)
{
    bool is_ready = is_plain(picture);
    if (!is_ready) convert(picture, planes, row);
    codec_rows(picture->call, is_ready ? planes[0] : row, codec_row_bytes(&picture->header), 1);
}

/* ---- Ways to the rows ---- */

/* Strips with interleaved samples: row by row. */
static void say_lines(picture *picture, uint8_t *row)
{
    uint8_t *line = codec_allocate(picture->call, (size_t) TIFFScanlineSize(picture->tiff), 1);
    const uint8_t *const planes[1] = {line};
    for (uint32_t y = 0; y < picture->height; y++) {
        if (TIFFReadScanline(picture->tiff, line, y, 0) < 0) fail(picture);
        say(picture, planes, row);
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
            if (TIFFReadEncodedStrip(picture->tiff, strip, strips[plane], (tmsize_t) (line * some)) < 0) fail(picture);
        }
        for (uint32_t y = 0; y < some; y++) {
            const uint8_t *planes[5];
            for (unsigned plane = 0; plane < count; plane++) planes[plane] = strips[plane] + line * y;
            say(picture, planes, row);
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
                if (TIFFReadTile(picture->tiff, tile, column * width, top, 0, (uint16_t) plane) < 0) fail(picture);
                for (uint32_t y = 0; y < some; y++)
                    memcpy(bands[plane] + line * y + tile_line * column, tile + tile_line * y, tile_line);
            }
        for (uint32_t y = 0; y < some; y++) {
            const uint8_t *planes[5];
            for (unsigned plane = 0; plane < count; plane++) planes[plane] = bands[plane] + line * y;
            say(picture, planes, row);
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
    if (!TIFFRGBAImageGet(&image, pixels, picture->width, picture->height)) fail(picture);
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
    picture picture = {.call = call, .tiff = tiff_open(&from, "r")};
    if (!picture.tiff) fail(&picture);
    find_page(&picture);
    refuse_raw(&picture);
    read_tags(&picture);
    choose_colours(&picture);
    darkroom_codec_header *header = &picture.header;
    header->width = picture.width;
    header->height = picture.height;
    header->channels = header->colour + (picture.alpha != NO_ALPHA && !picture.is_converted ? 1 : 0);
    header->depth = picture.bits > 8 && !picture.is_converted ? 16 : 8;
    header->source_depth = picture.bits;
    header->orientation = number(picture.tiff, TIFFTAG_ORIENTATION);
    if (header->orientation < 1 || header->orientation > 8) header->orientation = 1;
    for (unsigned index = 0; index < 3; index++) header->cicp[index] = 2;
    read_resolution(&picture);
    header->memory = memory(&picture);
    codec_metadata metadata = {
        .icc = blob(picture.tiff, TIFFTAG_ICCPROFILE), .xmp = blob(picture.tiff, TIFFTAG_XMLPACKET)};
    codec_begin(call, *header, metadata);
    uint8_t *row = codec_allocate(call, codec_row_bytes(header), 1);
    if (picture.is_converted) say_converted(&picture, row);
    else if (TIFFIsTiled(picture.tiff)) say_tiles(&picture, row);
    else if (plane_count(&picture) > 1) say_strips(&picture, row);
    else say_lines(&picture, row);
}
