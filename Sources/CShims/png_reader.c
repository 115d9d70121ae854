#include "png_reader.h"

#include "remarks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Samples of 16 bits are swapped when they are read and written. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "for little-endian processors");

enum {
    LAST_ROW_SLACK = 2 * DARKROOM_PNG_PIECE_BYTES, /* the piece begun before and the end's */
    /* Compressed data may use this number of bytes for each byte that they give, and a fixed number in
     * addition at any time. */
    MOST_FOR_ONE = 16,
    CREDIT = 4 << 20,
    KEPT_CHUNKS = 4, /* unparsed; libpng's own number for that is larger by two */
};

/* ---- libpng's callbacks ---- */

void darkroom_png_remark(darkroom_png_reader *reader, const char *message)
{
    if (reader->warning_count == WARNINGS)
        return;
    char *slot = reader->warnings[reader->warning_count];
    snprintf(slot, WARNING_BYTES, "%s", message);
    for (size_t i = 0; i < reader->warning_count; i++)
        if (strcmp(reader->warnings[i], slot) == 0)
            return;
    reader->warning_count++;
}

static void warn(png_structp png, png_const_charp message)
{
    darkroom_png_reader *reader = (darkroom_png_reader *)png_get_error_ptr(png);
    if (reader->is_reading && darkroom_png_remark_class(message) != DARKROOM_HARMLESS)
        png_error(png, message);
    darkroom_png_remark(reader, message);
}

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
    darkroom_png_reader *reader = png_get_mem_ptr(png);
    if (size > reader->largest_allocation) {
        /* libpng reports it itself, as an error or a remark. */
        reader->trap.expected = DARKROOM_PNG_LIMIT;
        return NULL;
    }
    return malloc(size);
}

static void release(png_structp png, png_voidp memory)
{
    (void)png;
    free(memory);
}

static void read_data(png_structp png, png_bytep bytes, size_t count)
{
    darkroom_png_reader *reader = png_get_io_ptr(png);
    darkroom_png_result result = darkroom_png_source_read(&reader->source, bytes, count);
    /* A request for too much memory that libpng survived must not change the kind of a later error. */
    reader->trap.expected = result;
    if (result != DARKROOM_PNG_OK)
        png_error(png, reader->source.message);
}

/* ---- Entries ---- */

darkroom_png_reader *darkroom_png_reader_new(
    int fd, size_t largest_allocation, size_t largest_ancillary)
{
    darkroom_png_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return NULL;
    darkroom_png_source_start(&reader->source, fd);
    reader->largest_allocation = largest_allocation;
    if (setjmp(reader->trap.jump) != 0) {
        darkroom_png_reader_free(reader);
        return NULL;
    }
    reader->png = png_create_read_struct_2(
        PNG_LIBPNG_VER_STRING, &reader->trap, darkroom_png_error, warn, reader, allocate, release);
    if (reader->png != NULL)
        reader->info = png_create_info_struct(reader->png);
    if (reader->info == NULL) {
        darkroom_png_reader_free(reader);
        return NULL;
    }
    png_structp png = reader->png;
    png_set_read_fn(png, reader, read_data);
    /* The source has compared the checksums of critical chunks. Their pieces fit libpng's buffer. */
    png_set_crc_action(png, PNG_CRC_QUIET_USE, PNG_CRC_WARN_DISCARD);
    png_set_compression_buffer_size(png, sizeof reader->source.held);
    /* The caller compares width and height with its own limits before a row is allocated. */
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(png, largest_ancillary);
    /* Some encoders declare a smaller window than they use. Whether zlib notices it depends on how the data
     * are divided into pieces. With the largest window such files are read. */
    png_set_option(png, PNG_MAXIMUM_INFLATE_WINDOW, PNG_OPTION_ON);
    png_set_benign_errors(png, 1);

    /* These are skipped while they are read: nothing of them is needed, and a parser that does not run is
     * safe. */
    static const png_byte unwanted[] =
        "bKGD\0hIST\0sBIT\0oFFs\0pCAL\0sCAL\0sPLT\0tEXt\0zTXt\0iTXt\0tIME";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, unwanted, sizeof unwanted / 5);
    /* These are kept unparsed: libpng does not know the first, and does not examine the second. */
    static const png_byte unparsed[] = "cICP\0eXIf";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_ALWAYS, unparsed, sizeof unparsed / 5);
    /* The first chunk of each name counts. A file with only such chunks would be kept completely in memory. */
    png_set_chunk_cache_max(png, KEPT_CHUNKS + 2);
    return reader;
}

