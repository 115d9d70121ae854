#include "png_rows.h"

#include "CDeflate.h"
#include "CPixels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUP = 8, /* so many rows are unfiltered at once, see CPixels */
    GROUP_BYTES = 512 << 10, /* fewer where they are larger than this */
    WINDOW_BYTES = 32 << 10, /* what compressed data may refer back to */
    AHEAD_BYTES = 128 << 10, /* decompressed beyond the rows that are needed next */
    /* Compressed data may take so many bytes for one that they give, and so many more at any time: a
     * stream of empty blocks keeps the processor busy for as long as it lasts, and between two rows
     * nobody asks whether the picture is still wanted. */
    MOST_FOR_ONE = 16,
    CREDIT = 4 << 20,
};

struct darkroom_png_rows {
    darkroom_png_source *source;
    darkroom_png_header header;
    darkroom_png_palette palette;
    size_t packed_bytes; /* a row's length as it is in the file, without its filter's number */
    size_t row_bytes;    /* and as it is handed out */
    int pixel_bytes;     /* what the filters take for a pixel */
    uint32_t rows_left;
    uint32_t group; /* rows to unfilter together */

    darkroom_inflate *inflate;
    const uint8_t *piece; /* compressed data not yet taken */
    size_t piece_left;
    bool is_data_complete; /* and there are no pieces behind it */
    darkroom_inflate_result state;
    uint64_t to_make;      /* decompressed bytes that the picture still lacks */
    int64_t credit;        /* compressed bytes that may be taken though they give nothing */
    /* Where decompression stopped. It is reported when the rows before it have been handed out. */
    darkroom_png_result stop;

    uint8_t *buffer; /* decompressed: [next, filled) has not been unfiltered, some is before it */
    size_t capacity, next, filled;
    uint8_t *above;  /* the row above the next one, unfiltered, of `packed_bytes` */
    uint8_t *packed; /* `group` rows unfiltered but not yet expanded; NULL where none have to be */
    char message[96];
};

/* ---- Setting up ---- */

static int channels_in_file(uint8_t colour_type)
{
    static const int channels[] = {1, 0, 3, 1, 2, 0, 4};
    return channels[colour_type];
}

static bool is_expanded(const darkroom_png_header *header)
{
    return header->bit_depth < 8 || header->color_type == 3;
}

bool darkroom_png_rows_can_read(const darkroom_png_header *header, bool has_transparency)
{
    return !header->interlaced && (!has_transparency || header->color_type == 3);
}

static darkroom_png_result allocate(darkroom_png_rows *rows, size_t largest)
{
    if (rows->capacity > largest)
        return DARKROOM_PNG_LIMIT;
    rows->inflate = darkroom_inflate_new();
    rows->buffer = malloc(rows->capacity);
    rows->above = calloc(1, rows->packed_bytes);
    if (rows->inflate == NULL || rows->buffer == NULL || rows->above == NULL)
        return DARKROOM_PNG_MEMORY;
    if (is_expanded(&rows->header)) {
        rows->packed = malloc(rows->group * rows->packed_bytes);
        if (rows->packed == NULL)
            return DARKROOM_PNG_MEMORY;
    }
    return DARKROOM_PNG_OK;
}

darkroom_png_result darkroom_png_rows_new(
    darkroom_png_rows **result, darkroom_png_source *source, const darkroom_png_header *header,
    const darkroom_png_palette *palette, size_t largest)
{
    *result = NULL;
    darkroom_png_rows *rows = calloc(1, sizeof *rows);
    if (rows == NULL)
        return DARKROOM_PNG_MEMORY;
    rows->source = source;
    rows->header = *header;
    if (palette != NULL)
        rows->palette = *palette;
    const size_t bits = (size_t)channels_in_file(header->color_type) * header->bit_depth;
    rows->packed_bytes = ((size_t)header->width * bits + 7) / 8;
    rows->row_bytes = (size_t)header->width * header->channels * (header->depth / 8);
    rows->pixel_bytes = bits < 8 ? 1 : (int)bits / 8;
    rows->rows_left = header->height;
    rows->credit = CREDIT;
    const size_t line = rows->packed_bytes + 1;
    rows->to_make = (uint64_t)line * header->height;
    const size_t fitting = GROUP_BYTES / line;
    rows->group = fitting < 1 ? 1 : fitting < GROUP ? (uint32_t)fitting : GROUP;
    rows->capacity = WINDOW_BYTES + rows->group * line + AHEAD_BYTES;
    const darkroom_png_result status = allocate(rows, largest);
    if (status != DARKROOM_PNG_OK) {
        darkroom_png_rows_free(rows);
        return status;
    }
    *result = rows;
    return DARKROOM_PNG_OK;
}

void darkroom_png_rows_free(darkroom_png_rows *rows)
{
    if (rows == NULL)
        return;
    darkroom_inflate_free(rows->inflate);
    free(rows->buffer);
    free(rows->above);
    free(rows->packed);
    free(rows);
}

