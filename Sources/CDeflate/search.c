/*
 * Finds matches by hash chains, with lazy evaluation.
 *
 * Drawings, gradients and patterns have many places with four equal bytes and few with many. So a chain of
 * the former is long and mostly useless. Here a chain of places where eight bytes are probably equal is
 * followed first. If it gives no long match, a short part of the other chain follows, and for the shortest
 * matches only the last place.
 */
#include "block.h"
#include "darkroom_deflate.h"

#include <string.h>

enum {
    HASH_BITS = 14,
    HASH_BITS_3 = 12,
    /* The maximum number of bytes in a place's hash. The last bytes, fewer than this, are literals. */
    HASHED = 8,
    /* With a match of this length, the chain of short ones is not followed. */
    LONG_MATCH = 12,
    /* At a greater distance, three bytes cost as much as their literals. */
    FURTHEST_3 = 4096,
    /* After this number of consecutive literals, one place is skipped each time; at most this number of
     * places. */
    LITERALS_A_PLACE = 64,
    MOST_PASSED = 3,
    /* How many bytes at a match's end are entered into all chains. For a run of one byte, nothing else is
     * entered. */
    MATCH_END = 16,
    /* A block ends when it has this number of literals and matches, so that its codes are worth their size,
     * or this number of bytes. */
    BLOCK_SYMBOLS = 16 << 10,
    BLOCK_BYTES = 512 << 10,
};
_Static_assert(LEAST_BLOCK_BYTES / SHORTEST_MATCH < BLOCK_SYMBOLS, "the sequences are enough");

/* Places count from 1; 0 is none. */
typedef struct {
    uint32_t last_8[1 << HASH_BITS], last_4[1 << HASH_BITS], last_3[1 << HASH_BITS_3];
    /* The previous place in the same chain, by the remainder of a place. */
    uint32_t before_8[WINDOW], before_4[WINDOW];
    darkroom_sequence sequences[BLOCK_SYMBOLS + 1];
} search;

typedef struct {
    size_t length, distance;
} match;

/* The beginnings of a place's chains. */
typedef struct {
    uint32_t first_8, first_4, first_3;
} chains;

INLINE uint32_t load_4(const uint8_t *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

INLINE uint64_t load_8(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

INLINE uint64_t hash(uint64_t word, unsigned bits)
{
    return word * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits);
}

/* The first bytes are in the lowest places, so that all machines hash the same bytes. */
INLINE uint64_t hash_word(const uint8_t *bytes)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(load_8(bytes));
#else
    return load_8(bytes);
#endif
}

INLINE uint32_t enter_8(search *s, size_t at, uint64_t word)
{
    uint32_t *last = &s->last_8[hash(word, HASH_BITS)];
    const uint32_t found = *last;
    s->before_8[at % WINDOW] = found;
    *last = (uint32_t)at + 1;
    return found;
}

INLINE chains enter(search *s, const uint8_t *bytes, size_t at)
{
    const uint64_t word = hash_word(bytes + at);
    uint32_t *last_4 = &s->last_4[hash(word << 32, HASH_BITS)];
    uint32_t *last_3 = &s->last_3[hash(word << 40, HASH_BITS_3)];
    const chains found = {enter_8(s, at, word), *last_4, *last_3};
    s->before_4[at % WINDOW] = found.first_4;
    *last_4 = *last_3 = (uint32_t)at + 1;
    return found;
}

/* How many bytes are equal, up to `limit`. */
INLINE size_t equal_bytes(const uint8_t *a, const uint8_t *b, size_t limit)
{
    size_t count = 0;
    while (count + 8 <= limit) {
        const uint64_t differing = load_8(a + count) ^ load_8(b + count);
        if (differing != 0)
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
            return count + ((size_t)__builtin_clzll(differing) >> 3);
#else
            return count + ((size_t)__builtin_ctzll(differing) >> 3);
#endif
        count += 8;
    }
    while (count < limit && a[count] == b[count])
        count++;
    return count;
}

/* The match at this distance if it is longer than `best`, which has at least three bytes and fewer than
 * `limit`. */
INLINE match longer(const uint8_t *here, size_t distance, size_t limit, match best)
{
    const uint8_t *there = here - distance;
    const size_t tail = best.length - 3;
    if (load_4(there + tail) != load_4(here + tail) || load_4(there) != load_4(here))
        return best;
    const size_t length = equal_bytes(here, there, limit);
    return length > best.length ? (match){length, distance} : best;
}

/* Follows a chain to find the longest match; of equal ones, the nearest. */
INLINE match follow(
    const uint32_t *before, uint32_t place, const uint8_t *bytes, size_t at, size_t limit,
    unsigned tries, match best)
{
    for (; tries > 0 && place != 0 && best.length < limit; tries--) {
        const size_t distance = at + 1 - place;
        if (distance > WINDOW)
            break;
        best = longer(bytes + at, distance, limit, best);
        place = before[(place - 1) % WINDOW];
    }
    return best;
}

