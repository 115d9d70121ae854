/*
 * Strips of a PNG's rows, each filtered, compressed and checksummed separately.
 *
 * The compressed strips of a picture, one after the other, are one zlib stream: each ends at a byte boundary.
 * They may be encoded at the same time. If rows repeat, a strip refers to the end of the previous one; but it
 * has a copy of these rows, and makes the same lines from them. A strip belongs to one thread at a time. The
 * next strip that it holds uses the same memory.
 */
#ifndef DARKROOM_STRIP_H
#define DARKROOM_STRIP_H

#include <stddef.h>
#include <stdint.h>

typedef struct darkroom_strip darkroom_strip;

/* The balance of time and size. */
typedef enum {
    /* Huffman codes and runs; a brief search for matches in drawings, gradients and patterns. */
    DARKROOM_DEFLATE_FAST = 0,
    /* Huffman codes and runs for photographs; matches if an estimate says that they are useful. */
    DARKROOM_DEFLATE_BALANCED = 1,
    /* The smallest result of several methods, which are all tried. */
    DARKROOM_DEFLATE_SMALL = 2,
} darkroom_effort;

typedef enum {
    DARKROOM_STRIP_OK = 0,
    DARKROOM_STRIP_MEMORY, /* there is none */
    DARKROOM_STRIP_BROKEN, /* zlib does not read what libdeflate has written */
} darkroom_strip_result;

/* How many rows of `row_bytes` (without the filter's number) are in a strip of a picture with `height` rows. */
size_t darkroom_strip_rows(size_t row_bytes, size_t height, darkroom_effort effort);

/* Allocates memory for this number of rows in PNG's format. NULL if there is no memory. */
darkroom_strip *darkroom_strip_new(
    size_t row_bytes, int pixel_bytes, int depth, size_t rows, darkroom_effort effort);
void darkroom_strip_free(darkroom_strip *strip);

/* The maximum memory of a strip with this number of rows, including the compressors that it may need. */
size_t darkroom_strip_memory(size_t row_bytes, size_t rows, darkroom_effort effort);

/* Empties the strip and makes it the one below `previous`, whose last row is copied, or more of them if rows
 * repeat. It is the first strip if `previous` is NULL. `previous` may be in the middle of its encoding, or
 * the strip itself. */
void darkroom_strip_begin(darkroom_strip *strip, const darkroom_strip *previous);

/* Copies as many of `count` rows as there is room for, and returns their number. There are no gaps between
 * the rows. Samples of 16 bits are in the machine's byte order. */
size_t darkroom_strip_fill(darkroom_strip *strip, const void *rows, size_t count);

/* Encodes the rows in the strip. */
darkroom_strip_result darkroom_strip_encode(darkroom_strip *strip);

/* An IDAT chunk with the encoded strip. That of the first one begins with zlib's header. */
const uint8_t *darkroom_strip_chunk(const darkroom_strip *strip, size_t *count);

/* The data for the end of the stream: the Adler-32 and the number of bytes of the strip's filtered rows. */
uint32_t darkroom_strip_adler(const darkroom_strip *strip, uint64_t *count);

/* Adds the end of the stream to the last strip's chunk: an empty last block and the Adler-32 of the filtered
 * rows of all strips. */
void darkroom_strip_end(darkroom_strip *strip, uint32_t adler);

#endif
