#include "CDeflate.h"
#include "content.h"
#include "matches.h"

#include <png_choose.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* What a strip holds of filtered rows, about: enough that its codes' headers and what its
     * matches miss of the strip above do not count, and little enough to stay in a core's cache. */
    STRIP_BYTES = 512 << 10,
    LEAST_STRIP_BYTES = 128 << 10,
    /* Without a strip above to look into, a larger one finds more. */
    SMALL_STRIP_BYTES = 1 << 20,
    /* Strips a picture is divided into, so that several cores get something of it. */
    SHARES = 6,
    /* Around a chunk's data: length and name before it, CRC after it. */
    CHUNK_HEAD = 8,
    CHUNK_TAIL = 4,
    /* Strips are that large only where a row is. */
    SEARCHED_BYTES = 1 << 30,
    ZLIB_HEAD = 2,
    STREAM_END = 6,
};

/* How long drawings are searched; the brief one only compares. */
static const darkroom_search brief_search = {4, 2};
static const darkroom_search fast_search = {16, 2};
static const darkroom_search balanced_search = {64, 6};

struct darkroom_strip {
    size_t row_bytes, stride, room, rows;
    int pixel_bytes, depth;
    darkroom_effort effort;
    int is_first;
    uint8_t *pixels;   /* as filters want them, the row above first */
    uint8_t *filtered;
    uint8_t *chunk;
    size_t chunk_room; /* of its data */
    size_t chunk_bytes;
    uint8_t *unfiltered; /* made when needed */
    uint8_t *trial; /* where a second way is tried out, of the same room; made when needed */
    void *scratch;
    void *pixel_scratch, *search_scratch; /* made when needed */
    darkroom_matcher matcher;
    uint32_t adler;
};

size_t darkroom_strip_rows(size_t row_bytes, size_t height, darkroom_effort effort)
{
    const size_t line = row_bytes + 1;
    size_t bytes = SMALL_STRIP_BYTES;
    if (effort != DARKROOM_DEFLATE_SMALL) {
        /* In rows first: the product might not fit. */
        const size_t share = height / SHARES > STRIP_BYTES / line ? STRIP_BYTES
                                                                  : height / SHARES * line;
        bytes = share < LEAST_STRIP_BYTES ? LEAST_STRIP_BYTES : share;
    }
    const size_t rows = bytes / line;
    return rows == 0 ? 1 : rows < height ? rows : height;
}

/* Where row `index` of the strip lies, from 0; the one above the strip is that before it. */
static uint8_t *pixel_row(const darkroom_strip *strip, size_t index)
{
    return strip->pixels + (index + 1) * strip->stride + DARKROOM_PNG_MARGIN;
}

darkroom_strip *darkroom_strip_new(
    size_t row_bytes, int pixel_bytes, int depth, size_t rows, darkroom_effort effort)
{
    darkroom_strip *strip = calloc(1, sizeof *strip);
    if (strip == NULL)
        return NULL;
    strip->row_bytes = row_bytes;
    strip->stride = row_bytes + DARKROOM_PNG_MARGIN;
    strip->room = rows;
    strip->pixel_bytes = pixel_bytes;
    strip->depth = depth;
    strip->effort = effort;
    const size_t bytes = (row_bytes + 1) * rows;
    strip->chunk_room = ZLIB_HEAD + darkroom_deflate_room(bytes) + STREAM_END;
    /* calloc, because vectors read what lies between the rows. */
    strip->pixels = calloc(1, strip->stride * (rows + 1) + DARKROOM_PNG_OVERHANG);
    strip->filtered = malloc(bytes + DARKROOM_PNG_OVERHANG);
    strip->chunk = malloc(CHUNK_HEAD + strip->chunk_room + CHUNK_TAIL);
    strip->scratch = malloc(darkroom_deflate_scratch(bytes));
    if (strip->pixels == NULL || strip->filtered == NULL || strip->chunk == NULL
        || strip->scratch == NULL) {
        darkroom_strip_free(strip);
        return NULL;
    }
    return strip;
}

void darkroom_strip_free(darkroom_strip *strip)
{
    if (strip == NULL)
        return;
    darkroom_matcher_free(&strip->matcher);
    free(strip->pixels);
    free(strip->filtered);
    free(strip->chunk);
    free(strip->unfiltered);
    free(strip->trial);
    free(strip->scratch);
    free(strip->pixel_scratch);
    free(strip->search_scratch);
    free(strip);
}

void darkroom_strip_begin(darkroom_strip *strip, const darkroom_strip *previous)
{
    uint8_t *above = pixel_row(strip, 0) - strip->stride;
    if (previous == NULL)
        memset(above, 0, strip->row_bytes);
    else
        memcpy(above, pixel_row(previous, previous->rows - 1), strip->row_bytes);
    strip->is_first = previous == NULL;
    strip->rows = 0;
}

