/* The JPEG reader's private declarations. */
#ifndef DARKROOM_JPEG_READER_H
#define DARKROOM_JPEG_READER_H

#include "jpeg_irregular.h"
#include "jpeg_segments.h"
#include "jpeg_source.h"

enum { DARKROOM_JPEG_COMPONENTS = 4 };

/* All memory of a reader belongs to this block, which is created before the first setjmp. */
struct darkroom_jpeg_reader {
    darkroom_jpeg_trap trap;
    struct jpeg_decompress_struct info;
    bool is_open, is_started, is_complete;
    bool has_views; /* a scan gives the rows, at several sizes */
    darkroom_jpeg_header header;
    darkroom_jpeg_scan *scan; /* gives the rows; NULL where libjpeg does */
    int component_count;
    size_t row_bytes;
    uint32_t rows_left;
    uint32_t last_count;
    bool is_seen[DARKROOM_JPEG_COMPONENTS]; /* a scan has told the component's mean values */
    darkroom_jpeg_segments segments;
    darkroom_jpeg_irregular irregular;
    uint32_t damaged_row; /* the first one of the stored picture, from 0 */
    bool is_progressive, is_arithmetic;
    bool is_over;         /* no more data are read: the rest is gray */
    darkroom_jpeg_file source;
};

/* libjpeg's warnings, by the place where they are made. May jump, when the picture is complete. */
darkroom_remark_class darkroom_jpeg_judge_warning(j_common_ptr info, void *reader);

/* Whether the coefficients of all components have come to their last bit. The scan that is being read counts. */
bool darkroom_jpeg_has_all_coefficients(const darkroom_jpeg_reader *reader);

/* Before damage is recorded: the row where it is. */
void darkroom_jpeg_note_damaged_row(darkroom_jpeg_reader *reader);

/* After a failure among the scans: whether reading continues with what there is, because that is wanted or complete. */
bool darkroom_jpeg_goes_on_with_scans(darkroom_jpeg_reader *reader);

/* After a failure among the rows, and from there on: makes the remaining rows gray, if damaged pictures are wanted.
 * Otherwise returns the failure. */
darkroom_jpeg_result darkroom_jpeg_rest_in_gray(
    darkroom_jpeg_reader *reader, uint8_t *rows, uint32_t count);

/* After a failure behind the last row: the same. */
darkroom_jpeg_result darkroom_jpeg_end_in_damage(darkroom_jpeg_reader *reader);

#endif
