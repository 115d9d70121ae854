/* Deflate's alphabets and their Huffman codes (RFC 1951, 3.2). */
#ifndef DARKROOM_CODES_H
#define DARKROOM_CODES_H

#include <stddef.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

enum {
    LITERALS = 256,
    END_OF_BLOCK = 256,
    FIRST_LENGTH = 257,
    LITERAL_SYMBOLS = 286,
    DISTANCE_SYMBOLS = 30,
    CODE_LENGTH_SYMBOLS = 19,
    SHORTEST_MATCH = 3,
    LONGEST_MATCH = 258,
    WINDOW = 32768,
    /* RFC 1951 allows 15. With 13, a 64-bit word has room for four literals, for up to seven pending bits and
     * for the four bits of an entry's length. In a block of 64 KiB, a symbol that appears fewer than eight
     * times costs a bit or two more. */
    LONGEST_CODE = 13,
    LONGEST_CODE_LENGTH_CODE = 7,
};

/* The symbol of a match's length, 3 to 258, and how many bits follow it. */
INLINE unsigned length_symbol(unsigned length, unsigned *extra)
{
    if (length == LONGEST_MATCH || length < 11) {
        *extra = 0;
        return length == LONGEST_MATCH ? 285 : FIRST_LENGTH + length - SHORTEST_MATCH;
    }
    /* From 11 on each power of two has four symbols. */
    const unsigned value = length - SHORTEST_MATCH;
    const unsigned power = 31 - (unsigned)__builtin_clz(value);
    *extra = power - 2;
    return FIRST_LENGTH + 4 * (power - 1) + ((value >> *extra) & 3);
}

/* The symbol of a distance, 1 to 32768, and how many bits follow it. */
INLINE unsigned distance_symbol(unsigned distance, unsigned *extra)
{
    const unsigned value = distance - 1;
    if (value < 4) {
        *extra = 0;
        return value;
    }
    const unsigned power = 31 - (unsigned)__builtin_clz(value);
    *extra = power - 1;
    return 2 * power + ((value >> *extra) & 1);
}

/* A table of distances has a place for each distance up to 256, and then for each 128 of them, which have the
 * same symbol. */
enum { DISTANCE_STEPS = 512 };

INLINE unsigned distance_step(unsigned distance)
{
    const unsigned value = distance - 1;
    return value < 256 ? value : 256 + (value >> 7);
}

/* The least distance in a place of such a table. Nothing is in the places 256 and 257. */
INLINE unsigned step_distance(unsigned step)
{
    return step < 256 ? step + 1 : ((step - 256) << 7) + 1;
}

/*
 * The lengths of a Huffman code, at most `longest`, for symbols that appear `counts[i]` times; 0 for those
 * that do not appear. At least two symbols get a code, so that the code is complete: some decoders refuse
 * others. At most LITERAL_SYMBOLS symbols, each fewer than 2^23 times.
 */
void darkroom_code_lengths(
    const uint32_t *counts, unsigned symbols, unsigned longest, uint8_t *lengths);

/* The codes for these lengths. Their first bit is the lowest, as deflate writes them. */
void darkroom_codes(const uint8_t *lengths, unsigned symbols, uint16_t *codes);

#endif
