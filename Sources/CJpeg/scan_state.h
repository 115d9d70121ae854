/* A scan: what its parts share. */
#ifndef DARKROOM_JPEG_SCAN_STATE_H
#define DARKROOM_JPEG_SCAN_STATE_H

#include "idct.h"
#include "kept_codes.h"
#include "rows.h"
#include "whole.h"

enum {
    /* The previous row of MCUs, the present one, and the next one: interpolation needs a row of each. */
    DARKROOM_SCAN_RING = 3,
    DARKROOM_SCAN_COMPONENTS = 3,
    DARKROOM_SCAN_VIEWS = DARKROOM_JPEG_VIEWS,
    DARKROOM_LARGEST_MCU = 10, /* blocks */
};

/* The samples of a component at one size. */
typedef struct {
    unsigned side;         /* samples of a block */
    /* By how much a row, and the rows, are fewer than the picture's. */
    unsigned widened, heightened;
    bool is_smooth; /* interpolated, where they are fewer */
    uint32_t width, height; /* in samples, without what fills the last blocks */
    /* NULL if an earlier view has the same samples. */
    darkroom_jpeg_idct *transform;
    uint32_t offsets[DARKROOM_GROUP_BLOCKS]; /* of a group's blocks, in its samples */
    uint8_t *samples; /* a ring of DARKROOM_SCAN_RING times `rows` rows; before it and after it a margin */
    unsigned rows;    /* of a row of MCUs */
    size_t stride;
    uint8_t *line; /* one row of the picture's width; NULL if none is needed */
} darkroom_jpeg_scan_plane;

typedef struct {
    unsigned across, down; /* blocks of an MCU */
    unsigned codes;        /* which of the scan's */
    bool has_means_only;   /* no view uses other coefficients than DC */
    int16_t steps[64];     /* the low 16 bits */
    int32_t largest_mean;  /* of the coefficient DC, before it is multiplied */
    int32_t mean;          /* the last one */
    int16_t *group;        /* the coefficients of a group */
} darkroom_jpeg_scan_component;

/* The picture at one size. */
typedef struct {
    unsigned divisor;
    uint32_t width, height;  /* reduced */
    unsigned rows_at_a_time; /* of the picture, in a row of MCUs */
    darkroom_jpeg_scan_plane planes[DARKROOM_SCAN_COMPONENTS];
} darkroom_jpeg_scan_view;

struct darkroom_jpeg_scan {
    darkroom_jpeg_entropy entropy;
    unsigned component_count;
    bool is_rgb;
    unsigned view_count;
    darkroom_jpeg_scan_view views[DARKROOM_SCAN_VIEWS];
    uint32_t mcu_rows, mcus_in_row, mcus_in_group;
    unsigned blocks_in_mcu;
    unsigned strips; /* a row of MCUs is coded in as many parts: gray with a sampling factor */
    uint32_t block_rows; /* gray: how many strips there are */
    uint32_t restart_interval, left_in_interval; /* MCUs */
    unsigned next_restart;                       /* the number of the next marker, 0 to 7 */
    uint32_t decoded; /* rows of MCUs */
    uint32_t given;   /* rows of pixels of a single view */
    uint32_t stepped; /* rows of MCUs that have been given of all views */
    bool is_doubtful;
    darkroom_jpeg_whole *whole; /* holds the coefficients, if they are in several scans; else NULL */

    darkroom_jpeg_scan_component components[DARKROOM_SCAN_COMPONENTS];
    /* As many as differ, lent by `kept_codes.h`; the rest is NULL. */
    const darkroom_jpeg_block_codes *codes[DARKROOM_SCAN_COMPONENTS];
    _Alignas(64) int16_t coefficients[DARKROOM_GROUP_BLOCKS * 64];
    uint8_t *memory; /* samples and lines */
};

/* Sets everything but the memory. Returns false if the picture is not a usual one. */
bool darkroom_jpeg_scan_plan(darkroom_jpeg_scan *scan, const darkroom_jpeg_picture *picture);

/* Allocates the memory, and sets what points into it. */
bool darkroom_jpeg_scan_allocate(darkroom_jpeg_scan *scan);

/* Decodes the next row of MCUs into the ring; behind the last one, looks for the end of the picture. Returns
 * false on doubt. */
bool darkroom_jpeg_scan_decode(darkroom_jpeg_scan *scan);

/* Makes row `y` of a view, whose samples and those beside it are in the ring. */
void darkroom_jpeg_scan_make_row(
    const darkroom_jpeg_scan *scan, const darkroom_jpeg_scan_view *view, uint32_t y, uint8_t *row);

#endif
