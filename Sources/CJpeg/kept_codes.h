/*
 * The tables of Huffman codes that were used last. To make one costs as much as a small picture at an eighth of its
 * size, and nearly all cameras and many programs write the same codes, those of the standard's Annex K.
 * Those of progressive pictures are not kept. The standard has no tables with runs of ended blocks, so each encoder
 * computes codes for each scan of each picture, and the same ones hardly come again.
 */
#ifndef DARKROOM_JPEG_KEPT_CODES_H
#define DARKROOM_JPEG_KEPT_CODES_H

#include "huffman.h"

/* The codes of a kind of block, as a picture gives them: 17 counts and 256 symbols each. */
typedef struct {
    const uint8_t *dc_counts, *dc_symbols, *ac_counts, *ac_symbols;
    bool skips;
} darkroom_jpeg_given_codes;

/*
 * The tables of these codes, which nobody changes. They are there until they are returned as often as they were
 * lent. May be called on any thread. NULL if the codes are in doubt, or there is no memory.
 */
const darkroom_jpeg_block_codes *darkroom_jpeg_kept_codes_lend(const darkroom_jpeg_given_codes *given);

/* NULL is allowed. */
void darkroom_jpeg_kept_codes_return(const darkroom_jpeg_block_codes *codes);

#endif
