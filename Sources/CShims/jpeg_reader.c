#include "jpeg_reader.h"

#include "CDarkroomPixels.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(DARKROOM_JPEG_MOST_VIEWS == DARKROOM_JPEG_VIEWS, "the numbers of sizes at once");

enum {
    /* Encoders make about ten. Each scan is a pass over all pixels and may need only four bytes. */
    LARGEST_SCAN = 100,
    EVENTS_AT_A_TIME = 64, /* rows of blocks, mostly, between two chances to stop */
};

/* ---- Entries ---- */

darkroom_jpeg_reader *darkroom_jpeg_reader_new(int fd, size_t largest_profile)
{
    darkroom_jpeg_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return NULL;
    reader->info.err = darkroom_jpeg_trap_start(&reader->trap);
    if (setjmp(reader->trap.jump) != 0) {
        darkroom_jpeg_reader_free(reader);
        return NULL;
    }
    reader->trap.judge = darkroom_jpeg_judge_warning;
    reader->trap.context = reader;
    reader->info.client_data = &reader->segments; /* kept by the next call */
    jpeg_create_decompress(&reader->info);
    darkroom_jpeg_file_start(&reader->source, fd);
    reader->info.src = &reader->source.manager;
    reader->segments.largest_profile = largest_profile;
    darkroom_jpeg_segments_start(&reader->info);
    return reader;
}

bool darkroom_jpeg_reader_fill(darkroom_jpeg_reader *reader, const uint8_t *bytes, size_t count)
{
    return darkroom_jpeg_file_fill(&reader->source, bytes, count);
}

void darkroom_jpeg_reader_keep_damaged(darkroom_jpeg_reader *reader)
{
    reader->trap.keeps_damaged = true;
}

void darkroom_jpeg_reader_free(darkroom_jpeg_reader *reader)
{
    if (reader == NULL)
        return;
    if (setjmp(reader->trap.jump) == 0)
        jpeg_destroy_decompress(&reader->info);
    darkroom_jpeg_scan_free(reader->scan);
    darkroom_jpeg_segments_free(&reader->segments);
    free(reader);
}

/* The blocks of all components, which are held if they are in several scans: enough for libjpeg, which fills MCUs,
 * and for our own code, which fills its quads, too, and notes for each block which coefficients it has. */
static uint64_t coefficient_bytes(const struct jpeg_decompress_struct *info)
{
    enum { QUAD = 4 };
    uint64_t blocks = 0;
    for (int i = 0; i < info->num_components; i++) {
        const jpeg_component_info *c = &info->comp_info[i];
        uint64_t h = (uint64_t)c->h_samp_factor, v = (uint64_t)c->v_samp_factor;
        uint64_t across = (c->width_in_blocks + h - 1) / h * h;
        uint64_t down = (c->height_in_blocks + v - 1) / v * v;
        blocks += (across + QUAD - 1) / QUAD * QUAD * down;
    }
    return blocks * (sizeof(JBLOCK) + sizeof(uint64_t));
}

/* Records the components of the scan that begins. Progressive scans with finer coefficients do not count:
 * without its first coefficient a component is gray. */
static void note_scan(darkroom_jpeg_reader *reader)
{
    const struct jpeg_decompress_struct *info = &reader->info;
    if (info->Ss != 0)
        return;
    for (int i = 0; i < info->comps_in_scan; i++)
        reader->is_seen[info->cur_comp_info[i]->component_index] = true;
}

/* After a failure: whether the height is one that is given behind the scan. Then the header can be read again. */
static bool finds_height(darkroom_jpeg_reader *reader)
{
    struct jpeg_decompress_struct *info = &reader->info;
    darkroom_jpeg_trap *trap = &reader->trap;
    const int code = info->err->msg_code;
    const bool is_missing = code == JERR_EMPTY_IMAGE && info->image_height == 0 && info->image_width > 0;
    const bool is_filler = code == JERR_IMAGE_TOO_BIG && info->image_height == UINT16_MAX;
    if (!is_missing && !is_filler)
        return false;
    if (!darkroom_jpeg_file_find_height(&reader->source)) {
        darkroom_jpeg_note(
            trap, is_missing ? DARKROOM_JPEG_HEADER : DARKROOM_JPEG_LIMIT,
            "the header gives no height (0 or 65535), and there is none behind the pixels either (DNL), or the file"
            " cannot be read twice");
        return false;
    }
    jpeg_abort_decompress(info);
    darkroom_jpeg_segments_reset(&reader->segments);
    reader->irregular = (darkroom_jpeg_irregular){0};
    trap->result = DARKROOM_JPEG_OK;
    trap->message[0] = 0;
    return true;
}

