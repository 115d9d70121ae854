#include "CDarkroomDeflate.h"
#include "content.h"
#include "strip_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* The approximate size of a strip's filtered rows: so large that the headers of its codes and the missing
     * matches in the previous strip do not matter, and so small that it stays in a core's cache. */
    STRIP_BYTES = 512 << 10,
    LEAST_STRIP_BYTES = 256 << 10,
    /* Without access to the previous strip, a larger one finds more matches. */
    SMALL_STRIP_BYTES = 1 << 20,
    /* The number of strips in a picture, so that several cores can work on it. */
    SHARES = 6,
    /* Around a chunk's data: length and name before it, CRC after it. */
    CHUNK_HEAD = 8,
    CHUNK_TAIL = 4,
    ZLIB_HEAD = 2,
    STREAM_END = 6,
};

size_t darkroom_strip_rows(size_t row_bytes, size_t height, darkroom_effort effort)
{
    const size_t line = row_bytes + 1;
    size_t bytes = SMALL_STRIP_BYTES;
    if (effort != DARKROOM_DEFLATE_SMALL) {
        /* Divided by rows first, because the product might overflow. */
        const size_t share = height / SHARES > STRIP_BYTES / line ? STRIP_BYTES
                                                                  : height / SHARES * line;
        bytes = share < LEAST_STRIP_BYTES ? LEAST_STRIP_BYTES : share;
    }
    const size_t rows = bytes / line;
    return rows == 0 ? 1 : rows < height ? rows : height;
}

/* How many rows make two of deflate's windows, so that a seam may repeat itself and everything within its
 * reach belongs to it. 0 if rows are not searched for repetitions. */
static size_t seam_rows(size_t row_bytes)
{
    enum { SEAM_BYTES = 64 << 10 };
    const size_t rows = SEAM_BYTES / (row_bytes + 1);
    return rows > darkroom_repeat_reach(row_bytes) ? rows : 0;
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
    strip->seam_rows = seam_rows(row_bytes);
    const size_t bytes = (row_bytes + 1) * rows;
    strip->chunk_room = ZLIB_HEAD + darkroom_deflate_room(bytes) + STREAM_END;
    /* calloc, because vectors read the bytes between the rows. */
    strip->pixels = calloc(
        1, strip->stride * (strip->seam_rows + 1 + rows) + DARKROOM_PNG_OVERHANG);
    uint8_t *filtered = malloc(seam_bytes(strip) + bytes + DARKROOM_PNG_OVERHANG);
    strip->chunk = malloc(CHUNK_HEAD + strip->chunk_room + CHUNK_TAIL);
    strip->scratch = malloc(darkroom_deflate_scratch(bytes));
    if (filtered != NULL)
        strip->filtered = filtered + seam_bytes(strip);
    if (strip->pixels == NULL || filtered == NULL || strip->chunk == NULL
        || strip->scratch == NULL) {
        darkroom_strip_free(strip);
        return NULL;
    }
    return strip;
}

size_t darkroom_strip_memory(size_t row_bytes, size_t rows, darkroom_effort effort)
{
    const size_t bytes = (row_bytes + 1) * rows, seam = seam_rows(row_bytes);
    const size_t lines = bytes + seam * (row_bytes + 1) + DARKROOM_PNG_OVERHANG;
    const size_t room = ZLIB_HEAD + darkroom_deflate_room(bytes) + STREAM_END;
    const size_t pixels
        = (row_bytes + DARKROOM_PNG_MARGIN) * (seam + 1 + rows) + DARKROOM_PNG_OVERHANG;
    const size_t chunk = CHUNK_HEAD + room + CHUNK_TAIL;
    /* libdeflate does not report the memory of its compressors. Version 1.14: 0.2 MB at level 1, 0.7 at 2 to
     * 9, and 9 from 10 on. zlib's decompressor takes 50 KB. */
    const size_t compressors = effort == DARKROOM_DEFLATE_SMALL ? 10u << 20 : 1u << 20;
    /* The filtered and the unfiltered lines, and a chunk with another one for the trial. */
    return sizeof(darkroom_strip) + pixels + 2 * lines + chunk + room + darkroom_deflate_scratch(bytes)
        + darkroom_deflate_pixels_scratch() + darkroom_deflate_search_scratch() + compressors;
}

