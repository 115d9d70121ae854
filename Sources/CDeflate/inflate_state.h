/* The inflater's state, and the declarations that its files share. */
#ifndef DARKROOM_INFLATE_STATE_H
#define DARKROOM_INFLATE_STATE_H

#include "darkroom_inflate.h"
#include "inflate_chains.h"

#include <stdbool.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/*
 * Tables of codes. The next ROOT bits of the input select an entry. If the code is longer, the entry leads to a second
 * table, from which the following bits select.
 *
 * The lowest six bits of an entry are the number of bits that it consumes, with the further bits of a length or distance.
 * The two bits above are the number of its literals, one or two. They are in the upper half, the first one lower. The
 * masks below describe other entries.
 *
 * One table after the other: of literals and lengths, of distances, and the second tables of both. A second table of 2^k
 * entries has codes of at least k + 1 symbols, and k is at most 15 - ROOT. That limits the size of all second tables:
 * 286 / 5 · 16 for lengths, 30 / 5 · 16 for distances.
 */
enum {
    ROOT = 11,
    NUMBER_ROOT = 7,
    DISTANCES = 1 << ROOT,
    SECOND_LENGTHS = 2 << ROOT,
    SECOND_DISTANCES = SECOND_LENGTHS + 1024,
    TABLE_SIZE = SECOND_DISTANCES + 128,
    LONGEST_CODE = 15,
    MOST_LENGTHS = 288,
    MOST_DISTANCES = 32,
    WINDOW = 32768,
    LONGEST_MATCH = 258,
};

#define BITS(entry) ((entry) & 63)
#define LITERALS(entry) ((entry) >> 6 & 3)
#define IS_LITERAL 0x40u
#define ARE_LITERALS 0xc0u
/* Of a match. The second mask is also the offset of the table for what follows a length, in bytes. */
#define IS_PART 0x1000u
#define IS_LENGTH 0x2000u
/* The meaning of an entry that is neither literals nor a length or distance: nothing, or: */
#define IS_SPECIAL 0x8000u
#define IS_END 0x4000u
#define IS_TABLE 0x80000000u /* its offset is BASE, and FURTHER bits select from it */
/* A length or distance: its base, and the number of its further bits. */
#define BASE(entry) ((entry) >> 16 & 0x7fff)
#define FURTHER(entry) ((entry) >> 8 & 15)

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
    uint32_t table[TABLE_SIZE];
    unsigned misses;            /* the last rounds of this block, if they were useless */
    unsigned pause, last_pause; /* blocks without chains that follow, and how many they were the last time */
    darkroom_chains chains;
};

/* The input and output of one call. */
typedef struct {
    const uint8_t *in, *in_end;
    const uint8_t *in_start; /* where `in` was at first */
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

INLINE uint32_t look_up(const uint32_t *table, uint64_t bits)
{
    const uint32_t entry = table[bits & ((1u << ROOT) - 1)];
    if ((entry & (IS_SPECIAL | IS_TABLE | ARE_LITERALS)) != (IS_SPECIAL | IS_TABLE))
        return entry;
    return table[BASE(entry) + (bits >> ROOT & ((1u << FURTHER(entry)) - 1))];
}

/* The length or distance of an entry that was found with these bits. */
INLINE unsigned value_of(uint32_t entry, uint64_t bits)
{
    const unsigned own = (unsigned)(bits & ((1ull << BITS(entry)) - 1));
    return BASE(entry) + (own >> (BITS(entry) - FURTHER(entry)));
}

/* Copies a match and up to 16 bytes without meaning after it. */
INLINE void copy_quickly(uint8_t *out, size_t distance, size_t length)
{
    const uint8_t *from = out - distance;
    uint8_t *const end = out + length;
    if (distance >= 16) {
        do {
            memcpy(out, from, 16);
            out += 16;
            from += 16;
        } while (out < end);
    } else if (distance >= 8) {
        do {
            memcpy(out, from, 8);
            out += 8;
            from += 8;
        } while (out < end);
    } else {
        /* The last `distance` bytes repeatedly: as often as they fit completely into eight bytes, and a part
         * of the next copy. */
        static const uint8_t steps[8] = {0, 8, 8, 6, 8, 5, 6, 7};
        uint64_t word = 0;
        memcpy(&word, from, 8);
        word &= (1ull << 8 * distance) - 1;
        word |= word << 8 * distance;
        if (distance < 4)
            word |= word << 16 * distance;
        if (distance == 1)
            word |= word << 32;
        const size_t step = steps[distance];
        do {
            memcpy(out, &word, 8);
            out += step;
        } while (out < end);
    }
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

/* Reads symbols with several chains, if the processor can do this. (inflate_chains.c) */
typedef enum {
    ROUND_DONE,
    ROUND_STOPPED,    /* the next symbol is to be read alone: it is the end of the block, or damage, or the first ones */
    ROUND_IMPOSSIBLE, /* the other symbols of this call are to be read as usual */
} inflate_round;
inflate_round darkroom_inflate_run_round(darkroom_inflate *s, span *p);

/* Writes the output of a part of a trace, which begins at `position`, in bits from `in` on. Returns the end of the output;
 * NULL if it is damaged or needs more room. Then some of it may have been written. If the last entry is a length without
 * its distance, it is left out, and `after` becomes its position. (inflate_traces.c) */
uint8_t *darkroom_inflate_write_trace(
    darkroom_chains *c, const uint32_t *trace, size_t count, const uint8_t *in, uint32_t position,
    uint32_t *after, const span *p);

/* To be called when a block begins. */
void darkroom_inflate_begin_chains(darkroom_inflate *s);

#endif
