/* The table of remarks: what is wrong with a picture that is made all the same, and what is not. Each remark of
 * libjpeg, of libpng and of our own decoders is in exactly one class. darkroom-status(5) lists it for users. */
#ifndef DARKROOM_REMARKS_H
#define DARKROOM_REMARKS_H

#include "darkroom_remarks.h"

/* What our own code finds in a JPEG. The numbers are beyond those of libjpeg's messages. */
enum {
    DARKROOM_JPEG_STUFFING = 10000, /* FF 00, zeros or fill bytes before a marker among the data */
    DARKROOM_JPEG_LEFT_OVER,        /* other bytes there */
    DARKROOM_JPEG_BETWEEN_SEGMENTS, /* bytes before a marker of the header */
    DARKROOM_JPEG_AFTER_LAST_ROW,   /* bytes behind the last row */
    DARKROOM_JPEG_SURPLUS_RESTARTS, /* restart markers behind the last row */
    DARKROOM_JPEG_NO_END,           /* no end-of-image marker, and all rows are complete */
    DARKROOM_JPEG_AFTER_END,        /* bytes behind the end-of-image marker */
    DARKROOM_JPEG_SHORT,            /* the file ends before the last row */
    DARKROOM_JPEG_JFIF_REVISION,
};

/* The class of a libjpeg message or of one of these. A message that the table does not have is damage. */
darkroom_remark_class darkroom_jpeg_remark_class(int code);

/* The class of a libpng text or of one of our own. A text that the table does not have is damage. */
darkroom_remark_class darkroom_png_remark_class(const char *words);

/* Our own texts, which stand in the table of PNG as they are. */
#define DARKROOM_PNG_TOO_MANY_ROWS "too much image data"
#define DARKROOM_PNG_AFTER_STREAM "extra compressed data"

#endif
