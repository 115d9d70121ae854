#include <string.h>

#include "darkroom_codec.h"

/* BMP has no library in Debian that is worth its size: this is a reader of Windows' and OS/2's headers, 1 to 32 bits, RLE
 * and bit fields. Source: Microsoft, "Bitmap Storage" and BITMAPV5HEADER. */

typedef enum { PLAIN = 0, RLE8 = 1, RLE4 = 2, FIELDS = 3, ALPHA_FIELDS = 6 } compression;

/* The bits of one channel in a pixel. */
typedef struct {
    uint32_t mask;
    unsigned shift, bits;
} field;

typedef struct {
    const uint8_t *bytes;
    size_t count;
    uint32_t header_bytes, width, height, depth, compression, colours;
    bool is_top_down;
    size_t pixels; /* their place in the file */
    size_t palette;
    unsigned palette_entry;
    field fields[4]; /* red, green, blue, alpha */
} bitmap;

static uint32_t number(const bitmap *bitmap, size_t place, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned index = 0; index < bytes; index++) value |= (uint32_t) bitmap->bytes[place + index] << 8 * index;
    return value;
}

_Noreturn static void truncated(darkroom_codec_call *call)
{
    codec_fail(call, DARKROOM_CODEC_TRUNCATED, "the BMP file ends too early");
}

static field field_of(uint32_t mask)
{
    field field = {.mask = mask};
    if (mask == 0) return field;
    field.shift = (unsigned) __builtin_ctz(mask);
    field.bits = (unsigned) __builtin_popcount(mask);
    return field;
}

/* A channel's value with 8 bits. */
static uint8_t value_of(field field, uint32_t pixel)
{
    if (field.bits == 0) return 0;
    uint64_t most = (UINT64_C(1) << field.bits) - 1;
    return (uint8_t) (((uint64_t) ((pixel & field.mask) >> field.shift) * 255 + most / 2) / most);
}

static void read_fields(darkroom_codec_call *call, bitmap *bitmap)
{
    uint32_t masks[4] = {0};
    if (bitmap->depth == 16) masks[0] = 0x7c00, masks[1] = 0x3e0, masks[2] = 0x1f;
    else masks[0] = 0xff0000, masks[1] = 0xff00, masks[2] = 0xff;
    bool has_fields = bitmap->compression == FIELDS || bitmap->compression == ALPHA_FIELDS;
    if (has_fields) {
        /* They follow the first header of 40 bytes; later headers have them in the same place. */
        unsigned count = bitmap->header_bytes >= 56 || bitmap->compression == ALPHA_FIELDS ? 4 : 3;
        if (bitmap->count < 54 + 4 * count) truncated(call);
        for (unsigned index = 0; index < count; index++) masks[index] = number(bitmap, 54 + 4 * index, 4);
    }
    for (unsigned index = 0; index < 4; index++) {
        bitmap->fields[index] = field_of(masks[index]);
        uint32_t run = masks[index] >> bitmap->fields[index].shift;
        if (masks[index] && (run & (run + 1)) != 0)
            codec_fail(call, DARKROOM_CODEC_DAMAGED, "the BMP file's bit fields have gaps");
    }
    if (has_fields && !masks[0] && !masks[1] && !masks[2])
        codec_fail(call, DARKROOM_CODEC_DAMAGED, "the BMP file's bit fields are empty");
}

static void read_header(darkroom_codec_call *call, bitmap *bitmap)
{
    if (bitmap->count < 26) truncated(call);
    if (bitmap->bytes[0] != 'B' || bitmap->bytes[1] != 'M')
        codec_fail(call, DARKROOM_CODEC_DAMAGED, "the file does not begin as a BMP file does");
    bitmap->pixels = number(bitmap, 10, 4);
    bitmap->header_bytes = number(bitmap, 14, 4);
    bool is_core = bitmap->header_bytes == 12;
    if (!is_core && (bitmap->header_bytes < 40 || bitmap->header_bytes > 124))
        codec_fail(call, DARKROOM_CODEC_UNSUPPORTED, "the BMP file has a header of %u bytes, which is unknown",
            bitmap->header_bytes);
    if (bitmap->count < 14 + (size_t) bitmap->header_bytes) truncated(call);
    int32_t height;
    if (is_core) {
        bitmap->width = number(bitmap, 18, 2);
        height = (int32_t) number(bitmap, 20, 2);
        bitmap->depth = number(bitmap, 24, 2);
    } else {
        bitmap->width = number(bitmap, 18, 4);
        height = (int32_t) number(bitmap, 22, 4);
        bitmap->depth = number(bitmap, 28, 2);
        bitmap->compression = number(bitmap, 30, 4);
        bitmap->colours = number(bitmap, 46, 4);
    }
    bitmap->is_top_down = height < 0;
    bitmap->height = height < 0 ? -(uint32_t) height : (uint32_t) height;
    if (bitmap->width > INT32_MAX) codec_fail(call, DARKROOM_CODEC_DAMAGED, "the BMP file's width is negative");
    if (bitmap->compression == 4 || bitmap->compression == 5)
        codec_fail(call, DARKROOM_CODEC_UNSUPPORTED, "the BMP file has a %s inside; extract it first",
            bitmap->compression == 4 ? "JPEG" : "PNG");
    if (bitmap->compression > ALPHA_FIELDS)
        codec_fail(call, DARKROOM_CODEC_UNSUPPORTED, "the BMP file has the compression %u, which is unknown",
            bitmap->compression);
}

