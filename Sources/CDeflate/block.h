/* Deflate's blocks, of literals and matches that somebody else has found. */
#ifndef DARKROOM_BLOCK_H
#define DARKROOM_BLOCK_H

#include "codes.h"

/* So many literals, and then a match. */
typedef struct {
    uint32_t literals;
    uint16_t length;   /* 3 to 258 */
    uint16_t distance; /* less one: 0 to 32767 */
} darkroom_sequence;

enum {
    /* What a block is written past the end of its room at most. */
    BLOCK_SLACK = 8,
    STORED_LIMIT = 65535,
    /* What all blocks but the last have at least, so that there is a bound for what they add. */
    LEAST_BLOCK_BYTES = 32 << 10,
};

/* Where bits go. */
typedef struct {
    uint8_t *at;
    uint64_t bits;  /* those not written yet, the first one lowest */
    unsigned count; /* of them, less than 8 between calls */
} darkroom_bits;

/*
 * Writes `count` bytes as a block, not the last one: `sequences` cover the first of them, the rest
 * are literals. Codes are made for the block, or RFC 1951's fixed ones taken, or the bytes stored,
 * whatever is shortest. Stored they take five bytes more for each STORED_LIMIT or part of it.
 */
void darkroom_block(
    darkroom_bits *out, const uint8_t *bytes, size_t count, const darkroom_sequence *sequences,
    size_t sequence_count);

/* An empty stored block, which ends on a byte's boundary. */
void darkroom_align(darkroom_bits *out);

#endif
