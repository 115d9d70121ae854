#include "entropy.h"

#include <string.h>

#include "darkroom_cpu.h"

/* For each position in zigzag order, the place in a block of a quad. */
#define P(row, column) ((row) * DARKROOM_QUAD_ROW + (column))
static const uint8_t zigzag[64] = {
    P(0, 0), P(0, 1), P(1, 0), P(2, 0), P(1, 1), P(0, 2), P(0, 3), P(1, 2), /* */
    P(2, 1), P(3, 0), P(4, 0), P(3, 1), P(2, 2), P(1, 3), P(0, 4), P(0, 5), /* */
    P(1, 4), P(2, 3), P(3, 2), P(4, 1), P(5, 0), P(6, 0), P(5, 1), P(4, 2), /* */
    P(3, 3), P(2, 4), P(1, 5), P(0, 6), P(0, 7), P(1, 6), P(2, 5), P(3, 4), /* */
    P(4, 3), P(5, 2), P(6, 1), P(7, 0), P(7, 1), P(6, 2), P(5, 3), P(4, 4), /* */
    P(3, 5), P(2, 6), P(1, 7), P(2, 7), P(3, 6), P(4, 5), P(5, 4), P(6, 3), /* */
    P(7, 2), P(7, 3), P(6, 4), P(5, 5), P(4, 6), P(3, 7), P(4, 7), P(5, 6), /* */
    P(6, 5), P(7, 4), P(7, 5), P(6, 6), P(5, 7), P(6, 7), P(7, 6), P(7, 7),
};
#undef P

/* What reading keeps in registers. */
typedef struct {
    uint64_t bits;
    unsigned bit_count;
    const uint8_t *at;
    unsigned block, position;
    const darkroom_lookup *lookups;
} cursor;

/* At least 56 bits are valid afterwards. */
static inline __attribute__((always_inline)) void refill(cursor *c)
{
    uint64_t next;
    memcpy(&next, c->at, sizeof next);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    next = __builtin_bswap64(next);
#endif
    c->bits |= next >> c->bit_count;
    c->at += (63 - c->bit_count) >> 3;
    c->bit_count |= 56;
}

static inline void use(cursor *c, unsigned count)
{
    c->bits <<= count;
    c->bit_count -= count;
}

static inline void begin_block(const darkroom_entropy *entropy, cursor *c, unsigned block)
{
    c->block = block;
    c->position = 0;
    c->lookups = entropy->codes[block]->lookups;
}

/*
 * Reads one symbol, where the lookup does not do: its code is long, or the block may be full before a
 * lookup's second symbol. 27 bits are valid. Returns false on doubt.
 */
static __attribute__((noinline)) bool read_symbol(const darkroom_entropy *entropy, cursor *c)
{
    const darkroom_block_codes *codes = entropy->codes[c->block];
    int16_t *place = entropy->places[c->block];
    uint8_t symbol = 0;
    const bool is_dc = c->position == 0;
    const unsigned length = darkroom_codes_find(is_dc ? &codes->dc : &codes->ac, c->bits, &symbol);
    const unsigned run = is_dc ? 0 : symbol >> 4, size = symbol & 15;
    if (length == 0 || size > (is_dc ? DARKROOM_LARGEST_DC : DARKROOM_LARGEST_AC))
        return false;
    use(c, length);
    if (!is_dc && size == 0) {
        if (run == 0) {
            begin_block(entropy, c, c->block + 1);
            return true;
        }
        c->position += 16;
        return run == 15 && c->position < 64;
    }
    if (c->position + run > 63)
        return false;
    c->position += run;
    if (is_dc || !codes->skips)
        place[zigzag[c->position]] = (int16_t)darkroom_value(c->bits, size);
    use(c, size);
    c->position++;
    c->lookups = codes->lookups + DARKROOM_LOOKUP_SIZE;
    if (c->position == 64)
        begin_block(entropy, c, c->block + 1);
    return true;
}

/*
 * Reads a lookup's one or two symbols. The end of a block comes at random and often, so it must not be a
 * branch: what is different then is selected.
 */
