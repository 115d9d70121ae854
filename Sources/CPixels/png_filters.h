/* PNG's row filters (chapter 9 of its specification), for the code that chooses and the code that undoes
 * them. */
#ifndef DARKROOM_PNG_FILTERS_H
#define DARKROOM_PNG_FILTERS_H

#include <stdint.h>

/* The filters' numbers. */
enum { NONE, SUB, UP, AVERAGE, PAETH, FILTERS };

/* Paeth's predictor: the one of three bytes that is nearest to left + above - corner, in this order. */
static inline __attribute__((always_inline)) uint8_t paeth_of(
    uint8_t left, uint8_t above, uint8_t corner)
{
    const int to_left = above - corner, to_above = left - corner;
    const int left_error = to_left < 0 ? -to_left : to_left;
    const int above_error = to_above < 0 ? -to_above : to_above;
    const int both = to_left + to_above;
    const int corner_error = both < 0 ? -both : both;
    const uint8_t of_two = above_error <= corner_error ? above : corner;
    return left_error <= above_error && left_error <= corner_error ? left : of_two;
}

#endif
