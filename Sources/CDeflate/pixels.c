/*
 * Matches of whole pixels: for rows whose channels depend on each other.
 *
 * For example after sepia, a pixel's second and third channel follow from its first, except for rounding. So
 * there are few different pixels, and a recent copy of one costs less than its three literals. This search
 * only uses matches that begin and end with pixels: the nearest copy of the pixel and the next one, or else the
 * nearest copy of the pixel. It takes a short match only if it costs less than the literals, by the costs in
 * the previous block. Lengths that are multiples of a pixel need few symbols, with low entropy. Therefore the
 * result is smaller than that of a search for matches of all lengths and places, and faster. The cheapest path
 * over all these matches would be a hundredth smaller, but takes nearly twice the time.
 */
#include "block.h"
#include "darkroom_deflate.h"

#include <string.h>

enum {
    /* A block ends with the row or part of a row that reaches this size. It is small, because the costs
     * follow the picture by blocks. */
    BLOCK_BYTES = LEAST_BLOCK_BYTES,
    /* The number of pixels that are searched at once. */
    PART = 1024,
    HASH_BITS_1 = 14,
    HASH_BITS_2 = 15,
    /* Costs are in 1/16 bit. */
    UNIT = 16,
    DEAREST = 13 * UNIT,
};

typedef struct {
    uint32_t literal[LITERALS];
    uint32_t length[LONGEST_MATCH + 1];
    uint32_t distance[DISTANCE_STEPS];
} cost_table;

typedef struct {
    /* The last places of pixels, by their lowest bits. This is enough, because a copy is compared anyway. */
    uint16_t last_1[1 << HASH_BITS_1];
    uint16_t last_2[1 << HASH_BITS_2];
    cost_table costs;
    darkroom_counts counts;
    uint32_t distance_counts[DISTANCE_STEPS];
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
    memset(&s->counts, 0, sizeof s->counts);
    memset(s->distance_counts, 0, sizeof s->distance_counts);
}

/* The approximate costs of the symbols in the previous block: their entropy. */
static void learn(search *s)
{
    unsigned extra;
    const uint32_t total = total_of(s->counts.literals, LITERAL_SYMBOLS) + 1;
    const uint32_t log2_total = log2_units(total);
    for (unsigned i = 0; i < LITERALS; i++)
        s->costs.literal[i] = cost_of(s->counts.literals[i], log2_total);
    for (unsigned length = SHORTEST_MATCH; length <= LONGEST_MATCH; length++) {
        const uint32_t count = s->counts.literals[length_symbol(length, &extra)];
        s->costs.length[length] = cost_of(count, log2_total) + UNIT * extra;
    }
    const uint32_t log2_distances =
        log2_units(total_of(s->counts.distances, DISTANCE_SYMBOLS) + 1);
    for (unsigned i = 0; i < DISTANCE_STEPS; i++) {
        const unsigned symbol = distance_symbol(step_distance(i), &extra);
        s->costs.distance[i] = cost_of(s->counts.distances[symbol], log2_distances) + UNIT * extra;
    }
    clear_counts(s);
}

/* The distances by their symbols. */
static void sum_distances(search *s)
{
    unsigned extra;
    for (unsigned i = 0; i < DISTANCE_STEPS; i++)
        s->counts.distances[distance_symbol(step_distance(i), &extra)] += s->distance_counts[i];
}

/* Before the first block: literals by the frequency of their bytes, matches by usual values. */
static void guess(search *s, const uint8_t *bytes, size_t count)
{
    static const uint8_t distances[DISTANCE_SYMBOLS] = {
        0, 0, 8, 0, 8, 6, 12, 12, 14, 14, 18, 18, 22, 22, 26, 26, 30, 30, 34, 34,
        38, 38, 42, 42, 44, 44, 44, 44, 44, 44};
    clear_counts(s);
    for (size_t i = 0; i < count; i++)
        s->counts.literals[bytes[i]]++;
    s->counts.literals[FIRST_LENGTH] = (uint32_t)(count / 8);
    s->counts.literals[FIRST_LENGTH + 3] = (uint32_t)(count / 12);
    s->counts.literals[FIRST_LENGTH + 6] = (uint32_t)(count / 30);
    s->counts.literals[FIRST_LENGTH + 8] = (uint32_t)(count / 60);
    for (unsigned i = 0; i < DISTANCE_SYMBOLS; i++)
        s->counts.distances[i] = distances[i];
    learn(s);
}

/* ---- Matches --------------------------------------------------------------------------------- */

INLINE uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
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

/* A pixel with the next one, as far as they are compared. */
INLINE uint64_t first_mask(size_t step)
{
    return (UINT64_C(1) << 8 * step) - 1;
}

INLINE uint64_t both_mask(size_t step)
{
    return step == 4 ? UINT64_MAX : (UINT64_C(1) << 16 * step) - 1;
}

INLINE uint16_t *slot_1(search *s, uint64_t word, size_t step)
{
    return &s->last_1[(uint32_t)(word & first_mask(step)) * 0x9e3779b1u >> (32 - HASH_BITS_1)];
}

INLINE uint16_t *slot_2(search *s, uint64_t word, size_t step)
{
    return &s->last_2[(word & both_mask(step)) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - HASH_BITS_2)];
}

/* Enters the places of pixels without a search. */
INLINE void enter_all(search *s, const uint8_t *bytes, size_t from, size_t to, size_t step)
{
    for (size_t at = from; at < to; at += step) {
        const uint64_t word = word_at(bytes + at);
        *slot_1(s, word, step) = *slot_2(s, word, step) = (uint16_t)at;
    }
}