darkroom_jpeg_result darkroom_jpeg_reader_open(
    darkroom_jpeg_reader *reader, darkroom_jpeg_header *header)
{
    darkroom_jpeg_trap *trap = &reader->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    if (reader->is_open)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "opened twice");
    if (setjmp(trap->jump) != 0 && !finds_height(reader))
        return trap->result;
    struct jpeg_decompress_struct *info = &reader->info;
    jpeg_read_header(info, TRUE);
    if (info->num_components != 1 && info->num_components != 3 && info->num_components != 4)
        darkroom_jpeg_fail(
            trap, DARKROOM_JPEG_UNSUPPORTED, "neither one nor three nor four colour components");
    darkroom_jpeg_segments_finish(&reader->segments, trap);
    darkroom_jpeg_header *h = &reader->header;
    h->width = info->image_width;
    h->height = info->image_height;
    reader->component_count = info->num_components;
    h->is_cmyk = info->num_components == 4;
    h->channels = (uint8_t)info->num_components;
    h->is_whole = jpeg_has_multiple_scans(info) != 0;
    h->whole_bytes = coefficient_bytes(info);
    reader->is_progressive = info->progressive_mode != 0;
    reader->is_arithmetic = info->arith_code != 0;
    h->has_density = info->saw_JFIF_marker != 0;
    if (h->has_density) {
        h->density.unit = info->density_unit;
        h->density.x = info->X_density;
        h->density.y = info->Y_density;
    }
    note_scan(reader);
    *header = *h;
    reader->is_open = true;
    return DARKROOM_JPEG_OK;
}

/* Lets libjpeg give the rows. */
static void start_libjpeg(darkroom_jpeg_reader *reader)
{
    struct jpeg_decompress_struct *info = &reader->info;
    info->out_color_space = reader->header.is_cmyk ? JCS_CMYK
        : reader->header.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    info->dct_method = JDCT_ISLOW;
    info->do_fancy_upsampling = TRUE;
    /* This would replace missing data of a progressive file by guesses. */
    info->do_block_smoothing = FALSE;
    info->buffered_image = reader->header.is_whole;
    /* The arithmetic decoder takes what is missing for zeros, without a remark. */
    reader->source.may_end = !info->arith_code;
    darkroom_jpeg_file_survey(&reader->source);
    jpeg_start_decompress(info);
    if (info->output_components != reader->component_count)
        darkroom_jpeg_fail(
            &reader->trap, DARKROOM_JPEG_INVALID, "rows of an unexpected length");
}

darkroom_jpeg_result darkroom_jpeg_reader_start(
    darkroom_jpeg_reader *reader, darkroom_jpeg_decoder decoder, unsigned divisor, uint32_t *width,
    uint32_t *height)
{
    darkroom_jpeg_trap *trap = &reader->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    bool is_divisor = divisor == 1 || divisor == 2 || divisor == 4 || divisor == 8;
    if (!reader->is_open || reader->is_started || !is_divisor)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "not to be started so");
    if (setjmp(trap->jump) != 0)
        return trap->result;
    struct jpeg_decompress_struct *info = &reader->info;
    info->scale_num = 1;
    info->scale_denom = divisor;
    if (decoder == DARKROOM_JPEG_AUTOMATIC)
        reader->scan = darkroom_jpeg_file_scan(&reader->source, info, &divisor, 1);
    if (reader->scan != NULL) {
        *width = darkroom_jpeg_scan_width(reader->scan, 0);
        *height = darkroom_jpeg_scan_height(reader->scan, 0);
    } else {
        start_libjpeg(reader);
        *width = info->output_width;
        *height = info->output_height;
    }
    reader->row_bytes = (size_t)*width * reader->header.channels;
    reader->rows_left = *height;
    trap->phase = DARKROOM_JPEG_DATA;
    reader->is_started = true;
    reader->is_complete = !reader->header.is_whole;
    return DARKROOM_JPEG_OK;
}

