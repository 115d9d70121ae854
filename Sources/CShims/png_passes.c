#include "png_passes.h"

#include "CDarkroomPixels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adam7 (PNG specification, section 8): where a pass begins, and the steps to its next column and row. */
static const struct {
    uint8_t x, y, step_x, step_y;
} adam7[DARKROOM_PNG_PASSES] = {
    {0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2},
};

struct darkroom_png_passes {
    darkroom_png_lines *lines;
    darkroom_png_header header;
    darkroom_png_palette palette;
    size_t row_bytes;  /* of a row of the picture */
    size_t pixel;      /* the bytes of one of its pixels */
    int filter_pixel;  /* what the filters take for a pixel */
    uint32_t group;    /* lines to unfilter together */

    int pass; /* from 0 */
    uint32_t row; /* the picture's next one in this pass */
    uint32_t columns; /* the pass has so many pixels in a line; without any it has no lines */
    size_t packed_bytes; /* a line's length without its filter's number */
    darkroom_png_result behind; /* what is wrong behind the last line */
    uint32_t bad_row; /* the first of the picture's with an index that is not in the palette; its height if none */

    uint8_t *above;    /* the line above the next one, unfiltered */
    uint8_t *packed;   /* `group` lines, unfiltered */
    uint8_t *expanded; /* the pixels of one of them; NULL where they are those of the line */
    char message[DARKROOM_PNG_WORDS];
};

/* ---- Setting up ---- */

static uint32_t steps(uint32_t size, uint32_t first, uint32_t step)
{
    return (size + step - 1 - first) / step;
}

static size_t bytes_of(const darkroom_png_passes *passes, uint32_t columns)
{
    return ((size_t)columns * darkroom_png_pixel_bits(&passes->header) + 7) / 8;
}

/* The bytes of all lines. */
static uint64_t all_bytes(const darkroom_png_passes *passes)
{
    uint64_t sum = 0;
    for (int i = 0; i < DARKROOM_PNG_PASSES; i++) {
        const uint32_t columns = steps(passes->header.width, adam7[i].x, adam7[i].step_x);
        if (columns > 0)
            sum += (uint64_t)steps(passes->header.height, adam7[i].y, adam7[i].step_y)
                * (bytes_of(passes, columns) + 1);
    }
    return sum;
}

/* The filters of a pass know nothing of the one before. */
static void begin_pass(darkroom_png_passes *passes, int pass)
{
    passes->pass = pass;
    passes->row = 0;
    passes->columns = steps(passes->header.width, adam7[pass].x, adam7[pass].step_x);
    passes->packed_bytes = bytes_of(passes, passes->columns);
    darkroom_png_lines_change(passes->lines, passes->packed_bytes + 1);
    memset(passes->above, 0, passes->packed_bytes);
}

static darkroom_png_result allocate(
    darkroom_png_passes *passes, darkroom_png_source *source, size_t largest)
{
    const size_t longest = bytes_of(passes, passes->header.width);
    passes->group = darkroom_png_group(longest + 1);
    const darkroom_png_result result = darkroom_png_lines_new(
        &passes->lines, source, longest + 1, all_bytes(passes), passes->group, largest);
    if (result != DARKROOM_PNG_OK)
        return result;
    passes->above = malloc(longest);
    passes->packed = malloc(passes->group * longest);
    if (darkroom_png_is_expanded(&passes->header))
        passes->expanded = malloc(passes->row_bytes);
    const bool lacks_expanded
        = darkroom_png_is_expanded(&passes->header) && passes->expanded == NULL;
    return passes->above == NULL || passes->packed == NULL || lacks_expanded ? DARKROOM_PNG_MEMORY
                                                                             : DARKROOM_PNG_OK;
}

/* Other indices are gray and opaque, as all is that a damaged picture lacks. */
static void copy_palette(darkroom_png_passes *passes, const darkroom_png_palette *palette)
{
    static const uint8_t gray[4] = {0x80, 0x80, 0x80, 0xff};
    passes->palette = *palette;
    for (unsigned i = palette->count; i < 256; i++)
        memcpy(passes->palette.colours[i], gray, sizeof gray);
}

darkroom_png_result darkroom_png_passes_new(
    darkroom_png_passes **result, darkroom_png_source *source, const darkroom_png_header *header,
    const darkroom_png_palette *palette, size_t largest)
{
    *result = NULL;
    darkroom_png_passes *passes = calloc(1, sizeof *passes);
    if (passes == NULL)
        return DARKROOM_PNG_MEMORY;
    passes->header = *header;
    passes->bad_row = header->height;
    if (palette != NULL)
        copy_palette(passes, palette);
    const size_t bits = darkroom_png_pixel_bits(header);
    passes->pixel = header->channels * (header->depth / 8u);
    passes->row_bytes = header->width * passes->pixel;
    passes->filter_pixel = bits < 8 ? 1 : (int)bits / 8;
    const darkroom_png_result status = allocate(passes, source, largest);
    if (status != DARKROOM_PNG_OK) {
        darkroom_png_passes_free(passes);
        return status;
    }
    begin_pass(passes, 0);
    *result = passes;
    return DARKROOM_PNG_OK;
}

void darkroom_png_passes_free(darkroom_png_passes *passes)
{
    if (passes == NULL)
        return;
    darkroom_png_lines_free(passes->lines);
    free(passes->above);
    free(passes->packed);
    free(passes->expanded);
    free(passes);
}

const char *darkroom_png_passes_message(const darkroom_png_passes *passes)
{
    return passes->message;
}

