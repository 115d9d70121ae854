/* Deflate's blocks, made from literals and matches that the caller has found. */
#ifndef DARKROOM_BLOCK_H
#define DARKROOM_BLOCK_H

#include "codes.h"

/* A number of literals, and then a match. */
typedef struct {
    uint32_t literals;
    uint16_t length;   /* 3 to 258 */
    uint16_t distance; /* less one: 0 to 32767 */
} darkroom_sequence;

enum {
    /* The maximum number of bytes that are written after the end of a block's room. */
    BLOCK_SLACK = 8,
    STORED_LIMIT = 65535,
    /* The minimum size of all blocks except the last, which limits the overhead of the blocks. */
    LEAST_BLOCK_BYTES = 32 << 10,
};

/* The destination of bits. */
typedef struct {
    uint8_t *at;
    uint64_t bits;  /* those not written yet, the first one lowest */
    unsigned count; /* of them, less than 8 between calls */
} darkroom_bits;

/*
 * Writes `count` bytes as a block that is not the last one: `sequences` cover the first of them, the rest are
 * literals. The block gets its own codes or RFC 1951's fixed ones, or its bytes are stored, whichever is
 * shortest. Stored bytes need five more bytes for each STORED_LIMIT or part of it.
 */
void darkroom_block(
    darkroom_bits *out, const uint8_t *bytes, size_t count, const darkroom_sequence *sequences,
    size_t sequence_count);

/* Adds the literals up to `end` to the sum of four sets of counters. */
void darkroom_count_literals(
    uint32_t counts[4][LITERALS], const uint8_t *bytes, const uint8_t *end);

/* How often each symbol appears in a block. */
typedef struct {
    uint32_t literals[LITERAL_SYMBOLS]; /* and lengths */
    uint32_t distances[DISTANCE_SYMBOLS];
} darkroom_counts;

/* The same if the caller has counted the symbols, all except the end of the block. */
void darkroom_counted_block(
    darkroom_bits *out, const uint8_t *bytes, size_t count, const darkroom_sequence *sequences,
    size_t sequence_count, const darkroom_counts *counts);

/* An empty stored block, which ends at a byte boundary. */
void darkroom_align(darkroom_bits *out);

#endif