size_t darkroom_strip_fill(darkroom_strip *strip, const void *rows, size_t count)
{
    const size_t left = strip->room - strip->rows;
    const size_t taken = count < left ? count : left;
    darkroom_png_lay_out(
        rows, strip->row_bytes, taken, strip->depth, pixel_row(strip, strip->rows), strip->stride);
    strip->rows += taken;
    return taken;
}

/* ---- Encoding -------------------------------------------------------------------------------- */

static size_t filtered_bytes(const darkroom_strip *strip)
{
    return (strip->row_bytes + 1) * strip->rows;
}

/* Takes the trial for the chunk's data, of which there are `*length`, where it is shorter. */
static int take_shorter(
    const darkroom_strip *strip, size_t count, uint8_t *data, size_t *length)
{
    if (count == 0 || count >= *length)
        return 0;
    memcpy(data, strip->trial, count);
    *length = count;
    return 1;
}

/* Has libdeflate look for matches in the rows, filtered or not. */
static darkroom_strip_result try_matches(
    darkroom_strip *strip, const uint8_t *rows, uint8_t *data, size_t *length)
{
    size_t count;
    const darkroom_strip_result result = darkroom_match(
        &strip->matcher, rows, filtered_bytes(strip), strip->trial, *length, &count);
    if (result == DARKROOM_STRIP_OK && take_shorter(strip, count, data, length)
        && rows != strip->filtered)
        strip->adler = darkroom_adler32(1, rows, filtered_bytes(strip));
    return result;
}

/* Looks for matches of whole pixels. */
static darkroom_strip_result try_pixels(darkroom_strip *strip, uint8_t *data, size_t *length)
{
    if (strip->pixel_scratch == NULL)
        strip->pixel_scratch = malloc(darkroom_deflate_pixels_scratch());
    if (strip->pixel_scratch == NULL)
        return DARKROOM_STRIP_MEMORY;
    const size_t count = darkroom_deflate_pixels(
        strip->filtered, strip->row_bytes + 1, strip->rows, strip->pixel_bytes,
        strip->pixel_scratch, strip->trial);
    take_shorter(strip, count, data, length);
    return DARKROOM_STRIP_OK;
}

/* Makes the rows with the filter None. 0 where there is no memory. */
static int make_unfiltered(darkroom_strip *strip)
{
    if (strip->unfiltered == NULL)
        strip->unfiltered = malloc((strip->row_bytes + 1) * strip->room);
    if (strip->unfiltered == NULL)
        return 0;
    uint8_t *line = strip->unfiltered;
    for (size_t row = 0; row < strip->rows; row++, line += strip->row_bytes + 1) {
        line[0] = 0;
        memcpy(line + 1, pixel_row(strip, row), strip->row_bytes);
    }
    return 1;
}

/* Looks for matches in a drawing. What repeats in it need not do so in its differences, so a quarter
 * of the strip tells whether the filters pay. */
static darkroom_strip_result try_drawing(
    darkroom_strip *strip, darkroom_search effort, uint8_t *data, size_t *length)
{
    const size_t stride = strip->row_bytes + 1;
    const size_t from = strip->rows / 2 * stride;
    const size_t to = from + (strip->rows + 3) / 4 * stride;
    if (filtered_bytes(strip) > SEARCHED_BYTES)
        return DARKROOM_STRIP_OK;
    if (strip->search_scratch == NULL)
        strip->search_scratch = malloc(darkroom_deflate_search_scratch());
    if (strip->search_scratch == NULL || !make_unfiltered(strip))
        return DARKROOM_STRIP_MEMORY;
    const size_t filtered = darkroom_deflate_search(
        strip->filtered, 0, from, to, brief_search, strip->search_scratch, strip->trial);
    const size_t unfiltered = darkroom_deflate_search(
        strip->unfiltered, 0, from, to, brief_search, strip->search_scratch, strip->trial);
    const uint8_t *rows = unfiltered < filtered ? strip->unfiltered : strip->filtered;
    const size_t count = darkroom_deflate_search(
        rows, 0, 0, filtered_bytes(strip), effort, strip->search_scratch, strip->trial);
    if (take_shorter(strip, count, data, length) && rows != strip->filtered)
        strip->adler = darkroom_adler32(1, rows, filtered_bytes(strip));
    return DARKROOM_STRIP_OK;
}

