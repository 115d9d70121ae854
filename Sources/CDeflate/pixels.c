/*
 * Matches of whole pixels: for rows whose channels depend on each other.
 *
 * For example after sepia, a pixel's second and third channel follow from its first, except for rounding. So
 * there are few different pixels, and a recent copy of one costs less than its three literals. This search
 * only uses matches that begin and end with pixels: the nearest copy of the pixel, and the nearest copy of it
 * and the next one. It decides row by row which of them are taken, and with which length: it takes the
 * cheapest path from pixel to pixel, with the costs of literals and matches in the previous block. Lengths
 * that are multiples of a pixel need few symbols, with low entropy. Therefore the result is smaller than that
 * of a search for matches of all lengths and places, and faster.
 */
#include "block.h"
#include "darkroom_deflate.h"

#include <string.h>

enum {
    /* A block ends with the row or part of a row that reaches this size. It is small, because the costs
     * follow the picture by blocks. */
    BLOCK_BYTES = LEAST_BLOCK_BYTES,
    /* The number of pixels over which the cheapest path is searched at once. */
    PART = 1024,
    HASH_BITS_1 = 14,
    HASH_BITS_2 = 15,
    /* A match of this length is taken without a further search. */
    LONG_MATCH = 96,
    /* Costs are in 1/16 bit. */
    UNIT = 16,
    DEAREST = 13 * UNIT,
};

typedef struct {
    uint32_t literal[LITERALS];
    uint32_t length[LONGEST_MATCH + 1];
    /* For a distance minus one: below 256 the value itself, else its 128th part. */
    uint32_t distance[512];
} cost_table;

/* The best path to a pixel's end. */
typedef struct {
    uint32_t cost[PART + 1];
    uint16_t pixels[PART + 1];   /* of the match, 0 for literals */
    uint16_t distance[PART + 1]; /* less one */
    uint16_t path[PART];
} way_table;

typedef struct {
    uint32_t last_1[1 << HASH_BITS_1];
    uint32_t last_2[1 << HASH_BITS_2];
    cost_table costs;
    way_table ways;
    uint32_t literal_counts[LITERALS];
    uint32_t length_counts[LONGEST_MATCH + 1];
    uint32_t distance_counts[DISTANCE_SYMBOLS];
    darkroom_sequence sequences[(BLOCK_BYTES + PART * 4) / SHORTEST_MATCH + 1];
} search;

/* ---- Costs ----------------------------------------------------------------------------------- */

/* log2(value) · UNIT, to a thirtieth of a bit. */
static uint32_t log2_units(uint32_t value)
{
    static const uint8_t fractions[32] = {0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9,
        9, 10, 10, 11, 11, 12, 12, 13, 13, 13, 14, 14, 15, 15, 15, 16};
    const unsigned power = 31 - (unsigned)__builtin_clz(value);
    const uint32_t fraction = power >= 5 ? value >> (power - 5) & 31 : value << (5 - power) & 31;
    return power * UNIT + fractions[fraction];
}

static uint32_t cost_of(uint32_t count, uint32_t log2_total)
{
    const uint32_t cost = count == 0 ? DEAREST : log2_total - log2_units(count);
    return cost < UNIT ? UNIT : cost < DEAREST ? cost : DEAREST;
}

static uint32_t total_of(const uint32_t *counts, unsigned count)
{
    uint32_t total = 0;
    for (unsigned i = 0; i < count; i++)
        total += counts[i];
    return total;
}

static void clear_counts(search *s)
{
    memset(s->literal_counts, 0, sizeof s->literal_counts);
    memset(s->length_counts, 0, sizeof s->length_counts);
    memset(s->distance_counts, 0, sizeof s->distance_counts);
}

/* The approximate costs of the symbols in the previous block: their entropy. */
static void learn(search *s)
{
    uint32_t symbols[LITERAL_SYMBOLS - FIRST_LENGTH] = {0};
    unsigned extra;
    for (unsigned length = SHORTEST_MATCH; length <= LONGEST_MATCH; length++)
        symbols[length_symbol(length, &extra) - FIRST_LENGTH] += s->length_counts[length];
    const uint32_t total = total_of(s->literal_counts, LITERALS)
        + total_of(s->length_counts, LONGEST_MATCH + 1) + 1;
    const uint32_t log2_total = log2_units(total);
    for (unsigned i = 0; i < LITERALS; i++)
        s->costs.literal[i] = cost_of(s->literal_counts[i], log2_total);
    for (unsigned length = SHORTEST_MATCH; length <= LONGEST_MATCH; length++) {
        const uint32_t count = symbols[length_symbol(length, &extra) - FIRST_LENGTH];
        s->costs.length[length] = cost_of(count, log2_total) + UNIT * extra;
    }
    const uint32_t log2_distances =
        log2_units(total_of(s->distance_counts, DISTANCE_SYMBOLS) + 1);
    for (unsigned i = 0; i < 512; i++) {
        const unsigned symbol = distance_symbol(i < 256 ? i + 1 : ((i - 256) << 7) + 1, &extra);
        s->costs.distance[i] = cost_of(s->distance_counts[symbol], log2_distances) + UNIT * extra;
    }
    clear_counts(s);
}