darkroom_jpeg_result darkroom_jpeg_reader_start_views(
    darkroom_jpeg_reader *reader, const unsigned *divisors, unsigned count, uint32_t *widths,
    uint32_t *heights, uint32_t *step_rows)
{
    darkroom_jpeg_trap *trap = &reader->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    if (!reader->is_open || reader->is_started || count < 1 || count > DARKROOM_JPEG_MOST_VIEWS)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "not to be started so");
    reader->scan = darkroom_jpeg_file_scan(&reader->source, &reader->info, divisors, count);
    if (reader->scan == NULL)
        return DARKROOM_JPEG_UNUSUAL;
    for (unsigned v = 0; v < count; v++) {
        widths[v] = darkroom_jpeg_scan_width(reader->scan, v);
        heights[v] = darkroom_jpeg_scan_height(reader->scan, v);
        step_rows[v] = darkroom_jpeg_scan_step_rows(reader->scan, v);
    }
    trap->phase = DARKROOM_JPEG_DATA;
    reader->has_views = reader->is_started = true;
    reader->is_complete = !reader->header.is_whole;
    return DARKROOM_JPEG_OK;
}

darkroom_jpeg_result darkroom_jpeg_reader_step(
    darkroom_jpeg_reader *reader, uint8_t *const *rows, uint32_t *counts)
{
    darkroom_jpeg_trap *trap = &reader->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    if (!reader->has_views || !reader->is_complete)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "no such rows");
    return darkroom_jpeg_scan_step(reader->scan, rows, counts) ? DARKROOM_JPEG_OK
                                                               : DARKROOM_JPEG_UNUSUAL;
}

/* Ends the scans of a picture with several scans. */
static void complete(darkroom_jpeg_reader *reader)
{
    /* Without its end-of-image marker a picture may lack its last scans. */
    if (reader->trap.is_short && !darkroom_jpeg_has_all_coefficients(reader)) {
        darkroom_jpeg_note_damaged_row(reader);
        if (!reader->trap.keeps_damaged)
            darkroom_jpeg_fail(&reader->trap, DARKROOM_JPEG_TRUNCATED, SHORT_WORDS);
        darkroom_jpeg_damaged(&reader->trap, SHORT_WORDS);
    }
    for (int i = 0; i < reader->component_count; i++)
        if (!reader->is_seen[i]) {
            static const char words[] = "the data of a colour component are missing";
            if (!reader->trap.keeps_damaged)
                darkroom_jpeg_fail(&reader->trap, DARKROOM_JPEG_DATA, words);
            darkroom_jpeg_damaged(&reader->trap, words);
        }
    jpeg_start_output(&reader->info, reader->info.input_scan_number);
    reader->is_complete = true;
}

/* Lets libjpeg read a part of the scans. */
static void absorb_with_libjpeg(darkroom_jpeg_reader *reader)
{
    for (int i = 0; i < EVENTS_AT_A_TIME && !reader->is_complete; i++) {
        switch (jpeg_consume_input(&reader->info)) {
        case JPEG_REACHED_SOS:
            if (reader->info.input_scan_number > LARGEST_SCAN)
                darkroom_jpeg_fail(&reader->trap, DARKROOM_JPEG_INVALID, "more than 100 scans");
            note_scan(reader);
            break;
        case JPEG_REACHED_EOI:
            complete(reader);
            break;
        default:
            break;
        }
    }
}

/* Lets libjpeg begin in place of our scan, which is in doubt, at the first byte of its data. */
static void replace_scan(darkroom_jpeg_reader *reader)
{
    darkroom_jpeg_scan_free(reader->scan);
    reader->scan = NULL;
    if (!darkroom_jpeg_file_rewind(&reader->source))
        darkroom_jpeg_fail(&reader->trap, DARKROOM_JPEG_IO, "the file cannot be read again");
    start_libjpeg(reader);
}

