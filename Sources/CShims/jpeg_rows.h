#ifndef DARKROOM_JPEG_ROWS_H
#define DARKROOM_JPEG_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* Makes a row of 8 bits without alpha, of one channel for 1 and 2 channels and of three for 3 and 4: what libjpeg takes.
 * Alpha is laid over white.
 *
 * from: samples interleaved, of 8 bits, or of 16 in the byte order of the machine.
 * to: room for width pixels. */
void darkroom_jpeg_row(const uint8_t *from, uint8_t *to, size_t width, size_t channels, unsigned depth);

#endif
