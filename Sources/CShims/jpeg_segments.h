/* The data of a JPEG file beside its pixels: the segments APP0 to APP15 and COM. */
#ifndef DARKROOM_JPEG_SEGMENTS_H
#define DARKROOM_JPEG_SEGMENTS_H

#include "jpeg_trap.h"

enum {
    DARKROOM_JPEG_SEGMENT_NAMES = 24,
    DARKROOM_JPEG_PIECES = 255, /* of a profile; they are numbered with one byte */
};

/* They are parsed here and not by jpeg_save_markers, which keeps all of them: a file with only empty segments
 * would need many times its size in memory. */
typedef struct {
    char names[DARKROOM_JPEG_SEGMENT_NAMES][8]; /* of the segments met, each once */
    size_t name_count;

    uint8_t *exif; /* the first one's TIFF structure */
    size_t exif_count;

    uint8_t *pieces[DARKROOM_JPEG_PIECES];
    size_t piece_counts[DARKROOM_JPEG_PIECES];
    unsigned piece_total;   /* how many the file says there are; 0 before the first */
    bool is_profile_broken; /* they contradict each other, or are too large together */
    size_t largest_profile;
    uint8_t *profile; /* all of them */
    size_t profile_count;
} darkroom_jpeg_segments;

/* Makes libjpeg, whose client_data must be the `darkroom_jpeg_segments`, pass all such segments to them.
 * `info->err` is a darkroom_jpeg_trap. */
void darkroom_jpeg_segments_start(j_decompress_ptr info);

/* Joins the profile when the header has been read. Later segments are only recorded. */
void darkroom_jpeg_segments_finish(darkroom_jpeg_segments *segments, darkroom_jpeg_trap *trap);

void darkroom_jpeg_segments_free(darkroom_jpeg_segments *segments);

#endif