/* Before the first block: literals by the frequency of their bytes, matches by usual values. */
static void guess(search *s, const uint8_t *bytes, size_t count)
{
    static const uint8_t distances[DISTANCE_SYMBOLS] = {
        0, 0, 8, 0, 8, 6, 12, 12, 14, 14, 18, 18, 22, 22, 26, 26, 30, 30, 34, 34,
        38, 38, 42, 42, 44, 44, 44, 44, 44, 44};
    clear_counts(s);
    for (size_t i = 0; i < count; i++)
        s->literal_counts[bytes[i]]++;
    s->length_counts[3] = (uint32_t)(count / 8);
    s->length_counts[6] = (uint32_t)(count / 12);
    s->length_counts[9] = (uint32_t)(count / 30);
    s->length_counts[12] = (uint32_t)(count / 60);
    for (unsigned i = 0; i < DISTANCE_SYMBOLS; i++)
        s->distance_counts[i] = distances[i];
    learn(s);
}

/* ---- The cheapest way ------------------------------------------------------------------------ */

INLINE uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

INLINE uint32_t distance_cost(const search *s, uint32_t less_one)
{
    return s->costs.distance[less_one < 256 ? less_one : 256 + (less_one >> 7)];
}

/* How many bytes up to `limit` are equal, at least `known`. Does not read beyond `limit`. */
INLINE size_t equal_bytes(const uint8_t *a, const uint8_t *b, size_t known, size_t limit)
{
    size_t count = known;
    while (count + 8 <= limit) {
        const uint64_t differing = word_at(a + count) ^ word_at(b + count);
        if (differing != 0)
            return count + ((size_t)__builtin_ctzll(differing) >> 3);
        count += 8;
    }
    while (count < limit && a[count] == b[count])
        count++;
    return count;
}

/* Finds the cheapest path over `pixels` pixels from `place` on, at most PART. `bytes` begins one byte before
 * the first pixel, so that place 0 means none. */
INLINE void find_way(
    search *s, const uint8_t *bytes, size_t place, size_t pixels, size_t step)
{
    const uint64_t mask_1 = (UINT64_C(1) << 8 * step) - 1;
    const uint64_t mask_2 = step == 4 ? UINT64_MAX : (UINT64_C(1) << 16 * step) - 1;
    way_table *ways = &s->ways;
    memset(ways->cost, 0xff, (pixels + 1) * sizeof ways->cost[0]);
    ways->cost[0] = 0;
    for (size_t i = 0; i < pixels;) {
        const size_t at = place + i * step;
        const uint8_t *here = bytes + at;
        const uint64_t word = word_at(here);
        const uint32_t cost = ways->cost[i];
        uint32_t literals = 0;
        for (size_t k = 0; k < step; k++)
            literals += s->costs.literal[here[k]];
        uint32_t *slot_1 = &s->last_1[(uint32_t)(word & mask_1) * 0x9e3779b1u
            >> (32 - HASH_BITS_1)];
        uint32_t *slot_2 = &s->last_2[(word & mask_2) * UINT64_C(0x9e3779b97f4a7c15)
            >> (64 - HASH_BITS_2)];
        const size_t from_1 = *slot_1, from_2 = *slot_2;
        *slot_1 = *slot_2 = (uint32_t)at;

        /* One pixel: literals, or the nearest copy. */
        uint32_t best = cost + literals;
        uint32_t best_distance = 0, best_pixels = 0;
        const uint32_t less_one = (uint32_t)(at - from_1 - 1) & (WINDOW - 1);
        const uint32_t copied = cost + s->costs.length[step] + distance_cost(s, less_one);
        const int is_copy = ((word_at(bytes + from_1) ^ word) & mask_1) == 0
            && at - from_1 <= WINDOW && from_1 != 0;
        if (is_copy && copied < best) {
            best = copied;
            best_distance = less_one;
            best_pixels = 1;
        }
        if (best < ways->cost[i + 1]) {
            ways->cost[i + 1] = best;
            ways->distance[i + 1] = (uint16_t)best_distance;
            ways->pixels[i + 1] = (uint16_t)best_pixels;
        }

        /* Two and more pixels. */
        size_t advance = 1;
        if (((word_at(bytes + from_2) ^ word) & mask_2) == 0 && at - from_2 <= WINDOW
            && from_2 != 0 && i + 2 <= pixels) {
            const size_t left = (pixels - i) * step;
            const size_t most = left < LONGEST_MATCH ? left : LONGEST_MATCH - LONGEST_MATCH % step;
            size_t length = equal_bytes(here, bytes + from_2, 2 * step, most) / step;
            const uint32_t start = cost + distance_cost(s, (uint32_t)(at - from_2 - 1));
            if (length * step >= LONG_MATCH)
                advance = length;
            for (; length >= 2; length--) {
                const uint32_t total = start + s->costs.length[length * step];
                if (total < ways->cost[i + length]) {
                    ways->cost[i + length] = total;
                    ways->distance[i + length] = (uint16_t)(at - from_2 - 1);
                    ways->pixels[i + length] = (uint16_t)length;
                }
                if (advance != 1)
                    break;
            }
        }
        i += advance;
    }
}