/* Everything that may be smallest, whatever time it takes. */
static darkroom_strip_result try_all(darkroom_strip *strip, uint8_t *data, size_t *length)
{
    darkroom_strip_result result = DARKROOM_STRIP_OK;
    if (strip->depth == 8 && strip->pixel_bytes >= 3)
        result = try_pixels(strip, data, length);
    if (result == DARKROOM_STRIP_OK)
        result = try_matches(strip, strip->filtered, data, length);
    if (result == DARKROOM_STRIP_OK && !make_unfiltered(strip))
        result = DARKROOM_STRIP_MEMORY;
    if (result == DARKROOM_STRIP_OK)
        result = try_matches(strip, strip->unfiltered, data, length);
    return result;
}

/* Tries what else may be shorter than the runs that the chunk's data are so far. */
static darkroom_strip_result try_more(darkroom_strip *strip, uint8_t *data, size_t *length)
{
    const darkroom_rows plain = {
        pixel_row(strip, 0), strip->row_bytes, strip->stride, strip->rows};
    const darkroom_rows filtered = {
        strip->filtered + 1, strip->row_bytes, strip->row_bytes + 1, strip->rows};
    const darkroom_effort effort = strip->effort;
    const darkroom_content content = effort == DARKROOM_DEFLATE_SMALL
        ? DARKROOM_DRAWN
        : darkroom_look(&plain, &filtered, strip->pixel_bytes, strip->depth, *length);
    if (content == DARKROOM_PHOTOGRAPHED
        || (content == DARKROOM_TONED && effort == DARKROOM_DEFLATE_FAST))
        return DARKROOM_STRIP_OK;
    if (strip->trial == NULL)
        strip->trial = malloc(strip->chunk_room);
    if (strip->trial == NULL)
        return DARKROOM_STRIP_MEMORY;
    if (effort == DARKROOM_DEFLATE_SMALL)
        return try_all(strip, data, length);
    if (content == DARKROOM_TONED)
        return try_pixels(strip, data, length);
    return try_drawing(
        strip, effort == DARKROOM_DEFLATE_FAST ? fast_search : balanced_search, data, length);
}

static void put_big_endian(uint8_t *bytes, size_t value)
{
    bytes[0] = (uint8_t)(value >> 24);
    bytes[1] = (uint8_t)(value >> 16);
    bytes[2] = (uint8_t)(value >> 8);
    bytes[3] = (uint8_t)value;
}

/* Writes length, name and CRC around the data that already stand there; returns all bytes. */
static size_t frame(uint8_t *chunk, size_t length)
{
    put_big_endian(chunk, length);
    memcpy(chunk + 4, "IDAT", 4);
    put_big_endian(chunk + CHUNK_HEAD + length, darkroom_crc32(0, chunk + 4, 4 + length));
    return CHUNK_HEAD + length + CHUNK_TAIL;
}

darkroom_strip_result darkroom_strip_encode(darkroom_strip *strip)
{
    /* Deflate with a window of 32 KiB; the second byte tells how hard was tried, and makes the two
     * a multiple of 31. */
    static const uint8_t zlib_head[3][ZLIB_HEAD] = {{0x78, 0x01}, {0x78, 0x9c}, {0x78, 0xda}};
    uint8_t *data = strip->chunk + CHUNK_HEAD;
    if (strip->is_first) {
        memcpy(data, zlib_head[strip->effort], ZLIB_HEAD);
        data += ZLIB_HEAD;
    }
    darkroom_png_choose(
        pixel_row(strip, 0), strip->stride, strip->row_bytes, strip->pixel_bytes, strip->rows,
        strip->filtered);
    strip->adler = darkroom_adler32(1, strip->filtered, filtered_bytes(strip));
    size_t length =
        darkroom_deflate_runs(strip->filtered, filtered_bytes(strip), strip->scratch, data);
    const darkroom_strip_result result = try_more(strip, data, &length);
    if (result == DARKROOM_STRIP_OK)
        strip->chunk_bytes = frame(strip->chunk, length + (strip->is_first ? ZLIB_HEAD : 0));
    return result;
}

const uint8_t *darkroom_strip_chunk(const darkroom_strip *strip, size_t *count)
{
    *count = strip->chunk_bytes;
    return strip->chunk;
}

uint32_t darkroom_strip_adler(const darkroom_strip *strip, uint64_t *count)
{
    *count = filtered_bytes(strip);
    return strip->adler;
}

void darkroom_strip_end(darkroom_strip *strip, uint32_t adler)
{
    const size_t length = strip->chunk_bytes - CHUNK_HEAD - CHUNK_TAIL;
    uint8_t *end = strip->chunk + CHUNK_HEAD + length;
    end[0] = 3; /* a last block of the fixed codes, with nothing but its end */
    end[1] = 0;
    put_big_endian(end + 2, adler);
    strip->chunk_bytes = frame(strip->chunk, length + STREAM_END);
}
