/* The codes of deflate (RFC 1951, 3.2) as lookup tables for symbols. */
#include "inflate_state.h"

#include <string.h>

static const uint16_t length_bases[29] = {
    3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
};
static const uint8_t length_further[29] = {
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
};
static const uint16_t distance_bases[30] = {
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
};

/* The number of further bits, once as itself and once as a part of the bits that are consumed. */
static uint32_t with_further(uint32_t bits)
{
    return bits << 8 | bits;
}

static uint32_t length_entry(unsigned symbol)
{
    if (symbol < 256)
        return symbol << 16 | IS_LITERAL;
    if (symbol == 256)
        return IS_SPECIAL | IS_END;
    if (symbol > 285)
        return IS_SPECIAL;
    return (uint32_t)length_bases[symbol - 257] << 16 | IS_LENGTH | IS_PART
        | with_further(length_further[symbol - 257]);
}

static uint32_t distance_entry(unsigned symbol)
{
    if (symbol > 29)
        return IS_SPECIAL;
    return (uint32_t)distance_bases[symbol] << 16 | IS_PART
        | with_further(symbol < 2 ? 0 : symbol / 2 - 1);
}

static uint32_t number_entry(unsigned symbol)
{
    return symbol << 16;
}

/* The code after `code`, both with their first bit lowest; 0 after the last one. */
static uint32_t next_code(uint32_t code, unsigned length)
{
    uint32_t bit = 1u << (length - 1);
    while ((code & bit) != 0)
        bit >>= 1;
    return bit == 0 ? 0 : (code & (bit - 1)) | bit;
}

/* How many bits select from the second table that begins with a code of `length`: enough for all codes with
 * the same first bits. `counts` are the numbers of codes of each length that have not been placed yet. */
static unsigned table_bits(const unsigned *counts, unsigned length, unsigned root, unsigned longest)
{
    unsigned bits = length - root;
    int room = 1 << bits;
    while (bits + root < longest) {
        room -= (int)counts[bits + root];
        if (room <= 0)
            break;
        bits++;
        room <<= 1;
    }
    return bits;
}

/*
 * Makes the table of a code from the lengths of its symbols. Returns false if there is no such code: with
 * more codes than the bits can distinguish, or with fewer. Only two exceptions are allowed: a single code of
 * one bit, whose other half is invalid, and no code at all if `may_be_empty`. The second tables begin at `end`.
 */
static bool make_table(
    uint32_t *table, unsigned root, unsigned end, const uint8_t *lengths, unsigned count,
    uint32_t (*entry)(unsigned), bool may_be_empty)
{
    unsigned counts[LONGEST_CODE + 1] = {0};
    for (unsigned i = 0; i < count; i++)
        counts[lengths[i]]++;
    unsigned longest = LONGEST_CODE;
    while (longest > 0 && counts[longest] == 0)
        longest--;
    int room = 1;
    for (unsigned length = 1; length <= LONGEST_CODE; length++) {
        room = 2 * room - (int)counts[length];
        if (room < 0)
            return false;
    }
    if (longest == 0 && !may_be_empty)
        return false;
    if (room > 0 && longest > 1)
        return false;
    if (room > 0)
        for (unsigned i = 0; i < 1u << root; i++)
            table[i] = IS_SPECIAL | 1;

    uint16_t starts[LONGEST_CODE + 2] = {0}, sorted[MOST_LENGTHS];
    for (unsigned length = 1; length <= LONGEST_CODE; length++)
        starts[length + 1] = (uint16_t)(starts[length] + counts[length]);
    for (unsigned i = 0; i < count; i++)
        if (lengths[i] != 0)
            sorted[starts[lengths[i]]++] = (uint16_t)i;

    /* The table grows with the codes: before the first one with more bits it is doubled. So each code is
     * written once, and not for all bits that may follow it. */
    const uint32_t mask = (1u << root) - 1;
    uint32_t code = 0, prefix = ~0u, grown = 2;
    unsigned start = 0, selecting = 0;
    for (unsigned i = 0; i < starts[longest]; i++) {
        const unsigned length = lengths[sorted[i]];
        const uint32_t made = entry(sorted[i]) + length;
        const uint32_t needed = 1u << (length < root ? length : root);
        for (; grown < needed; grown *= 2)
            memcpy(table + grown, table, grown * sizeof *table);
        if (length <= root) {
            table[code] = made;
        } else {
            if ((code & mask) != prefix) {
                prefix = code & mask;
                selecting = table_bits(counts, length, root, longest);
                start = end;
                end += 1u << selecting;
                table[prefix] = IS_SPECIAL | IS_TABLE | selecting << 8 | start << 16;
            }
            for (uint32_t j = code >> root; j < 1u << selecting; j += 1u << (length - root))
                table[start + j] = made;
        }
        counts[length]--;
        code = next_code(code, length);
    }
    for (; grown <= mask; grown *= 2)
        memcpy(table + grown, table, grown * sizeof *table);
    return true;
}

bool darkroom_inflate_make_number_table(darkroom_inflate *s)
{
    /* Unlike the others, this code must be complete. */
    return make_table(s->number_table, NUMBER_ROOT, 0, s->number_lengths, 19, number_entry, false)
        && (s->number_table[(1 << NUMBER_ROOT) - 1] & IS_SPECIAL) == 0;
}

bool darkroom_inflate_make_tables(darkroom_inflate *s)
{
    if (!make_table(
            s->table, ROOT, SECOND_LENGTHS, s->lengths, s->length_count, length_entry, false)
        || !make_table(
            s->table + DISTANCES, ROOT, SECOND_DISTANCES - DISTANCES,
            s->lengths + s->length_count, s->distance_count, distance_entry, true))
        return false;
    darkroom_inflate_join_literals(s->table);
    return true;
}
