#include "remarks.h"

#include <stdbool.h>
#include <stdio.h> /* jpeglib.h needs it and does not include it */
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#define LIBJPEG(code, class) {"JPEG", "libjpeg", #code, code, class}
#define LIBPNG(words, class) {"PNG", "libpng", words, 0, class}
#define OWN_JPEG(code, words, class) {"JPEG", "darkroom", words, code, class}
#define OWN_PNG(words, class) {"PNG", "darkroom", words, 0, class}

static const darkroom_remark table[] = {
    /* ---- JPEG ---- */

    /* Colours that are treated as YCbCr, as those of nearly every file are; values in a scan's header without a
     * meaning in a sequential file, where some encoders write zeros; revisions of JFIF that say nothing new. */
    LIBJPEG(JWRN_ADOBE_XFORM, DARKROOM_HARMLESS),
    LIBJPEG(JWRN_NOT_SEQUENTIAL, DARKROOM_HARMLESS),
    LIBJPEG(JWRN_JFIF_MAJOR, DARKROOM_HARMLESS),
    OWN_JPEG(DARKROOM_JPEG_JFIF_REVISION, "JFIF of an unknown revision", DARKROOM_HARMLESS),
    /* Not ours: segments of profiles are read by code of our own. */
    LIBJPEG(JWRN_BOGUS_ICC, DARKROOM_HARMLESS),

    /* Bytes before a marker: this is divided by place and content into the next five. By itself it is damage. */
    LIBJPEG(JWRN_EXTRANEOUS_DATA, DARKROOM_DAMAGE),
    OWN_JPEG(DARKROOM_JPEG_STUFFING, "stuffed bytes before a marker among the data", DARKROOM_HARMLESS),
    OWN_JPEG(DARKROOM_JPEG_BETWEEN_SEGMENTS, "bytes between segments of the header", DARKROOM_HARMLESS),
    OWN_JPEG(DARKROOM_JPEG_AFTER_LAST_ROW, "bytes after the last row that are no data", DARKROOM_HARMLESS),
    OWN_JPEG(DARKROOM_JPEG_AFTER_END, "bytes after the end of the picture", DARKROOM_HARMLESS),
    OWN_JPEG(DARKROOM_JPEG_LEFT_OVER, "bytes left over that look like data", DARKROOM_DAMAGE),

    OWN_JPEG(DARKROOM_JPEG_SURPLUS_RESTARTS, "restart markers after the last row", DARKROOM_HARMLESS),
    OWN_JPEG(DARKROOM_JPEG_NO_END, "no end-of-image marker, and all rows are complete", DARKROOM_HARMLESS),

    OWN_JPEG(DARKROOM_JPEG_SHORT, "the file ends before the end of the picture", DARKROOM_DAMAGE),
    LIBJPEG(JWRN_JPEG_EOF, DARKROOM_DAMAGE),
    LIBJPEG(JWRN_HIT_MARKER, DARKROOM_DAMAGE),
    LIBJPEG(JWRN_HUFF_BAD_CODE, DARKROOM_DAMAGE),
    LIBJPEG(JWRN_ARITH_BAD_CODE, DARKROOM_DAMAGE),
    LIBJPEG(JWRN_MUST_RESYNC, DARKROOM_DAMAGE),
    LIBJPEG(JWRN_BOGUS_PROGRESSION, DARKROOM_DAMAGE),
    LIBJPEG(JWRN_TOO_MUCH_DATA, DARKROOM_DAMAGE),

    LIBJPEG(JERR_SOF_UNSUPPORTED, DARKROOM_OTHER_FORMAT),
    LIBJPEG(JERR_BAD_PRECISION, DARKROOM_OTHER_FORMAT),
    LIBJPEG(JERR_ARITH_NOTIMPL, DARKROOM_OTHER_FORMAT),
    LIBJPEG(JERR_NOT_COMPILED, DARKROOM_OTHER_FORMAT),
    LIBJPEG(JERR_NOTIMPL, DARKROOM_OTHER_FORMAT),
    LIBJPEG(JERR_CONVERSION_NOTIMPL, DARKROOM_OTHER_FORMAT),

    /* ---- PNG: among the pixels. What libpng says of other chunks is harmless where it goes on. ---- */

    OWN_PNG(DARKROOM_PNG_TOO_MANY_ROWS, DARKROOM_HARMLESS),
    OWN_PNG(DARKROOM_PNG_AFTER_STREAM, DARKROOM_HARMLESS),
    LIBPNG("Too much image data", DARKROOM_HARMLESS),
    LIBPNG("Extra compressed data", DARKROOM_HARMLESS),

    OWN_PNG("CRC error", DARKROOM_DAMAGE),
    OWN_PNG("the file ends too early", DARKROOM_DAMAGE),
    OWN_PNG("the compressed data have no zlib header", DARKROOM_DAMAGE),
    OWN_PNG("the compressed data are damaged", DARKROOM_DAMAGE),
    OWN_PNG("incorrect data check", DARKROOM_DAMAGE),
    OWN_PNG("not enough image data", DARKROOM_DAMAGE),
    OWN_PNG("the compressed data continue for too long without pixels", DARKROOM_DAMAGE),
    OWN_PNG("a pixel has an index that is not in the palette", DARKROOM_DAMAGE),
    LIBPNG("Not enough image data", DARKROOM_DAMAGE),
    LIBPNG("bad adaptive filter value", DARKROOM_DAMAGE),

    OWN_PNG("an animation", DARKROOM_OTHER_FORMAT),
    LIBPNG("Not a PNG file", DARKROOM_OTHER_FORMAT),
};

enum { COUNT = sizeof table / sizeof table[0] };

const darkroom_remark *darkroom_remarks(size_t *count)
{
    *count = COUNT;
    return table;
}

darkroom_remark_class darkroom_jpeg_remark_class(int code)
{
    for (size_t i = 0; i < COUNT; i++)
        if (table[i].code == code && code != 0)
            return table[i].class_of;
    return DARKROOM_DAMAGE;
}

darkroom_remark_class darkroom_png_remark_class(const char *words)
{
    for (size_t i = 0; i < COUNT; i++)
        if (table[i].code == 0 && strstr(words, table[i].words) != NULL)
            return table[i].class_of;
    return DARKROOM_DAMAGE;
}

/* libjpeg numbers its warnings one after the other; a few newer ones stand at the end. */
int darkroom_jpeg_is_warning(int code)
{
    return (code >= JWRN_ADOBE_XFORM && code <= JWRN_TOO_MUCH_DATA && code != JERR_BAD_CROP_SPEC)
        || code == JWRN_ARITH_BAD_CODE || code == JWRN_BOGUS_ICC;
}

int darkroom_jpeg_message_count(void)
{
    return JMSG_LASTMSGCODE;
}
