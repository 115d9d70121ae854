/* Deflate (RFC 1951) for bytes that predictions have left over. */
#ifndef DARKROOM_DEFLATE_H
#define DARKROOM_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

/* What `out` has room for, whatever the `count` bytes are. */
size_t darkroom_deflate_room(size_t count);

/* The bytes of scratch memory that deflating `count` bytes needs. */
size_t darkroom_deflate_scratch(size_t count);

/*
 * Compresses `count` bytes, at least one, with Huffman codes and runs of equal bytes. The blocks
 * end on a byte's boundary, and none is the last one, so the results of several calls may follow
 * each other. `scratch` is aligned as malloc does it. Returns how many bytes were written.
 */
size_t darkroom_deflate_runs(
    const uint8_t *bytes, size_t count, void *scratch, uint8_t *out);

/*
 * The same for the filtered rows of a picture with pixels of 3 or 4 bytes, with matches of whole
 * pixels as well: worth it where the channels depend on each other. There are `rows` rows, each its
 * filter's number and then pixels, `stride` bytes altogether; all of them are less than 4 GiB.
 * Up to 8 bytes after the last are read, to no effect. `scratch` has
 * darkroom_deflate_pixels_scratch bytes.
 */
size_t darkroom_deflate_pixels(
    const uint8_t *bytes, size_t stride, size_t rows, int pixel_bytes, void *scratch,
    uint8_t *out);
size_t darkroom_deflate_pixels_scratch(void);

/* How many earlier places a search compares before it takes a match: of those where eight bytes are
 * likely to be the same, and of those where four are. */
typedef struct {
    unsigned long_tries, short_tries;
    int passes; /* whether it passes over places where nothing has been found for long */
} darkroom_search;

/*
 * The same for bytes of which many repeat, with matches of all lengths. Those from `start` to `end`
 * are compressed, at least one and less than 2 GiB; matches may begin in those from `known` on, which
 * come before `start` and which the decoder has. `scratch` has darkroom_deflate_search_scratch bytes.
 */
size_t darkroom_deflate_search(
    const uint8_t *bytes, size_t known, size_t start, size_t end, darkroom_search effort,
    void *scratch, uint8_t *out);
size_t darkroom_deflate_search_scratch(void);

#endif
