#include "png_rows.h"

#include "CDarkroomPixels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUP = 8, /* so many rows are unfiltered at once, see CPixels */
    GROUP_BYTES = 512 << 10, /* fewer where they are larger than this */
};

struct darkroom_png_rows {
    darkroom_png_lines *lines; /* all that fetching uses */

    darkroom_png_header header;
    darkroom_png_palette palette;
    size_t packed_bytes; /* a row's length as it is in the file, without its filter's number */
    size_t row_bytes;    /* and as it is handed out */
    int pixel_bytes;     /* what the filters take for a pixel */
    uint32_t rows_left;
    uint32_t group; /* rows to unfilter together */
    uint8_t *above;  /* the row above the next one, unfiltered, of `packed_bytes` */
    bool keeps_indices;
    uint8_t *packed; /* `group` rows unfiltered but not yet expanded; NULL where none have to be */
    char message[DARKROOM_PNG_WORDS];
};

/* ---- Setting up ---- */

static int channels_in_file(uint8_t colour_type)
{
    static const int channels[] = {1, 0, 3, 1, 2, 0, 4};
    return channels[colour_type];
}

size_t darkroom_png_pixel_bits(const darkroom_png_header *header)
{
    return (size_t)channels_in_file(header->color_type) * header->bit_depth;
}

bool darkroom_png_is_expanded(const darkroom_png_header *header)
{
    return header->bit_depth < 8 || header->color_type == 3;
}

bool darkroom_png_rows_can_read(const darkroom_png_header *header, bool has_transparency)
{
    return !has_transparency || header->color_type == 3;
}

uint32_t darkroom_png_group(size_t line_bytes)
{
    const size_t fitting = GROUP_BYTES / line_bytes;
    return fitting < 1 ? 1 : fitting < GROUP ? (uint32_t)fitting : GROUP;
}

