/* The next bits of a window, in a register. */
#ifndef DARKROOM_JPEG_BITS_H
#define DARKROOM_JPEG_BITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Adds bytes from `at` to `bits`, whose highest `count` ones are valid. At least 56 are valid afterwards. It
 * takes 8 bytes, of which those that have no room are taken again by the next call.
 */
static inline __attribute__((always_inline)) void darkroom_jpeg_refill(
    uint64_t *bits, unsigned *count, const uint8_t **at)
{
    uint64_t next;
    memcpy(&next, *at, sizeof next);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    next = __builtin_bswap64(next);
#endif
    *bits |= next >> *count;
    *at += (63 - *count) >> 3;
    *count |= 56;
}

#endif