const char *darkroom_png_rows_message(const darkroom_png_rows *rows)
{
    return rows->message;
}

/* ---- Decompression ---- */

static darkroom_png_result stop(
    darkroom_png_rows *rows, darkroom_png_result result, const char *words)
{
    rows->stop = result;
    snprintf(rows->message, sizeof rows->message, "IDAT: %s", words);
    return result;
}

static darkroom_png_result too_few(darkroom_png_rows *rows)
{
    return stop(rows, DARKROOM_PNG_DATA, "not enough image data");
}

/* Fetches a piece where the last one is used up. */
static darkroom_png_result fetch(darkroom_png_rows *rows)
{
    if (rows->piece_left > 0 || rows->is_data_complete)
        return DARKROOM_PNG_OK;
    const darkroom_png_result result =
        darkroom_png_source_data(rows->source, &rows->piece, &rows->piece_left);
    if (result != DARKROOM_PNG_OK) {
        rows->stop = result;
        snprintf(rows->message, sizeof rows->message, "%s", rows->source->message);
    }
    rows->is_data_complete = rows->piece_left == 0;
    return result;
}

static bool is_damaged(const darkroom_png_rows *rows)
{
    return rows->state == DARKROOM_INFLATE_HEADER || rows->state == DARKROOM_INFLATE_DAMAGED
        || rows->state == DARKROOM_INFLATE_CHECKSUM || rows->state == DARKROOM_INFLATE_SURPLUS;
}

/* Decompresses up to `room` bytes behind those in the buffer, and notes where that is not possible.
 * Answers how many. */
static size_t decompress(darkroom_png_rows *rows, size_t room)
{
    size_t taken = 0, made = 0;
    rows->state = darkroom_inflate_run(
        rows->inflate, rows->piece, rows->piece_left, &taken, rows->buffer + rows->filled, room,
        &made);
    rows->piece += taken;
    rows->piece_left -= taken;
    rows->credit += MOST_FOR_ONE * (int64_t)made - (int64_t)taken;
    if (rows->credit > CREDIT)
        rows->credit = CREDIT;
    switch (rows->state) {
    case DARKROOM_INFLATE_HEADER:
        stop(rows, DARKROOM_PNG_DATA, "the compressed data have no zlib header");
        break;
    case DARKROOM_INFLATE_DAMAGED:
        stop(rows, DARKROOM_PNG_DATA, "the compressed data are damaged");
        break;
    case DARKROOM_INFLATE_CHECKSUM:
        stop(rows, DARKROOM_PNG_ADLER, "incorrect data check (Adler-32)");
        break;
    case DARKROOM_INFLATE_SURPLUS:
        stop(rows, DARKROOM_PNG_DATA, "extra compressed data");
        break;
    case DARKROOM_INFLATE_MORE:
    case DARKROOM_INFLATE_ROOM:
        if (rows->credit < 0)
            stop(rows, DARKROOM_PNG_DATA, "the compressed data go on and on without giving pixels");
        break;
    case DARKROOM_INFLATE_END:
        break;
    }
    return made;
}

/* How much may be decompressed behind what there is: at least AHEAD_BYTES, where less than a group is
 * waiting to be unfiltered. */
static size_t make_room(darkroom_png_rows *rows)
{
    if (rows->capacity - rows->filled < AHEAD_BYTES) {
        const size_t window = rows->filled < WINDOW_BYTES ? 0 : rows->filled - WINDOW_BYTES;
        const size_t from = rows->next < window ? rows->next : window;
        memmove(rows->buffer, rows->buffer + from, rows->filled - from);
        rows->filled -= from;
        rows->next -= from;
    }
    return rows->capacity - rows->filled;
}

/* Adds to the buffer, or notes why that is not possible. */
static void fill(darkroom_png_rows *rows)
{
    size_t room = make_room(rows);
    if (room > rows->to_make)
        room = (size_t)rows->to_make;
    if (fetch(rows) != DARKROOM_PNG_OK)
        return;
    const size_t made = decompress(rows, room);
    rows->filled += made;
    rows->to_make -= made;
    const bool is_all = rows->state == DARKROOM_INFLATE_END
        || (rows->state == DARKROOM_INFLATE_MORE && rows->is_data_complete);
    if (is_all && rows->to_make > 0)
        too_few(rows);
}

/* After the last row: the stream's end must follow, and nothing behind it in its piece. (What lies
 * in later pieces the source finds.) */
static darkroom_png_result end(darkroom_png_rows *rows)
{
    while (rows->stop == DARKROOM_PNG_OK && rows->state != DARKROOM_INFLATE_END) {
        if (fetch(rows) != DARKROOM_PNG_OK)
            return rows->stop;
        /* One byte more than there should be is enough, and goes where nobody looks at it. */
        make_room(rows);
        if (decompress(rows, 1) > 0)
            return stop(rows, DARKROOM_PNG_DATA, "too much image data");
        if (rows->state == DARKROOM_INFLATE_MORE && rows->is_data_complete)
            return too_few(rows);
    }
    return rows->stop;
}