/* Writes the path as sequences. `*done` is the beginning of the next one's literals. */
INLINE size_t follow_way(
    search *s, const uint8_t *bytes, size_t place, size_t pixels, size_t step, size_t *done,
    size_t count)
{
    way_table *ways = &s->ways;
    size_t steps = 0;
    for (size_t i = pixels; i > 0;) {
        ways->path[steps++] = (uint16_t)i;
        i -= ways->pixels[i] == 0 ? 1 : ways->pixels[i];
    }
    while (steps > 0) {
        const size_t node = ways->path[--steps];
        const size_t length = ways->pixels[node] * step;
        if (length == 0) {
            for (size_t k = 0; k < step; k++)
                s->literal_counts[bytes[place + k]]++;
            place += step;
            continue;
        }
        unsigned extra;
        s->length_counts[length]++;
        s->distance_counts[distance_symbol(ways->distance[node] + 1u, &extra)]++;
        s->sequences[count++] = (darkroom_sequence){
            .literals = (uint32_t)(place - *done), .length = (uint16_t)length,
            .distance = ways->distance[node]};
        place += length;
        *done = place;
    }
    return count;
}

INLINE size_t deflate_rows(
    search *s, const uint8_t *bytes, size_t stride, size_t rows, size_t step, uint8_t *out)
{
    darkroom_bits bits = {.at = out};
    const size_t total = stride * rows;
    size_t block = 0, done = 0, count = 0;
    memset(s->last_1, 0, sizeof s->last_1);
    memset(s->last_2, 0, sizeof s->last_2);
    guess(s, bytes, total < BLOCK_BYTES ? total : BLOCK_BYTES);
    for (size_t row = 0; row < rows; row++) {
        size_t at = row * stride;
        const size_t end = at + stride;
        s->literal_counts[bytes[at++]]++;
        while (at < end) {
            const size_t left = (end - at) / step;
            const size_t pixels = left < PART ? left : PART;
            find_way(s, bytes, at, pixels, step);
            count = follow_way(s, bytes, at, pixels, step, &done, count);
            at += pixels * step;
            if (at - block >= BLOCK_BYTES || at == total) {
                darkroom_block(&bits, bytes + block, at - block, s->sequences, count);
                learn(s);
                block = done = at;
                count = 0;
            }
        }
    }
    darkroom_align(&bits);
    return (size_t)(bits.at - out);
}
static size_t deflate_3(search *s, const uint8_t *bytes, size_t stride, size_t rows, uint8_t *out)
{
    return deflate_rows(s, bytes, stride, rows, 3, out);
}

static size_t deflate_4(search *s, const uint8_t *bytes, size_t stride, size_t rows, uint8_t *out)
{
    return deflate_rows(s, bytes, stride, rows, 4, out);
}

size_t darkroom_deflate_pixels(
    const uint8_t *bytes, size_t stride, size_t rows, int pixel_bytes, void *scratch, uint8_t *out)
{
    return pixel_bytes == 3 ? deflate_3(scratch, bytes, stride, rows, out)
                            : deflate_4(scratch, bytes, stride, rows, out);
}

size_t darkroom_deflate_pixels_scratch(void)
{
    return sizeof(search);
}