static bool fits(const bitmap *bitmap)
{
    uint32_t depth = bitmap->depth;
    switch (bitmap->compression) {
        case RLE8: return depth == 8;
        case RLE4: return depth == 4;
        case FIELDS:
        case ALPHA_FIELDS: return depth == 16 || depth == 32;
        default: return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16 || depth == 24 || depth == 32;
    }
}

static void read_palette(darkroom_codec_call *call, bitmap *bitmap)
{
    bitmap->palette = 14 + (size_t) bitmap->header_bytes;
    bitmap->palette_entry = bitmap->header_bytes == 12 ? 3 : 4;
    uint32_t most = 1u << bitmap->depth;
    if (bitmap->colours == 0 || bitmap->colours > most) bitmap->colours = most;
    /* Some writers say more colours than they write, and some that the pixels stand where the colours do. */
    size_t room = bitmap->pixels > bitmap->palette ? (bitmap->pixels - bitmap->palette) / bitmap->palette_entry : 0;
    if (room > 0 && bitmap->colours > room) bitmap->colours = (uint32_t) room;
    size_t end = bitmap->palette + (size_t) bitmap->colours * bitmap->palette_entry;
    if (end > bitmap->count) truncated(call);
    if (bitmap->pixels <= bitmap->palette) bitmap->pixels = end;
}

static void put_colour(const bitmap *bitmap, uint32_t index, uint8_t *to)
{
    /* A number without a colour is black. */
    if (index >= bitmap->colours) {
        to[0] = to[1] = to[2] = 0;
        return;
    }
    const uint8_t *entry = bitmap->bytes + bitmap->palette + (size_t) index * bitmap->palette_entry;
    to[0] = entry[2];
    to[1] = entry[1];
    to[2] = entry[0];
}

/* One row that is not compressed. */
static void convert(const bitmap *bitmap, const uint8_t *from, const darkroom_codec_header *header, uint8_t *to)
{
    for (uint32_t x = 0; x < bitmap->width; x++, to += header->channels) {
        uint32_t pixel = 0;
        switch (bitmap->depth) {
            case 24:
                to[0] = from[x * 3 + 2];
                to[1] = from[x * 3 + 1];
                to[2] = from[x * 3];
                continue;
            case 32: memcpy(&pixel, from + (size_t) x * 4, 4); break;
            case 16: pixel = (uint32_t) (from[x * 2] | from[x * 2 + 1] << 8); break;
            default: {
                unsigned bit = x * bitmap->depth % 8, shift = 8 - bit - bitmap->depth;
                uint32_t index = from[(size_t) x * bitmap->depth / 8] >> shift & ((1u << bitmap->depth) - 1);
                put_colour(bitmap, index, to);
                continue;
            }
        }
        for (unsigned channel = 0; channel < header->channels; channel++)
            to[channel] = value_of(bitmap->fields[channel], pixel);
    }
}

/* ---- RLE: numbers of colours, row by row from the bottom ---- */

typedef struct {
    const bitmap *bitmap;
    size_t place, end;
    uint8_t *numbers;
    uint32_t x, y;
} unpacker;

static void put(unpacker *unpacker, uint8_t number)
{
    const bitmap *bitmap = unpacker->bitmap;
    if (unpacker->x < bitmap->width && unpacker->y < bitmap->height)
        unpacker->numbers[(size_t) unpacker->y * bitmap->width + unpacker->x] = number;
    unpacker->x++;
}

/* Numbers that stand one after another, padded to two bytes. False at the end of the data. */
static bool put_literal(unpacker *unpacker, unsigned count)
{
    bool is_four = unpacker->bitmap->compression == RLE4;
    size_t bytes = is_four ? (count + 1) / 2 : count;
    const uint8_t *from = unpacker->bitmap->bytes + unpacker->place;
    if (unpacker->end - unpacker->place < bytes) return false;
    for (unsigned index = 0; index < count; index++)
        put(unpacker, is_four ? from[index / 2] >> (index % 2 ? 0 : 4) & 15 : from[index]);
    unpacker->place += bytes + bytes % 2;
    return unpacker->place <= unpacker->end;
}

