#include "codes.h"

#include <string.h>

/* A symbol and how often it appears, so that sorting by the number sorts by frequency. */
enum { SYMBOL_BITS = 9, SYMBOL_MASK = (1 << SYMBOL_BITS) - 1 };

/* One pass of a stable radix sort by eight bits. */
static void sort_pass(const uint32_t *in, uint32_t *out, unsigned count, unsigned shift)
{
    unsigned starts[257] = {0};
    for (unsigned i = 0; i < count; i++)
        starts[(in[i] >> shift & 255) + 1]++;
    for (unsigned i = 0; i < 255; i++)
        starts[i + 1] += starts[i];
    for (unsigned i = 0; i < count; i++)
        out[starts[in[i] >> shift & 255]++] = in[i];
}

/* Sorts by frequency. The symbols are in their order before, and symbols with equal frequencies stay so. */
static void sort(uint32_t *items, unsigned count)
{
    uint32_t other[LITERAL_SYMBOLS];
    uint32_t most = 0;
    for (unsigned i = 0; i < count; i++)
        most = items[i] > most ? items[i] : most;
    sort_pass(items, other, count, SYMBOL_BITS);
    sort_pass(other, items, count, SYMBOL_BITS + 8);
    if (most >> (SYMBOL_BITS + 16) != 0) {
        sort_pass(items, other, count, SYMBOL_BITS + 16);
        memcpy(items, other, count * sizeof *items);
    }
}

/*
 * The number of codes of each length, for items sorted by increasing frequency. Nodes are made in increasing
 * order of their weight. So leaves and nodes are two queues, whose two lightest heads are joined.
 */
static void count_lengths(
    const uint32_t *items, unsigned count, unsigned longest, unsigned numbers[16])
{
    uint32_t weights[LITERAL_SYMBOLS];
    uint16_t leaf_parents[LITERAL_SYMBOLS], parents[LITERAL_SYMBOLS];
    unsigned leaf = 0, node = 0;
    for (unsigned made = 0; made + 1 < count; made++) {
        uint32_t weight = 0;
        for (int side = 0; side < 2; side++) {
            const uint32_t of_leaf = leaf < count ? items[leaf] >> SYMBOL_BITS : UINT32_MAX;
            if (node < made && weights[node] < of_leaf) {
                weight += weights[node];
                parents[node++] = (uint16_t)made;
            } else {
                weight += of_leaf;
                leaf_parents[leaf++] = (uint16_t)made;
            }
        }
        weights[made] = weight;
    }
    /* From the root down. Items that are deeper than allowed are counted at the limit. */
    uint16_t depths[LITERAL_SYMBOLS];
    const unsigned root = count - 2;
    depths[root] = 0;
    for (unsigned i = root; i-- > 0;)
        depths[i] = (uint16_t)(depths[parents[i]] + 1);
    memset(numbers, 0, 16 * sizeof *numbers);
    uint32_t used = 0; /* of the code space, in units of the longest code */
    for (unsigned i = 0; i < count; i++) {
        const unsigned depth = depths[leaf_parents[i]] + 1u;
        const unsigned length = depth < longest ? depth : longest;
        numbers[length]++;
        used += 1u << (longest - length);
    }
    /* Too much space is used: a code of maximum length is moved next to the deepest shorter one, which
     * becomes one bit longer. That frees one unit. */
    for (; used > 1u << longest; used--) {
        unsigned length = longest - 1;
        while (numbers[length] == 0)
            length--;
        numbers[length]--;
        numbers[length + 1] += 2;
        numbers[longest]--;
    }
}

void darkroom_code_lengths(
    const uint32_t *counts, unsigned symbols, unsigned longest, uint8_t *lengths)
{
    uint32_t items[LITERAL_SYMBOLS];
    unsigned count = 0;
    memset(lengths, 0, symbols);
    for (unsigned i = 0; i < symbols; i++)
        if (counts[i] != 0)
            items[count++] = counts[i] << SYMBOL_BITS | i;
    if (count < 2) {
        const unsigned first = count == 0 ? 0 : items[0] & SYMBOL_MASK;
        lengths[first] = 1;
        lengths[first == 0 ? 1 : 0] = 1;
        return;
    }
    sort(items, count);
    unsigned numbers[16];
    count_lengths(items, count, longest, numbers);
    const uint32_t *item = items;
    for (unsigned length = longest; length > 0; length--)
        for (unsigned i = 0; i < numbers[length]; i++)
            lengths[*item++ & SYMBOL_MASK] = (uint8_t)length;
}

static uint16_t reversed(unsigned code, unsigned length)
{
    code = (code & 0x5555) << 1 | (code >> 1 & 0x5555);
    code = (code & 0x3333) << 2 | (code >> 2 & 0x3333);
    code = (code & 0x0f0f) << 4 | (code >> 4 & 0x0f0f);
    code = (code & 0x00ff) << 8 | (code >> 8 & 0x00ff);
    return (uint16_t)(code >> (16 - length));
}

void darkroom_codes(const uint8_t *lengths, unsigned symbols, uint16_t *codes)
{
    unsigned numbers[16] = {0}, next[16] = {0};
    for (unsigned i = 0; i < symbols; i++)
        numbers[lengths[i]]++;
    numbers[0] = 0;
    for (unsigned length = 1; length < 16; length++)
        next[length] = (next[length - 1] + numbers[length - 1]) << 1;
    for (unsigned i = 0; i < symbols; i++)
        codes[i] = lengths[i] == 0 ? 0 : reversed(next[lengths[i]]++, lengths[i]);
}
