/* The lines of a strip: its rows with filters, and the memory for what may be tried with them. */
#ifndef DARKROOM_LINES_H
#define DARKROOM_LINES_H

#include "strip_state.h"

/* PNG's row filters. */
enum { NONE, SUB, UP, AVERAGE };

/* Create the memory for a search of whole pixels, for lines with one filter, and for a search of bytes with such lines.
 * The first and the last include the trial. Most strips need none of them. Return 0 if there is no memory. */
int darkroom_make_pixels(darkroom_strip *strip);
int darkroom_make_uniform_room(darkroom_strip *strip);
int darkroom_make_search(darkroom_strip *strip);

/* Filters the rows, and makes the seams. Returns 0 if there is no memory. */
int darkroom_make_lines(darkroom_strip *strip);

/* Gives the rows from one to another the same filter. */
void darkroom_make_uniform_part(darkroom_strip *strip, int filter, size_t from, size_t to);

/* Makes the lines with one filter, except those of a seam. */
void darkroom_make_uniform(darkroom_strip *strip, int filter);

#endif