/* The longest match that is longer than `least` bytes; its distance is 0 if there is none. At least HASHED
 * bytes are left. `last` is the distance of the previous match, or 0: in patterns all matches have the same
 * distance. */
INLINE match find(
    search *s, const uint8_t *bytes, size_t at, size_t end, size_t least, size_t last,
    darkroom_search effort)
{
    const size_t left = end - at;
    const size_t limit = left < LONGEST_MATCH ? left : LONGEST_MATCH;
    const chains found = enter(s, bytes, at);
    match best = {least < SHORTEST_MATCH ? SHORTEST_MATCH : least, 0};
    best = follow(s->before_8, found.first_8, bytes, at, limit, effort.long_tries, best);
    if (last != 0 && best.length < limit)
        best = longer(bytes + at, last, limit, best);
    if (best.length >= LONG_MATCH)
        return best;
    best = follow(s->before_4, found.first_4, bytes, at, limit, effort.short_tries, best);
    const size_t distance = at + 1 - found.first_3;
    if (best.distance == 0 && least < SHORTEST_MATCH && found.first_3 != 0 && distance <= FURTHEST_3
        && memcmp(bytes + at, bytes + at - distance, SHORTEST_MATCH) == 0)
        best.distance = distance;
    return best;
}

/* Enters the places from `from` to `to`, which a match covers. The end of a long match is entered for all
 * lengths, the rest only for long matches, because there are short ones elsewhere. */
INLINE void enter_all(search *s, const uint8_t *bytes, size_t from, size_t to, size_t end)
{
    const size_t last = end - HASHED + 1;
    size_t at = from;
    to = to < last ? to : last;
    for (; at + MATCH_END < to; at++)
        enter_8(s, at, hash_word(bytes + at));
    for (; at < to; at++)
        enter(s, bytes, at);
}

/* Skips places without a search. They are entered, because a later match may begin at any of them. */
INLINE size_t pass(search *s, const uint8_t *bytes, size_t at, size_t end, size_t count)
{
    const size_t stop = at + (count < MOST_PASSED ? count : MOST_PASSED);
    for (; at < stop && at + HASHED <= end; at++)
        enter_8(s, at, hash_word(bytes + at));
    return at;
}

size_t darkroom_deflate_search_scratch(void)
{
    return sizeof(search);
}

size_t darkroom_deflate_search(
    const uint8_t *bytes, size_t known, size_t start, size_t end, darkroom_search effort,
    void *scratch, uint8_t *out)
{
    search *s = scratch;
    darkroom_bits bits = {.at = out};
    memset(s->last_8, 0, sizeof s->last_8);
    memset(s->last_4, 0, sizeof s->last_4);
    memset(s->last_3, 0, sizeof s->last_3);
    const darkroom_search less = {
        (effort.long_tries + 1) / 2, (effort.short_tries + 1) / 2, effort.passes};
    if (end - start >= HASHED)
        enter_all(s, bytes, start - known < WINDOW ? known : start - WINDOW, start, end);
    for (size_t at = start; at < end;) {
        const size_t block = at;
        size_t count = 0, symbols = 0, done = at, last = 0;
        while (at + HASHED <= end && at - block < BLOCK_BYTES - 2 * LONGEST_MATCH
            && (symbols < BLOCK_SYMBOLS || at - block < LEAST_BLOCK_BYTES)) {
            match best = find(s, bytes, at, end, 0, last, effort);
            symbols++;
            if (best.distance == 0) {
                at++;
                if (effort.passes)
                    at = pass(s, bytes, at, end, (at - done) / LITERALS_A_PLACE);
                continue;
            }
            /* Entered up to here. */
            size_t entered = at + 1;
            /* A match that begins a byte later may be longer. */
            while (best.length < LONGEST_MATCH && end - entered >= HASHED) {
                const match next = find(s, bytes, entered, end, best.length, last, less);
                entered++;
                if (next.distance == 0)
                    break;
                at++;
                symbols++;
                best = next;
            }
            s->sequences[count++] = (darkroom_sequence){
                .literals = (uint32_t)(at - done), .length = (uint16_t)best.length,
                .distance = (uint16_t)(best.distance - 1)};
            last = best.distance;
            at = done = at + best.length;
            if (best.distance == 1 && at > entered + MATCH_END)
                entered = at - MATCH_END;
            enter_all(s, bytes, entered, at, end);
        }
        if (at + HASHED > end)
            at = end;
        darkroom_block(&bits, bytes + block, at - block, s->sequences, count);
    }
    darkroom_align(&bits);
    return (size_t)(bits.at - out);
}
