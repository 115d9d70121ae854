#include "jpeg_irregular.h"

#include "jpeg_markers.h"

#include <inttypes.h>

/* Passes over a segment. Returns false at the end of the file. */
static bool skip_segment(darkroom_jpeg_file *file)
{
    uint8_t high = 0, low = 0, byte = 0;
    if (!darkroom_jpeg_file_byte(file, &high) || !darkroom_jpeg_file_byte(file, &low))
        return false;
    for (unsigned i = 2; i < (unsigned)(high << 8 | low); i++)
        if (!darkroom_jpeg_file_byte(file, &byte))
            return false;
    return true;
}

/* Pixels of another scan or frame. */
static bool announces_pixels(uint8_t marker)
{
    return darkroom_jpeg_is_frame(marker) || marker == MARKER_SOS || marker == MARKER_SOI;
}

void darkroom_jpeg_read_trailer(
    darkroom_jpeg_file *file, const struct jpeg_decompress_struct *info,
    darkroom_jpeg_irregular *irregular)
{
    darkroom_jpeg_trap *trap = (darkroom_jpeg_trap *)info->err;
    uint8_t byte = 0, former = 0;
    /* Behind bytes of no known meaning, only the end-of-image marker counts. */
    bool is_foreign = false;
    /* Bytes that follow the last row directly may be data that find no place in it. */
    bool may_be_data = true, is_text = true;
    uint64_t strange = 0;
    bool is_there = true;
    if (info->unread_marker != 0) {
        former = 0xff;
        byte = (uint8_t)info->unread_marker;
    } else {
        is_there = darkroom_jpeg_file_byte(file, &byte);
    }
    for (; is_there; former = byte, is_there = darkroom_jpeg_file_byte(file, &byte)) {
        const bool is_marker = former == 0xff && byte != 0 && byte != 0xff;
        if (is_marker && byte == JPEG_EOI) {
            irregular->has_more = !trap->is_short && darkroom_jpeg_file_has_more(file);
            break;
        }
        if (!is_marker) {
            /* A byte FF may belong to a marker. */
            irregular->after_last_row += (byte != 0xff) + (former == 0xff && byte == 0);
            is_foreign = is_foreign || (byte != 0 && byte != 0xff);
            is_text = is_text && darkroom_jpeg_is_text(byte);
            strange += byte != 0 && byte != 0xff;
        } else if (is_foreign) {
            irregular->after_last_row += 2;
            may_be_data = may_be_data && darkroom_jpeg_is_restart(byte);
        } else if (darkroom_jpeg_is_restart(byte)) {
            irregular->surplus_restarts++;
            may_be_data = false;
        } else if (announces_pixels(byte)) {
            darkroom_jpeg_fail(trap, DARKROOM_JPEG_DATA, "more pixels follow the last row");
        } else if (byte >= 0xc0 && !skip_segment(file)) {
            is_there = false;
            break;
        }
    }
    irregular->has_no_end = !is_there || trap->is_short;
    if (strange > 0 && may_be_data && !(is_text && strange >= DARKROOM_JPEG_LEAST_TEXT))
        darkroom_jpeg_fail(trap, DARKROOM_JPEG_DATA, "data are left over after the last row");
}

/* ---- Warnings ---- */

static void say(darkroom_jpeg_trap *trap, uint64_t count, const char *one, const char *several, const char *words)
{
    char text[DARKROOM_JPEG_MESSAGE_BYTES];
    if (count == 0)
        return;
    snprintf(text, sizeof text, "%" PRIu64 " %s %s", count, count == 1 ? one : several, words);
    darkroom_jpeg_remark(trap, text);
}

void darkroom_jpeg_remark_irregular(
    darkroom_jpeg_trap *trap, const darkroom_jpeg_irregular *irregular)
{
    say(trap, irregular->between_segments, "byte", "bytes", "between the segments of the header");
    say(trap, irregular->stuffed, "byte", "bytes", "of filling before markers among the data");
    say(trap, irregular->surplus_restarts, "restart marker", "restart markers", "after the last row");
    say(trap, irregular->after_last_row, "byte", "bytes", "after the last row, which belong to no pixel");
    if (irregular->has_no_end)
        darkroom_jpeg_remark(trap, "the end-of-image marker is missing; all rows are complete");
    if (irregular->has_more)
        darkroom_jpeg_remark(trap, "there are more bytes after the end of the picture");
}

void darkroom_jpeg_remark_damage(darkroom_jpeg_trap *trap, uint32_t row, uint32_t height)
{
    char text[DARKROOM_JPEG_MESSAGE_BYTES];
    snprintf(
        text, sizeof text, "damaged from row %" PRIu32 " of %" PRIu32 " on: %.150s", row, height, trap->damage);
    darkroom_jpeg_remark(trap, text);
}
