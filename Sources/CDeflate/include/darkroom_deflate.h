/* Deflate (RFC 1951) for the bytes that predictions leave. */
#ifndef DARKROOM_DEFLATE_H
#define DARKROOM_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

/* The size of `out` that is sufficient for any `count` bytes. */
size_t darkroom_deflate_room(size_t count);

/* The size of the scratch memory for `count` bytes. */
size_t darkroom_deflate_scratch(size_t count);

/*
 * Compresses `count` bytes, at least one, with Huffman codes and runs of equal bytes. The blocks end at a
 * byte boundary, and none is the last one, so the results of several calls may follow each other. `scratch`
 * has the alignment of malloc. Returns the number of written bytes.
 */
size_t darkroom_deflate_runs(
    const uint8_t *bytes, size_t count, void *scratch, uint8_t *out);

/* The same without short runs: it is faster where they are frequent, and hardly larger. */
size_t darkroom_deflate_long_runs(
    const uint8_t *bytes, size_t count, void *scratch, uint8_t *out);

/*
 * The same for the lines of a picture with pixels of 3 or 4 bytes, with matches of whole pixels too. It is useful
 * if the channels depend on each other. A line has its filter's number and then pixels, together `stride`
 * bytes. The lines from `from` to `to` are compressed, at least one. Matches may begin in those before, which
 * the decoder has. All of them are less than 4 GiB. Up to 8 bytes after the last one are read, without effect.
 * `scratch` has darkroom_deflate_pixels_scratch bytes.
 */
size_t darkroom_deflate_pixels(
    const uint8_t *bytes, size_t stride, size_t from, size_t to, int pixel_bytes, void *scratch,
    uint8_t *out);
size_t darkroom_deflate_pixels_scratch(void);

/* How many earlier places a search compares before it takes a match: of those where eight bytes are probably
 * equal, and of those where four are. */
typedef struct {
    unsigned long_tries, short_tries;
    int passes; /* whether it passes over places where nothing has been found for long */
} darkroom_search;

/*
 * The same for bytes with many repetitions, with matches of all lengths. The bytes from `start` to `end` are
 * compressed, at least one and less than 2 GiB. Matches may begin in the bytes from `known` on, which precede
 * `start` and which the decoder has. `scratch` has darkroom_deflate_search_scratch bytes.
 */
size_t darkroom_deflate_search(
    const uint8_t *bytes, size_t known, size_t start, size_t end, darkroom_search effort,
    void *scratch, uint8_t *out);
size_t darkroom_deflate_search_scratch(void);

#endif
