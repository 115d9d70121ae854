/* What is irregular in a JPEG and decides no pixel: it is counted, and becomes warnings. */
#ifndef DARKROOM_JPEG_IRREGULAR_H
#define DARKROOM_JPEG_IRREGULAR_H

#include "jpeg_source.h"

/* Numbers of bytes, and of markers. */
typedef struct {
    uint64_t between_segments, stuffed, after_last_row, surplus_restarts;
    bool has_no_end;
    bool has_more; /* bytes behind the end-of-image marker */
} darkroom_jpeg_irregular;

/* Reads what follows the last row of a picture with one scan, up to the end-of-image marker or the end of the file.
 * libjpeg has read all rows, and perhaps the next marker. May jump. */
void darkroom_jpeg_read_trailer(
    darkroom_jpeg_file *file, const struct jpeg_decompress_struct *info,
    darkroom_jpeg_irregular *irregular);

/* Makes a warning of each kind. */
void darkroom_jpeg_remark_irregular(
    darkroom_jpeg_trap *trap, const darkroom_jpeg_irregular *irregular);

/* Makes the warning of a damaged picture that is kept. `row` counts from 1. */
void darkroom_jpeg_remark_damage(darkroom_jpeg_trap *trap, uint32_t row, uint32_t height);

#endif
