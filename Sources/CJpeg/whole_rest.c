/* The blocks of a scan of a progressive picture: the coefficients but the means. */
#include "reading.h"

#include "darkroom_cpu.h"

/* A row of blocks. */
typedef struct {
    const darkroom_jpeg_scan_part *part;
    int16_t *coefficients; /* NULL if they are not kept */
    uint64_t *present;
    unsigned first, last, low;
} blocks;

/* Has the processor fetch what a later block may change: a quarter of a quad, so that four blocks fetch all of one. */
INLINE void prefetch(const blocks *b, size_t column)
{
    enum { AHEAD = 3, LINE = 32 /* coefficients */ };
    const int16_t *quarter =
        b->coefficients + column / DARKROOM_QUAD_BLOCKS * DARKROOM_QUAD + column % DARKROOM_QUAD_BLOCKS * 2 * LINE;
    __builtin_prefetch(quarter + AHEAD * DARKROOM_QUAD, 1);
    __builtin_prefetch(quarter + AHEAD * DARKROOM_QUAD + LINE, 1);
}

/* Takes a run of blocks without further symbols. The present one counts. */
INLINE uint32_t take_ended(reading *r, unsigned size) { return (1u << size) + take(r, size); }

/*
 * Reads new coefficients of blocks, from `column` on, as long as they begin in the window. Returns the next one.
 */
INLINE uint32_t read_first_rest(
    const blocks *b, reading *state, uint32_t column, uint32_t end, bool keeps)
{
    reading r = *state;
    const darkroom_jpeg_scan_table *table = b->part->ac;
    const uint8_t *most_bits = b->part->most_bits;
    const unsigned first = b->first, last = b->last, low = b->low;
    while (column < end && r.at < r.limit) {
        if (r.ended > 0) {
            const uint32_t count = r.ended < end - column ? r.ended : end - column;
            r.ended -= count;
            column += count;
            continue;
        }
        int16_t *block = keeps ? b->coefficients + darkroom_jpeg_block_offset(column) : NULL;
        if (keeps)
            prefetch(b, column);
        uint64_t present = 0;
        for (unsigned k = first; k <= last; k++) {
            refill(&r);
            const darkroom_jpeg_symbol symbol = next_symbol(table, &r);
            if (symbol.size == 0 && symbol.run < 15) {
                r.ended = take_ended(&r, symbol.run) - 1;
                break;
            }
            k += symbol.run;
            if (__builtin_expect(k > last || symbol.size + low > most_bits[k], 0)) {
                r.is_doubtful = true;
                break;
            }
            const int value = take_value(&r, symbol.size);
            if (symbol.size > 0) {
                present |= (uint64_t)1 << k;
                if (keeps)
                    block[darkroom_jpeg_zigzag[k]] = (int16_t)(value * (1 << low));
            }
        }
        b->present[column] |= present;
        column++;
        if (__builtin_expect(r.is_doubtful, 0))
            break;
    }
    *state = r;
    return column;
}

/* The lowest bits, each at the next one of `places`. */
INLINE uint64_t deposited(uint64_t bits, uint64_t places, bool has_bmi2)
{
    uint64_t result = 0;
#if defined(__x86_64__)
    if (has_bmi2) {
        __asm__("pdepq %2, %1, %0" : "=r"(result) : "r"(bits), "r"(places));
        return result;
    }
#endif
    (void)has_bmi2;
    for (; bits != 0 && places != 0; bits >>= 1, places &= places - 1)
        result |= places & (~places + 1) & (~(bits & 1) + 1);
    return result;
}

/*
 * Takes a bit for each of the coefficients at `places`, of which there are at most 56, and where it is set, moves
 * the coefficient away from zero. There may be no places.
 */
INLINE void refine_some(
    reading *r, uint64_t places, int16_t *block, int step, bool keeps, bool has_bmi2)
{
    const unsigned count = (unsigned)__builtin_popcountll(places);
    if (keeps) {
        uint64_t set = deposited(__builtin_bitreverse64(r->bits), places, has_bmi2);
        for (; set != 0; set &= set - 1) {
            int16_t *value = block + darkroom_jpeg_zigzag[__builtin_ctzll(set)];
            *value = (int16_t)(*value + (*value < 0 ? -step : step));
        }
    }
    use(r, count);
}

INLINE void refine(reading *r, uint64_t places, int16_t *block, int step, bool keeps, bool has_bmi2)
{
    refill(r);
    refine_some(r, places & UINT32_MAX, block, step, keeps, has_bmi2);
    refill(r);
    refine_some(r, places & ~(uint64_t)UINT32_MAX, block, step, keeps, has_bmi2);
}