/* ---- Rows ---- */

/* The number of rows to unfilter next, at most `wanted`; 0 where there can be none. */
static uint32_t available(darkroom_png_rows *rows, uint32_t wanted)
{
    const size_t line = rows->packed_bytes + 1;
    while (rows->filled - rows->next < wanted * line && rows->stop == DARKROOM_PNG_OK)
        fill(rows);
    size_t whole = (rows->filled - rows->next) / line;
    /* Damage directly behind a row is found together with it, as it is by zlib. */
    if (is_damaged(rows) && whole > 0 && whole * line == rows->filled - rows->next)
        whole--;
    return whole < wanted ? (uint32_t)whole : wanted;
}

/* The pixel at `index` of a row whose pixels have `depth` bits. */
static inline __attribute__((always_inline)) unsigned pixel_at(
    const uint8_t *packed, size_t index, unsigned depth)
{
    const size_t bit = index * depth;
    return (unsigned)packed[bit / 8] >> (8 - depth - bit % 8) & ((1u << depth) - 1);
}

static void expand_gray(const uint8_t *packed, unsigned depth, uint8_t *out, size_t width)
{
    const unsigned factor = 255 / ((1u << depth) - 1);
    for (size_t i = 0; i < width; i++)
        out[i] = (uint8_t)(pixel_at(packed, i, depth) * factor);
}

/* From the right: where a pixel is written the indices before it are still to be read. */
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
    /* Constants, so that the loops move whole pixels. */
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

/* Expands a row, the picture's last one only if the data have ended as they must. */
static darkroom_png_result expand(darkroom_png_rows *rows, const uint8_t *packed, uint8_t *out)
{
    const darkroom_png_header *header = &rows->header;
    if (rows->rows_left == 1 && end(rows) != DARKROOM_PNG_OK)
        return rows->stop;
    if (header->color_type != 3)
        expand_gray(packed, header->bit_depth, out, header->width);
    else if (!darkroom_png_look_up(
                 &rows->palette, packed, header->bit_depth, out, header->channels, header->width))
        return stop(rows, DARKROOM_PNG_PALETTE, DARKROOM_PNG_PALETTE_WORDS);
    return DARKROOM_PNG_OK;
}

static darkroom_png_result expand_group(
    darkroom_png_rows *rows, uint8_t *out, uint32_t count, uint32_t *done)
{
    for (uint32_t k = 0; k < count; k++) {
        const darkroom_png_result result =
            expand(rows, rows->packed + k * rows->packed_bytes, out + k * rows->row_bytes);
        if (result != DARKROOM_PNG_OK)
            return result;
        rows->rows_left--;
        ++*done;
    }
    return DARKROOM_PNG_OK;
}

static darkroom_png_result count_group(darkroom_png_rows *rows, uint32_t count, uint32_t *done)
{
    const bool has_last = count > 0 && count == rows->rows_left;
    rows->rows_left -= count;
    *done += count;
    if (!has_last || end(rows) == DARKROOM_PNG_OK)
        return DARKROOM_PNG_OK;
    --*done;
    return rows->stop;
}

/* Hands out up to a group of rows. */
static darkroom_png_result read_group(
    darkroom_png_rows *rows, uint8_t *out, uint32_t wanted, uint32_t *done)
{
    const uint32_t count = available(rows, wanted < rows->group ? wanted : rows->group);
    if (count == 0)
        return rows->stop;
    uint8_t *to = rows->packed != NULL ? rows->packed : out;
    const bool swaps = rows->header.depth == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const uint32_t good = (uint32_t)darkroom_unfilter(
        rows->buffer + rows->next, count, rows->packed_bytes, rows->pixel_bytes, swaps, rows->above,
        to);
    rows->next += good * (rows->packed_bytes + 1);
    if (good > 0)
        memcpy(rows->above, to + (good - 1) * rows->packed_bytes, rows->packed_bytes);
    const darkroom_png_result result = rows->packed != NULL
        ? expand_group(rows, out, good, done)
        : count_group(rows, good, done);
    if (result == DARKROOM_PNG_OK && good < count)
        return stop(rows, DARKROOM_PNG_DATA, "bad adaptive filter value");
    return result;
}

darkroom_png_result darkroom_png_rows_read(
    darkroom_png_rows *rows, uint8_t *out, uint32_t count, uint32_t *done)
{
    *done = 0;
    while (*done < count) {
        const darkroom_png_result result =
            read_group(rows, out + *done * rows->row_bytes, count - *done, done);
        if (result != DARKROOM_PNG_OK)
            return result;
    }
    return DARKROOM_PNG_OK;
}
