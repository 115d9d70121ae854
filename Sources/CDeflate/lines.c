/* The lines of a strip: its rows with filters, and the memory for what may be tried with them. */
#include "lines.h"

#include "CDarkroomDeflate.h"

#include <stdlib.h>
#include <string.h>

/* It only compares seams. */
static const darkroom_search brief_search = {4, 2, 1};

/* Filters rows from `pixels` on. Some bytes after their end may be written. */
static void filter(
    const darkroom_strip *strip, const uint8_t *pixels, size_t count, uint8_t *lines)
{
    darkroom_png_choose(
        pixels, strip->stride, strip->row_bytes, strip->pixel_bytes, count, lines);
}

/* Gives rows the same filter. Some bytes after their end may be written. */
static void apply(
    const darkroom_strip *strip, int filter, const uint8_t *pixels, size_t count, uint8_t *lines)
{
    darkroom_png_apply(
        pixels, strip->stride, strip->row_bytes, strip->pixel_bytes, count, filter, lines);
}

/* Creates the trial, for what is compared with the present data. */
static int make_trial(darkroom_strip *strip)
{
    if (strip->trial == NULL)
        strip->trial = malloc(strip->chunk_room);
    return strip->trial != NULL;
}

int darkroom_make_uniform_room(darkroom_strip *strip)
{
    if (strip->uniform == NULL) {
        uint8_t *memory = malloc(
            seam_bytes(strip) + strip->room * line_bytes(strip) + DARKROOM_PNG_OVERHANG);
        if (memory != NULL)
            strip->uniform = memory + seam_bytes(strip);
    }
    return strip->uniform != NULL;
}

int darkroom_make_pixels(darkroom_strip *strip)
{
    if (strip->pixel_scratch == NULL)
        strip->pixel_scratch = malloc(darkroom_deflate_pixels_scratch());
    return strip->pixel_scratch != NULL && make_trial(strip);
}

int darkroom_make_search(darkroom_strip *strip)
{
    if (strip->search_scratch == NULL)
        strip->search_scratch = malloc(darkroom_deflate_search_scratch());
    return strip->search_scratch != NULL && darkroom_make_uniform_room(strip) && make_trial(strip);
}

/* Gives a seam's lines the same filters in both strips: those that make the seam alone shorter. */
static void agree_on_seam(const darkroom_strip *strip, uint8_t *filtered, uint8_t *unfiltered)
{
    const size_t bytes = seam_bytes(strip), sample = bytes / 4;
    void *scratch = strip->search_scratch;
    const size_t with = darkroom_deflate_search(
        filtered, 0, 0, sample, brief_search, scratch, strip->trial);
    const size_t without = darkroom_deflate_search(
        unfiltered, 0, 0, sample, brief_search, scratch, strip->trial);
    /* If there is no difference, as for noise, all seams are treated equally. */
    if (without < with - with / 32)
        memcpy(filtered, unfiltered, bytes);
    else
        memcpy(unfiltered, filtered, bytes);
}

int darkroom_make_lines(darkroom_strip *strip)
{
    if ((strip->has_seam || strip->knows_seam) && !darkroom_make_search(strip))
        return 0;
    if (strip->knows_seam) {
        const uint8_t *above = pixel_row(strip, 0) - strip->seam_rows * strip->stride;
        uint8_t *filtered = strip->filtered - seam_bytes(strip);
        uint8_t *unfiltered = strip->uniform - seam_bytes(strip);
        filter(strip, above, strip->seam_rows, filtered);
        apply(strip, NONE, above, strip->seam_rows, unfiltered);
        agree_on_seam(strip, filtered, unfiltered);
    }
    filter(strip, pixel_row(strip, 0), strip->rows, strip->filtered);
    if (strip->has_seam) {
        const size_t row = strip->rows - strip->seam_rows;
        const size_t at = row * line_bytes(strip);
        apply(strip, NONE, pixel_row(strip, row), strip->seam_rows, strip->uniform + at);
        agree_on_seam(strip, strip->filtered + at, strip->uniform + at);
    }
    return 1;
}

void darkroom_make_uniform_part(darkroom_strip *strip, int filter, size_t from, size_t to)
{
    apply(
        strip, filter, pixel_row(strip, from), to - from,
        strip->uniform + from * line_bytes(strip));
}

void darkroom_make_uniform(darkroom_strip *strip, int filter)
{
    darkroom_make_uniform_part(strip, filter, 0, strip->rows);
    if (strip->has_seam) {
        const size_t at = (strip->rows - strip->seam_rows) * line_bytes(strip);
        memcpy(strip->uniform + at, strip->filtered + at, seam_bytes(strip));
    }
}
