/* Huffman codes, and tables that decode two symbols at a time. */
#ifndef DARKROOM_JPEG_HUFFMAN_H
#define DARKROOM_JPEG_HUFFMAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DARKROOM_LOOKUP_BITS = 10, /* with one more, the tables fall out of the first-level cache */
    DARKROOM_LOOKUP_SIZE = 1 << DARKROOM_LOOKUP_BITS,
    DARKROOM_LONGEST_CODE = 16,
    DARKROOM_LARGEST_DC = 11, /* bits of a difference and of a coefficient in an 8-bit picture */
    DARKROOM_LARGEST_AC = 10,
    DARKROOM_NO_ADVANCE = 64, /* an advance that is out of every block */
};

/*
 * What the next DARKROOM_LOOKUP_BITS bits say: one symbol with its value, or two. Positions are counted in
 * zigzag order from the present one.
 *
 * If there is one coefficient, `second` is `first`: whoever stores the second value before the first one
 * needs no condition. If there is none (the end of the block, or a run of 16 zeros), the values are 0 and
 * their places are still 0.
 */
typedef struct {
    uint8_t bits;       /* how many are used up, at most DARKROOM_LOOKUP_BITS + DARKROOM_LARGEST_DC */
    uint8_t advance;    /* to the position after the last symbol; DARKROOM_NO_ADVANCE without a symbol */
    uint8_t first;      /* the position of the first value */
    uint8_t second;     /* of the second one */
    uint8_t code_bits;  /* the bits before those of the first value */
    uint8_t value_shift; /* 63 minus the first value's bits */
    int8_t value;       /* the second one */
    uint8_t is_end;     /* 1 if the last symbol ends the block */
} darkroom_jpeg_lookup;

/* Codes in the order of their lengths. */
typedef struct {
    /* The codes of n bits and shorter ones, left-aligned in 16 bits, are less than limits[n]. */
    uint32_t limits[DARKROOM_LONGEST_CODE + 1];
    /* What has to be added to a code of n bits for its place in `symbols`. */
    int32_t offsets[DARKROOM_LONGEST_CODE + 1];
    uint8_t symbols[256];
} darkroom_jpeg_codes;

/* The codes of a kind of block. */
typedef struct {
    /* The first half begins with a difference of DC, the second half with a symbol of AC. */
    darkroom_jpeg_lookup lookups[2 * DARKROOM_LOOKUP_SIZE];
    darkroom_jpeg_codes dc, ac;
    bool skips; /* only DC is needed: AC is passed over, and its values stay 0 */
} darkroom_jpeg_block_codes;

/* `counts` has 17 numbers, `symbols` 256. Returns false if they are no Huffman code, or a code for DC has
 * symbols that are none. */
bool darkroom_jpeg_codes_make(
    darkroom_jpeg_codes *codes, const uint8_t *counts, const uint8_t *symbols, bool is_dc);

/* Fills `lookups`; the rest is set. A lookup that passes over AC has as many symbols as fit. */
void darkroom_jpeg_block_codes_fill(darkroom_jpeg_block_codes *codes);

/* Finds the symbol at the beginning of `bits`, of which the first 16 are valid. Returns the code's length; 0
 * if there is no such code. */
unsigned darkroom_jpeg_codes_find(const darkroom_jpeg_codes *codes, uint64_t bits, uint8_t *symbol);

/*
 * The value of the 63 - `shift` bits at the beginning of `bits`: positive if the first one is 1; else the
 * complement of the bits, negative.
 */
static inline int darkroom_jpeg_value(uint64_t bits, unsigned shift)
{
    const uint64_t flip = (uint64_t)((int64_t)~bits >> 63);
    return (int)(((bits ^ flip) >> 1 >> shift ^ flip) - flip);
}

#endif
