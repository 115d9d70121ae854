/* Decodes the blocks of a few MCUs at a time. */
#ifndef DARKROOM_JPEG_ENTROPY_H
#define DARKROOM_JPEG_ENTROPY_H

#include "huffman.h"
#include "window.h"

enum {
    DARKROOM_GROUP_BLOCKS = 48, /* so that their coefficients stay in the first-level cache */
    /*
     * Four blocks of a component lie beside each other in memory: their first rows, their second rows, and so
     * on, as the SIMD loads them.
     */
    DARKROOM_QUAD_BLOCKS = 4,
    DARKROOM_QUAD_ROW = 8 * DARKROOM_QUAD_BLOCKS,
    DARKROOM_QUAD = 64 * DARKROOM_QUAD_BLOCKS,
};

/* The place of a component's block `index`, relative to the first one's. */
static inline size_t darkroom_jpeg_block_offset(size_t index)
{
    return index / DARKROOM_QUAD_BLOCKS * DARKROOM_QUAD + index % DARKROOM_QUAD_BLOCKS * 8;
}

/* For each position in zigzag order, the place in a block of a quad. */
extern const uint8_t darkroom_jpeg_zigzag[64];

/* A block of a group. */
typedef struct {
    int16_t *place;              /* of its coefficients, which are zeros before */
    const darkroom_jpeg_lookup *rest; /* the lookups for AC */
    const darkroom_jpeg_lookup *next; /* those for the next block's DC */
    const darkroom_jpeg_block_codes *codes;
} darkroom_jpeg_block;

typedef struct {
    darkroom_jpeg_window window;
    /* The next bits, from the highest one on, of which `bit_count` are valid, and the byte behind them. */
    uint64_t bits;
    unsigned bit_count;
    size_t at;
    /* The present block of the group, the position in it, and its lookups. */
    const darkroom_jpeg_block *block;
    size_t position;
    const darkroom_jpeg_lookup *lookups;
    darkroom_jpeg_block blocks[DARKROOM_GROUP_BLOCKS + 1]; /* behind the last one begins the next group */
} darkroom_jpeg_entropy;

/* Begins to read bits; `blocks` are set, and the window has been started. */
void darkroom_jpeg_entropy_start(darkroom_jpeg_entropy *entropy);

/* Reads the group's first `count` blocks; their first coefficients are the differences. Returns false on
 * doubt. */
bool darkroom_jpeg_entropy_read(darkroom_jpeg_entropy *entropy, unsigned count);

/* Goes over the end of a segment, where `marker` is expected. Returns false if there is anything else, or
 * data are left. */
bool darkroom_jpeg_entropy_end(darkroom_jpeg_entropy *entropy, uint8_t marker);

#endif
