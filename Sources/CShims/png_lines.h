/* The lines of a picture: its rows as they come out of the decompressor, each led by its filter's
 * number. */
#ifndef DARKROOM_PNG_LINES_H
#define DARKROOM_PNG_LINES_H

#include "png_source.h"

typedef struct darkroom_png_lines darkroom_png_lines;

/* `count` lines of `line_bytes` are to come out of the source, which has been read as far as the
 * first IDAT's header; `at_once` of them at a time. No allocation is larger than `largest`. */
darkroom_png_result darkroom_png_lines_new(
    darkroom_png_lines **lines, darkroom_png_source *source, size_t line_bytes, uint32_t count,
    uint32_t at_once, size_t largest);
void darkroom_png_lines_free(darkroom_png_lines *lines);

/* Lends the next lines, up to `wanted` and as many as there may be at once; they stay until the next
 * call. With the picture's last line the compressed data must have ended, its checksum included.
 *
 * On failure `count` is 0, or the last line of the picture is among them: then what is wrong lies
 * behind it, and those before it are good. */
darkroom_png_result darkroom_png_lines_next(
    darkroom_png_lines *lines, uint32_t wanted, const uint8_t **start, uint32_t *count);

/* Copies the next `wanted` lines to `to`, or those before what is wrong. */
void darkroom_png_lines_fetch(
    darkroom_png_lines *lines, uint8_t *to, uint32_t wanted, darkroom_png_fetched *fetched);

/* What went wrong; "" where nothing did. */
const char *darkroom_png_lines_message(const darkroom_png_lines *lines);

#endif