/*
 * The distances of the last copies of a pixel, alone and with the next one, or 0.
 *
 * A slot has the lowest bits of a place, and 0 if it has none. So it stands for a place between the beginning
 * of `bytes` and `at`: if this is in the window and has the same bytes, it is a copy.
 */
typedef struct {
    uint32_t one, two;
} distances;

/* Enters a place, and returns how far the places before it are. */
INLINE distances enter(search *s, uint64_t word, size_t at, size_t step)
{
    uint16_t *last_1 = slot_1(s, word, step), *last_2 = slot_2(s, word, step);
    const distances found = {(uint16_t)(at - *last_1), (uint16_t)(at - *last_2)};
    *last_1 = *last_2 = (uint16_t)at;
    return found;
}

INLINE int is_copy(const uint8_t *here, uint32_t distance, uint64_t word, uint64_t mask)
{
    return (((word_at(here - distance) ^ word) & mask) | (distance - 1) >> 15) == 0;
}

INLINE uint32_t literals_cost(const search *s, const uint8_t *bytes, size_t count)
{
    uint32_t cost = 0;
    for (size_t i = 0; i < count; i++)
        cost += s->costs.literal[bytes[i]];
    return cost;
}

INLINE int is_cheaper(const search *s, const uint8_t *here, size_t length, uint32_t distance)
{
    return s->costs.length[length] + s->costs.distance[distance_step(distance)]
        < literals_cost(s, here, length);
}

/* Searches the pixels from `at` to `end`, at most PART, and appends the sequences. `*done` is the beginning of
 * the next one's literals. */
INLINE size_t find_matches(
    search *s, const uint8_t *bytes, size_t at, size_t end, size_t step, size_t *done,
    size_t count)
{
    while (at < end) {
        const uint8_t *here = bytes + at;
        const uint64_t word = word_at(here);
        const distances last = enter(s, word, at, step);
        const size_t left = end - at;
        size_t length = 0;
        uint32_t distance = last.two;
        if (left >= 2 * step && is_copy(here, distance, word, both_mask(step))) {
            const size_t most = left < LONGEST_MATCH ? left : LONGEST_MATCH - LONGEST_MATCH % step;
            length = equal_bytes(here, here - distance, 2 * step, most) / step * step;
            if (length == 2 * step && !is_cheaper(s, here, length, distance))
                length = 0;
        }
        if (length == 0) {
            distance = last.one;
            if (!is_copy(here, distance, word, first_mask(step))
                || !is_cheaper(s, here, step, distance)) {
                for (size_t k = 0; k < step; k++)
                    s->counts.literals[here[k]]++;
                at += step;
                continue;
            }
            length = step;
        }
        unsigned extra;
        s->counts.literals[length_symbol((unsigned)length, &extra)]++;
        s->distance_counts[distance_step(distance)]++;
        s->sequences[count++] = (darkroom_sequence){
            .literals = (uint32_t)(at - *done), .length = (uint16_t)length,
            .distance = (uint16_t)(distance - 1)};
        enter_all(s, bytes, at + step, at + length, step);
        at += length;
        *done = at;
    }
    return count;
}

INLINE size_t deflate_rows(
    search *s, const uint8_t *bytes, size_t stride, size_t from, size_t to, size_t step,
    uint8_t *out)
{
    darkroom_bits bits = {.at = out};
    const size_t total = to * stride, start = from * stride;
    const size_t reach = (WINDOW + stride - 1) / stride;
    size_t block = start, done = start, count = 0;
    memset(s->last_1, 0, sizeof s->last_1);
    memset(s->last_2, 0, sizeof s->last_2);
    guess(s, bytes + start, total - start < BLOCK_BYTES ? total - start : BLOCK_BYTES);
    for (size_t row = from < reach ? 0 : from - reach; row < from; row++)
        enter_all(s, bytes, row * stride + 1, (row + 1) * stride, step);
    for (size_t row = from; row < to; row++) {
        size_t at = row * stride;
        const size_t end = at + stride;
        s->counts.literals[bytes[at++]]++;
        while (at < end) {
            const size_t stop = end - at < PART * step ? end : at + PART * step;
            count = find_matches(s, bytes, at, stop, step, &done, count);
            at = stop;
            if (at - block >= BLOCK_BYTES || at == total) {
                sum_distances(s);
                darkroom_counted_block(
                    &bits, bytes + block, at - block, s->sequences, count, &s->counts);
                learn(s);
                block = done = at;
                count = 0;
            }
        }
    }
    darkroom_align(&bits);
    return (size_t)(bits.at - out);
}

static size_t deflate_3(
    search *s, const uint8_t *bytes, size_t stride, size_t from, size_t to, uint8_t *out)
{
    return deflate_rows(s, bytes, stride, from, to, 3, out);
}

static size_t deflate_4(
    search *s, const uint8_t *bytes, size_t stride, size_t from, size_t to, uint8_t *out)
{
    return deflate_rows(s, bytes, stride, from, to, 4, out);
}

size_t darkroom_deflate_pixels(
    const uint8_t *bytes, size_t stride, size_t from, size_t to, int pixel_bytes, void *scratch,
    uint8_t *out)
{
    return pixel_bytes == 3 ? deflate_3(scratch, bytes, stride, from, to, out)
                            : deflate_4(scratch, bytes, stride, from, to, out);
}

size_t darkroom_deflate_pixels_scratch(void)
{
    return sizeof(search);
}