void darkroom_strip_free(darkroom_strip *strip)
{
    if (strip == NULL)
        return;
    darkroom_matcher_free(&strip->matcher);
    free(strip->pixels);
    if (strip->filtered != NULL)
        free(strip->filtered - seam_bytes(strip));
    if (strip->uniform != NULL)
        free(strip->uniform - seam_bytes(strip));
    free(strip->chunk);
    free(strip->trial);
    free(strip->scratch);
    free(strip->pixel_scratch);
    free(strip->search_scratch);
    free(strip);
}

void darkroom_strip_begin(darkroom_strip *strip, const darkroom_strip *previous)
{
    const int knows_seam = previous != NULL && previous->has_seam;
    const size_t bytes = (knows_seam ? strip->seam_rows + 1 : 1) * strip->stride;
    uint8_t *above = pixel_row(strip, 0) - bytes;
    /* `previous` may be the strip itself. */
    if (previous == NULL)
        memset(above, 0, strip->row_bytes);
    else
        memmove(above, pixel_row(previous, previous->rows) - bytes, bytes - DARKROOM_PNG_MARGIN);
    strip->is_first = previous == NULL;
    strip->knows_seam = knows_seam;
    strip->has_seam = 0;
    strip->rows = 0;
}

/* Whether the full strip ends in rows in which the next one may find its matches. */
static int ends_in_seam(const darkroom_strip *strip)
{
    if (strip->seam_rows == 0 || strip->rows <= strip->seam_rows)
        return 0;
    const darkroom_rows last = {
        pixel_row(strip, strip->rows - strip->seam_rows), strip->row_bytes, strip->stride,
        strip->seam_rows};
    return darkroom_has_repeated_rows(&last);
}

size_t darkroom_strip_fill(darkroom_strip *strip, const void *rows, size_t count)
{
    const size_t left = strip->room - strip->rows;
    const size_t taken = count < left ? count : left;
    darkroom_png_lay_out(
        rows, strip->row_bytes, taken, strip->depth, pixel_row(strip, strip->rows), strip->stride);
    strip->rows += taken;
    if (taken > 0 && taken == left)
        strip->has_seam = ends_in_seam(strip);
    return taken;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static void put_big_endian(uint8_t *bytes, size_t value)
{
    bytes[0] = (uint8_t)(value >> 24);
    bytes[1] = (uint8_t)(value >> 16);
    bytes[2] = (uint8_t)(value >> 8);
    bytes[3] = (uint8_t)value;
}

/* Writes length, name and CRC around the data, which are already in place. Returns the number of all bytes. */
static size_t frame(uint8_t *chunk, size_t length)
{
    put_big_endian(chunk, length);
    memcpy(chunk + 4, "IDAT", 4);
    put_big_endian(chunk + CHUNK_HEAD + length, darkroom_crc32(0, chunk + 4, 4 + length));
    return CHUNK_HEAD + length + CHUNK_TAIL;
}

darkroom_strip_result darkroom_strip_encode(darkroom_strip *strip)
{
    /* Deflate with a window of 32 KiB. The second byte says how much effort was made, and makes the two a
     * multiple of 31. */
    static const uint8_t zlib_head[3][ZLIB_HEAD] = {{0x78, 0x01}, {0x78, 0x9c}, {0x78, 0xda}};
    uint8_t *data = strip->chunk + CHUNK_HEAD;
    if (strip->is_first) {
        memcpy(data, zlib_head[strip->effort], ZLIB_HEAD);
        data += ZLIB_HEAD;
    }
    size_t length = 0;
    const darkroom_strip_result result = darkroom_strip_compress(strip, data, &length);
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