/*
 * Reads one bit more of the coefficients that are there, and those that appear with it. A symbol says how many
 * coefficients without a value it goes over; the bits of those with one that it passes follow it.
 */
INLINE uint32_t read_finer_rest(
    const blocks *b, reading *state, uint32_t column, uint32_t end, bool keeps, bool has_bmi2)
{
    reading r = *state;
    const darkroom_jpeg_scan_table *table = b->part->ac;
    const int step = 1 << b->low;
    const uint64_t band = (UINT64_MAX >> (63 - b->last)) & (UINT64_MAX << b->first);
    for (; column < end && r.at < r.limit; column++) {
        int16_t *block = keeps ? b->coefficients + darkroom_jpeg_block_offset(column) : NULL;
        if (keeps && r.ended == 0)
            prefetch(b, column);
        uint64_t present = b->present[column];
        uint64_t rest = band;
        while (r.ended == 0 && rest != 0) {
            refill(&r);
            const darkroom_jpeg_symbol symbol = next_symbol(table, &r);
            if (symbol.size == 0 && symbol.run < 15) {
                r.ended = take_ended(&r, symbol.run);
                break;
            }
            const uint64_t place = deposited((uint64_t)1 << symbol.run, rest & ~present, has_bmi2);
            if (__builtin_expect(place == 0 || symbol.size > 1 || r.is_doubtful, 0)) {
                r.is_doubtful = true;
                break;
            }
            const bool is_positive = take(&r, symbol.size) != 0;
            const uint64_t passed = rest & present & (place - 1);
            /* 39 bits are valid. */
            if (__builtin_expect(passed >> 39 != 0, 0))
                refine(&r, passed, block, step, keeps, has_bmi2);
            else
                refine_some(&r, passed, block, step, keeps, has_bmi2);
            if (symbol.size > 0) {
                present |= place;
                if (keeps)
                    block[darkroom_jpeg_zigzag[__builtin_ctzll(place)]] =
                        (int16_t)(is_positive ? step : -step);
            }
            rest &= ~(place | (place - 1));
        }
        if (__builtin_expect(r.is_doubtful, 0))
            break;
        if (r.ended > 0) {
            const uint64_t passed = rest & present;
            if (passed != 0)
                refine(&r, passed, block, step, keeps, has_bmi2);
            r.ended--;
        }
        b->present[column] = present;
    }
    *state = r;
    return column;
}

INLINE uint32_t read_blocks(
    const blocks *b, reading *r, uint32_t column, uint32_t end, bool is_finer, bool has_bmi2)
{
    const bool keeps = b->coefficients != NULL;
    if (is_finer)
        return keeps ? read_finer_rest(b, r, column, end, true, has_bmi2)
                     : read_finer_rest(b, r, column, end, false, has_bmi2);
    return keeps ? read_first_rest(b, r, column, end, true)
                 : read_first_rest(b, r, column, end, false);
}

static uint32_t read_plain(
    const blocks *b, reading *r, uint32_t column, uint32_t end, bool is_finer)
{
    return read_blocks(b, r, column, end, is_finer, false);
}

#if defined(__x86_64__)
__attribute__((target("bmi,bmi2,popcnt"))) static uint32_t read_bmi2(
    const blocks *b, reading *r, uint32_t column, uint32_t end, bool is_finer)
{
    return read_blocks(b, r, column, end, is_finer, true);
}

/* AMD's first processors with BMI2 need up to hundreds of cycles to deposit bits. */
static bool deposits_fast(void)
{
    __builtin_cpu_init();
    return darkroom_cpu_level() >= DARKROOM_CPU_AVX2 && !__builtin_cpu_is("znver1")
        && !__builtin_cpu_is("znver2");
}
#endif

bool darkroom_jpeg_whole_read_rest(darkroom_jpeg_whole *whole, uint32_t column, uint32_t count)
{
    const darkroom_jpeg_scan_part *part = &whole->parts[0];
    const darkroom_jpeg_store *store = part->store;
    const size_t first = whole->row * store->stride;
    const blocks b = {
        .part = part,
        .coefficients = store->coefficients == NULL ? NULL : store->coefficients + first * 64,
        .present = store->present + first,
        .first = whole->first,
        .last = whole->last,
        .low = whole->low,
    };
    uint32_t (*read)(const blocks *, reading *, uint32_t, uint32_t, bool) = read_plain;
#if defined(__x86_64__)
    if (deposits_fast())
        read = read_bmi2;
#endif
    reading *r = &whole->reading;
    for (const uint32_t end = column + count; column < end;) {
        if (r->at >= r->limit && !darkroom_jpeg_reading_fill(whole))
            return false;
        column = read(&b, r, column, end, whole->kind == DARKROOM_SCAN_FINER_REST);
        if (r->is_doubtful)
            return false;
    }
    return true;
}