/* Whether the data go on to the end of the bitmap. */
static bool unpack(unpacker *unpacker)
{
    bool is_four = unpacker->bitmap->compression == RLE4;
    while (unpacker->end - unpacker->place >= 2) {
        uint8_t count = unpacker->bitmap->bytes[unpacker->place], value = unpacker->bitmap->bytes[unpacker->place + 1];
        unpacker->place += 2;
        if (count > 0) {
            for (unsigned index = 0; index < count; index++)
                put(unpacker, is_four ? value >> (index % 2 ? 0 : 4) & 15 : value);
            continue;
        }
        switch (value) {
            case 0:
                unpacker->x = 0;
                unpacker->y++;
                break;
            case 1: return true;
            case 2:
                if (unpacker->end - unpacker->place < 2) return false;
                unpacker->x += unpacker->bitmap->bytes[unpacker->place];
                unpacker->y += unpacker->bitmap->bytes[unpacker->place + 1];
                unpacker->place += 2;
                break;
            default:
                if (!put_literal(unpacker, value)) return false;
        }
        /* Some writers leave out the end. */
        if (unpacker->y >= unpacker->bitmap->height) return true;
    }
    return unpacker->y + 1 >= unpacker->bitmap->height;
}

/* Pixels that are left out have the first colour. */
static void say_unpacked(darkroom_codec_call *call, const bitmap *bitmap, const darkroom_codec_header *header)
{
    if (bitmap->pixels > bitmap->count) truncated(call);
    unpacker unpacker = {.bitmap = bitmap, .place = bitmap->pixels, .end = bitmap->count};
    unpacker.numbers = codec_allocate(call, (size_t) bitmap->width, bitmap->height);
    memset(unpacker.numbers, 0, (size_t) bitmap->width * bitmap->height);
    if (!unpack(&unpacker)) truncated(call);
    uint8_t *row = codec_allocate(call, codec_row_bytes(header), 1);
    for (uint32_t y = 0; y < header->height; y++) {
        uint32_t line = bitmap->is_top_down ? y : header->height - 1 - y;
        for (uint32_t x = 0; x < header->width; x++)
            put_colour(bitmap, unpacker.numbers[(size_t) line * bitmap->width + x], row + (size_t) x * 3);
        codec_rows(call, row, codec_row_bytes(header), 1);
    }
}

static void say_plain(darkroom_codec_call *call, const bitmap *bitmap, const darkroom_codec_header *header)
{
    size_t stride = ((size_t) bitmap->width * bitmap->depth + 31) / 32 * 4;
    size_t used = ((size_t) bitmap->width * bitmap->depth + 7) / 8;
    uint8_t *row = codec_allocate(call, codec_row_bytes(header), 1);
    for (uint32_t y = 0; y < header->height; y++) {
        size_t line = bitmap->is_top_down ? y : header->height - 1 - y;
        size_t place = bitmap->pixels + line * stride;
        /* The last row's padding may be missing. */
        if (place > bitmap->count || bitmap->count - place < used) truncated(call);
        convert(bitmap, bitmap->bytes + place, header, row);
        codec_rows(call, row, codec_row_bytes(header), 1);
    }
}

/* Only the last kind of header has one. */
static codec_blob profile(const bitmap *bitmap)
{
    enum { EMBEDDED = 0x4d424544 };
    if (bitmap->header_bytes < 124 || number(bitmap, 14 + 56, 4) != EMBEDDED) return (codec_blob) {NULL, 0};
    size_t place = 14 + (size_t) number(bitmap, 14 + 112, 4), count = number(bitmap, 14 + 116, 4);
    if (place > bitmap->count || bitmap->count - place < count) return (codec_blob) {NULL, 0};
    return (codec_blob) {bitmap->bytes + place, count};
}

static void decode(darkroom_codec_call *call)
{
    bitmap bitmap = {0};
    bitmap.bytes = codec_source(call, &bitmap.count);
    read_header(call, &bitmap);
    if (!fits(&bitmap))
        codec_fail(call, DARKROOM_CODEC_DAMAGED, "the BMP file has %u bits a pixel with the compression %u",
            bitmap.depth, bitmap.compression);
    if (bitmap.depth <= 8) read_palette(call, &bitmap);
    else read_fields(call, &bitmap);
    /* In a 40-byte header without fields the fourth byte has no meaning. */
    bool has_alpha = bitmap.depth > 8 && bitmap.fields[3].bits > 0;
    darkroom_codec_header header = {
        .width = bitmap.width, .height = bitmap.height, .colour = DARKROOM_CODEC_RGB, .channels = has_alpha ? 4 : 3,
        .depth = 8, .source_depth = 8, .orientation = 1, .cicp = {2, 2, 2, 1},
    };
    if (bitmap.header_bytes >= 40) {
        header.pixels_x = number(&bitmap, 38, 4);
        header.pixels_y = number(&bitmap, 42, 4);
    }
    bool is_packed = bitmap.compression == RLE8 || bitmap.compression == RLE4;
    header.memory = codec_row_bytes(&header) + (is_packed ? (uint64_t) bitmap.width * bitmap.height : 0);
    codec_begin(call, header, (codec_metadata) {.icc = profile(&bitmap)});
    if (is_packed) say_unpacked(call, &bitmap, &header);
    else say_plain(call, &bitmap, &header);
}

static const char *library(void) { return "Darkroom's own reader of BMP"; }

int main(int argc, char **argv)
{
    const darkroom_codec codec = {.library = library, .decode = decode};
    return darkroom_codec_main(&codec, argc, argv);
}