static inline __attribute__((always_inline)) bool read_symbols(
    const darkroom_entropy *entropy, cursor *c)
{
    const darkroom_lookup *found = &c->lookups[c->bits >> (64 - DARKROOM_LOOKUP_BITS)];
    const unsigned position = c->position, next = position + found->advance;
    if (__builtin_expect(next > 63, 0))
        return read_symbol(entropy, c);
    int16_t *place = entropy->places[c->block];
    const uint64_t value = c->bits << found->code_bits;
    place[zigzag[position + found->second]] = found->value;
    place[zigzag[position + found->first]] = (int16_t)darkroom_value(value, found->value_bits);
    use(c, found->bits);
    const unsigned is_end = found->is_end;
    const darkroom_lookup *same = entropy->codes[c->block]->lookups + DARKROOM_LOOKUP_SIZE;
    const darkroom_lookup *other = entropy->codes[c->block + 1]->lookups;
    c->lookups = __builtin_unpredictable(is_end != 0) ? other : same;
    c->position = next & (is_end - 1);
    c->block += is_end;
    return true;
}

/* Reads until `count` blocks are complete, or `limit` is passed. A lookup uses up to 21 bits. */
static inline __attribute__((always_inline)) bool read_until(
    const darkroom_entropy *entropy, cursor *state, unsigned count, const uint8_t *limit)
{
    cursor c = *state;
    bool is_good = true;
    while (is_good && c.block < count && c.at <= limit) {
        refill(&c);
        is_good = read_symbols(entropy, &c);
        if (!is_good || c.block == count)
            break;
        if (__builtin_expect(c.bit_count < 27, 0))
            refill(&c);
        is_good = read_symbols(entropy, &c);
    }
    *state = c;
    return is_good;
}

static bool read_plain(
    const darkroom_entropy *entropy, cursor *c, unsigned count, const uint8_t *limit)
{
    return read_until(entropy, c, count, limit);
}

#if defined(__x86_64__)
__attribute__((target("bmi2"))) static bool read_bmi2(
    const darkroom_entropy *entropy, cursor *c, unsigned count, const uint8_t *limit)
{
    return read_until(entropy, c, count, limit);
}
#endif

void darkroom_entropy_start(darkroom_entropy *entropy)
{
    entropy->bits = 0;
    entropy->bit_count = 0;
    entropy->at = 0;
    entropy->block = entropy->position = 0;
    entropy->lookups = entropy->codes[0]->lookups;
}

bool darkroom_entropy_read(darkroom_entropy *entropy, unsigned count)
{
    darkroom_window *window = &entropy->window;
    bool (*read)(const darkroom_entropy *, cursor *, unsigned, const uint8_t *) = read_plain;
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2)
        read = read_bmi2;
#endif
    cursor c = {
        entropy->bits, entropy->bit_count, NULL, entropy->block, entropy->position, entropy->lookups};
    size_t at = entropy->at;
    for (;;) {
        /* Of an open window, no more than its bytes; of a closed one, the padding too. */
        const size_t limit = window->is_closed ? window->count + DARKROOM_WINDOW_PADDING - 24
            : window->count < 24               ? 0
                                               : window->count - 24;
        if (at <= limit && limit > 0) {
            c.at = window->bytes + at;
            if (!read(entropy, &c, count, window->bytes + limit))
                return false;
            at = (size_t)(c.at - window->bytes);
        }
        if (c.block == count)
            break;
        if (window->is_closed)
            return false;
        darkroom_window_fill(window, at);
        at = 0;
        if (window->is_truncated)
            return false;
    }
    entropy->bits = c.bits;
    entropy->bit_count = c.bit_count;
    entropy->at = at;
    entropy->block = entropy->position = 0;
    entropy->lookups = entropy->codes[0]->lookups;
    return true;
}

bool darkroom_entropy_end(darkroom_entropy *entropy, uint8_t marker)
{
    darkroom_window *window = &entropy->window;
    if (!window->is_closed) {
        darkroom_window_fill(window, entropy->at);
        entropy->at = 0;
    }
    /* The bits up to the next whole byte are filling. */
    const int64_t left = 8 * ((int64_t)window->count - (int64_t)entropy->at) + entropy->bit_count;
    if (!window->is_closed || window->is_truncated || window->marker != marker || left < 0
        || left > 7)
        return false;
    darkroom_window_next(window);
    darkroom_entropy_start(entropy);
    return true;
}