darkroom_jpeg_result darkroom_jpeg_reader_absorb(darkroom_jpeg_reader *reader, int *is_complete)
{
    darkroom_jpeg_trap *trap = &reader->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    if (!reader->is_started)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "not started");
    if (setjmp(trap->jump) != 0 && !darkroom_jpeg_goes_on_with_scans(reader))
        return trap->result;
    if (reader->is_over && !reader->is_complete)
        complete(reader);
    if (reader->scan != NULL) {
        const bool is_good = darkroom_jpeg_scan_absorb(reader->scan, &reader->is_complete);
        if (!is_good && reader->has_views)
            return DARKROOM_JPEG_UNUSUAL;
        if (!is_good)
            replace_scan(reader);
    }
    if (reader->scan == NULL)
        absorb_with_libjpeg(reader);
    *is_complete = reader->is_complete;
    return DARKROOM_JPEG_OK;
}

/* Takes the next row from libjpeg. CMYK in files of Adobe's programs, which have its marker, says how much light passes. */
static void read_row(darkroom_jpeg_reader *reader, JSAMPROW row)
{
    struct jpeg_decompress_struct *info = &reader->info;
    if (jpeg_read_scanlines(info, &row, 1) != 1)
        darkroom_jpeg_fail(&reader->trap, DARKROOM_JPEG_INVALID, "a row is missing");
    if (reader->header.is_cmyk && info->saw_Adobe_marker)
        for (size_t i = 0; i < reader->row_bytes; i++)
            row[i] = (JSAMPLE)~row[i];
}

/* Lets libjpeg take over from the scan, which is in doubt: from the beginning of its data, without the rows
 * that it has given. They are written to `scratch` again. CDarkroomJpeg.h says why that is right. */
static void fall_back(darkroom_jpeg_reader *reader, JSAMPROW scratch)
{
    const uint32_t given = darkroom_jpeg_scan_given(reader->scan);
    replace_scan(reader);
    reader->is_complete = !reader->header.is_whole;
    while (!reader->is_complete)
        absorb_with_libjpeg(reader);
    for (uint32_t i = 0; i < given; i++)
        read_row(reader, scratch);
}

darkroom_jpeg_result darkroom_jpeg_reader_rows(
    darkroom_jpeg_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t count)
{
    darkroom_jpeg_trap *trap = &reader->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    if (reader->has_views || !reader->is_complete || count > reader->rows_left
        || row_bytes != reader->row_bytes)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "no such rows");
    reader->last_count = 0;
    if (setjmp(trap->jump) != 0)
        return darkroom_jpeg_rest_in_gray(reader, rows, count);
    if (trap->is_lost)
        return darkroom_jpeg_rest_in_gray(reader, rows, count);
    if (reader->scan != NULL) {
        reader->last_count = darkroom_jpeg_scan_rows(reader->scan, rows, count);
        reader->rows_left -= reader->last_count;
        if (reader->last_count < count)
            fall_back(reader, rows + reader->last_count * row_bytes);
    }
    while (reader->last_count < count) {
        read_row(reader, rows + reader->last_count * row_bytes);
        reader->last_count++;
        reader->rows_left--;
    }
    return DARKROOM_JPEG_OK;
}

darkroom_jpeg_result darkroom_jpeg_reader_finish(darkroom_jpeg_reader *reader)
{
    darkroom_jpeg_trap *trap = &reader->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    if (!reader->is_complete || reader->rows_left != 0)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "there are rows left");
    if (setjmp(trap->jump) != 0)
        return darkroom_jpeg_end_in_damage(reader);
    darkroom_jpeg_irregular *irregular = &reader->irregular;
    if (reader->scan != NULL)
        irregular->has_more = darkroom_jpeg_scan_has_surplus(reader->scan);
    else if (!reader->header.is_whole && !trap->is_damaged)
        darkroom_jpeg_read_trailer(&reader->source, &reader->info, irregular);
    else if (!reader->is_over && !trap->is_damaged)
        irregular->has_more = darkroom_jpeg_file_has_more(&reader->source);
    if (trap->is_short)
        irregular->has_no_end = true;
    if (trap->is_damaged)
        darkroom_jpeg_remark_damage(trap, reader->damaged_row + 1, reader->header.height);
    else
        darkroom_jpeg_remark_irregular(trap, irregular);
    /* No function has anything left to do. */
    reader->is_complete = false;
    return DARKROOM_JPEG_OK;
}
