/* Deflate both ways, for rows of pixels. */
#ifndef CDARKROOM_DEFLATE_H
#define CDARKROOM_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "darkroom_inflate.h"
#include "darkroom_deflate.h"
#include "darkroom_strip.h"

/* The Adler-32 checksum (RFC 1950) of `count` more bytes; it begins as 1. */
uint32_t darkroom_adler32(uint32_t adler, const uint8_t *bytes, size_t count);

/* The CRC-32 of PNG's chunks of `count` more bytes; it begins as 0. */
uint32_t darkroom_crc32(uint32_t crc, const uint8_t *bytes, size_t count);

/* The Adler-32 of two parts one after the other, of theirs and the second one's length. */
uint32_t darkroom_adler32_combine(uint32_t first, uint32_t second, uint64_t second_count);

#endif
