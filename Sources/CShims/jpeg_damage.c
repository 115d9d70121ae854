#include "jpeg_reader.h"

#include <string.h>

/* ---- What libjpeg remarks ---- */

bool darkroom_jpeg_has_all_coefficients(const darkroom_jpeg_reader *reader)
{
    const struct jpeg_decompress_struct *info = &reader->info;
    for (int i = 0; i < reader->component_count; i++) {
        if (!reader->is_seen[i])
            return false;
        for (int k = 0; reader->is_progressive && info->coef_bits != NULL && k < DCTSIZE2; k++)
            if (info->coef_bits[i][k] != 0)
                return false;
    }
    return true;
}

static bool is_between_scans(const struct jpeg_decompress_struct *info)
{
    return info->input_iMCU_row >= info->total_iMCU_rows;
}

/* What the bytes before a marker are. libjpeg counts those that it has looked ahead at, too, and tells of some only
 * before a later marker. */
static int kind_of_bytes(darkroom_jpeg_reader *reader, uint64_t count)
{
    if (!reader->is_open)
        return DARKROOM_JPEG_BETWEEN_SEGMENTS;
    const bool is_end = reader->header.is_whole && is_between_scans(&reader->info)
        && darkroom_jpeg_has_all_coefficients(reader);
    const bool is_stuffing = count <= darkroom_jpeg_file_stuffing(&reader->source);
    if (is_end) {
        /* No picture's data: filling, text, or what has marks that data cannot have. */
        const bool is_foreign = is_stuffing || reader->info.err->msg_parm.i[1] != JPEG_EOI
            || darkroom_jpeg_file_is_text(&reader->source, count);
        return is_foreign ? DARKROOM_JPEG_AFTER_LAST_ROW : DARKROOM_JPEG_LEFT_OVER;
    }
    return is_stuffing ? DARKROOM_JPEG_STUFFING : DARKROOM_JPEG_LEFT_OVER;
}

void darkroom_jpeg_note_damaged_row(darkroom_jpeg_reader *reader)
{
    const struct jpeg_decompress_struct *info = &reader->info;
    const uint32_t row = info->input_iMCU_row * (uint32_t)info->max_v_samp_factor * DCTSIZE;
    if (!reader->trap.is_damaged)
        reader->damaged_row = row < reader->header.height ? row : reader->header.height - 1;
}

darkroom_remark_class darkroom_jpeg_judge_warning(j_common_ptr common, void *context)
{
    darkroom_jpeg_reader *reader = context;
    const int code = common->err->msg_code;
    darkroom_remark_class result = darkroom_jpeg_remark_class(code);
    if (code == JWRN_EXTRANEOUS_DATA) {
        const uint64_t count = (unsigned)common->err->msg_parm.i[0];
        const int kind = kind_of_bytes(reader, count);
        result = darkroom_jpeg_remark_class(kind);
        if (kind == DARKROOM_JPEG_BETWEEN_SEGMENTS)
            reader->irregular.between_segments += count;
        else if (kind == DARKROOM_JPEG_STUFFING)
            reader->irregular.stuffed += count;
        else if (kind == DARKROOM_JPEG_AFTER_LAST_ROW)
            reader->irregular.after_last_row += count;
        /* Behind these bytes anything may stand that looks like a marker. */
        if (kind == DARKROOM_JPEG_AFTER_LAST_ROW && common->err->msg_parm.i[1] != JPEG_EOI) {
            reader->irregular.has_no_end = true;
            reader->is_over = true;
            longjmp(reader->trap.jump, 1);
        }
    }
    if (result == DARKROOM_DAMAGE)
        darkroom_jpeg_note_damaged_row(reader);
    return result;
}

/* Whether a failure among the data is damage, whatever libjpeg calls it: the header was good. */
static bool is_damage(const darkroom_jpeg_trap *trap)
{
    return trap->result == DARKROOM_JPEG_DATA || trap->result == DARKROOM_JPEG_TRUNCATED
        || trap->result == DARKROOM_JPEG_INVALID || trap->result == DARKROOM_JPEG_UNSUPPORTED;
}

/* libjpeg takes over a second frame's header before it refuses it. */
static void restore_frame(darkroom_jpeg_reader *reader)
{
    struct jpeg_decompress_struct *info = &reader->info;
    info->image_width = reader->header.width;
    info->image_height = reader->header.height;
    info->num_components = reader->component_count;
    info->data_precision = BITS_IN_JSAMPLE;
    info->progressive_mode = reader->is_progressive;
    info->arith_code = reader->is_arithmetic;
}

bool darkroom_jpeg_goes_on_with_scans(darkroom_jpeg_reader *reader)
{
    darkroom_jpeg_trap *trap = &reader->trap;
    if (reader->is_complete)
        return false;
    if (trap->result == DARKROOM_JPEG_OK)
        return reader->is_over;
    /* No marker, but bytes behind the picture that look like one. */
    const bool is_foreign = reader->info.err->msg_code == JERR_UNKNOWN_MARKER && is_between_scans(&reader->info)
        && darkroom_jpeg_has_all_coefficients(reader) && !trap->is_short;
    if ((!trap->keeps_damaged && !is_foreign) || !is_damage(trap) || reader->is_over)
        return false;
    if (is_foreign) {
        reader->irregular.after_last_row += 2;
        reader->irregular.has_no_end = true;
        trap->result = DARKROOM_JPEG_OK;
        trap->message[0] = 0;
        reader->is_over = true;
        return true;
    }
    darkroom_jpeg_note_damaged_row(reader);
    darkroom_jpeg_damaged(trap, trap->message);
    trap->result = DARKROOM_JPEG_OK;
    trap->message[0] = 0;
    restore_frame(reader);
    reader->is_over = true;
    return true;
}

darkroom_jpeg_result darkroom_jpeg_rest_in_gray(darkroom_jpeg_reader *reader, uint8_t *rows, uint32_t count)
{
    enum { GRAY = 128 };
    darkroom_jpeg_trap *trap = &reader->trap;
    if (!trap->is_lost) {
        if (!trap->keeps_damaged || !is_damage(trap))
            return trap->result;
        darkroom_jpeg_note_damaged_row(reader);
        darkroom_jpeg_damaged(trap, trap->message);
        trap->result = DARKROOM_JPEG_OK;
        trap->message[0] = 0;
        trap->is_lost = true;
    }
    uint8_t *rest = rows + reader->last_count * reader->row_bytes;
    const size_t bytes = (count - reader->last_count) * reader->row_bytes;
    memset(rest, GRAY, bytes);
    /* Of black ink alone. */
    if (reader->header.is_cmyk)
        for (size_t i = 0; i < bytes; i++)
            if (i % 4 != 3) rest[i] = 0;
    reader->rows_left -= count - reader->last_count;
    reader->last_count = count;
    return DARKROOM_JPEG_OK;
}

darkroom_jpeg_result darkroom_jpeg_end_in_damage(darkroom_jpeg_reader *reader)
{
    darkroom_jpeg_trap *trap = &reader->trap;
    if (!trap->keeps_damaged || trap->result != DARKROOM_JPEG_DATA)
        return trap->result;
    char text[DARKROOM_JPEG_MESSAGE_BYTES];
    snprintf(text, sizeof text, "damaged behind the last row: %.150s", trap->message);
    darkroom_jpeg_remark(trap, text);
    trap->result = DARKROOM_JPEG_OK;
    trap->message[0] = 0;
    reader->is_complete = false;
    return DARKROOM_JPEG_OK;
}
