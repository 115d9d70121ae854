/* Parts of a strip, which show what a method makes of the whole. */
#ifndef DARKROOM_PARTS_H
#define DARKROOM_PARTS_H

#include "strip_state.h"

/* A part of a strip that stands for the whole. */
typedef struct {
    size_t from, to; /* rows */
} darkroom_part;

enum { PARTS = 2 };

/* A share of the strip's rows in two places, so that there is something of both halves. */
void darkroom_choose_parts(const darkroom_strip *strip, size_t share, darkroom_part parts[PARTS]);

/* How many bytes each method needs for the rows from one to another of these lines. Matches may begin before
 * them, as they would if the whole were compressed. */
typedef size_t darkroom_method(
    const darkroom_strip *strip, const uint8_t *lines, size_t from, size_t to);
darkroom_method darkroom_as_runs, darkroom_as_long_runs, darkroom_as_pixels, darkroom_as_smooth;

/* The same for matches that begin shortly before the rows. */
darkroom_method darkroom_as_smooth_nearby;

size_t darkroom_sum_of_parts(
    const darkroom_strip *strip, const uint8_t *lines, const darkroom_part parts[PARTS],
    darkroom_method *size);

/* The one of several filters with which the parts are smallest if all rows have it. `*least` is their size. */
int darkroom_best_filter(
    darkroom_strip *strip, const darkroom_part parts[PARTS], const int *filters, size_t count,
    darkroom_method *size, size_t *least);

#endif
