/* What follows a block's header: literals, matches, and its end. */
#ifndef DARKROOM_BODY_H
#define DARKROOM_BODY_H

#include "block.h"

/* The lengths of a block's codes. The fixed code has two symbols of each alphabet that never appear. */
typedef struct {
    uint8_t literals[LITERAL_SYMBOLS + 2];
    uint8_t distances[DISTANCE_SYMBOLS + 2];
} darkroom_lengths;

/* Writes all symbols of a block. */
void darkroom_put_body(
    darkroom_bits *out, const darkroom_lengths *lengths, const uint8_t *bytes, size_t count,
    const darkroom_sequence *sequences, size_t sequence_count);

#endif
