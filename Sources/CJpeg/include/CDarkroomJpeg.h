/*
 * The pixels of usual JPEG files: sequential or progressive, with Huffman codes, 8 bits, gray or three components.
 *
 * The caller has read the header with libjpeg-turbo, which also decides about everything in it. A scan reads
 * the compressed data that follow, and gives the rows that libjpeg-turbo gives with the slow integer inverse
 * DCT (JDCT_ISLOW) and interpolated colour (do_fancy_upsampling), for every scale. It is about twice as fast.
 *
 * It gives either these rows or none: on any doubt it stops, without saying what is wrong. Doubtful are all
 * data for which libjpeg-turbo has an error or a warning, and some more, such as coefficients that no encoder
 * makes. The caller then lets libjpeg-turbo read the same data from their beginning, drops as many rows as
 * the scan has given, and continues with the following ones. Errors, messages and warnings are libjpeg-turbo's,
 * at the same row as if it had read alone. Three facts make this right:
 *
 * - The rows that were given are libjpeg-turbo's rows. So it does not matter from whom the caller has them.
 * - A row is given only after all data up to the end of the next row of MCUs, which libjpeg-turbo has not
 *   read before it gives the same row. So libjpeg-turbo cannot fail while it reads the dropped rows again.
 * - The last two rows of MCUs are given only after the end-of-image marker has been found in its place. So a
 *   scan that has given all rows has no doubt about what follows them.
 *
 * A progressive picture, and a sequential one with several scans, is read up to its end before its first row. Its
 * coefficients are held until then: see whole.h.
 *
 * Where libjpeg-turbo's SIMD and its plain C differ, rows are those of its SIMD for x86-64, which calculates
 * with 16 bits. They differ only if coefficients overflow, which damaged data alone can make them do.
 *
 * All SIMD paths and the plain one here give the same bytes; `darkroom_cpu_limit` selects among them.
 */
#ifndef CDARKROOM_JPEG_H
#define CDARKROOM_JPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct darkroom_jpeg_scan darkroom_jpeg_scan;

/* A scan can give the picture at several sizes at once: the Huffman codes, which take most of the time, are
 * read once. Each size has the rows that it has alone. */
enum { DARKROOM_JPEG_VIEWS = 4 };

/* One component of a picture, as its header describes it. The memory is needed only by the call. */
typedef struct {
    uint8_t id;
    uint8_t across, down;      /* sampling factors */
    const uint16_t *steps;     /* the 64 quantization steps, row by row */
    const uint8_t *dc_counts;  /* 17 numbers: how many codes have each length; the first means nothing */
    const uint8_t *dc_symbols; /* 256 symbols in the order of their codes */
    const uint8_t *ac_counts;
    const uint8_t *ac_symbols;
} darkroom_jpeg_component;

/* The header of one of several scans. */
typedef struct {
    uint8_t count;         /* of its components */
    uint8_t components[3]; /* which of the picture's, in their order */
    uint8_t dc[3], ac[3];  /* the numbers of their tables */
    uint8_t first, last;   /* the coefficients, in zigzag order */
    uint8_t high, low;     /* how many low bits were lacking before, and are after it */
} darkroom_jpeg_scan_header;

/* A table of Huffman codes; NULL if the header has none of its number. */
typedef struct {
    const uint8_t *counts;
    const uint8_t *symbols;
} darkroom_jpeg_table;

typedef struct {
    uint32_t width, height;    /* in the file */
    uint32_t restart_interval; /* in MCUs; 0 without restart markers */
    unsigned divisors[DARKROOM_JPEG_VIEWS]; /* 1, 2, 4 or 8: by which each side is reduced, rounded up */
    unsigned view_count;       /* of these */
    bool is_rgb;               /* three components are red, green and blue, and not YCbCr */
    unsigned component_count;  /* 1 or 3 */
    darkroom_jpeg_component components[3];
    /* Whether there may be several scans. Then components need no codes. */
    bool is_whole;
    bool is_progressive;
    darkroom_jpeg_scan_header scan;  /* the first one */
    darkroom_jpeg_table tables[2][4]; /* for DC and AC */
} darkroom_jpeg_picture;

/* Sets `bytes` to the next bytes of the file, which must stay until the next call. Returns their number; 0 if
 * there are none or they cannot be read. */
typedef size_t (*darkroom_jpeg_source)(void *context, const uint8_t **bytes);

/* Begins at the first byte after a scan's header. NULL if the picture is not of the usual kinds, its tables
 * are in doubt, or there is no memory; nothing has been read then. The memory is a few rows of MCUs and, for
 * several scans, what darkroom_jpeg_whole_bytes says. */
darkroom_jpeg_scan *darkroom_jpeg_scan_new(
    const darkroom_jpeg_picture *picture, darkroom_jpeg_source source, void *context);
void darkroom_jpeg_scan_free(darkroom_jpeg_scan *scan);

/* The size of a reduced picture. */
uint32_t darkroom_jpeg_scan_width(const darkroom_jpeg_scan *scan, unsigned view);
uint32_t darkroom_jpeg_scan_height(const darkroom_jpeg_scan *scan, unsigned view);

/* Reads a part of the scans of a picture that has several. It must be called until `is_complete` is set, before the
 * first row. Other pictures are complete at once. Returns false if there is doubt, and then always. */
bool darkroom_jpeg_scan_absorb(darkroom_jpeg_scan *scan, bool *is_complete);

/* Writes the next rows into `rows`, one after another, without gaps: gray, or R, G and B. There must be as
 * many. Returns how many have been written; fewer than `count` if there is doubt, and then never more. For a
 * scan with one view. */
uint32_t darkroom_jpeg_scan_rows(darkroom_jpeg_scan *scan, uint8_t *rows, uint32_t count);

/* The most rows of a view that a step gives. */
uint32_t darkroom_jpeg_scan_step_rows(const darkroom_jpeg_scan *scan, unsigned view);

/* Writes the next rows of each view, those of one row of MCUs, into its `rows`, and their numbers into `counts`:
 * zeros after the last ones. Returns false if there is doubt, and then always. Instead of the function above. */
bool darkroom_jpeg_scan_step(
    darkroom_jpeg_scan *scan, uint8_t *const rows[DARKROOM_JPEG_VIEWS],
    uint32_t counts[DARKROOM_JPEG_VIEWS]);

/* How many rows of a single view have been given so far. */
uint32_t darkroom_jpeg_scan_given(const darkroom_jpeg_scan *scan);

/* Whether bytes follow the end-of-image marker. All rows must have been given. */
bool darkroom_jpeg_scan_has_surplus(darkroom_jpeg_scan *scan);

#endif
