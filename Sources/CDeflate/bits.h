/* Writes bits to memory, the first one lowest. */
#ifndef DARKROOM_BITS_H
#define DARKROOM_BITS_H

#include "block.h"

#include <string.h>

/* Words of output are written as they are in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "for little-endian processors");

/* After each call there is room for 56 more bits. */
INLINE void flush(darkroom_bits *out)
{
    const uint64_t bits = out->bits;
    memcpy(out->at, &bits, sizeof bits);
    out->at += out->count >> 3;
    out->bits = bits >> (out->count & 56);
    out->count &= 7;
}

INLINE void put(darkroom_bits *out, uint64_t bits, unsigned count)
{
    out->bits |= bits << out->count;
    out->count += count;
}

#endif