void darkroom_png_passes_surplus(
    const darkroom_png_passes *passes, uint64_t *extra, uint64_t *surplus)
{
    darkroom_png_lines_surplus(passes->lines, extra, surplus);
}

/* ---- Pixels ---- */

static inline __attribute__((always_inline)) void spread_of(
    const uint8_t *pixels, size_t count, size_t pixel, uint8_t *to, size_t step)
{
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * step * pixel, pixels + i * pixel, pixel);
}

/* Writes `count` pixels, of `pixel` bytes each, to every `step`th place. */
static void spread(const uint8_t *pixels, size_t count, size_t pixel, uint8_t *to, size_t step)
{
    if (step == 1) {
        memcpy(to, pixels, count * pixel);
        return;
    }
    /* Constants, so that the loops copy whole pixels. */
    switch (pixel) {
    case 1: spread_of(pixels, count, 1, to, step); break;
    case 2: spread_of(pixels, count, 2, to, step); break;
    case 3: spread_of(pixels, count, 3, to, step); break;
    case 4: spread_of(pixels, count, 4, to, step); break;
    case 6: spread_of(pixels, count, 6, to, step); break;
    default: spread_of(pixels, count, 8, to, step); break;
    }
}

/* Adds the pixels of an unfiltered line to their row. */
static void place(darkroom_png_passes *passes, const uint8_t *packed, uint8_t *row)
{
    const uint8_t *pixels = packed;
    if (passes->expanded != NULL) {
        if (!darkroom_png_expand(
                &passes->header, &passes->palette, packed, passes->expanded, passes->columns)
            && passes->row < passes->bad_row)
            passes->bad_row = passes->row;
        pixels = passes->expanded;
    }
    const size_t first = adam7[passes->pass].x * passes->pixel;
    spread(pixels, passes->columns, passes->pixel, row + first, adam7[passes->pass].step_x);
}

/* ---- Rows ---- */

static darkroom_png_result fail(
    darkroom_png_passes *passes, darkroom_png_result result, const char *words)
{
    snprintf(passes->message, sizeof passes->message, "%s", words);
    return result;
}

/* Unfilters up to a group of lines and adds them to their rows, of which passes->row is the first. `out` is row
 * `start`. The row with an error is passes->row then. */
static darkroom_png_result add_group(
    darkroom_png_passes *passes, uint32_t wanted, uint8_t *out, uint32_t start)
{
    const uint8_t *lines = NULL;
    uint32_t lent = 0;
    const darkroom_png_result result
        = darkroom_png_lines_next(passes->lines, wanted, &lines, &lent);
    if (lent == 0)
        return fail(passes, result, darkroom_png_lines_message(passes->lines));
    passes->behind = result;
    const size_t bytes = passes->packed_bytes;
    const bool swaps = passes->header.depth == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const uint32_t good = (uint32_t)darkroom_unfilter(
        lines, lent, bytes, passes->filter_pixel, swaps, passes->above, passes->packed);
    if (good > 0)
        memcpy(passes->above, passes->packed + (good - 1) * bytes, bytes);
    for (uint32_t k = 0; k < good; k++) {
        uint8_t *row = out + (passes->row - start) * passes->row_bytes;
        place(passes, passes->packed + k * bytes, row);
        passes->row += adam7[passes->pass].step_y;
    }
    return good == lent ? DARKROOM_PNG_OK
                        : fail(passes, DARKROOM_PNG_DATA, "IDAT: bad adaptive filter value");
}

static bool is_last_pass(const darkroom_png_passes *passes)
{
    return passes->pass == DARKROOM_PNG_PASSES - 1;
}

/* Adds the lines of the rows from passes->row, which is at `out`, to `end`, not beyond the pass. */
static darkroom_png_result add_lines(darkroom_png_passes *passes, uint32_t end, uint8_t *out)
{
    const uint32_t start = passes->row;
    const uint32_t first = adam7[passes->pass].y, step = adam7[passes->pass].step_y;
    if (passes->columns > 0) {
        passes->row = passes->row < first
            ? first
            : first + (passes->row - first + step - 1) / step * step;
        while (passes->row < end) {
            const darkroom_png_result result
                = add_group(passes, (end - passes->row + step - 1) / step, out, start);
            if (result != DARKROOM_PNG_OK)
                return result;
        }
    }
    passes->row = end;
    /* The last line may belong to an earlier row, or even an earlier pass. */
    if (is_last_pass(passes) && end == passes->header.height && passes->behind != DARKROOM_PNG_OK) {
        passes->row = end - 1;
        return fail(passes, passes->behind, darkroom_png_lines_message(passes->lines));
    }
    return DARKROOM_PNG_OK;
}

darkroom_png_result darkroom_png_passes_read(
    darkroom_png_passes *passes, uint8_t *out, uint32_t count, uint32_t *done)
{
    const uint32_t height = passes->header.height;
    *done = 0;
    while (*done < count) {
        const uint32_t start = passes->row, left = height - start;
        const uint32_t part = count - *done < left ? count - *done : left;
        darkroom_png_result result
            = add_lines(passes, start + part, out + *done * passes->row_bytes);
        /* Not before the last pass, so that all that is good can be kept. */
        if (is_last_pass(passes) && passes->bad_row < passes->row) {
            passes->row = passes->bad_row;
            result = fail(passes, DARKROOM_PNG_PALETTE, "IDAT: " DARKROOM_PNG_PALETTE_WORDS);
        }
        *done += passes->row - start;
        if (result != DARKROOM_PNG_OK)
            return result;
        if (passes->row == height && passes->pass + 1 < DARKROOM_PNG_PASSES)
            begin_pass(passes, passes->pass + 1);
    }
    return DARKROOM_PNG_OK;
}