static darkroom_png_result allocate(
    darkroom_png_rows *rows, darkroom_png_source *source, size_t largest)
{
    const darkroom_png_result result = darkroom_png_lines_new(
        &rows->lines, source, rows->packed_bytes + 1,
        (uint64_t)(rows->packed_bytes + 1) * rows->header.height, rows->group, largest);
    if (result != DARKROOM_PNG_OK)
        return result;
    rows->above = calloc(1, rows->packed_bytes);
    if (rows->above == NULL)
        return DARKROOM_PNG_MEMORY;
    if (darkroom_png_is_expanded(&rows->header)) {
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
    rows->header = *header;
    if (palette != NULL)
        rows->palette = *palette;
    const size_t bits = darkroom_png_pixel_bits(header);
    rows->packed_bytes = ((size_t)header->width * bits + 7) / 8;
    rows->row_bytes = (size_t)header->width * header->channels * (header->depth / 8);
    rows->pixel_bytes = bits < 8 ? 1 : (int)bits / 8;
    rows->rows_left = header->height;
    rows->group = darkroom_png_group(rows->packed_bytes + 1);
    const darkroom_png_result status = allocate(rows, source, largest);
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
    darkroom_png_lines_free(rows->lines);
    free(rows->above);
    free(rows->packed);
    free(rows);
}

const char *darkroom_png_rows_message(const darkroom_png_rows *rows)
{
    return rows->message;
}

/* ---- Rows ---- */

void darkroom_png_fill_gray(const darkroom_png_header *header, uint8_t *rows, uint32_t count)
{
    const size_t sample = header->depth / 8, channels = header->channels;
    const size_t samples = (size_t)count * header->width * channels;
    for (size_t i = 0; i < samples; i++)
        memset(rows + i * sample, channels % 2 == 0 && i % channels == channels - 1 ? 0xff : 0x80, sample);
}

static void expand_gray(const uint8_t *packed, unsigned depth, uint8_t *out, size_t width)
{
    const unsigned factor = 255 / ((1u << depth) - 1);
    for (size_t i = 0; i < width; i++)
        out[i] = (uint8_t)(pixel_at(packed, i, depth) * factor);
}

bool darkroom_png_expand(
    const darkroom_png_header *header, const darkroom_png_palette *palette, const uint8_t *packed,
    uint8_t *out, size_t width)
{
    if (header->color_type == 3)
        return darkroom_png_look_up(
            palette, packed, header->bit_depth, out, header->channels, width);
    expand_gray(packed, header->bit_depth, out, width);
    return true;
}

void darkroom_png_rows_keep_indices(darkroom_png_rows *rows)
{
    rows->keeps_indices = true;
    rows->row_bytes = rows->header.width;
}

static darkroom_png_result fail(
    darkroom_png_rows *rows, darkroom_png_result result, const char *words)
{
    snprintf(rows->message, sizeof rows->message, "%s", words);
    return result;
}

static darkroom_png_result expand(darkroom_png_rows *rows, const uint8_t *packed, uint8_t *out)
{
    const darkroom_png_header *header = &rows->header;
    const bool is_good = rows->keeps_indices
        ? darkroom_png_unpack_indices(
              &rows->palette, packed, header->bit_depth, out, header->width)
        : darkroom_png_expand(header, &rows->palette, packed, out, header->width);
    if (!is_good)
        return fail(rows, DARKROOM_PNG_PALETTE, "IDAT: " DARKROOM_PNG_PALETTE_WORDS);
    return DARKROOM_PNG_OK;
}

/* Unfilters up to a group of lines and returns their rows. It returns the picture's last row only if
 * `behind`, the result for the data after it, is OK. */
static darkroom_png_result undo_group(
    darkroom_png_rows *rows, const uint8_t *lines, uint32_t count, darkroom_png_result behind,
    const char *words, uint8_t *out, uint32_t *done)
{
    uint8_t *to = rows->packed != NULL ? rows->packed : out;
    const bool swaps = rows->header.depth == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const uint32_t good = (uint32_t)darkroom_unfilter(
        lines, count, rows->packed_bytes, rows->pixel_bytes, swaps, rows->above, to);
    if (good > 0)
        memcpy(rows->above, to + (good - 1) * rows->packed_bytes, rows->packed_bytes);
    for (uint32_t k = 0; k < good; k++) {
        if (rows->rows_left == 1 && behind != DARKROOM_PNG_OK)
            return fail(rows, behind, words);
        if (rows->packed != NULL) {
            const darkroom_png_result result =
                expand(rows, to + k * rows->packed_bytes, out + k * rows->row_bytes);
            if (result != DARKROOM_PNG_OK)
                return result;
        }
        rows->rows_left--;
        ++*done;
    }
    if (good < count)
        return fail(rows, DARKROOM_PNG_DATA, "IDAT: bad adaptive filter value");
    return count > 0 ? DARKROOM_PNG_OK : fail(rows, behind, words);
}

darkroom_png_result darkroom_png_rows_read(
    darkroom_png_rows *rows, uint8_t *out, uint32_t count, uint32_t *done)
{
    *done = 0;
    while (*done < count) {
        const uint8_t *lines = NULL;
        uint32_t lent = 0;
        const darkroom_png_result behind =
            darkroom_png_lines_next(rows->lines, count - *done, &lines, &lent);
        const darkroom_png_result result = undo_group(
            rows, lines, lent, behind, darkroom_png_lines_message(rows->lines),
            out + *done * rows->row_bytes, done);
        if (result != DARKROOM_PNG_OK)
            return result;
    }
    return DARKROOM_PNG_OK;
}

void darkroom_png_rows_fetch(
    darkroom_png_rows *rows, uint8_t *lines, uint32_t count, darkroom_png_fetched *fetched)
{
    darkroom_png_lines_fetch(rows->lines, lines, count, fetched);
}

darkroom_png_result darkroom_png_rows_undo(
    darkroom_png_rows *rows, const uint8_t *lines, const darkroom_png_fetched *fetched, uint8_t *out,
    uint32_t *done)
{
    *done = 0;
    while (*done < fetched->count) {
        const uint32_t left = fetched->count - *done;
        const darkroom_png_result result = undo_group(
            rows, lines + *done * (rows->packed_bytes + 1), left < rows->group ? left : rows->group,
            fetched->result, fetched->message, out + *done * rows->row_bytes, done);
        if (result != DARKROOM_PNG_OK)
            return result;
    }
    return fetched->result == DARKROOM_PNG_OK ? DARKROOM_PNG_OK
                                              : fail(rows, fetched->result, fetched->message);
}

void darkroom_png_rows_surplus(const darkroom_png_rows *rows, uint64_t *extra, uint64_t *surplus)
{
    darkroom_png_lines_surplus(rows->lines, extra, surplus);
}

size_t darkroom_png_rows_line_bytes(const darkroom_png_rows *rows)
{
    return rows->packed_bytes + 1;
}
