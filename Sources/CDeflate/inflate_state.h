/* The inflater's state, and the declarations that its files share. */
#ifndef DARKROOM_INFLATE_STATE_H
#define DARKROOM_INFLATE_STATE_H

#include "darkroom_inflate.h"

#include <stdbool.h>

#define INLINE static inline __attribute__((always_inline))

/*
 * Tables of codes. The next `root` bits of the input select an entry. If the code is longer, the entry leads
 * to a second table, from which the following bits select.
 *
 * The lowest byte of an entry is the number of bits of the code. The 2 bits above are the number of its
 * literals, one or two. They are in the upper half, the first one lower. The masks below describe other
 * entries.
 *
 * A second table of 2^k entries has codes of at least k + 1 symbols, and k is at most 15 - root. That limits
 * the size of all second tables: 286 / 5 · 16 for lengths, 30 / 8 · 128 for distances.
 */
enum {
    LENGTH_ROOT = 11,
    DISTANCE_ROOT = 8,
    NUMBER_ROOT = 7,
    LENGTH_SIZE = (1 << LENGTH_ROOT) + 1024,
    DISTANCE_SIZE = (1 << DISTANCE_ROOT) + 512,
    LONGEST_CODE = 15,
    MOST_LENGTHS = 288,
    MOST_DISTANCES = 32,
    WINDOW = 32768,
    LONGEST_MATCH = 258,
};

#define BITS(entry) ((entry) & 63)
#define LITERALS(entry) ((entry) >> 8 & 3)
#define IS_LITERAL 0x100u
#define ARE_LITERALS 0x300u
/* The meaning of an entry that is neither literals nor a length or distance: nothing, or: */
#define IS_SPECIAL 0x8000u
#define IS_END 0x4000u
#define IS_TABLE 0x80000000u /* its offset is BASE, and FURTHER bits select from it */
/* A length or distance: its base, and the number of its further bits. */
#define BASE(entry) ((entry) >> 16 & 0x7fff)
#define FURTHER(entry) ((entry) >> 10 & 15)

struct darkroom_inflate {
    enum {
        IN_HEADER,
        IN_BLOCK_HEADER,
        IN_STORED_HEADER,
        IN_STORED,
        IN_COUNTS,       /* of a dynamic block: how many code lengths there are */
        IN_CODE_NUMBERS, /* the lengths of the codes in which the code lengths are written */
        IN_CODE_LENGTHS,
        IN_SYMBOLS,
        IN_MATCH, /* one is to be copied, or its rest */
        IN_TRAILER,
    } part;
    bool is_final;
    bool has_fixed_tables; /* the tables are those of fixed codes */
    uint64_t bits; /* input not yet consumed, the next bit lowest; zeros above `bit_count` */
    unsigned bit_count;
    unsigned length_count, distance_count, number_count;
    unsigned known; /* of the lengths that are being read */
    unsigned left;  /* of a stored block or a match */
    unsigned distance;
    uint32_t adler;
    size_t history;                /* bytes before `out` that a match may refer to */
    uint8_t lengths[MOST_LENGTHS + MOST_DISTANCES]; /* of codes, 0 where a symbol has none */
    uint8_t number_lengths[19];
    uint32_t number_table[1 << NUMBER_ROOT];
    uint32_t length_table[LENGTH_SIZE];
    uint32_t distance_table[DISTANCE_SIZE];
};

/* The input and output of one call. */
typedef struct {
    const uint8_t *in, *in_end;
    uint8_t *out, *out_end;
    const uint8_t *oldest; /* the first byte that a match may refer to */
    const uint8_t *summed; /* up to here the checksum knows the output */
} span;

/* The result of a step that does not end the call; else a darkroom_inflate_result. */
enum { GO_ON = -1 };

/* ---- Bits ---- */

/* Reads bytes until there are at least 56 bits, or no more input. Returns true if there are `count` bits. */
INLINE bool need(darkroom_inflate *s, span *p, unsigned count)
{
    while (s->bit_count < 56 && p->in < p->in_end) {
        s->bits |= (uint64_t)*p->in++ << s->bit_count;
        s->bit_count += 8;
    }
    return s->bit_count >= count;
}

INLINE unsigned peek(const darkroom_inflate *s, unsigned count)
{
    return (unsigned)(s->bits & ((1ull << count) - 1));
}

INLINE void drop(darkroom_inflate *s, unsigned count)
{
    s->bits >>= count;
    s->bit_count -= count;
}

INLINE unsigned take(darkroom_inflate *s, unsigned count)
{
    const unsigned bits = peek(s, count);
    drop(s, count);
    return bits;
}

INLINE uint32_t look_up(const uint32_t *table, unsigned root, uint64_t bits)
{
    const uint32_t entry = table[bits & ((1u << root) - 1)];
    if ((entry & (IS_SPECIAL | IS_TABLE | ARE_LITERALS)) != (IS_SPECIAL | IS_TABLE))
        return entry;
    return table[BASE(entry) + (bits >> root & ((1u << FURTHER(entry)) - 1))];
}

/* ---- Between the files ---- */

/* Makes the table for the code lengths; returns false if the lengths are not those of a code.
 * (inflate_codes.c) */
bool darkroom_inflate_make_number_table(darkroom_inflate *s);

/* The same for the tables of lengths and distances, from s->lengths. */
bool darkroom_inflate_make_tables(darkroom_inflate *s);

/* Makes one entry from two consecutive literals if both codes fit into the bits that select from the table.
 * (inflate_join.c) */
void darkroom_inflate_join_literals(uint32_t *length_table);

/* Reads the symbols of a block as far as possible. (inflate_symbols.c) */
int darkroom_inflate_read_symbols(darkroom_inflate *s, span *p);
int darkroom_inflate_copy_match(darkroom_inflate *s, span *p);

#endif