bool darkroom_png_reader_fill(darkroom_png_reader *reader, const uint8_t *bytes, size_t count)
{
    return darkroom_png_source_fill(&reader->source, bytes, count);
}

void darkroom_png_reader_free(darkroom_png_reader *reader)
{
    if (reader == NULL)
        return;
    if (reader->png != NULL && setjmp(reader->trap.jump) == 0)
        png_destroy_read_struct(&reader->png, &reader->info, NULL);
    darkroom_png_rows_free(reader->rows);
    darkroom_png_passes_free(reader->passes);
    darkroom_png_source_end(&reader->source);
    free(reader);
}

darkroom_png_result darkroom_png_reader_prefix(
    darkroom_png_reader *reader, uint8_t *bytes, size_t count, size_t *copied)
{
    darkroom_png_result result =
        darkroom_png_source_prefix(&reader->source, bytes, count, copied);
    if (result != DARKROOM_PNG_OK)
        darkroom_png_note(&reader->trap, result, reader->source.message);
    return result;
}

darkroom_png_result darkroom_png_reader_open(
    darkroom_png_reader *reader, darkroom_png_header *header)
{
    if (reader->trap.result != DARKROOM_PNG_OK)
        return reader->trap.result;
    if (reader->is_open)
        return darkroom_png_note(&reader->trap, DARKROOM_PNG_MISUSE, "opened twice");
    if (setjmp(reader->trap.jump) != 0)
        return reader->trap.result;
    png_structp png = reader->png;
    png_infop info = reader->info;
    png_read_info(png, info);

    darkroom_png_header *h = &reader->header;
    h->width = png_get_image_width(png, info);
    h->height = png_get_image_height(png, info);
    h->color_type = png_get_color_type(png, info);
    h->bit_depth = png_get_bit_depth(png, info);
    h->interlaced = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    bool has_colour = (h->color_type & PNG_COLOR_MASK_COLOR) != 0;
    bool has_alpha = (h->color_type & PNG_COLOR_MASK_ALPHA) != 0
        || darkroom_png_finds_transparency(png, info);
    h->channels = (uint8_t)((has_colour ? 3 : 1) + (has_alpha ? 1 : 0));
    h->depth = h->bit_depth == 16 ? 16 : 8;
    *header = *h;
    reader->is_open = true;
    return DARKROOM_PNG_OK;
}

/* Whether libpng has no part in the pixels. */
static bool is_own(const darkroom_png_reader *reader)
{
    return reader->rows != NULL || reader->passes != NULL;
}

static darkroom_png_result start_rows(darkroom_png_reader *reader)
{
    const darkroom_png_header *h = &reader->header;
    const darkroom_png_result result = h->interlaced
        ? darkroom_png_passes_new(
              &reader->passes, &reader->source, h, &reader->palette, reader->largest_allocation)
        : darkroom_png_rows_new(
              &reader->rows, &reader->source, h, &reader->palette, reader->largest_allocation);
    reader->rows_left = (h->interlaced ? DARKROOM_PNG_PASSES : 1u) * (uint64_t)h->height;
    if (result != DARKROOM_PNG_OK)
        darkroom_png_note(&reader->trap, result, "not enough memory for rows");
    return result;
}

/* Prepares libpng for rows. Palette indices are looked up here, because libpng would return black for an
 * index that is not in the palette. */
static void start_libpng(darkroom_png_reader *reader)
{
    png_structp png = reader->png;
    const darkroom_png_header *h = &reader->header;
    reader->is_reading = true;
    const bool has_palette = h->color_type == PNG_COLOR_TYPE_PALETTE;
    if (has_palette)
        png_set_packing(png);
    else
        png_set_expand(png);
    if (h->depth == 16)
        png_set_swap(png);
    const uint64_t passes = (uint64_t)png_set_interlace_handling(png);
    png_read_update_info(png, reader->info);
    const size_t pixel = has_palette ? 1u : h->channels * (h->depth / 8u);
    if (png_get_rowbytes(png, reader->info) != (size_t)h->width * pixel)
        png_error(png, "rows of an unexpected length");
    reader->rows_left = passes * h->height;
    reader->source.is_counted = true;
    reader->source.credit = CREDIT;
}

