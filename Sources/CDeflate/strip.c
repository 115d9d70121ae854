#include "CDeflate.h"
#include "block.h"
#include "matches.h"
#include "runs.h"

#include <png_choose.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* What a strip holds of filtered rows, about: enough that its codes' headers and what its
     * matches miss of the strip above do not count, and little enough to stay in a core's cache. */
    STRIP_BYTES = 256 << 10,
    LEAST_STRIP_BYTES = 96 << 10,
    /* Without a strip above to look into, a larger one finds more. */
    SMALL_STRIP_BYTES = 1 << 20,
    /* Strips a picture is divided into, so that several cores get something of it. */
    SHARES = 8,
    /* Symbols change their frequencies from place to place; a code costs some 90 bytes. */
    BLOCK_BYTES = 64 << 10,
    /* Around a chunk's data: length and name before it, CRC after it. */
    CHUNK_HEAD = 8,
    CHUNK_TAIL = 4,
    ZLIB_HEAD = 2,
    STREAM_END = 6,
};

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
    uint8_t *trial; /* where a second way is tried out, of the same room; made when needed */
    darkroom_sequence *sequences;
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
    strip->chunk_room = ZLIB_HEAD + darkroom_stored_bytes(bytes) + 5 * (bytes / BLOCK_BYTES + 1)
        + 5 + BLOCK_SLACK + STREAM_END;
    /* calloc, because vectors read what lies between the rows. */
    strip->pixels = calloc(1, strip->stride * (rows + 1) + DARKROOM_PNG_OVERHANG);
    strip->filtered = malloc(bytes + DARKROOM_PNG_OVERHANG);
    strip->chunk = malloc(CHUNK_HEAD + strip->chunk_room + CHUNK_TAIL);
    const size_t block = bytes < BLOCK_BYTES ? bytes : BLOCK_BYTES;
    strip->sequences = malloc((block / SHORTEST_MATCH + 1) * sizeof *strip->sequences);
    if (strip->pixels == NULL || strip->filtered == NULL || strip->chunk == NULL
        || strip->sequences == NULL) {
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
    free(strip->trial);
    free(strip->sequences);
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

/* Huffman codes and runs; returns how many bytes they take. */
static size_t encode_runs(const darkroom_strip *strip, uint8_t *out)
{
    darkroom_bits bits = {.at = out};
    const size_t count = filtered_bytes(strip);
    for (size_t start = 0; start < count; start += BLOCK_BYTES) {
        const size_t end = count - start < BLOCK_BYTES ? count : start + BLOCK_BYTES;
        const size_t runs = darkroom_find_runs(strip->filtered, start, end, strip->sequences);
        darkroom_block(&bits, strip->filtered + start, end - start, strip->sequences, runs);
    }
    darkroom_align(&bits);
    return (size_t)(bits.at - out);
}

/* Tries matches of one of libdeflate's levels and takes them for the chunk's data, which are
 * `*length` bytes, where they are shorter. 0 where there is no memory. */
static int try_matches(darkroom_strip *strip, int level, uint8_t *data, size_t *length)
{
    if (strip->trial == NULL)
        strip->trial = malloc(strip->chunk_room);
    if (strip->trial == NULL)
        return 0;
    const size_t count = darkroom_match(
        &strip->matcher, level, strip->filtered, filtered_bytes(strip), strip->trial, *length);
    if (count == SIZE_MAX)
        return 0;
    if (count != 0 && count < *length) {
        memcpy(data, strip->trial, count);
        *length = count;
    }
    return 1;
}

/* The levels of libdeflate's that are tried, -1 for none. */
static int level_for(const darkroom_strip *strip)
{
    if (strip->effort == DARKROOM_DEFLATE_SMALL)
        return 11;
    const darkroom_content content = darkroom_look(
        strip->filtered, strip->row_bytes + 1, strip->rows, strip->pixel_bytes, strip->depth);
    const int is_fast = strip->effort == DARKROOM_DEFLATE_FAST;
    switch (content) {
    case DARKROOM_NO_MATCHES: return -1;
    case DARKROOM_TONED: return is_fast ? -1 : 5;
    default: return is_fast ? 1 : 7;
    }
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

int darkroom_strip_encode(darkroom_strip *strip)
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
    size_t length = encode_runs(strip, data);
    const int level = level_for(strip);
    if (level >= 0 && !try_matches(strip, level, data, &length))
        return 0;
    strip->chunk_bytes = frame(strip->chunk, length + (strip->is_first ? ZLIB_HEAD : 0));
    return 1;
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
