/* Matches at distance 1. */
#ifndef DARKROOM_RUNS_H
#define DARKROOM_RUNS_H

#include "block.h"

/* The shortest run taken: bytes of filtered rows that repeat are mostly zeros, of two or three bits
 * each, and so many of them cost more than a match. */
enum { SHORTEST_RUN = 5 };

/*
 * Finds the runs in the bytes from `start` to `end`; what lies before `start` is known to the
 * decoder. `sequences` has room for a third of the bytes. Returns how many there are.
 */
size_t darkroom_find_runs(
    const uint8_t *bytes, size_t start, size_t end, darkroom_sequence *sequences);

#endif