darkroom_png_result darkroom_png_reader_start(
    darkroom_png_reader *reader, darkroom_png_decoder decoder, size_t *row_bytes)
{
    if (reader->trap.result != DARKROOM_PNG_OK)
        return reader->trap.result;
    if (!reader->is_open || reader->is_started)
        return darkroom_png_note(&reader->trap, DARKROOM_PNG_MISUSE, "not to be started now");
    if (setjmp(reader->trap.jump) != 0)
        return reader->trap.result;
    const darkroom_png_header *h = &reader->header;
    const bool has_transparency = darkroom_png_finds_transparency(reader->png, reader->info);
    if (h->color_type == PNG_COLOR_TYPE_PALETTE)
        darkroom_png_copy_palette(reader);
    reader->row_bytes = (size_t)h->width * h->channels * (h->depth / 8);
    if (decoder == DARKROOM_PNG_AUTOMATIC && darkroom_png_rows_can_read(h, has_transparency)) {
        if (start_rows(reader) != DARKROOM_PNG_OK)
            return reader->trap.result;
    } else {
        start_libpng(reader);
    }
    reader->is_started = true;
    *row_bytes = reader->row_bytes;
    return DARKROOM_PNG_OK;
}

void darkroom_png_reader_keep_indices(darkroom_png_reader *reader)
{
    darkroom_png_rows_keep_indices(reader->rows);
    reader->row_bytes = reader->header.width;
}

bool darkroom_png_reader_keep_data(darkroom_png_reader *reader)
{
    return reader->rows != NULL && darkroom_png_source_keep(&reader->source);
}

size_t darkroom_png_reader_take_data(
    darkroom_png_reader *reader, uint8_t *bytes, size_t count, bool is_end)
{
    return darkroom_png_kept_take(&reader->source.kept, bytes, count, is_end);
}

bool darkroom_png_reader_has_extra_rows(const darkroom_png_reader *reader)
{
    uint64_t extra = 0, surplus = 0;
    if (reader->rows != NULL)
        darkroom_png_rows_surplus(reader->rows, &extra, &surplus);
    return extra > 0;
}

/* ---- Rows ---- */

/* One row by libpng. */
static darkroom_png_result read_row(darkroom_png_reader *reader, uint8_t *row)
{
    const darkroom_png_header *h = &reader->header;
    if (reader->rows_left == 1) {
        /* Deflate makes incompressible bytes larger by a thousandth. An encoder that flushes often is allowed
         * more. */
        reader->source.last_row_left = reader->row_bytes + reader->row_bytes / 8 + LAST_ROW_SLACK;
        reader->source.is_last_row = true;
    }
    darkroom_png_source *source = &reader->source;
    /* A row in the file has at most 8 bytes for each pixel, and the filter's number. */
    const int64_t line = (int64_t)h->width * 8 + 1;
    source->credit = (source->credit < CREDIT ? source->credit : CREDIT) + MOST_FOR_ONE * line;
    png_read_row(reader->png, row, NULL);
    /* Not before an interlaced picture's last pass: each pass adds the indices of its pixels. */
    if (h->color_type == PNG_COLOR_TYPE_PALETTE && reader->rows_left <= h->height
        && !darkroom_png_look_up(&reader->palette, row, 8, row, h->channels, h->width))
        return darkroom_png_note(
            &reader->trap, DARKROOM_PNG_PALETTE, "IDAT: " DARKROOM_PNG_PALETTE_WORDS);
    reader->rows_left--;
    reader->last_count++;
    return DARKROOM_PNG_OK;
}

static darkroom_png_result read_rows_quickly(
    darkroom_png_reader *reader, uint8_t *rows, uint32_t count)
{
    darkroom_png_passes *passes = reader->passes;
    const darkroom_png_result result = passes != NULL
        ? darkroom_png_passes_read(passes, rows, count, &reader->last_count)
        : darkroom_png_rows_read(reader->rows, rows, count, &reader->last_count);
    reader->rows_left -= reader->last_count;
    if (result != DARKROOM_PNG_OK)
        return darkroom_png_note(
            &reader->trap, result,
            passes != NULL ? darkroom_png_passes_message(passes)
                           : darkroom_png_rows_message(reader->rows));
    return DARKROOM_PNG_OK;
}

