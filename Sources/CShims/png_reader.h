/* The PNG reader's private declarations. */
#ifndef DARKROOM_PNG_READER_H
#define DARKROOM_PNG_READER_H

#include "png_passes.h"
#include "png_rows.h"
#include "png_trap.h"

enum { WARNINGS = 8, WARNING_BYTES = 128 };

/* All memory of a reader belongs to this block, which is created before the first setjmp. */
struct darkroom_png_reader {
    darkroom_png_trap trap; /* first, so that it is there for libpng's first callback */
    png_structp png;
    png_infop info;
    size_t largest_allocation;
    darkroom_png_header header;
    bool is_open, is_started;
    size_t row_bytes;
    uint64_t rows_left; /* of all passes */
    darkroom_png_rows *rows; /* NULL where libpng decodes the pixels, and for an interlaced picture */
    darkroom_png_passes *passes; /* of an interlaced picture; NULL where libpng decodes it */
    darkroom_png_palette palette;
    uint32_t last_count;
    char warnings[WARNINGS][WARNING_BYTES];
    size_t warning_count;
    bool is_reading; /* libpng makes rows: its remarks are judged by the table */
    bool keeps_damaged, is_damaged;
    uint32_t damaged_row; /* the first one, from 0 */
    uint32_t damaged_pass; /* of an interlaced picture */
    darkroom_png_source source;
};

/* Keeps a remark if it is new and there is room. */
void darkroom_png_remark(darkroom_png_reader *reader, const char *message);

/* Reads what follows the pixels, up to the end of IEND, where libpng has not read the pixels. */
darkroom_png_result darkroom_png_read_rest(darkroom_png_reader *reader);

/* Remarks what there is behind the last row. */
void darkroom_png_remark_surplus(darkroom_png_reader *reader);

/* Remarks where a picture is damaged that is kept. */
void darkroom_png_remark_damage(darkroom_png_reader *reader);

/* After a failure among the rows, and from there on: makes the rest of `count` rows gray and opaque, if damaged pictures
 * are wanted. Those of an interlaced picture keep what its earlier passes have given. Otherwise returns the failure. */
darkroom_png_result darkroom_png_kept_rows(
    darkroom_png_reader *reader, uint8_t *rows, uint32_t count);

/* After a failure behind the last row: the same. */
darkroom_png_result darkroom_png_kept_end(darkroom_png_reader *reader);

/* Whether libpng makes alpha from a tRNS. For an RGB picture with tRNS before PLTE, which PNG does not allow,
 * libpng makes none: it warns, and counts no colours, but still reports the chunk as valid. */
bool darkroom_png_finds_transparency(png_const_structp png, png_infop info);

/* Copies the palette that libpng has read. May jump, as libpng does. */
void darkroom_png_copy_palette(darkroom_png_reader *reader);

#endif
