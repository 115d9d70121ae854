#include "png_reader.h"

#include "remarks.h"

#include <inttypes.h>
#include <stdio.h>

void darkroom_png_remark_surplus(darkroom_png_reader *reader)
{
    uint64_t extra = 0, surplus = 0;
    char words[WARNING_BYTES];
    if (reader->rows != NULL)
        darkroom_png_rows_surplus(reader->rows, &extra, &surplus);
    if (reader->passes != NULL)
        darkroom_png_passes_surplus(reader->passes, &extra, &surplus);
    surplus += reader->source.surplus;
    if (extra > 0) {
        snprintf(
            words, sizeof words, "IDAT: " DARKROOM_PNG_TOO_MANY_ROWS ": %" PRIu64 " bytes after the last row",
            extra);
        darkroom_png_remark(reader, words);
    }
    if (surplus > 0) {
        snprintf(
            words, sizeof words, "IDAT: " DARKROOM_PNG_AFTER_STREAM ": %" PRIu64 " bytes after its end",
            surplus);
        darkroom_png_remark(reader, words);
    }
}

/* ---- Damaged pictures that are kept ---- */

void darkroom_png_reader_keep_damaged(darkroom_png_reader *reader)
{
    reader->keeps_damaged = true;
}

static bool is_damage(darkroom_png_result result)
{
    return result == DARKROOM_PNG_CRC || result == DARKROOM_PNG_TRUNCATED || result == DARKROOM_PNG_ADLER
        || result == DARKROOM_PNG_DATA || result == DARKROOM_PNG_PALETTE || result == DARKROOM_PNG_INVALID;
}

void darkroom_png_remark_damage(darkroom_png_reader *reader)
{
    char words[WARNING_BYTES];
    const uint32_t height = reader->header.height;
    if (reader->damaged_pass > 0)
        snprintf(
            words, sizeof words, "damaged from pass %" PRIu32 " of 7, row %" PRIu32 " of %" PRIu32 " on: %.60s",
            reader->damaged_pass, reader->damaged_row + 1, height, reader->trap.message);
    else
        snprintf(
            words, sizeof words, "damaged from row %" PRIu32 " of %" PRIu32 " on: %.80s", reader->damaged_row + 1,
            height, reader->trap.message);
    darkroom_png_remark(reader, words);
}

darkroom_png_result darkroom_png_kept_rows(darkroom_png_reader *reader, uint8_t *rows, uint32_t count)
{
    const darkroom_png_header *h = &reader->header;
    if (!reader->is_damaged) {
        if (!reader->keeps_damaged || !is_damage(reader->trap.result))
            return reader->trap.result;
        const uint64_t passes_left = (reader->rows_left + h->height - 1) / h->height;
        const uint64_t left = reader->rows_left - (passes_left - 1) * h->height;
        reader->damaged_row = h->height - (uint32_t)left;
        reader->damaged_pass = h->interlaced ? 8 - (uint32_t)passes_left : 0;
        reader->is_damaged = true;
        reader->trap.result = DARKROOM_PNG_OK;
    }
    const uint32_t missing = count - reader->last_count;
    if (!h->interlaced)
        darkroom_png_fill_gray(h, rows + reader->last_count * reader->row_bytes, missing);
    reader->rows_left -= missing;
    reader->last_count = count;
    return DARKROOM_PNG_OK;
}

darkroom_png_result darkroom_png_kept_end(darkroom_png_reader *reader)
{
    if (!reader->keeps_damaged || !is_damage(reader->trap.result))
        return reader->trap.result;
    reader->trap.result = DARKROOM_PNG_OK;
    char words[WARNING_BYTES];
    snprintf(words, sizeof words, "damaged behind the last row: %.80s", reader->trap.message);
    darkroom_png_remark(reader, words);
    return DARKROOM_PNG_OK;
}
