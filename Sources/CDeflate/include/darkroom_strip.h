/*
 * Strips of a PNG's rows: filtered, compressed and checksummed, each by itself.
 *
 * The compressed strips of a picture, one after the other, are one zlib stream: each ends on a
 * byte's boundary. They may be encoded at the same time: where rows repeat, a strip refers to the end
 * of the one above, but it has a copy of these rows, and makes the same lines of them.
 * A strip belongs to one thread at a time. All its memory is reused by the next strip it holds.
 */
#ifndef DARKROOM_STRIP_H
#define DARKROOM_STRIP_H

#include <stddef.h>
#include <stdint.h>

typedef struct darkroom_strip darkroom_strip;

/* How much time bytes are worth. */
typedef enum {
    /* Huffman codes and runs; matches are looked for, briefly, in drawings, gradients and patterns. */
    DARKROOM_DEFLATE_FAST = 0,
    /* Huffman codes and runs for photographs; matches where an estimate says that they pay. */
    DARKROOM_DEFLATE_BALANCED = 1,
    /* The smallest of several ways, each tried out. */
    DARKROOM_DEFLATE_SMALL = 2,
} darkroom_effort;

typedef enum {
    DARKROOM_STRIP_OK = 0,
    DARKROOM_STRIP_MEMORY, /* there is none */
    DARKROOM_STRIP_BROKEN, /* zlib does not read what libdeflate has written */
} darkroom_strip_result;

/* How many rows of `row_bytes` (without the filter's number) make a strip of a picture of
 * `height`. */
size_t darkroom_strip_rows(size_t row_bytes, size_t height, darkroom_effort effort);

/* Makes room for so many rows of PNG's bytes. NULL where there is no memory. */
darkroom_strip *darkroom_strip_new(
    size_t row_bytes, int pixel_bytes, int depth, size_t rows, darkroom_effort effort);
void darkroom_strip_free(darkroom_strip *strip);

/* What a strip of so many rows takes in memory at most, the compressors it may come to need included. */
size_t darkroom_strip_memory(size_t row_bytes, size_t rows, darkroom_effort effort);

/* Empties the strip and makes it the one below `previous`, whose last row is copied, or more of them
 * where rows repeat; the first one where that is NULL. `previous` may be in the midst of its encoding,
 * or the strip itself. */
void darkroom_strip_begin(darkroom_strip *strip, const darkroom_strip *previous);

/* Copies as many of `count` rows as there is room for; returns how many. The rows follow each other
 * without gaps, samples of 16 bits in the machine's order. */
size_t darkroom_strip_fill(darkroom_strip *strip, const void *rows, size_t count);

/* Encodes the rows the strip was filled with. */
darkroom_strip_result darkroom_strip_encode(darkroom_strip *strip);

/* An IDAT chunk of the strip encoded; that of the first one begins with zlib's header. */
const uint8_t *darkroom_strip_chunk(const darkroom_strip *strip, size_t *count);

/* What the end of the stream needs to know: the Adler-32 of the strip's filtered rows and how many
 * bytes these are. */
uint32_t darkroom_strip_adler(const darkroom_strip *strip, uint64_t *count);

/* Adds the end of the stream to the last strip's chunk: an empty last block and the Adler-32 of all
 * strips' filtered rows. */
void darkroom_strip_end(darkroom_strip *strip, uint32_t adler);

#endif
