/* Deflate in both directions, for rows of pixels. */
#ifndef CDARKROOM_DEFLATE_H
#define CDARKROOM_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "darkroom_inflate.h"
#include "darkroom_deflate.h"
#include "darkroom_strip.h"

/* The Adler-32 checksum (RFC 1950) after `count` more bytes. It begins with 1. */
uint32_t darkroom_adler32(uint32_t adler, const uint8_t *bytes, size_t count);

/* The CRC-32 of PNG's chunks after `count` more bytes. It begins with 0. */
uint32_t darkroom_crc32(uint32_t crc, const uint8_t *bytes, size_t count);

/* The Adler-32 of two consecutive parts, from their checksums and the length of the second one. */
uint32_t darkroom_adler32_combine(uint32_t first, uint32_t second, uint64_t second_count);

#endif
