/* The data of a JPEG file beside its pixels: the segments APP0 to APP15 and COM. */
#ifndef DARKROOM_JPEG_SEGMENTS_H
#define DARKROOM_JPEG_SEGMENTS_H

#include "jpeg_trap.h"

enum {
    DARKROOM_JPEG_SEGMENT_NAMES = 24,
    DARKROOM_JPEG_PIECES = 255, /* of a profile; they are numbered with one byte */
    DARKROOM_JPEG_PROFILES = 3, /* different ones that are looked at */
    DARKROOM_JPEG_EXIFS = 4,
};

/* A colour profile in its pieces. */
typedef struct {
    uint8_t *pieces[DARKROOM_JPEG_PIECES];
    size_t counts[DARKROOM_JPEG_PIECES];
    unsigned total; /* how many the file says there are */
    size_t bytes;   /* of those that have come */
} darkroom_jpeg_profile;

/* They are parsed here and not by jpeg_save_markers, which keeps all of them: a file with only empty segments
 * would need many times its size in memory. */
typedef struct {
    char names[DARKROOM_JPEG_SEGMENT_NAMES][8]; /* of the segments met, each once */
    size_t name_count;

    /* The TIFF structures of the first Exif segments: the first of them may be empty or damaged. */
    uint8_t *exifs[DARKROOM_JPEG_EXIFS];
    size_t exif_counts[DARKROOM_JPEG_EXIFS], exif_total;

    /* In the order in which they begin. A piece that has come before with equal bytes is no new one. */
    darkroom_jpeg_profile *profiles[DARKROOM_JPEG_PROFILES];
    size_t profile_total;
    uint8_t *piece; /* that is being read */
    bool is_profile_broken; /* a piece has an impossible number, or is too large */
    bool is_closed;         /* pieces among the scans are too late */
    size_t largest_profile;
    uint8_t *profile; /* the first complete one */
    size_t profile_count;
} darkroom_jpeg_segments;

/* Makes libjpeg, whose client_data must be the `darkroom_jpeg_segments`, pass all such segments to them.
 * `info->err` is a darkroom_jpeg_trap. */
void darkroom_jpeg_segments_start(j_decompress_ptr info);

/* Joins the profile when the header has been read. Later segments are only recorded. */
void darkroom_jpeg_segments_finish(darkroom_jpeg_segments *segments, darkroom_jpeg_trap *trap);

/* Forgets all segments, before the file is read again from its beginning. */
void darkroom_jpeg_segments_reset(darkroom_jpeg_segments *segments);

void darkroom_jpeg_segments_free(darkroom_jpeg_segments *segments);

#endif
