/* Bits, symbols and values of a scan. */
#ifndef DARKROOM_JPEG_READING_H
#define DARKROOM_JPEG_READING_H

#include "bits.h"
#include "whole.h"

#define INLINE static inline __attribute__((always_inline))

typedef darkroom_jpeg_reading reading;

INLINE void refill(reading *r) { darkroom_jpeg_refill(&r->bits, &r->bit_count, &r->at); }

INLINE void use(reading *r, unsigned count)
{
    r->bits <<= count;
    r->bit_count -= count;
}

/* The next bits as a number; there may be none. */
INLINE uint32_t take(reading *r, unsigned count)
{
    const uint32_t value = (uint32_t)(r->bits >> 1 >> (63 - count));
    use(r, count);
    return value;
}

/* Takes the code of the next symbol. 16 bits are valid. */
INLINE darkroom_jpeg_symbol next_symbol(const darkroom_jpeg_scan_table *table, reading *r)
{
    darkroom_jpeg_symbol symbol = table->lookups[r->bits >> (64 - DARKROOM_LOOKUP_BITS)];
    if (__builtin_expect(symbol.code_bits == 0, 0)) {
        symbol = darkroom_jpeg_symbol_find(table, r->bits);
        r->is_doubtful |= symbol.code_bits == 0;
    }
    use(r, symbol.code_bits);
    return symbol;
}

INLINE int take_value(reading *r, unsigned size)
{
    const int value = darkroom_jpeg_value(r->bits, 63 - size);
    use(r, size);
    return value;
}

#endif