darkroom_png_result darkroom_png_reader_rows(
    darkroom_png_reader *reader, uint8_t *rows, uint32_t count)
{
    if (reader->trap.result != DARKROOM_PNG_OK)
        return reader->trap.result;
    if (!reader->is_started || count > reader->rows_left)
        return darkroom_png_note(&reader->trap, DARKROOM_PNG_MISUSE, "no such rows");
    reader->last_count = 0;
    reader->source.reports_data = true;
    if (reader->is_damaged)
        return darkroom_png_kept_rows(reader, rows, count);
    if (is_own(reader)) {
        if (read_rows_quickly(reader, rows, count) != DARKROOM_PNG_OK)
            return darkroom_png_kept_rows(reader, rows, count);
    } else {
        if (setjmp(reader->trap.jump) != 0)
            return darkroom_png_kept_rows(reader, rows, count);
        for (uint32_t i = 0; i < count; i++)
            if (read_row(reader, rows + i * reader->row_bytes) != DARKROOM_PNG_OK)
                return darkroom_png_kept_rows(reader, rows, count);
    }
    reader->source.is_after_rows = reader->rows_left == 0;
    return DARKROOM_PNG_OK;
}

size_t darkroom_png_reader_line_bytes(const darkroom_png_reader *reader)
{
    return reader->rows == NULL ? 0 : darkroom_png_rows_line_bytes(reader->rows);
}

/* Uses no data that darkroom_png_reader_undo uses. */
void darkroom_png_reader_fetch(
    darkroom_png_reader *reader, uint8_t *lines, uint32_t count, darkroom_png_fetched *fetched)
{
    reader->source.reports_data = true;
    darkroom_png_rows_fetch(reader->rows, lines, count, fetched);
}

darkroom_png_result darkroom_png_reader_undo(
    darkroom_png_reader *reader, const uint8_t *lines, const darkroom_png_fetched *fetched,
    uint8_t *rows, uint32_t wanted)
{
    if (reader->trap.result != DARKROOM_PNG_OK)
        return reader->trap.result;
    if (reader->rows == NULL || fetched->count > wanted || wanted > reader->rows_left)
        return darkroom_png_note(&reader->trap, DARKROOM_PNG_MISUSE, "no such rows");
    reader->last_count = 0;
    if (reader->is_damaged)
        return darkroom_png_kept_rows(reader, rows, wanted);
    const darkroom_png_result result =
        darkroom_png_rows_undo(reader->rows, lines, fetched, rows, &reader->last_count);
    reader->rows_left -= reader->last_count;
    if (result != DARKROOM_PNG_OK) {
        darkroom_png_note(&reader->trap, result, darkroom_png_rows_message(reader->rows));
        return darkroom_png_kept_rows(reader, rows, wanted);
    }
    /* Everything is fetched then. */
    if (reader->rows_left == 0)
        reader->source.is_after_rows = true;
    return DARKROOM_PNG_OK;
}

darkroom_png_result darkroom_png_reader_finish(darkroom_png_reader *reader)
{
    if (reader->trap.result != DARKROOM_PNG_OK)
        return reader->trap.result;
    if (!reader->is_started || reader->rows_left != 0)
        return darkroom_png_note(&reader->trap, DARKROOM_PNG_MISUSE, "there are rows left");
    if (setjmp(reader->trap.jump) != 0)
        return darkroom_png_kept_end(reader);
    if (reader->is_damaged) {
        darkroom_png_remark_damage(reader);
        return DARKROOM_PNG_OK;
    }
    /* Ancillary chunks follow. The source finds further IDATs. */
    reader->is_reading = false;
    if (!is_own(reader))
        png_read_end(reader->png, NULL);
    else if (darkroom_png_read_rest(reader) != DARKROOM_PNG_OK)
        return darkroom_png_kept_end(reader);
    darkroom_png_remark_surplus(reader);
    if (darkroom_png_source_has_more(&reader->source))
        darkroom_png_remark(reader, "IEND: trailing bytes after the end of the picture");
    return DARKROOM_PNG_OK;
}
