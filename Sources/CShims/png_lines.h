/* The lines of a picture: its rows as the decompressor returns them, each after its filter's number. */
#ifndef DARKROOM_PNG_LINES_H
#define DARKROOM_PNG_LINES_H

#include "png_source.h"

typedef struct darkroom_png_lines darkroom_png_lines;

/* Reads lines of `line_bytes`, together `bytes`, from the source, which has been read up to the header of the
 * first IDAT; `at_once` of them at a time. No allocation is larger than `largest`. */
darkroom_png_result darkroom_png_lines_new(
    darkroom_png_lines **lines, darkroom_png_source *source, size_t line_bytes, uint64_t bytes,
    uint32_t at_once, size_t largest);
void darkroom_png_lines_free(darkroom_png_lines *lines);

/* From here on a line has `line_bytes`, at most as many as at first. What was lent is given back. */
void darkroom_png_lines_change(darkroom_png_lines *lines, size_t line_bytes);

/*
 * Lends the next lines, up to `wanted` and up to the number at once. They are valid until the next call. With
 * the picture's last line, the compressed data must have ended, including its checksum.
 *
 * On failure `count` is 0, or the last line of the picture is among the lines: then the error is after it,
 * and the lines are good.
 */
darkroom_png_result darkroom_png_lines_next(
    darkroom_png_lines *lines, uint32_t wanted, const uint8_t **start, uint32_t *count);

/* Copies the next `wanted` lines to `to`, or those before an error. */
void darkroom_png_lines_fetch(
    darkroom_png_lines *lines, uint8_t *to, uint32_t wanted, darkroom_png_fetched *fetched);

/* After the last line: the bytes of image data behind it, and those behind the compressed data in their last piece. */
void darkroom_png_lines_surplus(
    const darkroom_png_lines *lines, uint64_t *extra, uint64_t *surplus);

/* The error message; "" without an error. */
const char *darkroom_png_lines_message(const darkroom_png_lines *lines);

#endif
