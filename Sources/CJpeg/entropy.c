#include "entropy.h"

#include <string.h>

#include "bits.h"
#include "darkroom_cpu.h"

#define P(row, column) ((row) * DARKROOM_QUAD_ROW + (column))
const uint8_t darkroom_jpeg_zigzag[64] = {
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

/* What reading keeps in registers; only copies of it have an address. */
typedef struct {
    uint64_t bits;
    unsigned bit_count;
    bool is_doubtful;
    const uint8_t *at;
    const darkroom_jpeg_block *block;
    size_t position;
    const darkroom_jpeg_lookup *lookups;
} cursor;

#define INLINE static inline __attribute__((always_inline))

/* Keeps the compiler from loading a value later, where others would wait for it. */
#define LOADED(value) __asm__("" : "+r"(value))

INLINE void refill(cursor *c)
{
    darkroom_jpeg_refill(&c->bits, &c->bit_count, &c->at);
}

INLINE void use(cursor *c, unsigned count)
{
    c->bits <<= count;
    c->bit_count -= count;
}

INLINE void begin_block(cursor *c, const darkroom_jpeg_block *block)
{
    c->block = block;
    c->position = 0;
    c->lookups = block->codes->lookups;
}

/*
 * Reads one symbol, where the lookup does not do: its code is long, or the block may be full before a
 * lookup's second symbol. 27 bits are valid.
 */
static __attribute__((noinline)) void read_symbol(cursor *state)
{
    cursor c = *state;
    const darkroom_jpeg_block_codes *codes = c.block->codes;
    uint8_t symbol = 0;
    const bool is_dc = c.position == 0;
    const darkroom_jpeg_codes *kind = is_dc ? &codes->dc : &codes->ac;
    const unsigned length = darkroom_jpeg_codes_find(kind, c.bits, &symbol);
    const unsigned run = is_dc ? 0 : symbol >> 4, size = symbol & 15;
    use(&c, length);
    if (length == 0 || size > (is_dc ? DARKROOM_LARGEST_DC : DARKROOM_LARGEST_AC)) {
        c.is_doubtful = true;
    } else if (!is_dc && symbol == 0) {
        begin_block(&c, c.block + 1);
    } else if (c.position + run > 63 || (!is_dc && size == 0 && (run != 15 || c.position > 47))) {
        c.is_doubtful = true;
    } else {
        c.position += run;
        if (is_dc || !codes->skips)
            c.block->place[darkroom_jpeg_zigzag[c.position]] = (int16_t)darkroom_jpeg_value(c.bits, 63 - size);
        use(&c, size);
        c.lookups = codes->lookups + DARKROOM_LOOKUP_SIZE;
        if (++c.position == 64)
            begin_block(&c, c.block + 1);
    }
    *state = c;
}

/* A memcpy would keep the source in memory. */
INLINE void copy(cursor *to, const cursor *from)
{
    to->bits = from->bits;
    to->bit_count = from->bit_count;
    to->is_doubtful = from->is_doubtful;
    to->at = from->at;
    to->block = from->block;
    to->position = from->position;
    to->lookups = from->lookups;
}

/*
 * Reads a lookup's one or two symbols. The end of a block comes at random and often, so it must not be a
 * branch: what is different then is selected.
 */
INLINE void read_symbols(cursor *c, const darkroom_jpeg_block *end)
{
    const darkroom_jpeg_lookup *found = &c->lookups[c->bits >> (64 - DARKROOM_LOOKUP_BITS)];
    const size_t next = c->position + found->advance;
    if (__builtin_expect(next > 63, 0)) {
        cursor other;
        copy(&other, c);
        read_symbol(&other);
        copy(c, &other);
        if (c->is_doubtful)
            c->block = end;
        return;
    }
    const darkroom_jpeg_block *block = c->block;
    /* Both are loaded before it is known which one is needed. */
    const darkroom_jpeg_lookup *rest = block->rest, *first = block->next;
    LOADED(rest);
    LOADED(first);
    block->place[darkroom_jpeg_zigzag[c->position + found->second]] = found->value;
    block->place[darkroom_jpeg_zigzag[c->position + found->first]] =
        (int16_t)darkroom_jpeg_value(c->bits << found->code_bits, found->value_shift);
    use(c, found->bits);
    const bool is_end = __builtin_unpredictable(found->is_end != 0);
    c->lookups = is_end ? first : rest;
    c->position = is_end ? 0 : next;
    c->block = block + found->is_end;
}

/* Reads until the block is `end`, or `limit` is passed. Two lookups use up to 21 bits, or 27 each. */
INLINE void read_until(cursor *state, const darkroom_jpeg_block *end, const uint8_t *limit)
{
    cursor c;
    copy(&c, state);
    while (c.at <= limit) {
        refill(&c);
        read_symbols(&c, end);
        if (c.block == end)
            break;
        read_symbols(&c, end);
        if (c.block == end)
            break;
    }
    copy(state, &c);
}

static void read_plain(cursor *c, const darkroom_jpeg_block *end, const uint8_t *limit)
{
    read_until(c, end, limit);
}

#if defined(__x86_64__)
__attribute__((target("bmi2"))) static void read_bmi2(
    cursor *c, const darkroom_jpeg_block *end, const uint8_t *limit)
{
    read_until(c, end, limit);
}
#endif

static void begin_group(darkroom_jpeg_entropy *entropy)
{
    entropy->block = entropy->blocks;
    entropy->position = 0;
    entropy->lookups = entropy->blocks[0].codes->lookups;
}

void darkroom_jpeg_entropy_start(darkroom_jpeg_entropy *entropy)
{
    entropy->bits = 0;
    entropy->bit_count = 0;
    entropy->at = 0;
    begin_group(entropy);
}

/* How many bits of the window have not been used; less than 0 if the padding's have. */
static int64_t bits_left(const darkroom_jpeg_entropy *entropy)
{
    return 8 * ((int64_t)entropy->window.count - (int64_t)entropy->at) + entropy->bit_count;
}

bool darkroom_jpeg_entropy_read(darkroom_jpeg_entropy *entropy, unsigned count)
{
    darkroom_jpeg_window *window = &entropy->window;
    const darkroom_jpeg_block *end = entropy->blocks + count;
    void (*read)(cursor *, const darkroom_jpeg_block *, const uint8_t *) = read_plain;
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2)
        read = read_bmi2;
#endif
    cursor c = {
        .bits = entropy->bits,
        .bit_count = entropy->bit_count,
        .block = entropy->block,
        .position = entropy->position,
        .lookups = entropy->lookups,
    };
    size_t at = entropy->at;
    for (;;) {
        /* Of an open window, no more than its bytes; of a closed one, the padding too. */
        const size_t limit = window->is_closed ? window->count + DARKROOM_WINDOW_PADDING - 24
            : window->count < 24               ? 0
                                               : window->count - 24;
        if (at <= limit && limit > 0) {
            c.at = window->bytes + at;
            read(&c, end, window->bytes + limit);
            if (c.is_doubtful)
                return false;
            at = (size_t)(c.at - window->bytes);
        }
        if (c.block == end)
            break;
        if (window->is_closed)
            return false;
        darkroom_jpeg_window_fill(window, at);
        at = 0;
        if (window->is_broken)
            return false;
    }
    entropy->bits = c.bits;
    entropy->bit_count = c.bit_count;
    entropy->at = at;
    begin_group(entropy);
    /* The padding's bits are not the picture's. */
    return !window->is_closed || bits_left(entropy) >= 0;
}

bool darkroom_jpeg_entropy_end(darkroom_jpeg_entropy *entropy, uint8_t marker)
{
    darkroom_jpeg_window *window = &entropy->window;
    if (!window->is_closed) {
        darkroom_jpeg_window_fill(window, entropy->at);
        entropy->at = 0;
    }
    /* The bits up to the next whole byte are filling. */
    const int64_t left = bits_left(entropy);
    if (!window->is_closed || window->is_broken || window->marker != marker || left < 0
        || left > 7)
        return false;
    darkroom_jpeg_window_next(window);
    darkroom_jpeg_entropy_start(entropy);
    return true;
}
